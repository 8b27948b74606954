"""Layout of a figure: title, axes, legend and caption, placed by constrained layout.

No element has a fixed position. A figure is a cell with a title above and a caption below; a nested
cell contains the axes and, outside of them, the legend, so that the two do not overlap. The output
medium determines the width of the sheet (`STYLES`), its contents the height.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from lightburst.plots.sheet import RC, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.figure import SubFigure
    from matplotlib.legend import Legend

_POINTS: Final = 72  # per inch
_LINE: Final = 1.2  # height of a line of text over the font size
_DPI: Final = 160
# Spaces that do not break: in "95 %" and "200 ms", and around an equals sign.
_TOGETHER: Final = re.compile(r"(?<=\d) (?=%|[a-zA-Zµ/]{1,4}\b)| (?==)|(?<==) ")


@dataclass(frozen=True, slots=True)
class Style:
    """Size of a figure for an output medium.

    Parameters
    ----------
    width : float
        Width of the sheet, in inches.
    font : float
        Font size, in points.
    beside : bool
        Whether the legend stands to the right of the axes instead of below.
    """

    width: float
    font: float
    beside: bool


#: One and two columns of a two-column journal (IEEE: 3.5 and 7.16 inches), and a screen.
STYLES: Final = {
    "one-column": Style(3.5, 8.0, beside=False),
    "two-column": Style(7.16, 8.0, beside=True),
    "screen": Style(8.0, 10.0, beside=True),
}
#: Style for drawings that need the full width of a screen: the legend stands below.
BELOW: Final = Style(8.6, 10.0, beside=False)
_Place = Literal["outside right upper", "outside right lower", "outside lower left"]
StyleName = Literal["one-column", "two-column", "screen"]


class Picture(Canvas):
    """A matplotlib figure that keeps its style when saved, and is displayed by notebooks."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save like `matplotlib.figure.Figure.savefig`; in SVG and PDF text stays text."""
        with settings(RC):
            super().savefig(fname, **{"dpi": _DPI, **options})

    def _repr_png_(self) -> bytes:
        found = io.BytesIO()
        self.savefig(found, format="png", dpi=110)
        return found.getvalue()


class Group(NamedTuple):
    """Entries of a legend under one heading."""

    heading: str
    handles: Sequence[Artist]


class Words(NamedTuple):
    """Texts around the axes of a figure: title above, legend beside or below, caption."""

    title: str
    caption: str
    legend: Sequence[Group]


def rc(style: Style) -> dict[Any, Any]:
    """Return matplotlib's settings for a style."""
    font = style.font
    return {
        **RC,
        "font.size": font,
        "axes.titlesize": font,
        "axes.labelsize": font,
        "legend.fontsize": 0.88 * font,
        "legend.title_fontsize": 0.88 * font,
        "xtick.labelsize": 0.88 * font,
        "ytick.labelsize": 0.88 * font,
        "figure.titlesize": 1.1 * font,
        "lines.markersize": 0.55 * font,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.w_pad": 0.05,
        "figure.constrained_layout.h_pad": 0.04,
    }


class Cell:
    """Part of a canvas that holds one figure.

    Parameters
    ----------
    outer : SubFigure
        Subfigure for title and caption.
    style : Style
        Style of the sheet.
    width, height : float
        Size of the axes with their labels, in inches.
    """

    def __init__(self, outer: SubFigure, style: Style, width: float, height: float) -> None:
        self.outer = outer
        self.style = style
        self.width = width
        self.height = height
        self.middle: SubFigure = outer.subfigures(squeeze=False)[0, 0]
        self.inner: SubFigure = self.middle.subfigures(squeeze=False)[0, 0]

    def write(self, words: Words) -> float:
        """Write title, caption and legend; return the height of the whole in inches."""
        font, height = self.style.font, self.height
        if words.title:
            size = 1.1 * font
            lines = wrapped(words.title, self.width, size)
            self.outer.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=size)
            height += (len(lines) * _LINE + 0.7) * size / _POINTS
        if words.caption:
            size = 0.8 * font
            lines = wrapped(words.caption, self.width, size)
            text = "\n".join(lines)
            self.outer.supxlabel(text, x=0.01, ha="left", fontsize=size, color="#444444")
            height += (len(lines) * _LINE + 0.7) * size / _POINTS
        drawn = self._legends([group for group in words.legend if group.handles])
        heights = [legend.get_window_extent().height / self.outer.figure.dpi for legend in drawn]
        if self.style.beside:
            return max(height, height - self.height + sum(heights) + 0.35)
        return height + sum(heights) + 0.15 * len(heights)

    def _legends(self, groups: Sequence[Group]) -> list[Legend]:
        """Draw one legend per group: in the two right corners, or one below the other."""
        places: Sequence[tuple[SubFigure, _Place]] = (
            [(self.inner, "outside right upper"), (self.inner, "outside right lower")]
            if self.style.beside
            else [(self.inner, "outside lower left"), (self.middle, "outside lower left")]
        )
        found = []
        for group, (where, place) in zip(groups, places, strict=False):
            columns = 1 if self.style.beside else len(group.handles)
            legend = _legend(where, group, place, columns)
            # Reduce the columns until the legend fits the width of the sheet.
            while columns > 1 and legend.get_window_extent().width > self._room:
                legend.remove()
                columns = math.ceil(columns / 2) if columns > 4 else columns - 1
                legend = _legend(where, group, place, columns)
            found.append(legend)
        return found

    @property
    def _room(self) -> float:
        return (self.width - 0.15) * self.outer.figure.dpi


def _legend(where: SubFigure, group: Group, place: _Place, columns: int) -> Legend:
    return where.legend(
        handles=list(group.handles),
        title=group.heading,
        loc=place,
        alignment="left",
        frameon=False,
        ncols=columns,
        handlelength=3.4,
        borderpad=0.2,
        borderaxespad=0.3,
        columnspacing=1.2,
        labelspacing=0.45,
    )


def page(cells: int, style: Style, widths: Sequence[float]) -> tuple[Picture, list[SubFigure]]:
    """Make a sheet of `cells` subfigures side by side, with `widths` in inches."""
    canvas = Picture(figsize=(sum(widths), 5.0), layout="constrained")
    FigureCanvasAgg(canvas)
    parts = canvas.subfigures(1, cells, width_ratios=list(widths), squeeze=False)
    return canvas, list(parts[0])


def alone(height: float, paint: Callable[[SubFigure], Words], style: Style = BELOW) -> Picture:
    """Draw one figure on a sheet of its own.

    Parameters
    ----------
    height : float
        Height of the axes with their labels, in inches.
    paint : callable
        Draws axes into the given subfigure and returns the texts around them.
    style : Style, optional
        Width of the sheet and font size.
    """
    with settings(rc(style)):
        canvas, (part,) = page(1, style, [style.width])
        cell = Cell(part, style, style.width, height)
        canvas.set_size_inches(style.width, cell.write(paint(cell.inner)))
    return canvas


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Break text into lines of at most `width` inches; never between a number and its unit."""
    # On a screen, rasterised letters of a small font are wider than their outlines.
    room = (0.93 * width - 0.1) * _POINTS
    lines: list[str] = []
    for word in _TOGETHER.sub("\u00a0", text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _length(longer, size) <= room:
            lines[-1] = longer
        else:
            lines += _pieces(word, room, size)
    return lines


def _pieces(word: str, room: float, size: float) -> list[str]:
    """Cut a word that is longer than a line, such as a list without blanks."""
    if _length(word, size) <= room:
        return [word]
    fits = max(1, int(len(word) * room / _length(word, size)) - 1)
    return [word[:fits], *_pieces(word[fits:], room, size)]


@cache
def _length(text: str, size: float) -> float:
    """Return the length of a line of text, in points."""
    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(size=size), ismath=False
    )
    return float(width)
