"""`lightburst.plot`: complete on the sheet, distinct without colour, with units, as steps."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.plots import axis, interactive, style
from lightburst.plots.charts import distributions
from lightburst.result.labels import column_words, unit_of

PORTS = (0, 1, 2, 4, 8, 16, 32)


def table(hues: tuple[int, ...] = PORTS) -> pd.DataFrame:
    rows = [
        (load, ports, mean, 0.9 * mean, 1.1 * mean, 10)
        for load in (0.1, 0.2, 0.4, 0.8)
        for ports in hues
        for mean in (4e10 * load * (ports + 1) / (ports + 2),)
    ]
    names = ("workload.load", "switching.buffer_ports", "throughput_bps", "ci_low", "ci_high", "n")
    return pd.DataFrame(rows, columns=list(names))


def drawn(**changes: Any) -> Canvas:
    given: dict[str, Any] = {"x": "workload.load", "y": "throughput_bps"}
    given["hue"] = "switching.buffer_ports"
    return lb.plot.curves(table(), **(given | changes))


def one_of(canvas: Canvas) -> Axes:
    (axes,) = canvas.axes
    return axes


def entries(canvas: Canvas) -> list[str]:
    return [t.get_text() for legend in canvas.findobj(Legend) for t in legend.get_texts()]


@pytest.mark.parametrize("style_name", lb.plot.STYLES)
@pytest.mark.parametrize("dash", [None, "kind"])
def test_all_hues_are_named_inside_the_sheet_and_nothing_lies_on_the_axes(
    style_name: str, dash: str | None
) -> None:
    rows = table().assign(kind=lambda t: np.where(t["workload.load"] < 0.3, "light", "heavy"))
    canvas = lb.plot.curves(
        rows,
        x="workload.load",
        y="throughput_bps",
        hue="switching.buffer_ports",
        dash=dash,
        theory=lambda load: 4e10 * load,
        style=style_name,
        title="A title that is rather long, so that it would not fit on a narrow sheet",
        caption="What was run. " * 20,
    )
    assert isinstance(canvas.get_layout_engine(), ConstrainedLayoutEngine)
    canvas.draw_without_rendering()
    wide, high = canvas.get_size_inches() * canvas.dpi
    inside = one_of(canvas).get_tightbbox()
    assert inside is not None
    legends = [legend.get_window_extent() for legend in canvas.findobj(Legend)]
    words = [
        text.get_window_extent()
        for text in canvas.findobj(Text, include_self=False)
        if text.get_text().startswith(("A title", "What was"))
    ]
    assert len(legends) == (1 if dash is None else 2)
    assert len(words) == 2
    for box in (*legends, *words, inside):
        assert box.x0 >= -0.5 and box.y0 >= -0.5
        assert box.x1 <= wide + 0.5 and box.y1 <= high + 0.5
    for one, other in itertools.combinations((inside, *legends, *words), 2):
        over = min(one.x1, other.x1) - max(one.x0, other.x0)
        up = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert over < 1 or up < 1, "two lie on each other"
    named = entries(canvas)
    assert [name for name in named if name in map(str, PORTS)] == [str(x) for x in PORTS]
    assert "theory" in named


def test_every_curve_looks_like_no_other_with_and_without_colour() -> None:
    lines = [line for line in one_of(drawn()).lines if len(np.atleast_1d(line.get_xdata())) == 4]
    assert len(lines) == len(PORTS)
    assert len({(to_rgb(line.get_color()), line.get_marker()) for line in lines}) == len(PORTS)
    assert len({line.get_marker() for line in lines}) == len(PORTS)
    sizes = [line.get_markersize() for line in lines]
    assert sizes == sorted(sizes, reverse=True), "what is drawn later hides nothing"


def test_two_factors_are_told_apart_without_colour() -> None:
    data = pd.DataFrame(
        [(c, d, x, x, x, x, 1) for c in "abc" for d in "uvw" for x in (1.0, 2.0)],
        columns=list(COLUMNS),
    )
    words: dict[str, Any] = {"id": "", "title": "", "caption": "", "x_label": "", "y_label": ""}
    figure = Figure(**words, colours=("a", "b", "c"), dashes=("u", "v", "w"), data=data,
                    published=("w",))  # fmt: skip
    looks = style.looks(figure)
    assert len({(x.marker, x.dash, x.fill) for (name, _), x in looks.items() if name}) == 9
    assert all(looks[c, "w"].dash is None for c in "abc"), "published: no line"
    theory = style.looks(Figure(**words, colours=("a", "b"), dashes=("u", "v"), data=data,
                                theory=("v",)))  # fmt: skip
    assert theory["a", "v"].marker is None
    assert theory["a", "v"].dash
    assert theory["a", "u"].marker is not None


def test_numbers_have_colours_from_dark_to_bright_and_names_do_not() -> None:
    def grey(colour: str) -> float:
        red, green, blue = to_rgb(colour)
        return 0.299 * red + 0.587 * green + 0.114 * blue

    ordered = [grey(colour) for colour in style.colours("abcdefg", ordered=True)]
    assert ordered == sorted(ordered)
    assert min(np.diff(ordered)) > 0.04
    assert ordered[-1] < 0.8, "seen on white paper"
    numbers = [to_rgb(line.get_color()) for line in one_of(drawn()).lines[: len(PORTS)]]
    assert numbers == [to_rgb(c) for c in style.colours([""] * len(PORTS), ordered=True)]
    named = table((1, 2)).assign(who=lambda t: t["switching.buffer_ports"].map({1: "b", 2: "a"}))
    canvas = lb.plot.curves(named, x="workload.load", y="throughput_bps", hue="who")
    assert {to_rgb(line.get_color()) for line in one_of(canvas).lines[:2]} == {
        to_rgb(style.BLUE), to_rgb(style.VERMILION),
    }  # fmt: skip
    assert entries(canvas) == ["b", "a"], "in the order of the rows"


def test_axes_have_units_with_prefixes_and_are_logarithmic_where_values_are_geometric() -> None:
    axes = one_of(drawn())
    assert axes.get_ylabel() == "Throughput (Gb/s)"
    assert axes.get_ylim()[1] == pytest.approx(4e10 * 0.8 * 1.1 / 1e9 * 33 / 34, rel=0.1)
    assert axes.get_xscale() == "log"
    canvas = axes.figure.figure
    canvas.draw_without_rendering()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.1", "0.2", "0.4", "0.8"]
    assert one_of(drawn(x_log=False)).get_xscale() == "linear"
    assert one_of(drawn(y_label="b/s")).get_ylim()[1] > 1e10, "as in the table"
    assert (column_words("topology.link_length_m"), unit_of("topology.link_length_m")) == (
        "link length", "m",
    )  # fmt: skip
    assert column_words("switching.ecn_threshold_bytes") == "ECN threshold"


def test_a_column_of_text_stands_for_the_numbers_beside_it() -> None:
    rows = pd.DataFrame(
        {
            "topology.link_length": ["10 m", "1 km", "100 m"],
            "topology.link_length_m": [10.0, 1000.0, 100.0],
            "mean": [3.0, 1.0, 2.0],
        }
    )
    axes = one_of(lb.plot.curves(rows, x="topology.link_length", y="mean"))
    assert axes.get_xlabel() == "Link length (m)"
    assert axes.get_xscale() == "log"
    canvas = lb.plot.curves(
        rows.assign(load=0.5), x="load", y="mean", hue="topology.link_length", style="one-column"
    )
    assert entries(canvas) == ["10 m", "100 m", "1 km"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 10, 100], True),
        ([1, 2, 4, 8], True),
        ([1e4, 3e4, 1e5, 3e5], True),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], False),
        ([0, 1, 10, 100], False),
        ([1, 2, 4], True),
        ([1, 2, 5], False),
        ([2, 5, 8], False),
        ([5, 5, 5], False),
    ],
)
def test_what_is_geometric(values: list[float], expected: bool) -> None:
    assert axis.is_geometric(values) is expected


def test_ticks_of_a_short_row_are_its_values() -> None:
    assert axis.ticks([1, 2, 4, 25, 50], logarithmic=True) == [1, 2, 4, 25, 50]
    assert axis.ticks([1, 10, 100, 1e4], logarithmic=True) == []
    assert axis.ticks([0.2, 0.4, 0.5, 0.9], logarithmic=False) == [0.2, 0.4, 0.5, 0.9]
    assert axis.ticks([0.2, 0.21, 0.9], logarithmic=False) == [], "two have no room"
    assert axis.ticks([0.123456, 0.5], logarithmic=False) == [], "no tick says less than its value"
    assert axis.ticks(range(10), logarithmic=False) == []
    assert [axis.power(x) for x in (1e-3, 10**-1.5, 1e5, 0.999999999e-3)] == [
        "10⁻³", "3.2·10⁻²", "10⁵", "10⁻³",
    ]  # fmt: skip


def test_intervals_are_bars_or_bands_or_nothing() -> None:
    assert len(one_of(drawn()).collections) == len(PORTS)
    segments = one_of(drawn()).collections[0].get_segments()  # type: ignore[attr-defined]
    low, high = segments[0][:, 1]
    assert (low, high) == pytest.approx((0.9 * 4 * 0.5, 1.1 * 4 * 0.5))
    bands = one_of(drawn(intervals="bands"))
    assert sum(type(c).__name__.startswith("FillBetween") for c in bands.collections) == len(PORTS)
    assert len(one_of(drawn(intervals="none")).collections) == 0
    assert not one_of(drawn(ci=None)).collections[0].get_segments()  # type: ignore[attr-defined]


def test_theory_is_a_function_a_table_or_several_of_them() -> None:
    own = table((1,))
    closed = own.rename(columns={"n": "of"})[["workload.load", "throughput_bps"]]
    named = {"bound": lambda load: 4e10 * load, "table": closed}
    axes = one_of(lb.plot.curves(own, x="workload.load", y="throughput_bps", theory=named))
    lines = {len(line.get_xdata()): line for line in axes.lines}  # type: ignore[arg-type]
    assert lines[101].get_ydata()[-1] == pytest.approx(32.0)  # type: ignore[index]
    assert [line.get_marker() for line in axes.lines].count("none") == 2
    assert entries(axes.figure.figure) == ["simulation", "bound", "table"]


def test_a_distribution_is_made_of_steps() -> None:
    x, share, number = distributions.steps([3.0, 1.0, 1.0, math.nan, math.inf])
    assert (x.tolist(), share.tolist(), number) == ([1.0, 3.0], [0.5, 0.75], 4)
    flows = pd.DataFrame({"completion_time_s": [1e-3, 2e-3, 4e-3, math.inf], "group": list("aabb")})
    canvas = lb.plot.distribution(flows, "completion_time_s")
    (line,) = one_of(canvas).lines
    assert line.get_drawstyle() == "steps-post"
    assert one_of(canvas).get_xlabel() == "Completion time (ms)"
    assert np.asarray(line.get_xydata()).tolist() == [[1, 0], [1, 0.25], [2, 0.5], [4, 0.75]]
    both = lb.plot.distribution(flows, "completion_time_s", hue="group", complementary=True)
    assert one_of(both).get_yscale() == "log"
    assert entries(both) == ["a", "b"]
    assert np.asarray(one_of(both).lines[0].get_ydata()).tolist() == [1.0, 0.5]


def test_many_samples_are_thinned_and_stay_exact() -> None:
    x, share, _ = distributions.steps(np.arange(100_000))
    assert x.size == share.size == 2000
    np.testing.assert_allclose(share, (x + 1) / 1e5)


def test_a_page_draws_the_same_steps() -> None:
    figure = distributions.figure_of({"": [1.0, 2.0]}, "completion_time_s")
    text = str(interactive.chart(figure))
    assert "step-after" in text


def test_text_is_text_in_vector_files(tmp_path: Path) -> None:
    canvas = drawn(style="one-column", title="Held & found", caption="Ten seeds.")
    canvas.savefig(tmp_path / "a.svg")
    canvas.savefig(tmp_path / "a.pdf")
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert len(re.findall(r"<text", svg)) > 10
    assert "Throughput (Gb/s)" in svg
    assert "Held &amp; found" in svg
    assert (
        b"/TrueType" in (tmp_path / "a.pdf").read_bytes()
        or b"/CIDFontType2" in (tmp_path / "a.pdf").read_bytes()
    )
    assert canvas._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_it_draws_into_axes_that_are_given() -> None:
    canvas = Canvas(layout="constrained")
    left, right = canvas.subplots(1, 2)
    assert drawn(ax=left) is canvas
    assert lb.plot.distribution([1.0, 2.0, 50.0], "slowdown", ax=right) is canvas
    assert len(left.get_legend().get_texts()) == len(PORTS)
    assert right.get_legend() is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": "workload.laod"}, "x: given 'workload.laod', allowed: a column of the table with "
         "numbers (did you mean 'workload.load'?)"),
        ({"hue": "ports"}, "hue: given 'ports'"),
        ({"ci": ("low", "high")}, "ci: given 'low'"),
        ({"ci": "low"}, "ci: given 'low', allowed: two names of columns"),
        ({"style": "poster"}, "style: given 'poster', allowed: one of screen, one-column"),
        ({"intervals": "band"}, "(did you mean 'bands'?)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        drawn(**changes)
    assert message in str(error.value).replace(";", ",")


def test_nothing_to_draw_is_named() -> None:
    with pytest.raises(InputError, match="table"):
        lb.plot.curves(table().iloc[:0], x="workload.load", y="throughput_bps")
    with pytest.raises(InputError, match="samples"):
        lb.plot.distribution([math.nan])
    with pytest.raises(InputError, match="column"):
        lb.plot.distribution(table(), "throughput")
    numbers = ", ".join(map(str, table().select_dtypes("number").columns))
    with pytest.raises(InputError, match=rf"^column: given nothing; allowed: .*: {numbers}$"):
        lb.plot.distribution(table())
    assert dir(lb.plot) == [
        *("STYLES", "around", "curves", "distribution", "flow", "network", "over_time")
    ]
