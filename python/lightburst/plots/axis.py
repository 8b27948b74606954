"""Readable ticks: plain numbers, powers of ten, or the values of a short row themselves."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axis import Axis
    from numpy.typing import ArrayLike

#: A logarithmic axis that spans at least this factor is labelled at powers of ten only.
_MANY: Final = 1e3
#: The values of a row of up to `_ROW` are its ticks, if neighbours are at least the share `_ROOM`
#: of the axis apart.
_ROW: Final = 9
_ROOM: Final = 0.07
#: Numbers outside this range are written as powers of ten.
_PLAIN_FROM, _PLAIN_BELOW = 1e-4, 1e5
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Category labels: largest number that is not rotated, total number of characters that fit side by
#: side, and maximum number of characters per line of a label.
_MOST_LEVEL: Final = 8
_LETTERS: Final = 84
_LONGEST: Final = 24
#: A row of values is geometric if it spans the factor `_GEOMETRIC` and its logarithms are spaced
#: more evenly than its values; or if it spans `_DOUBLED` and all ratios of neighbours agree within
#: the relative deviation `_EVEN`.
_GEOMETRIC: Final = 8.0
_DOUBLED: Final = 4.0
_EVEN: Final = 0.02
#: Significant digits of a tick; a row with a value of more digits is not used as ticks.
_DIGITS: Final = 4
#: Range in which decades are written as plain numbers.
_DECADES: Final = (0.999e-3, 1.001e4)


def is_geometric(values: ArrayLike) -> bool:
    """Tell whether a row of values calls for a logarithmic axis.

    Parameters
    ----------
    values : array_like of float
        In any order; duplicates are ignored.

    Returns
    -------
    bool
        True if there are at least three values, all are positive, the largest is at least eight
        times the smallest, and their ratios are more even than their differences; from four times
        on if all ratios are equal, as in 1, 2, 4.
    """
    row = np.unique(np.asarray(values, dtype=np.float64))
    row = row[np.isfinite(row)]
    if row.size < 3 or row[0] <= 0 or row[-1] / row[0] < _DOUBLED * (1 - _EVEN):
        return False
    factors, differences = np.diff(np.log(row)), np.diff(row)
    uneven = float(factors.std() / factors.mean())
    if row[-1] / row[0] < _GEOMETRIC * (1 - 1e-9):
        return uneven < _EVEN
    return bool(uneven < differences.std() / differences.mean())


def power(value: float) -> str:
    """Write a number as a power of ten with two significant digits: ``10⁻³``, ``3.2·10⁻⁴``."""
    value = float(f"{value:.2g}")
    exponent = math.floor(math.log10(value) + 1e-9)
    head = f"{value / 10.0**exponent:.2g}"
    raised = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return raised if head == "1" else f"{head}·{raised}"


def number(value: float, digits: int = 3) -> str:
    """Write a number beside an axis or in a legend: ``0.05``, ``2500``, ``10⁵``; never ``1e+05``.

    Parameters
    ----------
    value : float
        Number to write.
    digits : int
        Significant digits of a plain number.
    """
    rounded = float(f"{value:.{digits}g}")
    plain = rounded <= 0 or _PLAIN_FROM <= rounded < _PLAIN_BELOW
    return f"{rounded:.12g}" if plain else power(value)


def decades(values: Sequence[float]) -> list[str]:
    """Write the decades along one axis: either all as plain numbers or all as powers of ten."""
    write = _writer(min(values), max(values))
    return [write(value) for value in values]


def _writer(first: float, last: float) -> Callable[[float], str]:
    """Choose between plain numbers and powers of ten for the decades from `first` to `last`."""
    return number if _DECADES[0] <= first and last <= _DECADES[1] else power


def ticks(values: ArrayLike, *, logarithmic: bool) -> list[float]:
    """Choose the ticks of a short row: the values themselves, if they are readable.

    Parameters
    ----------
    values : array_like of float
        Coordinates of the data along the axis.
    logarithmic : bool
        Whether the axis is logarithmic.

    Returns
    -------
    list of float
        The distinct values, if there are few, no two are close together and none has many digits;
        otherwise empty: the axis places its ticks itself.
    """
    row = np.unique(np.asarray(values, dtype=np.float64))
    row = row[np.isfinite(row) & ((row > 0) | (not logarithmic))]
    if not 2 <= row.size <= _ROW or (logarithmic and row[-1] / row[0] >= _MANY):
        return []
    if any(abs(float(f"{x:.{_DIGITS}g}") - x) > 1e-9 * abs(x) for x in row):
        return []
    places = np.log(row) if logarithmic else row
    gaps = np.diff(places) / (places[-1] - places[0])
    return [float(x) for x in row] if gaps.min() >= _ROOM else []


def settle(
    axis: Axis, values: ArrayLike, *, logarithmic: bool, zero: bool = False, swept: bool = False
) -> None:
    """Set the ticks and the lower limit of an axis of matplotlib.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Axis to change.
    values : array_like of float
        Coordinates of the data along the axis.
    logarithmic : bool
        Whether the axis is logarithmic.
    zero : bool
        Whether a linear axis begins at zero.
    swept : bool
        Whether a short row of values is used as the ticks.
    """
    axes = axis.axes
    way = "x" if axis is axes.xaxis else "y"
    chosen = ticks(values, logarithmic=logarithmic) if swept else []
    if not logarithmic:
        if chosen:
            _fixed(axis, chosen)
        elif way == "x" and are_counts(values):
            # Only integer ticks: there is no value between one port and two. "auto" keeps
            # matplotlib's number of ticks.
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
        if zero:
            axes.set(**{f"{way}lim": (0, None)})
        return
    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    if chosen:
        _fixed(axis, chosen)
    elif high / low < _MANY:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: number(x, 6)))
    else:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        write = _writer(10.0**first, 10.0**last)
        axis.set_major_formatter(FuncFormatter(lambda x, _: write(x)))
        axis.set_minor_locator(LogLocator(subs="all", numticks=99))


def time_unit(length_ps: float, least: float = 0.5) -> tuple[float, str]:
    """Choose the unit of an axis of time.

    Parameters
    ----------
    length_ps : float
        Length of the axis in picoseconds.
    least : float
        Units that the axis has at least.

    Returns
    -------
    float, str
        Factor from picoseconds to the unit, and its symbol.
    """
    for ps, unit in ((10**12, "s"), (10**9, "ms"), (10**6, "µs")):
        if length_ps >= ps * least:
            return 1 / ps, unit
    return 1e-3, "ns"


def folded(words: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Break category labels into lines, so that they fit side by side along an axis.

    Parameters
    ----------
    words : sequence of str
        Labels from left to right.

    Returns
    -------
    list of list of str, bool
        The lines of each label, and whether the labels have to be rotated since there are many.
    """
    many = len(words) > _MOST_LEVEL
    room = _LONGEST if many else max(_LETTERS // len(words), _LONGEST // 2)
    return [textwrap.wrap(word, room) for word in words], many


def put_words(axis: Axis, words: Sequence[str]) -> None:
    """Put category labels along an axis of matplotlib, at 0, 1, 2 and so on.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Horizontal axis.
    words : sequence of str
        Labels from left to right.
    """
    lines, many = folded(words)
    told = ["\n".join(word) for word in lines]
    aslant: dict[str, Any] = (
        {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if many else {}
    )
    axis.set_ticks(range(len(words)), told, **aslant)
    axis.axes.set_xlim(-0.5, len(words) - 0.5)
    axis.grid(visible=False)


def are_counts(values: ArrayLike) -> bool:
    """Tell whether all values are integers, such as numbers of ports or hops.

    Parameters
    ----------
    values : array_like of float
        Values; those that are not finite are ignored.

    Returns
    -------
    bool
        True if there is a finite value and all of them are integers.
    """
    row = np.asarray(values, dtype=np.float64)
    row = row[np.isfinite(row)]
    return bool(row.size) and bool((row == np.round(row)).all())


def _fixed(axis: Axis, chosen: Sequence[float]) -> None:
    axis.set_major_locator(FixedLocator(list(chosen)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: number(x, _DIGITS)))
    axis.set_minor_locator(NullLocator())
