"""What all figures for print share: settings of matplotlib, entries of legends, files."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

from matplotlib import rc_context
from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure as Canvas

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
