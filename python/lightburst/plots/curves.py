"""Curves for print: one line for each pair of a colour and a dash, with its band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, StrMethodFormatter

from lightburst.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lightburst.papers.figure import Figure
    from lightburst.plots.sheet import Sheet

_WIDTH: Final = 6.4  # inches
_HEIGHT: Final = 4.8
_LEGENDS: Final = 0.5
# Of a logarithmic height: from here on only powers of ten are written.
_MANY: Final = 1e3
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def size(figure: Figure) -> tuple[float, float]:
    """Width and height of a figure without its caption, in inches."""
    return _WIDTH, _HEIGHT


def paint(sheet: Sheet, figure: Figure, low: float) -> None:
    """Paint a figure and its legends on a sheet.

    Parameters
    ----------
    sheet : Sheet
        Where.
    figure : Figure
        What.
    low : float
        Where the caption ends, in inches above the lower edge.
    """
    low_axes = low + _LEGENDS + 0.5
    _curves(sheet.axes(0.75, low_axes, sheet.width - 1.0, sheet.height - low_axes - 0.4), figure)
    _legends(sheet, figure, low + 0.1)


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
        axes.xaxis.set_major_formatter(FuncFormatter(_power))
        axes.xaxis.set_minor_locator(LogLocator(subs="all", numticks=99))
        axes.xaxis.set_minor_formatter(NullFormatter())
    if figure.y_log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high / low < _MANY:
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        else:
            axes.yaxis.set_major_formatter(FuncFormatter(_power))
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif figure.y_zero:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_title(figure.title, fontsize=11, loc="left")


def _power(x: float, _position: int) -> str:
    """Write a power of ten."""
    return f"10{str(round(math.log10(x))).translate(_SUPERSCRIPTS)}"


def _legends(sheet: Sheet, figure: Figure, bottom: float) -> None:
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
    sheet.legend(colours, 0.75, bottom + 0.22)
    sheet.legend(dashes, 0.75, bottom)
