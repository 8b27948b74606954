"""What a figure shows, as data: drawn by `lightburst.plots`, printed by the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("colour", "dash", "x", "y", "low", "high", "runs")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: curves with 95 % intervals and all the words around them.

    Parameters
    ----------
    id : str
        Short name, also the stem of its files: ``"fig2a"``.
    title, x_label, y_label : str
        Words on the figure; the labels carry their units.
    caption : str
        What was run: scenario, lengths, seeds, version.
    colours, dashes : tuple of str
        The two legends in their order. A curve is one pair of a colour and a dash; the first
        says which switch, the second how the sender behaves.
    data : pandas.DataFrame
        One row for each point, columns `COLUMNS`: the legends' words, ``x``, the mean ``y`` with
        its interval from ``low`` to ``high``, and the number of ``runs`` behind it.
    x_log, y_log : bool
        Logarithmic axes.
    reference : tuple of (float, str)
        Horizontal lines to compare with: height and words.
    """

    id: str
    title: str
    caption: str
    x_label: str
    y_label: str
    colours: tuple[str, ...]
    dashes: tuple[str, ...]
    data: pd.DataFrame
    x_log: bool = True
    y_log: bool = False
    reference: tuple[tuple[float, str], ...] = ()
