"""Figures for print: matplotlib, PNG and SVG, the same bytes for the same data."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from lightburst.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from lightburst.papers.figure import Figure

_PANEL_WIDTH: Final = 6.4  # inches
_PANEL_HEIGHT: Final = 4.3
_CAPTION_WIDTH: Final = 98  # characters a panel at the size of the caption
_CAPTION_LINE: Final = 0.165  # inches
_LEGEND_HEIGHT: Final = 0.5

_RC: Final[dict[Any, Any]] = {
    "svg.hashsalt": "lightburst",  # otherwise the ids in the SVG differ from run to run
    "font.size": 10,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "savefig.facecolor": "white",
}


def draw(figures: Sequence[Figure]) -> Canvas:
    """Draw one figure, or several side by side under one legend each.

    Parameters
    ----------
    figures : sequence of lightburst.papers.figure.Figure
        One panel for each, left to right.

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
    with rc_context(_RC):
        lines = max(len(_wrapped(figure)) for figure in figures)
        foot = 0.2 + _CAPTION_LINE * lines
        height = _PANEL_HEIGHT + _LEGEND_HEIGHT + foot
        canvas = Canvas(figsize=(_PANEL_WIDTH * len(figures), height))
        for index, figure in enumerate(figures):
            left = index * _PANEL_WIDTH
            width = _PANEL_WIDTH * len(figures)
            axes = canvas.add_axes(
                (
                    (left + 0.75) / width,
                    (foot + _LEGEND_HEIGHT + 0.5) / height,
                    (_PANEL_WIDTH - 1.0) / width,
                    (_PANEL_HEIGHT - 0.9) / height,
                )
            )
            _curves(axes, figure)
            _legends(canvas, figure, (left + 0.75) / width, (foot + 0.1) / height, 0.22 / height)
            canvas.text(
                (left + 0.15) / width,
                (foot - 0.08) / height,
                "\n".join(_wrapped(figure)),
                va="top",
                fontsize=8,
                color="#444444",
            )
    return canvas


def save(figure: Figure, directory: Path) -> tuple[Path, Path]:
    """Write a figure as ``<id>.png`` and ``<id>.svg``.

    Parameters
    ----------
    figure : lightburst.papers.figure.Figure
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
    with rc_context(_RC):
        canvas.savefig(png, dpi=160, metadata={"Software": None})
        canvas.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg


def _wrapped(figure: Figure) -> list[str]:
    return textwrap.wrap(figure.caption, _CAPTION_WIDTH)


def _curves(axes: Axes, figure: Figure) -> None:
    colour_of = dict(zip(figure.colours, style.colours(figure.colours), strict=True))
    shape_of = dict(zip(figure.dashes, style.shapes(figure.dashes), strict=True))
    for (colour, dash), curve in figure.data.groupby(["colour", "dash"], sort=False):
        points = curve.sort_values("x")
        shape = shape_of[str(dash)]
        pattern = style.DASHES[shape]
        axes.plot(
            points["x"],
            points["y"],
            color=colour_of[str(colour)],
            linestyle=(0, pattern) if pattern else "-",
            marker=style.MARKERS[shape],
        )
        axes.fill_between(
            points["x"],
            points["low"],
            points["high"],
            color=colour_of[str(colour)],
            alpha=0.15,
            linewidth=0,
        )
    for height, words in figure.reference:
        axes.axhline(height, color=style.GREY, linewidth=1.0)
        axes.annotate(
            words,
            (0.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=8,
            color="#555555",
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5},
        )
    if figure.x_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(LogLocator(subs="all", numticks=99))
        axes.xaxis.set_minor_formatter(NullFormatter())
    if figure.y_log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_title(figure.title, fontsize=11, loc="left")


def _legends(canvas: Canvas, figure: Figure, left: float, bottom: float, row: float) -> None:
    # Two rows, one for each question that a reader asks: which switch, and which sender.
    colours = [
        Line2D([], [], color=colour, linewidth=3, label=name)
        for name, colour in zip(figure.colours, style.colours(figure.colours), strict=True)
    ]
    dashes = [
        Line2D(
            [],
            [],
            color="#555555",
            linestyle=(0, style.DASHES[shape]) if style.DASHES[shape] else "-",
            marker=style.MARKERS[shape],
            label=name,
        )
        for shape, name in zip(style.shapes(figure.dashes), figure.dashes, strict=True)
    ]
    for handles, height in ((colours, bottom + row), (dashes, bottom)):
        canvas.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(left, height),
            ncols=len(handles),
            frameon=False,
            fontsize=8.5,
            handlelength=3.6,
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.1,
        )
