"""Figures for print: matplotlib, PNG and SVG, the same bytes for the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from lightburst.papers.figure import Bars, Figure, Maps, Packets
from lightburst.plots import bars, curves, maps, packets
from lightburst.plots.sheet import RC, Sheet, foot, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightburst.papers.figure import AnyFigure

# One module for each kind of figure: its width and height without the caption, in inches, and how
# it is painted above the caption.
_PAINTERS: Final[dict[type, Any]] = {Figure: curves, Maps: maps, Bars: bars, Packets: packets}


def draw(figures: Sequence[AnyFigure]) -> Canvas:
    """Draw one figure, or several side by side.

    Parameters
    ----------
    figures : sequence of lightburst.papers.figure.AnyFigure
        Left to right.

    Returns
    -------
    matplotlib.figure.Figure
        Ready to be saved or shown; no global state of matplotlib is touched.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    if not figures:
        raise ValueError("no figure to draw")
    with rc_context(RC):
        sizes = [_PAINTERS[type(figure)].size(figure) for figure in figures]
        feet = [
            foot(figure.caption, width) for figure, (width, _) in zip(figures, sizes, strict=True)
        ]
        low = max(feet)
        canvas = Canvas(figsize=(sum(width for width, _ in sizes), low + max(h for _, h in sizes)))
        left = 0.0
        for figure, (width, height) in zip(figures, sizes, strict=True):
            sheet = Sheet(canvas, left, width, low + height)
            _PAINTERS[type(figure)].paint(sheet, figure, low)
            sheet.caption(figure.caption)
            left += width
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
