"""Settings of matplotlib, legend entries and file output common to all printed figures."""

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
    "text.parse_math": False,  # a $ in a name does not begin a formula
    "svg.hashsalt": "lightburst",  # makes the ids in an SVG reproducible
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
    # Text stays text: searchable and editable.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
# Maximum number of dots of a kind that an SVG contains as paths; more are rasterised.
MOST_DOTS: Final = 5000


def dot(label: str, marker: str, colour: str) -> Line2D:
    """Return the legend entry for dots of one kind."""
    return Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)


def line(label: str, colour: str, dashes: Literal["-", "--"] = "-") -> Line2D:
    """Return the legend entry for a line."""
    return Line2D([], [], color=colour, linestyle=dashes, label=label)


@contextmanager
def settings(rc: Mapping[Any, Any]) -> Iterator[None]:
    """Apply settings of matplotlib, without warnings about characters missing from the font."""
    with rc_context(dict(rc)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def write(canvas: Canvas, file: Path) -> None:
    """Write a figure as PNG or SVG, by the extension; equal data gives equal bytes."""
    printed = file.suffix == ".png"
    # No date and no version, for reproducible files.
    unsaid = ("Software",) if printed else ("Date", "Creator")
    with settings(RC):
        canvas.savefig(file, dpi=160 if printed else "figure", metadata=dict.fromkeys(unsaid))
