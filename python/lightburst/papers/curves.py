"""Curves of measured intervals over x, and the quantities that claims read from them."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from lightburst.papers.claims import UNKNOWN, Verdict
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike

K = TypeVar("K")

Curve = dict[float, Interval]


def smallest(measured: Iterable[Interval]) -> Interval:
    """Find the interval with the smallest estimate; `UNKNOWN` if there are none."""
    return min(measured, key=lambda interval: interval.estimate, default=UNKNOWN)


def largest(measured: Iterable[Interval]) -> Interval:
    """Find the interval with the largest estimate; `UNKNOWN` if there are none."""
    return max(measured, key=lambda interval: interval.estimate, default=UNKNOWN)


def farthest(measured: Iterable[Interval]) -> Interval:
    """Find the ratio whose estimate is farthest from 1, by its logarithm; `UNKNOWN` if none."""
    return max(measured, key=lambda x: abs(math.log(x.estimate)), default=UNKNOWN)


def between(curve: Curve, low: float = -math.inf, high: float = math.inf) -> Curve:
    """Return the points of a curve strictly between two values of x."""
    return {at: value for at, value in curve.items() if low < at < high}


def in_ms(curve: Curve) -> Curve:
    """Convert the x values of a curve from seconds to milliseconds."""
    return {time * 1e3: value for time, value in curve.items()}


def every(curves: Mapping[K, Curve]) -> dict[tuple[K, float], Interval]:
    """Collect the values of several curves, keyed by curve and x."""
    return {(name, at): value for name, curve in curves.items() for at, value in curve.items()}


def from_one(ratio: Interval) -> Interval:
    """Invert a ratio below 1, for pairs without a natural order; the result is at least 1."""
    if ratio.estimate >= 1:
        return ratio
    return Interval(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, ratio.n)


def crossing(ratios: Curve) -> Interval:
    """Find the crossing below 1: geometric mean of the first two neighbours that enclose it."""
    for low, high in itertools.pairwise(sorted(ratios)):
        if ratios[low].estimate >= 1 > ratios[high].estimate:
            return Interval(math.sqrt(low * high), low, high, len(ratios))
    return UNKNOWN


def peak(curve: Curve, apart: float) -> Interval:
    """Find the x of the highest mean, with the range of x whose means are as high.

    Parameters
    ----------
    curve : dict of float to Interval
        The means by x; not empty.
    apart : float
        Largest ratio of two means that count as equally high.
    """
    top = max(curve, key=lambda at: curve[at].estimate)
    alike = [x for x, mean in curve.items() if mean.estimate * apart >= curve[top].estimate]
    return Interval(top, min(alike), max(alike), len(curve))


def listed(row: Mapping[Any, Interval | float], form: str) -> str:
    """Write values for a note, each formatted by `form`: ``"{value:.3g} at p = {at:.2g}"``."""
    return ", ".join(
        form.format(at=at, value=x.estimate if isinstance(x, Interval) else x)
        for at, x in row.items()
    )


def where(curve: Curve, judge: Callable[[Interval], Verdict], words: Callable[[Curve], str]) -> str:
    """Say where along a curve a claim holds, where it differs, and where it is undecided."""
    parts = []
    for verdict, said in (
        (Verdict.HOLDS, "holds"),
        (Verdict.DIFFERS, "does not hold"),
        (Verdict.NOT_COMPARABLE, "is undecided"),
    ):
        there = {at: value for at, value in curve.items() if judge(value) is verdict}
        if there:
            parts.append(f"{said} ({words(there)})")
    return "; ".join(parts) + "." if parts else "no runs."


#: Numbers up to `_ALL` are all kept; above, at most `_DECADE` of them per decade.
_ALL: Final = 60
_DECADE: Final = 60


def at_least(number: ArrayLike, count: ArrayLike) -> dict[float, float]:
    """Compute the share of items with at least a given number.

    Parameters
    ----------
    number, count : array_like, shape (n,)
        Distinct numbers in any order, and the count of each.

    Returns
    -------
    dict of float to float
        Share by number, ascending. Above `_ALL` only some of the numbers are kept, each with its
        exact share, to limit the size of a figure.
    """
    numbers, counts = (np.asarray(values, dtype=np.float64) for values in (number, count))
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    shares = counts[::-1].cumsum()[::-1] / counts.sum()
    far = np.log10(np.maximum(numbers / _ALL, 1))
    places = np.where(far > 0, _ALL + np.ceil(_DECADE * far), numbers)
    kept = np.unique(places, return_index=True)[1]
    return {float(numbers[place]): float(shares[place]) for place in kept}
