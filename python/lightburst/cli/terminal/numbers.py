"""Data of a figure, as tables for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeVar

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from lightburst.papers.figure import Bars, Figure, Maps, Packets, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions, RenderResult

    from lightburst.papers.figure import AnyFigure, Listing


T = TypeVar("T")

_MOST_COLUMNS: Final = 13


def numbers(figure: AnyFigure) -> Iterator[Table]:
    """Convert a figure to tables.

    Parameters
    ----------
    figure : AnyFigure
        Figure to convert.

    Yields
    ------
    rich.table.Table
        For curves one table, with a row per curve and a column per x, thinned evenly if there are
        many; for maps one table each; for bars a column per group; for packets their numbers.
    """
    match figure:
        case Figure():
            yield _curves(figure)
        case Maps():
            for panel in figure.panels:
                yield _map(figure, panel.name, panel.label)
        case Bars():
            yield _bars(figure)
        case Packets():
            yield _packets(figure)


def rows_of(listing: Listing) -> Table:
    """Convert a listing to a table, limited to the rows that a page shows.

    Parameters
    ----------
    listing : Listing
        Listing to convert.

    Returns
    -------
    rich.table.Table
        Table with numbers aligned to the right.
    """
    table = Plain(listing.title)
    for name in listing.data.columns:
        number = listing.data[name].dtype.kind in "if"
        table.add_column(str(name), justify="right" if number else "left")
    for row in listing.data.head(listing.shown).itertuples(index=False):
        table.add_row(*(_height(x) if isinstance(x, float) else str(x) for x in row))
    return table


class Plain(Table):
    """A table without lines, below a title that may be wider than the table.

    Parameters
    ----------
    heading : str
        Title, printed verbatim: markup is not interpreted.
    """

    def __init__(self, heading: str) -> None:
        super().__init__(box=SIMPLE, pad_edge=False, collapse_padding=True)
        self.heading = heading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.heading, style="bold")
        yield from super().__rich_console__(console, options)


def _curves(figure: Figure) -> Table:
    table = Plain(f"{figure.title}: {figure.y_label}")
    table.add_column(figure.x_label, no_wrap=True)
    steps = _thinned(sorted(figure.data["x"].unique()))
    for x in steps:
        table.add_column(_place(x, figure.x_log), justify="right", no_wrap=True)
    for (colour, dash), curve in figure.data.groupby(["colour", "dash"], sort=False):
        name = f"{colour}, {dash}" if len(figure.dashes) > 1 else str(colour)
        heights = dict(zip(curve["x"], curve["y"], strict=True))
        table.add_row(name, *(_height(heights.get(x)) for x in steps))
    return table


def _map(figure: Maps, name: str, label: str) -> Table:
    table = Plain(f"{figure.title}, {name}: {label}")
    data = figure.data[figure.data["panel"] == name]
    words = "words" in data
    written = data["words"].str.replace("\n", " ") if words else data["value"].map(_height)
    fields = dict(zip(zip(data["x"], data["y"], strict=True), written, strict=True))
    table.add_column(f"{figure.y_label}; {figure.x_label}", no_wrap=True)
    across, up = places(data)
    steps = _thinned(across)
    for x in steps:
        table.add_column(_place(x, figure.x_log), justify="right", no_wrap=True)
    for y in reversed(up):
        row = (str(fields.get((x, y), _height(None))) for x in steps)
        table.add_row(_place(y, figure.y_log), *row)
    return table


def _bars(figure: Bars) -> Table:
    table = Plain(f"{figure.title}: {figure.y_label}")
    table.add_column(figure.x_label, no_wrap=True)
    for name in figure.groups:
        table.add_column(name, justify="right", no_wrap=True)
    for bar in figure.bars:
        rows = figure.data[figure.data["bar"] == bar].set_index("group")
        # The label of the first bar is its height.
        pairs = ((_height(rows["top"].get(n)), rows["words"].get(n, "")) for n in figure.groups)
        cells = [" ".join(dict.fromkeys(pair)).strip() for pair in pairs]
        table.add_row(bar.replace("\n", " "), *cells)
    return table


def _packets(figure: Packets) -> Table:
    table = Plain(f"{figure.title}: packets")
    table.add_column("")
    for kind in figure.kinds:
        table.add_column(kind, justify="right", no_wrap=True)
    for panel in figure.panels:
        rows = figure.data[figure.data["panel"] == panel]
        table.add_row(panel, *(str(int((rows["kind"] == kind).sum())) for kind in figure.kinds))
    return table


def _thinned(steps: list[T]) -> list[T]:
    """Drop columns evenly until the rest fits a terminal."""
    return steps[:: 1 + (len(steps) - 1) // _MOST_COLUMNS]


def _place(x: float | str, logarithmic: bool) -> str:
    if isinstance(x, str):
        return x
    if not logarithmic:
        return f"{x:g}"
    short = f"{x:.0e}"
    if not math.isclose(float(short), x, rel_tol=1e-6):
        short = f"{x:.1e}"
    return short.replace("e+0", "e").replace("e-0", "e-")


def _height(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
