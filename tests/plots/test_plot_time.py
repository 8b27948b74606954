"""Plots over time: queues and windows as steps, and the pictures of a traced flow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.text import Text

import lightburst as lb
from lightburst.foundation.errors import InputError


@pytest.fixture(scope="module")
def result() -> lb.Result:
    scenario = lb.load("examples/obs.toml").with_(
        {
            "workload.size": "300 kB",
            "measurement.trace": [0],
            "measurement.sample": "1 ms",
            "measurement.time_limit": "20 s",
        }
    )
    return lb.run(scenario, seed=1)


def one_of(canvas: Canvas) -> Axes:
    (axes,) = canvas.axes
    return axes


def entries(canvas: Canvas) -> list[str]:
    return [t.get_text() for legend in canvas.findobj(Legend) for t in legend.get_texts()]


def test_a_queue_is_drawn_as_it_was_sampled(result: lb.Result) -> None:
    links = result.samples.links
    busiest = links["link"].iloc[int(links["queue_bytes"].argmax())]
    own = links[links["link"] == busiest]
    axes = one_of(lb.plot.over_time(own, "queue_bytes"))
    (line,) = axes.lines
    assert line.get_drawstyle() == "steps-post"
    assert line.get_marker() == "none"
    unit = {"Queue (kB)": 1e3, "Queue (B)": 1.0, "Queue (MB)": 1e6}[axes.get_ylabel()]
    assert unit * np.asarray(line.get_ydata()) == pytest.approx(own["queue_bytes"].to_numpy())
    assert axes.get_xlabel() == "Time (s)"
    assert np.asarray(line.get_xdata()) == pytest.approx(own["time_s"].to_numpy())
    assert one_of(lb.plot.over_time(result.samples.flows, "active_flows")).get_ylabel() == (
        "Active flows"
    )


def test_rows_at_one_instant_stay_in_their_order() -> None:
    data = pd.DataFrame({"time_s": [1.0] * 40 + [2.0], "queue_bytes": [*range(40), 5]})
    (line,) = one_of(lb.plot.over_time(data, "queue_bytes")).lines
    assert list(line.get_ydata()) == [*range(40), 5]  # type: ignore[arg-type]


def test_several_columns_and_several_hues_are_named(result: lb.Result) -> None:
    both = lb.plot.over_time(result.trace.windows, ["congestion_window_bytes", "in_flight_bytes"])
    assert entries(both) == ["congestion window", "in flight"]
    assert one_of(both).get_ylabel() == "Value (kB)"
    links = result.samples.links
    few = links[links["link"] < 3]
    assert entries(lb.plot.over_time(few, "utilisation", hue="link")) == ["0", "1", "2"]


def test_a_traced_flow_has_its_pictures(result: lb.Result) -> None:
    titles = {kind: kind for kind in ("windows", "rates", "packets")}
    titles["time-sequence"] = "time and sequence"
    for kind, title in titles.items():
        canvas = lb.plot.flow(result, kind=kind)
        words = [text.get_text() for text in canvas.findobj(Text)]
        assert f"Flow 0: {title}" in words
    assert lb.plot.flow(result, 0).get_axes()


def test_what_cannot_be_drawn_is_named(result: lb.Result) -> None:
    plain = lb.run("examples/path.toml", seed=1)
    with pytest.raises(InputError, match=r"flow: given 3; allowed: 0, which measurement\.trace"):
        lb.plot.flow(result, 3)
    with pytest.raises(InputError, match="flow: given nothing; allowed: flows that are traced"):
        lb.plot.flow(plain)
    with pytest.raises(InputError, match=r"kind: given 'window'.*did you mean 'windows'"):
        lb.plot.flow(result, kind="window")
    open_loop = {"transport": {"kind": "datagram"}, "measurement.trace": [0]}
    silent = lb.run(lb.load("examples/path.toml").with_(open_loop), seed=1)
    with pytest.raises(InputError, match=r"kind: given 'windows'.*flow 0 has no windows"):
        lb.plot.flow(silent, kind="windows")
    with pytest.raises(InputError, match="y: given B and s; allowed: one column"):
        lb.plot.over_time(result.trace.windows, ["congestion_window_bytes", "rtt_s"])
    with pytest.raises(InputError, match="table: given one without time_s"):
        lb.plot.over_time(result.flows, "size_bytes")
    with pytest.raises(InputError, match="hue: given 'flow'"):
        lb.plot.over_time(
            result.trace.windows, ["congestion_window_bytes", "in_flight_bytes"], hue="flow"
        )


def test_several_of_a_kind_are_not_drawn_as_one() -> None:
    table = pd.DataFrame({"time_s": [0.0, 0.0, 1.0, 1.0], "node": [1, 2, 1, 2], "buffer_bytes": 5})
    with pytest.raises(
        lb.InputError, match=r"^hue: given nothing; allowed: 'node', of which .* 2,"
    ):
        lb.plot.over_time(table, "buffer_bytes")
    assert len(lb.plot.over_time(table, "buffer_bytes", hue="node").axes) == 1
    assert len(lb.plot.over_time(table[table["node"] == 1], "buffer_bytes").axes) == 1
