"""Figures for print: matplotlib, PNG and SVG, the same bytes for the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.figure import Bars, Figure, Maps, Packets
from lightburst.plots import bars, curves, maps, packets
from lightburst.plots.layout import STYLES, Cell, Picture, page, rc
from lightburst.plots.sheet import settings, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightburst.papers.figure import AnyFigure
    from lightburst.plots.layout import StyleName

# One module for each kind of figure: the width of its sheet and the height of its axes, in inches,
# and how it is painted.
_PAINTERS: Final[dict[type, Any]] = {Figure: curves, Maps: maps, Bars: bars, Packets: packets}


def draw(figures: Sequence[AnyFigure], style: StyleName = "screen") -> Picture:
    """Draw one figure, or several side by side.

    Parameters
    ----------
    figures : sequence of lightburst.papers.figure.AnyFigure
        Left to right.
    style : {"screen", "one-column", "two-column"}
        Where they are to be read.

    Returns
    -------
    Picture
        A figure of matplotlib, ready to be saved or shown; no global state of matplotlib is
        touched.

    Raises
    ------
    ValueError
        If there is nothing to draw.
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
        What to draw.
    directory : Path
        Where to write; it must exist.

    Returns
    -------
    tuple of Path
        The PNG and the SVG.

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
