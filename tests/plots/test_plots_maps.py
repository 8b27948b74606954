"""Maps, steps and packets: drawn whole, readable, the same bytes for the same data."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from rich.console import Console

from lightburst.cli.terminal.numbers import numbers, rows_of
from lightburst.papers.figure import (
    BAR_COLUMNS,
    COLUMNS,
    MAP_COLUMNS,
    PACKET_COLUMNS,
    AnyFigure,
    Bars,
    Figure,
    Listing,
    Maps,
    Packets,
    Panel,
)
from lightburst.plots import interactive, static, style

CAPTION = "Made up, and long enough to need more than one line below a figure of that width. " * 3


def maps() -> Maps:
    rows: list[tuple[str, float, float, float]] = [
        (panel, 10.0**x, 10.0**y, factor * (x + 7) * (y + 5))
        for panel, factor in (("simulation", 1.0), ("theory", 2.0))
        for x in range(-6, 0)
        for y in (-3, -2, -1)
    ]
    rows += [("difference", 10.0**x, 1e-2, float(x + 4)) for x in range(-6, -1)]
    return Maps(
        "maps", "Three maps", CAPTION, "Time (s)", "Loss",
        (
            Panel("simulation", "segments/s", scale="same"),
            Panel("theory", "segments/s", scale="same"),
            Panel("difference", "log2", centre=0.0),
        ),
        pd.DataFrame(rows, columns=list(MAP_COLUMNS)),
    )  # fmt: skip


def choices() -> Maps:
    rows = [
        ("", place, row, gain, words)
        for row in ("HighSpeed", "FAST")
        for place, gain, words in (("p = 0", 4.0, "SO\n4.00"), ("p = 0.01", 1.0, "none"))
    ]
    return Maps(
        "choices", "What is best", CAPTION, "Loss", "Law", (Panel("", "Gain"),),
        pd.DataFrame(rows, columns=[*MAP_COLUMNS, "words"]),
    )  # fmt: skip


def bars() -> Bars:
    rows = [
        ("one", "ours", 0.0, 10.0, math.nan, math.nan, "10"),
        ("two", "ours", 10.0, 4.0, 3.5, 4.5, "/ 2.5"),
        ("one", "theirs", 0.0, 10.0, math.nan, math.nan, "10"),
        ("two", "theirs", 10.0, 10.0, math.nan, math.nan, "/ 1"),
    ]
    data = pd.DataFrame(rows, columns=list(BAR_COLUMNS))
    names = ("one", "two"), ("ours", "theirs")
    return Bars("bars", "Two steps", CAPTION, "Step", "Throughput", *names, data)


def packets() -> Packets:
    rows = [
        (panel, kind, 0.1 * i, i % 60)
        for panel in ("SACK", "Reno")
        for i, kind in enumerate(["sent"] * 70 + ["lost", "sent again"])
    ]
    data = pd.DataFrame(rows, columns=list(PACKET_COLUMNS))
    return Packets(
        "packets", "Packets", CAPTION, "Time (s)", "Packet mod 60", ("SACK", "Reno"),
        ("sent", "sent again", "lost"), data, (("Reno", 3.0, "timeout"),),
    )  # fmt: skip


KINDS = (maps(), choices(), bars(), packets())


@pytest.mark.parametrize("figure", KINDS, ids=lambda figure: figure.id)
def test_the_same_figure_gives_the_same_files(figure: AnyFigure, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, second = static.save(figure, tmp_path), static.save(figure, tmp_path / "again")
    assert [path.name for path in first] == [f"{figure.id}.png", f"{figure.id}.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("figure", KINDS, ids=lambda figure: figure.id)
def test_no_word_is_clipped(figure: AnyFigure) -> None:
    canvas = static.draw([figure])
    canvas.draw_without_rendering()
    drawn, (width, height) = canvas.get_tightbbox(), canvas.get_size_inches()
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > 0


def test_dense_dots_are_one_picture_in_an_svg(tmp_path: Path) -> None:
    figure = packets()
    data = pd.concat([figure.data] * 100)
    few, many = (
        static.save(replace(figure, id=name, data=rows), tmp_path)[1].read_text("utf-8")
        for name, rows in (("few", figure.data), ("many", data))
    )
    assert ("<image" in few, "<image" in many) == (False, True)
    assert few.count("<use") - 70 * 2 < many.count("<use") < 2000  # 14,000 are sent


@pytest.mark.parametrize("figure", KINDS, ids=lambda figure: figure.id)
def test_a_chart_needs_nothing_from_outside(figure: AnyFigure) -> None:
    text = json.dumps(interactive.chart(figure), allow_nan=False)
    assert "http" not in text


@pytest.mark.parametrize("figure", KINDS, ids=lambda figure: figure.id)
def test_title_and_caption_are_on_the_sheet(figure: AnyFigure) -> None:
    canvas = static.draw([figure])
    texts = canvas.findobj(Text, include_self=False)
    words = [re.sub(r"[\n\u00a0]", " ", text.get_text()) for text in texts]
    assert figure.title in words
    assert figure.caption.strip() in [text.strip() for text in words]


def test_figures_of_different_kinds_stand_side_by_side() -> None:
    alone = [static.draw([figure]).get_figwidth() for figure in KINDS]
    assert static.draw(KINDS).get_figwidth() == pytest.approx(sum(alone))


def test_maps_that_are_compared_share_their_colours_and_a_difference_has_a_middle() -> None:
    canvas = static.draw([maps()])
    ours, theirs, difference = (
        axes.collections[0] for axes in canvas.axes if axes.get_xlabel() == "Time (s)"
    )
    assert ours.get_clim() == theirs.get_clim() == (0.0, 2 * 6 * 4)
    low, high = difference.get_clim()
    assert low == -high
    # Fields without a run are not painted.
    assert difference.get_array().mask.sum() == 0  # type: ignore[union-attr]
    assert ours.get_array().size == 18  # type: ignore[union-attr]


def test_colours_begin_at_zero_unless_the_number_is_written() -> None:
    written = choices()
    plain = replace(written, data=written.data.drop(columns="words"))
    for figure, ends in ((plain, (0.0, 4.0)), (written, (1.0, 4.0))):
        colour = interactive.chart(figure)["vconcat"][0]["encoding"]["color"]
        assert tuple(colour["scale"]["domain"]) == ends


def test_a_field_without_a_value_stays_empty() -> None:
    figure = maps()
    place = figure.data.query("panel == 'theory' and x == 1e-6 and y == 0.01").index
    figure.data.loc[place, "value"] = math.nan
    canvas = static.draw([figure])
    theirs = next(axes for axes in canvas.axes if axes.get_title(loc="left") == "theory")
    assert theirs.collections[0].get_array().mask.sum() == 1  # type: ignore[union-attr]
    assert "NaN" not in json.dumps(interactive.chart(figure))


def test_words_stand_in_their_fields_and_places_in_the_order_in_which_they_come() -> None:
    canvas = static.draw([choices()])
    axes = canvas.axes[0]
    written = {text.get_text(): (text.get_position(), text.get_color()) for text in axes.texts}
    assert len(axes.texts) == 4
    assert written["SO\n4.00"] == ((0, 0), "black"), "FAST is the lower row, and 4 is bright"
    assert written["none"] == ((1, 0), "white")
    names = [[tick.get_text() for tick in ticks()]
             for ticks in (axes.get_xticklabels, axes.get_yticklabels)]  # fmt: skip
    assert names == [["p = 0", "p = 0.01"], ["FAST", "HighSpeed"]]
    assert "SO 4.00" in printed(*numbers(choices())).replace("\n", " ")


def test_steps_begin_where_they_are_told_to() -> None:
    (axes,) = static.draw([bars()]).axes
    boxes = [(patch.get_y(), patch.get_height()) for patch in axes.patches]  # type: ignore[attr-defined]
    assert boxes == [(0.0, 10.0), (10.0, -6.0), (0.0, 10.0), (10.0, 0.0)]
    assert axes.get_ylim()[1] > 10.5, "room for the words"
    assert len(axes.collections) == 1, "one interval is known"
    colours = [to_rgb(patch.get_facecolor()) for patch in axes.patches]
    assert colours[0] == to_rgb(style.colours(("ours", "theirs"))[0])
    assert [key.words for key in interactive.legend(bars())] == ["ours", "theirs"]


def test_packets_have_one_diagram_for_each_panel_and_a_mark_in_its_own() -> None:
    canvas = static.draw([packets()])
    above, below = canvas.axes
    assert (above.get_title(loc="left"), below.get_title(loc="left")) == ("SACK", "Reno")
    assert below.get_xlim() == above.get_xlim()
    begin, end = above.get_xlim()
    assert begin < 0.0, "room for the first dot"
    assert end > 7.1, "and for the last"
    dots = [len(line.get_xdata()) for line in above.lines]  # type: ignore[arg-type]
    assert dots == [70, 1, 1]
    assert len(below.lines) == len(above.lines) + 1, "the timeout"


def test_diagrams_that_are_to_be_compared_have_the_same_height() -> None:
    figure = replace(packets(), marks=(), data=packets().data.query("kind == 'sent'"))
    higher = figure.data.assign(
        packet=figure.data["packet"] * (1 + (figure.data["panel"] == "Reno"))
    )
    for alike in (True, False):
        compared = replace(figure, data=higher, alike=alike)
        below, above = static.draw([compared]).axes
        assert (below.get_ylim() == above.get_ylim()) is alike
        shared = interactive.chart(compared)["resolve"]["scale"]
        assert shared.get("y") == ("shared" if alike else None)


def printed(*tables: object) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        for table in tables:
            console.print(table)
    return capture.get()


def test_the_numbers_of_each_kind_are_printed() -> None:
    text = printed(*numbers(maps()))
    assert text.count("Three maps") == 3
    assert "48" in text, "the largest of the theory"
    text = printed(*numbers(bars()))
    assert "4 / 2.5" in text
    text = printed(*numbers(packets()))
    assert "70" in text


def test_a_long_curve_is_thinned_for_the_terminal() -> None:
    rows = [("a", "b", float(x), 1.0, 1.0, 1.0, 1) for x in range(1, 97)]
    figure = Figure(
        "long", "Long", "", "x", "y", ("a",), ("b",), pd.DataFrame(rows, columns=list(COLUMNS)),
        x_log=False,
    )  # fmt: skip
    (table,) = numbers(figure)
    assert 8 <= len(table.columns) <= 15
    assert table.columns[1].header == "1"


def test_a_table_shows_its_first_rows() -> None:
    data = pd.DataFrame({"name": ["x", "y", "z"], "score": [0.123456, 2.0, 3.0]})
    text = printed(rows_of(Listing("t", "A table", "Words.", data, shown=2)))
    assert "A table" in text
    assert "0.123" in text
    assert "z" not in text
