"""Figures: complete, readable without colour, and the same bytes for the same data."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.text import Text

import lightburst as lb
from lightburst.papers import PAPERS
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.papers.minakhmetov2018 import design
from lightburst.plots import interactive, static, style
from lightburst.scenario.tables.topology import FatTree

PAPER = PAPERS["minakhmetov2018"]


def small(**changes: object) -> Figure:
    rows = [
        (colour, dash, x, y, 0.9 * y, 1.1 * y, 10)
        for colour, height in (("all-optical", 1.0), ("hybrid, ne = 2", 2.0))
        for dash, factor in (("p = 4", 1.0), ("p = 0 (SAW)", 0.5))
        for x, y in ((1e4, height * factor), (1e6, 3 * height * factor), (1e9, height))
    ]
    given = {
        "id": "small",
        "title": "Throughput",
        "caption": "Ten seeds of nothing, and a caption that is long enough to need a second line "
        "below the figure, whatever the width of the panel may be.",
        "x_label": "Arrival rate (requests/s)",
        "y_label": "Throughput (Gb/s)",
        "colours": ("all-optical", "hybrid, ne = 2"),
        "dashes": ("p = 4", "p = 0 (SAW)"),
        "data": pd.DataFrame(rows, columns=list(COLUMNS)),
        "reference": ((1.5, "claimed"),),
    }
    return Figure(**(given | changes))  # type: ignore[arg-type]


def made_up_runs(parts: tuple[str, ...]) -> pd.DataFrame:
    """One made-up row for each run that the parts plan, in the shape of the real ones."""
    rows = []
    for block in PAPER.blocks(parts, True):
        for label in block.labels.to_dict("records"):
            for seed in list(block.study.seeds)[:3]:
                speed = np.random.default_rng(seed).normal(50, 5) * (1 + label["buffer_ports"])
                rows.append(
                    {str(key): value for key, value in label.items()}
                    | {
                        "seed": seed,
                        "throughput_bps": speed * 1e9,
                        "completion_time_median_s": 1e-4,
                        "completion_time_p99_s": 1e-3,
                        "conversions_per_delivered_bit": 0.5 + label["buffer_ports"],
                    }
                )
    return pd.DataFrame(rows)


def test_the_same_figure_gives_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first = static.save(small(), tmp_path)
    second = static.save(small(), tmp_path / "again")
    assert [path.name for path in first] == ["small.png", "small.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert b"<dc:date>" not in first[1].read_bytes()


def words_on(canvas: Canvas) -> list[str]:
    """Return the text outside the axes, line breaks as blanks."""
    texts = canvas.findobj(Text, include_self=False)
    return [text.get_text().replace("\n", " ").replace("\u00a0", " ") for text in texts]


def legends_of(canvas: Canvas) -> list[list[str]]:
    return [[text.get_text() for text in one.get_texts()] for one in canvas.findobj(Legend)]


def test_a_figure_has_axes_with_units_a_legend_a_caption_and_intervals() -> None:
    canvas = static.draw([small()])
    (axes,) = canvas.axes
    assert axes.get_xlabel() == "Arrival rate (requests/s)"
    assert axes.get_ylabel() == "Throughput (Gb/s)"
    assert axes.get_xscale() == "log"
    assert axes.get_ylim()[0] == 0
    assert len(axes.collections) == 4, "bars for each curve"
    assert {frozenset(names) for names in legends_of(canvas)} == {
        frozenset({"all-optical", "hybrid, ne = 2"}),
        frozenset({"p = 4", "p = 0 (SAW)", "claimed"}),
    }
    assert small().caption in words_on(canvas)
    assert small().title in words_on(canvas)


def test_several_figures_stand_side_by_side() -> None:
    canvas = static.draw([small(), small(id="other", x_log=False)])
    assert [axes.get_xscale() for axes in canvas.axes] == ["log", "linear"]
    with pytest.raises(ValueError, match="no figure"):
        static.draw([])


def test_a_logarithmic_height_is_drawn_as_one() -> None:
    (axes,) = static.draw([small(y_log=True)]).axes
    assert axes.get_yscale() == "log"


def test_curves_differ_without_their_colour() -> None:
    looks = style.looks(small())
    seen = {(look.marker, look.dash, look.fill) for look in looks.values()}
    assert len(seen) == 4
    (axes,) = static.draw([small()]).axes
    curves = [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) == 3]
    drawn = {(line.get_linestyle(), line.get_marker()) for line in curves}
    assert len(drawn) == 4


def test_a_switch_and_a_sender_look_the_same_in_every_figure() -> None:
    alone = style.colours(("hybrid, ne = 5",))
    among = style.colours(("all-optical", "hybrid, ne = 2", "hybrid, ne = 5", "electronic"))
    assert alone[0] == among[2]
    assert len(set(among)) == 4
    assert len(set(style.colours(("1e6", "1e7", "1e8")))) == 3
    assert style.dashes(("p = 4", "p = 0 (SAW)")) == (0, 2)
    assert style.dashes(("a", "b", "c", "d")) == (0, 1, 2, 3)
    assert style.markers(("hybrid, ne = 5",)) == style.markers(("electronic", "hybrid, ne = 5"))[1:]


def test_a_chart_needs_nothing_from_outside() -> None:
    specification = interactive.chart(small())
    text = json.dumps(specification, allow_nan=False)
    assert "http" not in text
    assert specification["width"] == "container"
    assert text.count('"mark"') == 4, "bars, lines, points and the reference"
    assert [key.words for key in interactive.legend(small())] == [
        "all-optical", "hybrid, ne = 2", "p = 4", "p = 0 (SAW)", "claimed",
    ]  # fmt: skip


def test_a_logarithmic_axis_of_a_chart_has_the_words_of_pictures() -> None:
    # Too many points to be ticks themselves, from 0.001 to 10^6.
    rows = [small().data.assign(x=x) for x in np.geomspace(1e-3, 1e6, 40)]
    at = interactive.chart(small(data=pd.concat(rows)))["layer"][0]["encoding"]["x"]["axis"]
    assert [f"{value:.0e}" for value in at["values"][:2]] == ["1e-03", "1e-02"]
    words, _, place = at["labelExpr"].rpartition("[round")
    assert ast.literal_eval(words) == [
        "10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶",
    ]  # fmt: skip
    assert place == "(log(datum.value) / LN10) - (-3)]"


@pytest.mark.parametrize("part", list(PAPER.parts))
def test_every_part_of_the_paper_has_figures_with_data(part: str, tmp_path: Path) -> None:
    figures = PAPER.outcome((part,), made_up_runs((part,)), "0.1.0").figures
    assert figures
    assert len({figure.id for figure in figures}) == len(figures)
    for figure in figures:
        assert isinstance(figure, Figure)
        assert len(figure.data) > 0, figure.id
        assert set(figure.data["colour"]) - {""} == set(figure.colours), figure.id
        assert set(figure.data["dash"]) == set(figure.dashes), figure.id
        assert "10 seeds" in figure.caption or "3 seeds" in figure.caption
        assert "0.1.0" in figure.caption
        interactive.chart(figure)
    static.save(figures[0], tmp_path)


@pytest.mark.parametrize("part", list(PAPER.parts))
def test_every_claim_belongs_to_a_figure_of_its_part(part: str) -> None:
    figures, claims, _ = PAPER.outcome((part,), made_up_runs((part,)), "0.1.0")
    names = {figure.id for figure in figures}
    assert claims
    assert {claim.figure for claim in claims} <= names
    assert len({claim.id for claim in claims}) == len(claims)


@pytest.mark.parametrize("quick", [True, False])
def test_the_plan_says_what_its_labels_say(quick: bool) -> None:
    blocks = PAPER.blocks(tuple(PAPER.parts), quick)
    for block in blocks:
        assert len(block.study.points) == len(block.labels)
        assert not block.labels.duplicated().any()
        for place in range(0, len(block.labels), 7):
            label, planned = block.labels.iloc[place], block.study.runs[place]
            values = planned.scenario.to_dict()
            topology = planned.scenario.topology
            assert isinstance(topology, FatTree)
            assert topology.link_length == label["link_length_m"]
            assert values["switching"]["kind"] == label["switch"]
            assert values["switching"].get("buffer_ports", 0) == label["buffer_ports"]
            assert values["transport"]["p"] == label["p"]
            rate = planned.scenario.to_dict()["workload"]["arrival_rate"]
            assert float(rate.removesuffix(" /s")) == label["arrival_rate_per_s"]


def test_the_full_plan_is_that_of_the_paper() -> None:
    short, long = PAPER.blocks(PAPER.default, False)
    assert len(short.study.seeds) == 100
    assert len(long.study.seeds) == 10
    labels = short.labels
    figure = labels[(labels["link_length_m"] == 10) & (labels["p"] <= 4)]
    assert sorted(figure["buffer_ports"].unique()) == [0, 2, 5]
    assert sorted(figure["p"].unique()) == [0, 1, 4]
    rates = np.sort(figure["arrival_rate_per_s"].unique())
    assert rates[0] == 1e4
    assert rates[-1] == 1e9
    assert all(np.diff(np.log10(rates)) < 0.55), "two points a decade"
    assert len(figure) == 9 * len(rates)
    assert set(long.labels["link_length_m"]) == {1000, 10000}
    assert design.base().workload.flows == 1024  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([1, 2], ["1", "2"]),
        ([0, 1, 2, 5], ["0", "1", "2", "5"]),
        ([0.5, 1.0], ["0.5", "1"]),
        (list(range(12)), ["0", "2", "4", "6", "8", "10"]),
    ],
)
def test_between_one_port_and_two_there_is_no_tick(values: list[float], written: list[str]) -> None:
    data = pd.DataFrame({"ports": values, "y": range(len(values))})
    canvas = lb.plot.curves(data, x="ports", y="y")
    canvas.draw_without_rendering()
    axes = canvas.axes[0]
    low, high = axes.get_xlim()
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    assert [label.get_text() for at, label in ticks if low <= at <= high] == written
