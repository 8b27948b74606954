"""Ticks that can be read: plain numbers, powers of ten, or the very values of a short row."""

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

#: Of a logarithmic axis: from here on only powers of ten are written.
_MANY: Final = 1e3
#: Values of a shorter row that are this share of the axis apart are its ticks.
_ROW: Final = 9
_ROOM: Final = 0.07
#: Numbers beyond these are powers of ten.
_PLAIN_FROM, _PLAIN_BELOW = 1e-4, 1e5
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: More words than these stand aslant; so many letters have room side by side, and in one word.
_MOST_LEVEL: Final = 8
_LETTERS: Final = 84
_LONGEST: Final = 24
#: A row of values is geometric if it reaches over this factor, in steps that are more even in
#: their logarithms; over the smaller one, if all steps are the same factor but for this share.
_GEOMETRIC: Final = 8.0
_DOUBLED: Final = 4.0
_EVEN: Final = 0.02
#: Digits of a tick at a value; one with more digits is no tick.
_DIGITS: Final = 4
#: Decades between these are plain numbers.
_DECADES: Final = (0.999e-3, 1.001e4)


def is_geometric(values: ArrayLike) -> bool:
    """Tell whether values want a logarithmic axis.

    Parameters
    ----------
    values : array_like of float
        In any order, repeated or not.

    Returns
    -------
    bool
        True if three or more are positive and none is not, the largest is at least eight times the
        smallest, and their steps are more even as factors than as differences; from four times on
        if each is the same factor, as of 1, 2, 4.
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
    """Write a power of ten, ``10⁻³``; another number with two digits, ``3.2·10⁻⁴``."""
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
        Which.
    digits : int
        How many significant ones of a plain number.
    """
    rounded = float(f"{value:.{digits}g}")
    plain = rounded <= 0 or _PLAIN_FROM <= rounded < _PLAIN_BELOW
    return f"{rounded:.12g}" if plain else power(value)


def decades(values: Sequence[float]) -> list[str]:
    """Write whole powers of ten along one axis: all as plain numbers, or all as powers."""
    write = _writer(min(values), max(values))
    return [write(value) for value in values]


def _writer(first: float, last: float) -> Callable[[float], str]:
    """Choose how whole powers of ten between two of them are written."""
    return number if _DECADES[0] <= first and last <= _DECADES[1] else power


def ticks(values: ArrayLike, *, logarithmic: bool) -> list[float]:
    """Choose ticks for a short row: its values.

    Parameters
    ----------
    values : array_like of float
        What stands along the axis.
    logarithmic : bool
        Whether it is.

    Returns
    -------
    list of float
        The values themselves if there are few, none close to another and none with many digits;
        nothing where an axis finds its own.
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
    """Set the ticks and the beginning of an axis of matplotlib.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Which.
    values : array_like of float
        What is drawn along it.
    logarithmic : bool
        Whether it is.
    zero : bool
        Whether a linear one begins at zero.
    swept : bool
        Whether few values are its ticks.
    """
    axes = axis.axes
    way = "x" if axis is axes.xaxis else "y"
    chosen = ticks(values, logarithmic=logarithmic) if swept else []
    if not logarithmic:
        if chosen:
            _fixed(axis, chosen)
        elif way == "x" and are_counts(values):
            # Between one port and two there is none; no more ticks than matplotlib takes.
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


def folded(words: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Break the words along an axis into lines, so that they fit side by side.

    Parameters
    ----------
    words : sequence of str
        From left to right.

    Returns
    -------
    list of list of str, bool
        The lines of each, and whether there are so many that they must stand aslant.
    """
    many = len(words) > _MOST_LEVEL
    room = _LONGEST if many else max(_LETTERS // len(words), _LONGEST // 2)
    return [textwrap.wrap(word, room) for word in words], many


def put_words(axis: Axis, words: Sequence[str]) -> None:
    """Put words along an axis of matplotlib, at 0, 1, 2 and so on.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        The lower one.
    words : sequence of str
        From left to right.
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
    """Tell whether all values are whole numbers, as ports and hops are.

    Parameters
    ----------
    values : array_like of float
        Those that are not finite are passed over.

    Returns
    -------
    bool
        False where there are none.
    """
    row = np.asarray(values, dtype=np.float64)
    row = row[np.isfinite(row)]
    return bool(row.size) and bool((row == np.round(row)).all())


def _fixed(axis: Axis, chosen: Sequence[float]) -> None:
    axis.set_major_locator(FixedLocator(list(chosen)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: number(x, _DIGITS)))
    axis.set_minor_locator(NullLocator())
