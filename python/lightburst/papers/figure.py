"""Contents of a figure as data, for drawing (`lightburst.plots`) and for printing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from lightburst.papers.claims import exact, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lightburst.study.statistics import Interval

#: Room below the lowest positive value on a logarithmic y axis, for points at zero, in decades: the
#: minimum, and the share of the decades above.
_LEAST_ROOM = 0.15
_ROOM = 0.12
#: Words of the legend for points at zero.
AT_ZERO = "on the lower edge: 0"
COLUMNS = ("colour", "dash", "x", "y", "low", "high", "runs")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: curves with 95 % intervals, and all its texts.

    Parameters
    ----------
    id : str
        Short name, also the stem of its files: ``"fig2a"``.
    title, x_label, y_label : str
        Texts on the figure; the labels carry the units.
    caption : str
        Description of the runs: scenario, lengths, seeds, version.
    colours, dashes : tuple of str
        Entries of the two legends in order. A curve is a pair of a colour and a dash; by default
        the colour denotes the switch, the dash the sender.
    data : pandas.DataFrame
        One row per point, columns `COLUMNS`: the legend entries, ``x``, the mean ``y``, its
        interval from ``low`` to ``high``, and the number of ``runs``.
    x_log, y_log : bool
        Whether the axes are logarithmic.
    reference : tuple of (float, str)
        Horizontal reference lines: height and words.
    legends : tuple of str
        Meaning of the two legends, as column headings of a table.
    y_zero : bool
        Whether a linear y axis starts at zero.
    ordered : bool
        Whether the colours are values of one quantity, ascending.
    theory, published : tuple of str
        Dashes that are closed forms, drawn as lines without markers, and dashes drawn as markers
        without a line: numbers from elsewhere, and highlighted points. Rows of both may have no
        colour, ``""``.
    intervals : {"bars", "bands", "none"}
        Form in which the intervals are drawn.
    steps : {"", "pre", "post"}
        Drawing of a distribution: ``"pre"`` extends the height of a point back to the previous
        point, ``"post"`` forward to the next one.
    cut : tuple of float, optional
        Range of heights left out by a broken y axis; no values lie in it.
    places : tuple of str
        Categories along x: the ``x`` of a row is an index into them, and no line joins the points.
        Empty for a numeric axis.
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
    legends: tuple[str, str] = ("Switch", "Sender")
    y_zero: bool = True
    ordered: bool = False
    theory: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    intervals: Literal["bars", "bands", "none"] = "bars"
    steps: Literal["", "pre", "post"] = ""
    cut: tuple[float, float] | None = None
    places: tuple[str, ...] = ()

    @property
    def measured(self) -> pd.DataFrame:
        """Rows that are not closed forms; all rows if there are no others."""
        own = self.data[~self.data["dash"].isin(self.theory)]
        return own if len(own) else self.data

    @property
    def zeros(self) -> pd.DataFrame:
        """Points at zero on a logarithmic y axis, drawn at its lower edge."""
        return self.measured[(self.measured["y"] == 0) & self.y_log]

    @property
    def lowest(self) -> float:
        """Lower edge of a logarithmic y axis with points at zero, below all positive values."""
        ends = self.data[["y", "low", "high"]].to_numpy(dtype=float)
        ends = ends[np.isfinite(ends) & (ends > 0)]
        room = max(_LEAST_ROOM, _ROOM * float(np.log10(ends.max() / ends.min())))
        return float(ends.min() / 10**room)

    def beside(self, name: str, points: Iterable[tuple[str, float, float]]) -> Self:
        """Add numbers from elsewhere, drawn as markers without a line.

        Parameters
        ----------
        name : str
            Name of their source, an entry of the second legend.
        points : iterable of (str, float, float)
            Colour (or ``""``), x and y of each point, in the units of the axes.

        Returns
        -------
        Figure
            The same figure if there are no points.
        """
        rows = [(colour, name, x, y, y, y, 0) for colour, x, y in points]
        if not rows:
            return self
        data = pd.concat([self.data, pd.DataFrame(rows, columns=list(COLUMNS))])
        return replace(
            self,
            data=data.reset_index(drop=True),
            dashes=(*self.dashes, name),
            published=(*self.published, name),
        )

    @classmethod
    def of(
        cls,
        curves: Mapping[tuple[str, str], Mapping[float, Interval]],
        scale: float = 1.0,
        **words: Any,
    ) -> Self:
        """Build a figure from curves; the legends list their keys in order.

        Parameters
        ----------
        curves : mapping of (colour, dash) to mapping of x to Interval
            The curves by their two legend entries. Points with an unknown interval are dropped.
        scale : float
            Value of one unit of the y axis, in the unit of the intervals.
        **words
            Further fields of the figure; they override the derived legends.
        """
        rows = [
            (colour, dash, x, y.estimate / scale, y.low / scale, y.high / scale, y.n)
            for (colour, dash), curve in curves.items()
            for x, y in curve.items()
            if known(y)
        ]
        data = pd.DataFrame(rows, columns=list(COLUMNS))
        colours, dashes = (tuple(dict.fromkeys(data[legend])) for legend in COLUMNS[:2])
        colours = tuple(name for name in colours if name)
        return cls(**{"colours": colours, "dashes": dashes, "data": data, **words})

    @classmethod
    def of_shares(
        cls, parts: Mapping[tuple[str, str], Mapping[float, float]], **words: Any
    ) -> Self:
        """Build a figure of distributions: the share of items with at least a given number."""
        curves = {
            legend: {number: exact(share) for number, share in shares.items()}
            for legend, shares in parts.items()
        }
        return cls.of(curves, y_log=True, steps="pre", intervals="none", **words)


MAP_COLUMNS = ("panel", "x", "y", "value")


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several maps drawn side by side.

    Parameters
    ----------
    name : str
        Title above the map, and key of its rows in the data.
    label : str
        Label of its colour scale, with the unit.
    centre : float or None
        Value of the neutral colour, for a difference; None for a one-sided quantity.
    scale : str
        Key of the colour scale; panels with the same key share one scale.
    """

    name: str
    label: str
    centre: float | None = None
    scale: str = ""


@dataclass(frozen=True, slots=True)
class Maps:
    """Quantities over a plane: heat maps side by side on the same axes.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    panels : tuple of Panel
        The maps, left to right.
    data : pandas.DataFrame
        One row per cell, columns `MAP_COLUMNS`. Coordinates may be words, which keep their order of
        appearance, left to right and top to bottom. The optional column ``words`` holds the text of
        each cell.
    x_log, y_log : bool
        Whether the axes are logarithmic.
    """

    id: str
    title: str
    caption: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    data: pd.DataFrame
    x_log: bool = True
    y_log: bool = True


def places(data: pd.DataFrame) -> tuple[list[Any], list[Any]]:
    """List the coordinates of a map: x from left to right, y from the bottom up."""
    across, down = (list(data[axis].unique()) for axis in "xy")
    words = [any(isinstance(place, str) for place in axis) for axis in (across, down)]
    return across if words[0] else sorted(across), down[::-1] if words[1] else sorted(down)


BAR_COLUMNS = ("bar", "group", "base", "top", "low", "high", "words")


@dataclass(frozen=True, slots=True)
class Bars:
    """Waterfall of bars from one height to the next, for each of several groups.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    bars : tuple of str
        Steps from left to right.
    groups : tuple of str
        Groups drawn side by side at each step: the entries of the legend.
    data : pandas.DataFrame
        One row per step and group, columns `BAR_COLUMNS`: the bar spans ``base`` to ``top``,
        ``low`` to ``high`` is the interval of its end (NaN for none), and ``words`` is its text.
    """

    id: str
    title: str
    caption: str
    x_label: str
    y_label: str
    bars: tuple[str, ...]
    groups: tuple[str, ...]
    data: pd.DataFrame

    @classmethod
    def of(cls, groups: Mapping[str, Mapping[str, Interval]], **words: Any) -> Self:
        """Build bars from zero, side by side for each group, with their intervals."""
        rows = [
            (bar, group, 0.0, x.estimate, x.low, x.high, f"{x.estimate:.3g}")
            for group, values in groups.items()
            for bar, x in values.items()
            if known(x)
        ]
        data = pd.DataFrame(rows, columns=list(BAR_COLUMNS))
        bars, legend = (tuple(dict.fromkeys(data[column])) for column in ("bar", "group"))
        return cls(bars=bars, groups=legend, data=data, **words)


PACKET_COLUMNS = ("panel", "kind", "time_s", "packet")


@dataclass(frozen=True, slots=True)
class Packets:
    """Diagram of a flow's packets: one dot each, departure time against packet number.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    panels : tuple of str
        Names of the diagrams, from top to bottom.
    kinds : tuple of str
        Kinds of dots: the entries of the legend.
    data : pandas.DataFrame
        One row per packet, columns `PACKET_COLUMNS`.
    marks : tuple of (str, float, str)
        Vertical lines: panel, time in seconds, words.
    alike : bool
        Whether all diagrams share one y range.
    """

    id: str
    title: str
    caption: str
    x_label: str
    y_label: str
    panels: tuple[str, ...]
    kinds: tuple[str, ...]
    data: pd.DataFrame
    marks: tuple[tuple[str, float, str], ...] = ()
    alike: bool = False

    @classmethod
    def of(cls, table: pd.DataFrame, **words: Any) -> Self:
        """Build diagrams from a table with `PACKET_COLUMNS`; panels keep their order."""
        panels = tuple(dict.fromkeys(table["panel"]))
        return cls(panels=panels, data=table[list(PACKET_COLUMNS)].reset_index(drop=True), **words)


@dataclass(frozen=True, slots=True)
class Listing:
    """Table shown as a table rather than a picture.

    Parameters
    ----------
    id : str
        Short name, also the stem of its file: ``"search"``.
    title, caption : str
        Texts above and below the table.
    data : pandas.DataFrame
        The columns in order; the index is dropped.
    shown : int
        Rows that a page shows, from the first; the file has all of them.
    """

    id: str
    title: str
    caption: str
    data: pd.DataFrame
    shown: int = 50


AnyFigure = Figure | Maps | Bars | Packets
