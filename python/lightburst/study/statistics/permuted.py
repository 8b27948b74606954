"""Distribution-free comparison of two systems: the permutation test and its intervals.

If the two systems are equal, they are exchangeable: the sides of any pair, or any samples, may be
swapped between the two. The interval consists of the differences that the test does not reject, so
test and interval never contradict each other. Its ends need no search: swapping the sides of some
pairs moves the mean beyond the observed one if and only if the mean difference of *these* pairs is
below the tested difference. The ends are therefore two of the sorted means of random subsets of the
sample, Hartigan's typical values [2]_.

References
----------
.. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993,
   chapter 15 (permutation tests).
.. [2] J. A. Hartigan, "Using subsample values as typical values", Journal of the American
   Statistical Association 64(328), 1969, pp. 1303-1317.
"""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.study.statistics.intervals import Interval, checked, samples_of
from lightburst.study.statistics.paired import Difference, pairs_of

_CHANGES: Final = 9999
# Largest number of values held in memory at once.
_AT_ONCE: Final = 4_000_000
# Relative difference of means below which it is a rounding error.
_ROUNDING: Final = 1e-12


class _Parts(NamedTuple):
    """Sums over the swapped subsets, their sizes, and the number of swaps without effect."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    size: NDArray[np.float64]
    idle: int


def permutation_difference(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, *, shared_seeds: bool = True
) -> Difference:
    """Compute the difference of two means with the permutation test's p-value and interval.

    Parameters
    ----------
    first, second : array_like of float, shape (n,) and (m,)
        Measurements of the two systems; with shared seeds, equal indices are equal seeds.
    confidence : float
        Probability, between 0 and 1, that the interval covers the difference.
    shared_seeds : bool
        Whether the samples are paired.

    Returns
    -------
    Difference
        Mean of `second` minus that of `first`. p is the frequency of a difference at least as large
        when sides of pairs, or samples between the two, are swapped at random (9,999 swaps from a
        fixed seed, or all swaps if there are fewer) [1]_. The smallest p is two divided by the
        number of swaps, ``2^(1 - n)`` for n pairs, so with few runs the ends are NaN. The interval
        excludes 0 if and only if p is at most ``1 - confidence``.

    Raises
    ------
    ValueError
        If there is no sample, a sample is not finite, or paired samples differ in length.
    """
    one, other = _read(first, second, shared_seeds)
    estimate, n = float(other.mean() - one.mean()), _number(one, other, shared_seeds)
    if min(one.size, other.size) < 2:
        checked(confidence)
        return Difference(estimate, math.nan, math.nan, n, math.nan)
    parts = _parts(one, other, shared_seeds)
    gaps = _gaps(parts, one, other)
    below, above = ((gaps <= 0).sum(), (gaps >= 0).sum())
    p = 2 * (min(below, above) + parts.idle) / (gaps.size + parts.idle)
    return Difference(estimate, *_ends(gaps, parts.idle, confidence), n, min(1.0, float(p)))


def permutation_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    confidence: float = 0.95,
    *,
    shared_seeds: bool = True,
) -> Interval:
    """Compute the ratio of two means: all r whose multiple the permutation test does not reject.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,) and (m,)
        Measurements of the two systems, not negative.
    confidence, shared_seeds
        As for `permutation_difference`.

    Returns
    -------
    Interval
        Excludes 1 if and only if the interval of the difference excludes 0. The ends are NaN if
        those of the difference are, or a sample is negative; an end is infinite if the denominator
        may be 0.

    Raises
    ------
    ValueError
        As `permutation_difference`, and if the mean of the denominator is not above 0.
    """
    one, other = _read(denominator, numerator, shared_seeds)
    if one.mean() <= 0:
        raise ValueError("denominator: allowed are samples whose mean is above 0")
    ratio, n = float(other.mean() / one.mean()), _number(one, other, shared_seeds)
    if min(one.size, other.size) < 2 or min(one.min(), other.min()) < 0:
        checked(confidence)
        return Interval(ratio, math.nan, math.nan, n)
    parts = _parts(one, other, shared_seeds)
    same = (_gaps(parts, one, other) == 0) & (parts.first > 0)
    nothing = (parts.first == 0) & (parts.second == 0)  # 0 / 0 gives no information on the ratio
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where(same, 1.0, parts.second / parts.first)[~nothing]
    ends = _ends(ratios, parts.idle + int(nothing.sum()), confidence, parts.idle + nothing.size)
    return Interval(ratio, *ends, n)


def _read(
    first: ArrayLike, second: ArrayLike, paired: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if paired:
        return pairs_of(first, second, "first", "second")
    return samples_of(first, "first"), samples_of(second, "second")


def _number(one: NDArray[np.float64], other: NDArray[np.float64], paired: bool) -> int:
    return one.size if paired else one.size + other.size


def _gaps(
    parts: _Parts, one: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean differences of the subsets; rounding errors become 0."""
    gaps = (parts.second - parts.first) / parts.size
    size = max(np.abs(one).max(), np.abs(other).max())
    return np.where(np.abs(gaps) <= _ROUNDING * size, 0.0, gaps)


def _ends(
    values: NDArray[np.float64], idle: int, confidence: float, changes: int | None = None
) -> tuple[float, float]:
    """Return the ends of the interval; NaN if there are too few swaps to reject any value."""
    total = values.size + idle if changes is None else changes
    # Rank of the interval's lower end among the sorted values, counted from 1. Together with the
    # swaps without effect, the values up to this rank are just more than half of the error
    # probability.
    least = math.floor((1 - checked(confidence)) / 2 * total) + 1 - idle
    if least < 1 or least > values.size:
        return math.nan, math.nan
    ordered = np.sort(values)
    return float(ordered[least - 1]), float(ordered[-least])


def _parts(one: NDArray[np.float64], other: NDArray[np.float64], paired: bool) -> _Parts:
    """Return the swapped subsets: all, or 9,999 from a fixed seed plus the observed one."""
    number = one.size if paired else one.size + other.size
    ways = 2**number if paired else math.comb(number, one.size)
    complete = ways <= _CHANGES
    changes = _every(one.size, number, paired) if complete else _drawn(one.size, number, paired)
    sums = []
    for moved in changes:
        # Paired: the same indices of both. Otherwise the samples of the second that move to the
        # first,
        # and the samples of the first that they replace.
        left = moved if paired else 1 - moved[:, : one.size]
        right = moved if paired else moved[:, one.size :]
        sums.append(np.stack([left @ one, right @ other, right.sum(axis=1)]))
    first, second, size = np.concatenate(sums, axis=1)
    some = size > 0
    idle = int((~some).sum()) + (0 if complete else 1)
    return _Parts(first[some], second[some], size[some], idle)


def _every(first: int, number: int, paired: bool) -> Iterator[NDArray[np.float64]]:
    """Yield all swaps, shape (swaps, number): 1 for samples in the first, or swapped pairs."""
    if paired:
        yield ((np.arange(2**number)[:, None] >> np.arange(number)) & 1).astype(np.float64)
        return
    places = np.array(list(combinations(range(number), first)))
    yield _at(places, number)


def _drawn(first: int, number: int, paired: bool) -> Iterator[NDArray[np.float64]]:
    """Yield random swaps in batches, in the form of `_every`."""
    random, step = np.random.default_rng(1), max(1, _AT_ONCE // number)
    for begin in range(0, _CHANGES, step):
        shape = min(step, _CHANGES - begin), number
        if paired:
            yield random.integers(0, 2, shape).astype(np.float64)
        else:
            yield _at(np.argpartition(random.random(shape), first, axis=1)[:, :first], number)


def _at(places: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    moved = np.zeros((len(places), number))
    np.put_along_axis(moved, places, 1.0, axis=1)
    return moved
