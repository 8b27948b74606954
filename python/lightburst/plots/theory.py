"""Closed forms for print: points outside the assumptions are hollow."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lightburst.plots.sheet import write
from lightburst.plots.static import draw

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.papers.figure import Figure

#: Supported file name extensions.
ENDINGS = (".png", ".svg")


def save(figure: Figure, doubtful: pd.Series[bool], file: Path) -> None:
    """Write a figure of closed forms to a file, atomically.

    Parameters
    ----------
    figure : Figure
        Curves to draw.
    doubtful : pandas.Series of bool
        Rows of the figure's data outside the assumptions; drawn as hollow points.
    file : Path
        PNG or SVG file to write, by its extension; an existing file is replaced.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    canvas = draw([replace(figure, data=figure.data.assign(doubtful=doubtful))])
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".lightburst-") as work:
        fresh = Path(work, file.name)
        write(canvas, fresh)
        fresh.replace(file)
