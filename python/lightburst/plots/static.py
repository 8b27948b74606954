"""Figures for print: PNG and SVG by matplotlib, with reproducible bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.figure import Bars, Figure, Maps, Packets
from lightburst.plots.charts import bars, curves, maps, packets
from lightburst.plots.layout import STYLES, Cell, Picture, page, rc
from lightburst.plots.sheet import settings, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightburst.papers.figure import AnyFigure
    from lightburst.plots.layout import StyleName

# Module per kind of figure: `size` returns the width of the sheet and the height of the axes in
# inches, `paint` draws.
_PAINTERS: Final[dict[type, Any]] = {Figure: curves, Maps: maps, Bars: bars, Packets: packets}


def draw(figures: Sequence[AnyFigure], style: StyleName = "screen") -> Picture:
    """Draw one figure, or several side by side.

    Parameters
    ----------
    figures : sequence of lightburst.papers.figure.AnyFigure
        Figures from left to right.
    style : {"screen", "one-column", "two-column"}
        Output medium, which sets the size.

    Returns
    -------
    Picture
        Matplotlib figure, ready to be saved or shown; matplotlib's global state is not changed.

    Raises
    ------
    ValueError
        If `figures` is empty.
    """
    if not figures:
        raise ValueError("no figure to draw")
    chosen = STYLES[style]
    with settings(rc(chosen)):
        sizes = [_PAINTERS[type(figure)].size(figure, chosen) for figure in figures]
        canvas, parts = page(len(figures), chosen, [width for width, _ in sizes])
        heights = []
        for figure, part, (width, height) in zip(figures, parts, sizes, strict=True):
            cell = Cell(part, chosen, width, height)
            words = _PAINTERS[type(figure)].paint(cell, figure)
            heights.append(cell.write(words))
        canvas.set_size_inches(sum(width for width, _ in sizes), max(heights))
    return canvas


def save(figure: AnyFigure, directory: Path) -> tuple[Path, Path]:
    """Write a figure as ``<id>.png`` and ``<id>.svg``.

    Parameters
    ----------
    figure : lightburst.papers.figure.AnyFigure
        Figure to draw.
    directory : Path
        Existing directory to write to.

    Returns
    -------
    tuple of Path
        Paths of the PNG and the SVG.

    Raises
    ------
    OSError
        If the directory cannot be written.
    """
    canvas = draw([figure])
    png = directory / f"{figure.id}.png"
    svg = directory / f"{figure.id}.svg"
    write(canvas, png)
    write(canvas, svg)
    return png, svg
