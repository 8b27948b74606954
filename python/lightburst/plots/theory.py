"""Closed forms for print: curves whose points outside their assumptions are hollow."""

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

#: Endings of a file that can be written.
ENDINGS = (".png", ".svg")


def save(figure: Figure, doubtful: pd.Series[bool], file: Path) -> None:
    """Write a figure of closed forms to one file, whole or not at all.

    Parameters
    ----------
    figure : Figure
        The curves.
    doubtful : pandas.Series of bool
        Which rows of the figure's data are outside the assumptions; hollow points.
    file : Path
        Where to write, by its ending as PNG or SVG; an earlier file is replaced.

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
