"""What a figure shows, as data: drawn by `lightburst.plots`, printed by the command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from lightburst.papers.claims import exact, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lightburst.study.statistics import Interval

#: Decades below the lowest point of a logarithmic height that are left for those at zero: so many
#: at least, and this share of the decades above.
_LEAST_ROOM = 0.15
_ROOM = 0.12
#: What a legend says of points at zero.
AT_ZERO = "on the lower edge: 0"
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
    legends : tuple of str
        What the two legends name, as headings of a table.
    y_zero : bool
        Whether a linear height begins at zero.
    ordered : bool
        Whether the colours are values of one quantity, from small to large.
    theory, published : tuple of str
        Which of the dashes are closed forms, drawn as lines without markers, and which are markers
        without a line: numbers from elsewhere, and points that stand out. Rows of both may have no
        colour, ``""``.
    intervals : {"bars", "bands", "none"}
        How the intervals are drawn.
    steps : {"", "pre", "post"}
        For a distribution: whether the height of a point holds up to it from the point before, or
        from it on.
    cut : tuple of float, optional
        Heights between which nothing is: the axis is broken there.
    places : tuple of str
        Words along x: of each row ``x`` is the place of its word among them, and no line joins
        the points. Nothing for an axis of numbers.
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
        """The points that are no closed form; all if there are no others."""
        own = self.data[~self.data["dash"].isin(self.theory)]
        return own if len(own) else self.data

    @property
    def zeros(self) -> pd.DataFrame:
        """The points at zero on a logarithmic height, which stand at its lower edge."""
        return self.measured[(self.measured["y"] == 0) & self.y_log]

    @property
    def lowest(self) -> float:
        """The lower edge of a logarithmic height that has points at zero, below all others."""
        ends = self.data[["y", "low", "high"]].to_numpy(dtype=float)
        ends = ends[np.isfinite(ends) & (ends > 0)]
        room = max(_LEAST_ROOM, _ROOM * float(np.log10(ends.max() / ends.min())))
        return float(ends.min() / 10**room)

    def beside(self, name: str, points: Iterable[tuple[str, float, float]]) -> Self:
        """Add numbers from elsewhere, as markers without a line.

        Parameters
        ----------
        name : str
            Whose they are, a word of the second legend.
        points : iterable of (str, float, float)
            Of each the colour, or ``""``, and x and y in the units of the axes.

        Returns
        -------
        Figure
            This one if there are no points.
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
        """Make a figure of curves; the legends follow from them, in their order.

        Parameters
        ----------
        curves : mapping of (colour, dash) to mapping of x to Interval
            The curves under the words of the two legends. Points without an interval are left out.
        scale : float
            What one unit of the axis is in the unit of the intervals.
        **words
            The rest of the figure, and legends in another order.
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
        """Make a figure of shares that have at least so many, by number, as `of` makes curves."""
        curves = {
            legend: {number: exact(share) for number, share in shares.items()}
            for legend, shares in parts.items()
        }
        return cls.of(curves, y_log=True, steps="pre", intervals="none", **words)


MAP_COLUMNS = ("panel", "x", "y", "value")


@dataclass(frozen=True, slots=True)
class Panel:
    """One map of several that stand side by side.

    Parameters
    ----------
    name : str
        What it shows: the title above it, and its rows in the data.
    label : str
        Words beside its scale of colours, with the unit.
    centre : float or None
        The value of the neutral colour, for a difference; None for a quantity that has none.
    scale : str
        Panels with the same word here share their scale of colours.
    """

    name: str
    label: str
    centre: float | None = None
    scale: str = ""


@dataclass(frozen=True, slots=True)
class Maps:
    """Quantities over a plane: heat maps side by side, over the same axes.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    panels : tuple of Panel
        The maps, left to right.
    data : pandas.DataFrame
        One row for each field, columns `MAP_COLUMNS`. Places may be words, which stand in the
        order in which they come, left to right and top to bottom. A column ``words``, if there is
        one, has what is written in each field.
    x_log, y_log : bool
        Logarithmic axes.
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
    """List the places of a map's rows: from left to right, and from the bottom up."""
    across, down = (list(data[axis].unique()) for axis in "xy")
    words = [any(isinstance(place, str) for place in axis) for axis in (across, down)]
    return across if words[0] else sorted(across), down[::-1] if words[1] else sorted(down)


BAR_COLUMNS = ("bar", "group", "base", "top", "low", "high", "words")


@dataclass(frozen=True, slots=True)
class Bars:
    """Steps from one height to the next: a waterfall, for each of several groups.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    bars : tuple of str
        The steps, left to right.
    groups : tuple of str
        What stands side by side at each step: the legend.
    data : pandas.DataFrame
        One row for each step and group, columns `BAR_COLUMNS`: the bar goes from ``base`` to
        ``top``, its end has the interval from ``low`` to ``high`` (NaN for none), and ``words``
        stand at it.
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
        """Make a figure of bars from zero, side by side for each group, with their intervals."""
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
    """Packets of a flow, one dot for each: when it left, against its number modulo something.

    Parameters
    ----------
    id, title, caption, x_label, y_label : str
        As for `Figure`.
    panels : tuple of str
        One diagram for each, one below the other.
    kinds : tuple of str
        What a dot can be: the legend.
    data : pandas.DataFrame
        One row for each packet, columns `PACKET_COLUMNS`.
    marks : tuple of (str, float, str)
        Vertical lines: panel, time in seconds, and words.
    alike : bool
        Whether all diagrams have the same height.
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
        """Make diagrams of a table with `PACKET_COLUMNS`, in the order in which its panels come."""
        panels = tuple(dict.fromkeys(table["panel"]))
        return cls(panels=panels, data=table[list(PACKET_COLUMNS)].reset_index(drop=True), **words)


@dataclass(frozen=True, slots=True)
class Listing:
    """A table that is read as a table, and no picture.

    Parameters
    ----------
    id : str
        Short name, also the stem of its file: ``"search"``.
    title, caption : str
        Words above and below it.
    data : pandas.DataFrame
        Columns become columns, in their order; the index is left out.
    shown : int
        How many rows, from the first, a page shows; the file has them all.
    """

    id: str
    title: str
    caption: str
    data: pd.DataFrame
    shown: int = 50


AnyFigure = Figure | Maps | Bars | Packets
