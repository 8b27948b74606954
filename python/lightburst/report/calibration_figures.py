"""Figures of a calibration: what is left of pairs of parameters, and what moves each statement."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.calibrated.aims import readings_of
from lightburst.foundation.units import Quantity
from lightburst.papers.figure import COLUMNS, MAP_COLUMNS, Figure, Maps, Panel
from lightburst.study.calibration.implausibility import CUT
from lightburst.study.calibration.ranges import INTERVALS

if TYPE_CHECKING:
    from lightburst.experiment.calibrated.calibration import Calibration
    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.open import Parameter
    from lightburst.study.calibration.implausibility import Target

#: Parameters in pairs: those of which least is left.
_MOST_PAIRED: Final = 4
#: Lines of a figure: the statements that its parameter moves most.
_MOST_LINES: Final = 6
#: Intervals of a range in a map, so that each has several of the considered settings.
_CELLS: Final = 10
#: Characters of a statement in a legend, and largest distance drawn.
_LONGEST: Final = 40
_FARTHEST: Final = 30.0
#: Largest implausibility of a map; the colours are as far above the cut as below it.
_HIGHEST: Final = 2 * CUT
_PANEL: Final = "implausibility"
_RANKS: Final = {1: "Largest", 2: "Second largest", 3: "Third largest"}


def figures(found: Calibration) -> list[AnyFigure]:
    """Make the figures of a calibration.

    Parameters
    ----------
    found : Calibration
        Result to draw.

    Returns
    -------
    list of AnyFigure
        A map for each pair of the parameters of which least is left, and lines for each parameter
        that moves a statement more than others do.
    """
    shares = [found.left[one.name].share for one in found.opened.parameters]
    order = sorted(range(len(shares)), key=lambda place: shares[place])
    chosen = sorted(order[:_MOST_PAIRED])
    drawn: list[AnyFigure] = [_map(found, i, j) for i, j in itertools.combinations(chosen, 2)]
    drawn += [
        figure
        for place in range(len(found.opened.parameters))
        if (figure := _lines(found, place)) is not None
    ]
    return drawn


def _caption(found: Calibration) -> str:
    runs = "" if found.full else ", runs of a preview"
    return (
        f"{found.name}{runs}: {len(found.settings)} settings of {found.plan.seeds} seeds a point. "
        f"lightburst {found.provenance['version']}."
    )


def _map(found: Calibration, across: int, up: int) -> Maps:
    """Map the smallest implausibility over two parameters."""
    settings = found.considered
    rows: list[tuple[str, object, object, float]] = []
    columns = [_places(found, place) for place in (across, up)]
    at = [
        _intervals(settings.parts[:, place], len(names))
        for place, names in zip((across, up), columns, strict=True)
    ]
    for i, x in enumerate(columns[0]):
        for j, y in enumerate(columns[1]):
            here = (at[0] == i) & (at[1] == j)
            least = float(settings.score[here].min()) if here.any() else math.nan
            rows.append((_PANEL, x, y, min(least, _HIGHEST)))
    # Words of an axis are read top to bottom.
    order: list[Any] = list(columns[1])
    order = order[::-1] if isinstance(order[0], str) else order
    rows.sort(key=lambda row: order.index(row[2]))
    one, other = (found.opened.parameters[place] for place in (across, up))
    return Maps(
        id=f"left-{one.name}-{other.name}",
        title=f"{found.name}: what is left of {one.name} and {other.name}",
        caption=f"{_RANKS.get(settings.rank, f'{settings.rank}th largest')} implausibility of a "
        "statement, the smallest that any values of the other parameters give; above "
        f"{CUT:g} ruled out. {_caption(found)}",
        x_label=_label(one),
        y_label=_label(other),
        panels=(Panel(_PANEL, "Implausibility", CUT),),
        data=pd.DataFrame(rows, columns=list(MAP_COLUMNS)),
        x_log=one.log,
        y_log=other.log,
    )


def _lines(found: Calibration, place: int) -> Figure | None:
    """Draw the statements that a parameter moves more than the others do."""
    one = found.opened.parameters[place]
    readings = readings_of(found.aims)
    sizes = np.array([found.effects.size(row) for row in range(len(readings))])
    mine = [row for row in range(len(readings)) if found.effects.strongest(row) == one.name]
    mine = sorted(mine, key=lambda row: -sizes[row, place])[:_MOST_LINES]
    if not mine:
        return None
    curves = found.effects.along[place]
    steps = list(one.choices) if one.range is None else []
    count = len(steps) or INTERVALS
    rows = [
        (_short(readings[row].id), "", _x(one, part, count), y, y, y, 1)
        for row in mine
        for part in range(count)
        if math.isfinite(y := float(np.clip(curves[row][part], *_drawn(readings[row].target))))
    ]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    return Figure(
        id=f"moved-by-{one.name}",
        title=f"{found.name}: statements that {one.name} moves most",
        caption=f"Mean distance of each number from the middle of its range, in its deviations, or "
        f"from a bound that it misses (0 where it does not); beyond {CUT:g} it is ruled out. "
        f"{_caption(found)}",
        x_label=_label(one),
        y_label="Distance (deviations)",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=("",),
        data=data,
        x_log=one.log,
        reference=((CUT, "ruled out above"), (-CUT, "ruled out below")),
        legends=("Statement", ""),
        y_zero=False,
        intervals="none",
        places=tuple(steps),
    )


def _drawn(target: Target) -> tuple[float, float]:
    """Return the distances between which a line is drawn: on the missed side of a bound alone."""
    low, high = (math.isfinite(end) for end in target.ends)
    return (-_FARTHEST if low else 0.0), (_FARTHEST if high else 0.0)


def _x(one: Parameter, part: int, count: int) -> float:
    """Return the x of an interval: its middle in the unit of the axis, or the place of a choice."""
    return float(part) if one.range is None else _value(one, (part + 0.5) / count)


def _value(one: Parameter, part: float) -> float:
    """Return the value at a fraction of a range, in the unit of the axis."""
    assert one.range is not None
    begin, end = one.range.begin, one.range.end
    value = begin * (end / begin) ** part if one.log else begin + (end - begin) * part
    ruler = one.range.ruler
    return (
        value / float(ruler.dimension.units[_unit(one)]) if isinstance(ruler, Quantity) else value
    )


def _unit(one: Parameter) -> str:
    """Return the unit in which the upper end of a range is written; empty for a number."""
    if one.range is None or not isinstance(one.range.ruler, Quantity):
        return ""
    return str(one.range.at(1)).partition(" ")[2]


def _places(found: Calibration, place: int) -> list[float] | list[str]:
    """Return the coordinates of a parameter's cells in a map."""
    one = found.opened.parameters[place]
    if one.range is None:
        return list(one.choices)
    return [_value(one, (cell + 0.5) / _CELLS) for cell in range(_CELLS)]


def _intervals(parts: np.ndarray, count: int) -> np.ndarray:
    return np.asarray(np.minimum((parts * count).astype(int), count - 1))


def _label(one: Parameter) -> str:
    """Write the name of a parameter with its unit."""
    words = one.name.replace("-", " ").capitalize()
    return f"{words} ({_unit(one)})" if _unit(one) else words


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
