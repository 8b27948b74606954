"""Words on axes: names of groups, numbers that people write, and points side by side at words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.foundation.formatting import readable
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.plots import interactive
from lightburst.plots.axis import number
from lightburst.result.labels import apart, column_words, has_prefix, unit_of, words_of

RECOVERIES = ("reno", "new-reno", "sack")


def table() -> pd.DataFrame:
    rows = [
        (name, loss, 1e6 * (place + 1) / loss, 0.5e6 * (place + 1) / loss, 2e6 * (place + 1) / loss)
        for place, name in enumerate(RECOVERIES)
        for loss in (0.01, 0.1)
    ]
    names = ("transport.recovery", "loss.probability", "throughput_bps", "ci_low", "ci_high")
    return pd.DataFrame(rows, columns=list(names))


def one_of(canvas: Canvas) -> Axes:
    (axes,) = canvas.axes
    return axes


def ticks(canvas: Canvas) -> list[str]:
    canvas.draw_without_rendering()
    return [label.get_text() for label in one_of(canvas).get_xticklabels()]


@pytest.mark.parametrize(
    ("name", "words", "unit"),
    [
        ("completion_time_mean_s[query]", "completion time, mean [query]", "s"),
        ("slowdown_p99[above 100 kB]", "slowdown, 99th percentile [above 100 kB]", ""),
        ("throughput_bps[a.b]", "throughput [a.b]", "b/s"),
        ("groups.background.workload.load", "load [background]", ""),
        ('groups."web 2.0".workload.arrival_rate_per_s', "arrival rate [web 2.0]", "1/s"),
        ("groups.background.workload.size.mean_bytes", "size mean [background]", "B"),
        ("transport.p", "transport p", ""),
        ("completion_time_mean_s", "completion time, mean", "s"),
    ],
)
def test_what_is_of_a_group_has_its_words_and_its_unit(name: str, words: str, unit: str) -> None:
    assert column_words(name) == words
    assert unit_of(name) == unit
    assert has_prefix(name) == (unit in ("s", "b/s", "B"))
    if name.endswith("]"):
        assert words_of(name) == words
        assert readable(name, 0.0025) == readable(apart(name)[0], 0.0025)


def test_a_figure_of_a_group_is_in_a_sensible_unit() -> None:
    metric, load = "completion_time_mean_s[query]", "groups.background.workload.load"
    data = pd.DataFrame({load: [0.1, 0.2, 0.3], metric: [1e-3, 2e-3, 3e-3]})
    axes = one_of(lb.plot.curves(data, x=load, y=metric))
    assert axes.get_ylabel() == "Completion time, mean [query] (ms)"
    assert axes.get_xlabel() == "Load [background]"
    assert list(axes.lines[0].get_ydata()) == pytest.approx([1, 2, 3])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e5, "10⁵"), (2.5e6, "2.5·10⁶"), (1e-5, "10⁻⁵"), (0.003, "0.003"), (2500, "2500"),
        (20000, "20000"), (0, "0"), (-3, "-3"), (64, "64"), (0.05, "0.05"), (99999.9, "10⁵"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert number(value) == text


def test_no_axis_and_no_legend_says_1e_05() -> None:
    rates = [1e5, 1e6, 1e7]
    data = pd.DataFrame(
        [(x, rate, x * rate) for x in rates for rate in rates],
        columns=["workload.arrival_rate_per_s", "rate_per_s", "events"],
    )
    canvas = lb.plot.curves(data, x="workload.arrival_rate_per_s", y="events", hue="rate_per_s")
    assert ticks(canvas) == ["10⁵", "10⁶", "10⁷"]
    named = [t.get_text() for legend in canvas.findobj(Legend) for t in legend.get_texts()]
    assert named == ["10⁵", "10⁶", "10⁷"]


def test_points_stand_side_by_side_at_their_words() -> None:
    canvas = lb.plot.curves(
        table(), x="transport.recovery", y="throughput_bps", hue="loss.probability"
    )
    axes = one_of(canvas)
    assert ticks(canvas) == list(RECOVERIES)
    assert axes.get_xlabel() == "Recovery"
    assert axes.get_xlim() == (-0.5, 2.5)
    first, second = [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) == 3]
    for line in (first, second):
        assert line.get_linestyle() == "None", "nothing is between two words"
        assert list(line.get_xdata()) == [0, 1, 2]  # type: ignore[arg-type]
    assert list(first.get_ydata()) == pytest.approx([100, 200, 300])  # type: ignore[arg-type]
    assert first.get_marker() != second.get_marker()
    # No point hides another, nor its interval.
    places = [line.get_transform().transform((0, 0))[0] for line in (first, second)]
    assert places[1] - places[0] > 8 * canvas.dpi / 72


def test_a_page_puts_points_side_by_side_at_their_words() -> None:
    rows = [
        (switch, "", place, 1.0 + place, 0.5, 9.0, 5) for switch in "abc" for place in (0.0, 1.0)
    ]
    figure = Figure(
        id="a", title="", caption="", x_label="Recovery", y_label="y", colours=tuple("abc"),
        dashes=("",), data=pd.DataFrame(rows, columns=list(COLUMNS)), x_log=False,
        places=("reno", "new reno, of a long name"),
    )  # fmt: skip
    chart = interactive.chart(figure)
    found = json.dumps(chart)
    assert r"[\"reno\"], [\"new reno, of a long name\"]][datum.value]" in found
    (points,) = chart["datasets"].values()
    at = {place: [p["x"] for p in points if p["place"] == place] for place in figure.places}
    for middle, across in enumerate(at.values()):
        assert np.mean(across) == pytest.approx(middle)
        assert min(np.diff(sorted(across))) > 0.1
        assert max(across) - min(across) < 0.7


def test_long_and_many_words_are_on_the_sheet() -> None:
    for words in ([f"a rather long name of variant {i}" for i in range(4)],
                  [f"variant number {i}" for i in range(14)]):  # fmt: skip
        data = pd.DataFrame({"variant": words, "throughput_bps": range(1, len(words) + 1)})
        for style in lb.plot.STYLES:
            canvas = lb.plot.curves(data, x="variant", y="throughput_bps", style=style)
            assert " ".join(ticks(canvas)).replace("\n", " ") == " ".join(words)
            boxes = [x.get_window_extent() for x in one_of(canvas).get_xticklabels()]
            assert min(box.y0 for box in boxes) >= 0
            assert min(box.x0 for box in boxes) >= -0.5


def test_what_needs_numbers_along_x_says_so() -> None:
    given: dict[str, Any] = {"x": "transport.recovery", "y": "throughput_bps"}
    with pytest.raises(InputError, match="x_log: given True; allowed: an axis of numbers"):
        lb.plot.curves(table(), **given, x_log=True)
    with pytest.raises(InputError, match="theory: given a function"):
        lb.plot.curves(table(), **given, theory=lambda x: x)


def test_a_sweep_is_drawn_along_variants_with_theory() -> None:
    base = lb.load("examples/obs.toml").with_({"workload.size": "200 kB"})
    found = lb.sweep(
        base,
        {"transport.recovery": ["reno", "sack"]},
        variants={"often": {"loss.probability": 0.03}, "seldom": {"loss.probability": 0.003}},
        metrics={"slow": "p99 of completion_time"},
        seeds=2,
        progress=False,
    )
    canvas = found.plot("variant", "throughput_bps", theory="yu2004")
    assert ticks(canvas) == ["often", "seldom"]
    pointed = [line for line in one_of(canvas).lines if len(np.atleast_1d(line.get_xdata())) == 2]
    assert len(pointed) == 4
    said = found.beside("yu2004").set_index(["variant", "transport.recovery"])["theory"]
    heights = [list(line.get_ydata()) for line in pointed if line.get_marker() == "X"]  # type: ignore[arg-type]
    expected = [[said[name, recovery] / 1e6 for name in ("often", "seldom")]
                for recovery in ("reno", "sack")]  # fmt: skip
    assert np.asarray(heights) == pytest.approx(np.asarray(expected))
    # A table with words only has them along x; a user's metric has its unit.
    axes = one_of(found.plot(y="slow"))
    assert axes.get_xlabel() == "Variant"
    assert axes.get_ylabel() == "Slow (s)"
