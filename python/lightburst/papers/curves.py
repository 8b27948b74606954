"""What is read off curves: values by x, each with its interval."""

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
    """Find the one with the smallest estimate; `UNKNOWN` where there are none."""
    return min(measured, key=lambda interval: interval.estimate, default=UNKNOWN)


def largest(measured: Iterable[Interval]) -> Interval:
    """Find the one with the largest estimate; `UNKNOWN` where there are none."""
    return max(measured, key=lambda interval: interval.estimate, default=UNKNOWN)


def farthest(measured: Iterable[Interval]) -> Interval:
    """Find the ratio whose estimate is farthest from 1; `UNKNOWN` where there are none."""
    return max(measured, key=lambda x: abs(math.log(x.estimate)), default=UNKNOWN)


def between(curve: Curve, low: float = -math.inf, high: float = math.inf) -> Curve:
    """Give the part of a curve between two x, both left out."""
    return {at: value for at, value in curve.items() if low < at < high}


def in_ms(curve: Curve) -> Curve:
    """Give a curve over times in seconds over milliseconds."""
    return {time * 1e3: value for time, value in curve.items()}


def every(curves: Mapping[K, Curve]) -> dict[tuple[K, float], Interval]:
    """Give all values of several curves, by curve and x."""
    return {(name, at): value for name, curve in curves.items() for at, value in curve.items()}


def from_one(ratio: Interval) -> Interval:
    """Give a ratio of two that may be named in either order, from 1 on."""
    if ratio.estimate >= 1:
        return ratio
    return Interval(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, ratio.n)


def crossing(ratios: Curve) -> Interval:
    """Find the first two x between which a ratio falls below 1, and the geometric mean of both."""
    for low, high in itertools.pairwise(sorted(ratios)):
        if ratios[low].estimate >= 1 > ratios[high].estimate:
            return Interval(math.sqrt(low * high), low, high, len(ratios))
    return UNKNOWN


def peak(curve: Curve, apart: float) -> Interval:
    """Find the x of the highest mean, and in place of an interval where others are as high.

    Parameters
    ----------
    curve : dict of float to Interval
        At least one value.
    apart : float
        Two means are as high as each other when their ratio is below this.
    """
    top = max(curve, key=lambda at: curve[at].estimate)
    alike = [x for x, mean in curve.items() if mean.estimate * apart >= curve[top].estimate]
    return Interval(top, min(alike), max(alike), len(curve))


def listed(row: Mapping[Any, Interval | float], form: str) -> str:
    """Write a row of values for a note, each as `form` says: ``"{value:.3g} at p = {at:.2g}"``."""
    return ", ".join(
        form.format(at=at, value=x.estimate if isinstance(x, Interval) else x)
        for at, x in row.items()
    )


def where(curve: Curve, judge: Callable[[Interval], Verdict], words: Callable[[Curve], str]) -> str:
    """Say where a claim holds, where it does not, and where nobody can tell."""
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


#: Up to this number all that occur are given, and above it so many a decade.
_ALL: Final = 60
_DECADE: Final = 60


def at_least(number: ArrayLike, count: ArrayLike) -> dict[float, float]:
    """Give the shares that have at least so many.

    Parameters
    ----------
    number, count : array_like, shape (n,)
        Numbers in any order, each once, and how often it occurs.

    Returns
    -------
    dict of float to float
        The share of all by number, ascending. Far up only some numbers are there, with their exact
        shares, so that a figure stays small.
    """
    numbers, counts = (np.asarray(values, dtype=np.float64) for values in (number, count))
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    shares = counts[::-1].cumsum()[::-1] / counts.sum()
    far = np.log10(np.maximum(numbers / _ALL, 1))
    places = np.where(far > 0, _ALL + np.ceil(_DECADE * far), numbers)
    kept = np.unique(places, return_index=True)[1]
    return {float(numbers[place]): float(shares[place]) for place in kept}
