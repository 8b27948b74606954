"""Readable axes and legends: zeros, ticks, units, hints and theory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.text import Text

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.foundation.formatting import prefixed_along
from lightburst.papers.figure import AT_ZERO
from lightburst.plots import axis, interactive, tables

LOADS = (0.2, 0.4, 0.5, 0.9)
LOSSES = {1: (0.0, 1e-6, 1e-4, 1e-2), 4: (0.0, 0.0, 1e-6, 1e-3)}


def table() -> pd.DataFrame:
    rows = [
        (load, ports, mean, mean / 2, 2 * mean if mean else 3e-7)
        for ports, means in LOSSES.items()
        for load, mean in zip(LOADS, means, strict=True)
    ]
    names = ("workload.load", "switching.buffer_ports", "burst_loss", "ci_low", "ci_high")
    return pd.DataFrame(rows, columns=list(names))


def drawn(**changes: Any) -> Canvas:
    given: dict[str, Any] = {"x": "workload.load", "y": "burst_loss"}
    given["hue"] = "switching.buffer_ports"
    return lb.plot.curves(table(), **(given | changes))


def one_of(canvas: Canvas) -> Axes:
    (axes,) = canvas.axes
    return axes


def said(canvas: Canvas) -> list[str]:
    return [text.get_text() for text in canvas.findobj(Text, include_self=False)]


def labels(canvas: Canvas, way: str = "x") -> list[str]:
    canvas.draw_without_rendering()
    own = getattr(one_of(canvas), f"{way}axis")
    low, high = sorted(own.get_view_interval())
    ticks = zip(own.get_majorticklocs(), own.get_majorticklabels(), strict=True)
    return [label.get_text() for at, label in ticks if low <= at <= high]


def test_zeros_stand_on_the_edge_of_a_logarithmic_height() -> None:
    canvas = drawn(y_log=True)
    axes = one_of(canvas)
    canvas.draw_without_rendering()
    hollow = [line for line in axes.lines if line.get_gid() == "zero"]
    assert [list(line.get_xdata()) for line in hollow] == [[0.2], [0.2, 0.4]]  # type: ignore[arg-type]
    low = axes.get_ylim()[0]
    assert 0 < low < 3e-7, "what bounds them is seen, too"
    for line in hollow:
        pixels = line.get_transform().transform(np.asarray(line.get_xydata()))
        edge = axes.transAxes.transform((0, 0))[1]
        assert pixels[:, 1] == pytest.approx(edge)
        assert line.get_markerfacecolor() == "white"
        assert not line.get_clip_on()
    # Both points at 0.2 are visible, and no line leads to a missing point.
    places = [line.get_transform().transform((0.2, 0))[0] for line in hollow]
    assert places[1] - places[0] > 5 * canvas.dpi / 72
    curves = [
        x for x in axes.lines if x.get_gid() is None and len(np.atleast_1d(x.get_xdata())) == 4
    ]
    heights = [np.asarray(line.get_ydata(), dtype=float).tolist() for line in curves]
    assert [sum(np.isnan(height)) for height in heights] == [1, 2]
    assert said(canvas).count(AT_ZERO) == 1
    assert AT_ZERO not in said(drawn(y_log=False))


def test_the_highest_point_is_seen_above_zeros() -> None:
    rows = table().assign(burst_loss=lambda one: 1e7 * one["burst_loss"], ci_low=0.0, ci_high=0.0)
    theories: list[Any] = [None, lambda load: 1e6 * load]
    for theory in theories:
        given: dict[str, Any] = {"x": "workload.load", "y": "burst_loss", "theory": theory}
        canvas = lb.plot.curves(rows, **given, y_log=True)
        canvas.draw_without_rendering()
        axes = one_of(canvas)
        low, high = axes.get_ylim()
        assert 0 < low < 10
        assert 1e5 < high < 1e7


def test_no_triangle_is_spoken_of_where_zeros_are_hollow() -> None:
    told = "A triangle points down from an upper bound: none was seen."
    rows = table().assign(ci_low=lambda one: one["ci_low"].where(one["burst_loss"] > 0, 0.0))
    for y_log in (False, True):
        canvas = lb.plot.curves(
            rows, x="workload.load", y="burst_loss", hue="switching.buffer_ports", y_log=y_log
        )
        assert any(told in text for text in said(canvas)) != y_log


def test_a_chart_of_a_page_has_them_too() -> None:
    names = "workload.load", "burst_loss", "switching.buffer_ports", None, ("ci_low", "ci_high")
    figure = tables.figure_of(table(), *names, None, y_log=True)
    found = interactive.chart(figure)
    assert interactive.legend(figure)[-1].words == AT_ZERO
    edges = [one for one in found["layer"] if one["encoding"].get("y", {}).get("value")]
    (edge,) = edges
    assert edge["encoding"]["y"]["value"] == {"expr": "height"}
    rows = found["datasets"][edge["data"]["name"]]
    assert [(row["x"], row["colour"]) for row in rows] == [(0.2, "1"), (0.2, "4"), (0.4, "4")]
    least = min(row["low"] for one in found["datasets"].values() for row in one if row["y"])
    assert least > 0, "an end at zero has no place"
    json.dumps(found, allow_nan=False)


def test_what_has_no_logarithm_at_all_is_named() -> None:
    for wrong in (-1.0, 0.0):
        rows = table().assign(burst_loss=wrong)
        with pytest.raises(InputError, match="y_log: given True; allowed: a column of numbers fr"):
            lb.plot.curves(rows, x="workload.load", y="burst_loss", y_log=True)


def test_few_swept_values_are_the_ticks() -> None:
    assert labels(drawn()) == ["0.2", "0.4", "0.5", "0.9"]
    rows = pd.DataFrame({"workload.load": np.linspace(0, 1, 40), "slowdown_mean": 1.0})
    assert len(labels(lb.plot.curves(rows, x="workload.load", y="slowdown_mean"))) < 12
    # Times of samples are not chosen values.
    times = pd.DataFrame({"time_s": [0.0, 1.1, 3.0], "queue_bytes": [0, 1, 2]})
    assert labels(lb.plot.over_time(times, "queue_bytes")) != ["0", "1.1", "3"]


def test_numbers_of_an_axis_are_in_a_unit_in_which_they_are_short() -> None:
    times = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    rows = pd.DataFrame({"switching.assembly.time_s": times, "slowdown_mean": 1.0})
    canvas = lb.plot.curves(rows, x="switching.assembly.time_s", y="slowdown_mean")
    assert one_of(canvas).get_xlabel() == "Assembly time (ms)"
    assert labels(canvas) == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert axis.decades([1e-5, 1e-3]) == ["10⁻⁵", "10⁻³"], "one way along one axis"


@pytest.mark.parametrize(
    ("ends", "prefix"),
    [((1e-5, 1e-3), "µ"), ((1e-6, 1e-1), "m"), ((1e-3, 10.0), "m"), ((1e-3, 1e3), "")],
)
def test_the_prefix_of_several_decades(ends: tuple[float, float], prefix: str) -> None:
    assert prefixed_along(*ends)[1] == prefix


def test_a_linear_height_over_decades_says_that_it_hides_something() -> None:
    hint = "Over 4.0 decades: y_log=True tells the low points apart."
    assert any(text.startswith(hint) for text in said(drawn()))
    assert hint not in said(drawn(y_log=False)), "asked for"
    assert not any("y_log" in text for text in said(drawn(y_log=True)))
    close = table().assign(burst_loss=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    canvas = lb.plot.curves(close, x="workload.load", y="burst_loss")
    assert not any("y_log" in text for text in said(canvas))


def test_a_line_of_theory_over_decades_says_so_too() -> None:
    """Beside means from 1 to 7 it fell to 0.0016 without a word."""
    close = table().assign(burst_loss=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    canvas = lb.plot.curves(close, x="workload.load", y="burst_loss", theory=lambda load: load**4)
    assert any(text.startswith("Over 3.6 decades: y_log=True") for text in said(canvas))


def test_simulation_and_theory_are_told_apart_in_one_legend() -> None:
    canvas = drawn(theory={"bound": lambda load: 1e-3 * load})
    (legend,) = canvas.findobj(Legend)
    assert legend.get_title().get_text() == "Buffer ports"
    assert [text.get_text() for text in legend.get_texts()] == ["1", "4", "simulation", "bound"]
    *_, simulated, bound = legend.get_lines()
    assert (simulated.get_marker(), bound.get_marker()) == ("o", "none")
    assert simulated.get_linestyle() == "-" != bound.get_linestyle()
