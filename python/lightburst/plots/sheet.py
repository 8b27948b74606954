"""The sheet that figures for print are drawn on: places in inches, words of one style."""

from __future__ import annotations

import re
import textwrap
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

RC: Final[dict[Any, Any]] = {
    "text.parse_math": False,  # a name with a $ is no formula
    "svg.hashsalt": "lightburst",  # otherwise the ids in the SVG differ from run to run
    "font.size": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "savefig.facecolor": "white",
    # Text stays text, to be searched and edited.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
# An SVG draws so many dots of a kind one by one, and more of them as a picture inside it.
MOST_DOTS: Final = 5000
#: Inches, of a sheet of one picture.
WIDTH: Final = 8.6
_CHARACTERS: Final = 98 / 6.4  # of a caption, an inch
_LINE: Final = 0.165  # inches
_LEGEND: Final = 8.5  # points
_EDGE: Final = 0.1  # inches beside a legend
# "95 %", "200 ms", and what stands about an equals sign.
_TOGETHER: Final = re.compile(r"(?<=\d) (?=%|[a-zA-Zµ/]{1,4}\b)| (?==)|(?<==) ")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One figure's part of the canvas; every length and place is in inches from its lower left.

    Parameters
    ----------
    canvas : matplotlib.figure.Figure
        What is drawn on.
    left : float
        Where the part begins.
    width, height : float
        Size of the part.
    """

    canvas: Canvas
    left: float
    width: float
    height: float

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Add axes whose frame has its lower left at (x, y)."""
        total, high = self.canvas.get_size_inches()
        return self.canvas.add_axes(
            ((self.left + x) / total, y / high, width / total, height / high)
        )

    def words(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write text whose upper left is at (x, y)."""
        total, high = self.canvas.get_size_inches()
        self.canvas.text((self.left + x) / total, y / high, text, va="top", **style)

    def legend(self, handles: Sequence[Artist], x: float, y: float) -> None:
        """Write a legend in one row whose lower left is at (x, y), smaller if it is too long."""
        row = self._row(handles, x, y, _LEGEND)
        # All lengths of a legend are in units of its font.
        fits = (self.width - x - _EDGE) / (row.get_window_extent().width / self.canvas.dpi)
        if fits < 1:
            row.remove()
            self._row(handles, x, y, _LEGEND * fits)

    def _row(self, handles: Sequence[Artist], x: float, y: float, size: float) -> Legend:
        place: Literal["lower left"] = "lower left"
        total, high = self.canvas.get_size_inches()
        return self.canvas.legend(
            handles=handles,
            loc=place,
            bbox_to_anchor=((self.left + x) / total, y / high),
            ncols=len(handles),
            frameon=False,
            fontsize=size,
            handlelength=3.6,
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.1,
        )

    def caption(self, text: str) -> None:
        """Write the caption at the foot."""
        lines = wrapped(text, self.width)
        self.words(
            0.15, foot(text, self.width) - 0.08, "\n".join(lines), fontsize=8, color="#444444"
        )


def captioned(caption: str, height: float) -> tuple[Sheet, float]:
    """Make a canvas with a caption and so many inches above; return it and where these begin."""
    low = foot(caption, WIDTH)
    sheet = Sheet(Canvas(figsize=(WIDTH, low + height)), 0.0, WIDTH, low + height)
    sheet.caption(caption)
    return sheet, low


def dot(label: str, marker: str, colour: str) -> Line2D:
    """Give the legend's entry of a kind of dots."""
    return Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)


def line(label: str, colour: str, dashes: Literal["-", "--"] = "-") -> Line2D:
    """Give the legend's entry of a line."""
    return Line2D([], [], color=colour, linestyle=dashes, label=label)


@contextmanager
def settings(rc: Mapping[Any, Any]) -> Iterator[None]:
    """Draw with settings of matplotlib, and a box for each character that the font lacks."""
    with rc_context(dict(rc)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def write(canvas: Canvas, file: Path) -> None:
    """Write what was drawn as PNG or SVG, by the ending; the same bytes for the same data."""
    printed = file.suffix == ".png"
    # Neither a date nor a version.
    unsaid = ("Software",) if printed else ("Date", "Creator")
    with settings(RC):
        canvas.savefig(file, dpi=160 if printed else "figure", metadata=dict.fromkeys(unsaid))


def wrapped(text: str, width: float) -> list[str]:
    """Break a caption into lines for a sheet of some inches, no number before its unit."""
    return textwrap.wrap(_TOGETHER.sub("\u00a0", text), int(_CHARACTERS * width))


def foot(text: str, width: float) -> float:
    """Height of the foot that holds a caption, in inches."""
    return 0.2 + _LINE * len(wrapped(text, width))
