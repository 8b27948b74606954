"""Difference and ratio of two systems, paired by seed.

Runs with the same seed have the same flows under every switch and protocol. Two systems are
therefore compared seed by seed, in which common fluctuations cancel (common random numbers).

References
----------
.. [1] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, sections 10.2
   (paired comparison, and Welch's for two systems without common seeds) and 11.2 (common random
   numbers).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lightburst.study.statistics.intervals import Interval, checked, mean_interval, samples_of

# Relative spread of differences below which they are rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """A difference of two means with its interval and p-value.

    Attributes
    ----------
    p : float
        Probability of a difference at least as large, in either direction, if the two means were
        equal; NaN with too few samples.
    """

    p: float


def paired_difference(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> Difference:
    """Compute the difference of the means of two systems that ran on the same seeds.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        Measurements; equal indices are equal seeds.
    confidence : float
        Probability, between 0 and 1, that the interval covers the difference.

    Returns
    -------
    Difference
        Mean of ``second - first`` with Student's interval, and the p-value of the paired t-test
        [1]_; ends and p are NaN if n is 1.

    Raises
    ------
    ValueError
        If the lengths differ, there is no pair, or a measurement is not finite.

    Notes
    -----
    If all differences are equal there is no spread to base a test on: the interval has no width,
    and p is that of the sign test, ``2^(1 - n)``, the smallest that n pairs can give without
    assumptions on the distribution. Two systems with equal results in every run have p = 1.
    """
    one, other = pairs_of(first, second, "first", "second")
    differences = other - one
    found = mean_interval(differences, confidence)
    ends = found.estimate, found.low, found.high
    if not np.any(differences):
        return Difference(*ends, found.n, 1.0)
    if found.n < 2:
        return Difference(*ends, found.n, math.nan)
    error = float(differences.std(ddof=1)) / math.sqrt(found.n)
    if error <= _ROUNDING * _size(one, other):
        return Difference(*ends, found.n, 2.0 ** (1 - found.n))
    return Difference(*ends, found.n, _two_sided(found.estimate / error, found.n - 1))


def difference_of_means(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95
) -> Difference:
    """Compute the difference of the means of two systems without common seeds.

    Parameters
    ----------
    first, second : array_like of float, shape (n,) and (m,)
        Independent measurements.
    confidence : float
        Probability, between 0 and 1, that the interval covers the difference.

    Returns
    -------
    Difference
        Mean of `second` minus that of `first`, with Welch's interval and the p-value of Welch's
        test [1]_; ends and p are NaN if a system has a single sample. `Interval.n` counts the
        samples of both.

    Raises
    ------
    ValueError
        If a system has no sample, or a sample is not finite.

    Notes
    -----
    If neither system varies, the interval has no width, and p is that of the permutation test: two
    divided by the number of ways to choose n of n + m.
    """
    one, other = samples_of(first, "first"), samples_of(second, "second")
    estimate, n = float(other.mean() - one.mean()), one.size + other.size
    if min(one.size, other.size) < 2:
        checked(confidence)
        return Difference(estimate, math.nan, math.nan, n, math.nan)
    parts = [float(x.var(ddof=1)) / x.size for x in (one, other)]
    error = math.sqrt(sum(parts))
    if error <= _ROUNDING * _size(one, other):
        same = abs(estimate) <= _ROUNDING * _size(one, other)
        p = 1.0 if same else min(1.0, 2 / math.comb(n, one.size))
        return Difference(estimate, estimate, estimate, n, p)
    freedom = welch(parts, (one.size, other.size))
    half = error * float(special.stdtrit(freedom, (1 + checked(confidence)) / 2))
    p = _two_sided(estimate / error, freedom)
    return Difference(estimate, estimate - half, estimate + half, n, p)


def sign_test(first: ArrayLike, second: ArrayLike) -> float:
    """Compute the p-value of the sign test for two systems on the same seeds.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        Measurements, possibly infinite; equal indices are equal seeds.

    Returns
    -------
    float
        The two-sided p-value: under the null hypothesis the sign of each unequal pair is a fair
        coin toss. 1 if all pairs are equal.

    Raises
    ------
    ValueError
        If the lengths differ or a measurement is NaN.
    """
    one, other = (np.asarray(x, dtype=np.float64).ravel() for x in (first, second))
    if one.size != other.size or np.isnan(one).any() or np.isnan(other).any():
        raise ValueError("first and second: allowed are numbers, as many in both")
    larger, smaller = int((other > one).sum()), int((other < one).sum())
    return min(1.0, 2 * float(special.bdtr(min(larger, smaller), larger + smaller, 0.5)))


def paired_ratio(
    numerator: ArrayLike, denominator: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Compute the ratio of two systems that ran on the same seeds.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,)
        Positive measurements; equal indices are equal seeds.
    confidence : float
        Probability, between 0 and 1, that the interval covers the ratio.

    Returns
    -------
    Interval
        Geometric mean of the ratios, with Student's interval of the mean of their logarithms.

    Raises
    ------
    ValueError
        If the lengths differ, there is no pair, or a measurement is not positive and finite.

    Notes
    -----
    Preferred to Fieller's interval of the ratio of means because fluctuations of the flows scale
    both measurements (standard deviations are proportional to means): the logarithm of the ratio
    has the same spread at every load, and the interval never leaves the positive numbers. If the
    ratios have a relative deviation c, their geometric mean is below their arithmetic mean by about
    c^2 / 2.
    """
    top, bottom = pairs_of(numerator, denominator, "numerator", "denominator")
    if np.any(top <= 0) or np.any(bottom <= 0):
        raise ValueError("numerator and denominator: allowed are measurements above 0")
    log = mean_interval(np.log(top / bottom), confidence)
    return Interval(
        float(np.exp(log.estimate)), float(np.exp(log.low)), float(np.exp(log.high)), log.n
    )


def ratio_of_means(
    numerator: ArrayLike,
    denominator: ArrayLike,
    confidence: float = 0.95,
    *,
    shared_seeds: bool = True,
) -> Interval:
    """Compute the ratio of the means of two systems that may differ in the number of seeds.

    Parameters
    ----------
    numerator : array_like of float, shape (n,)
        Samples of one system, with a mean above 0.
    denominator : array_like of float, shape (m,)
        Samples of the other system.
    confidence : float
        Probability, between 0 and 1, that the interval covers the ratio.
    shared_seeds : bool
        Whether equal indices are equal seeds; otherwise all samples are independent.

    Returns
    -------
    Interval
        Ratio of the means of all samples, with ends from its logarithm and `log_ratio_error`; the
        ends are NaN if a system has a single sample. `Interval.n` counts the samples of both.

    Raises
    ------
    ValueError
        If a system has no sample, or its mean is not positive and finite.

    Notes
    -----
    Unlike `paired_ratio` this uses the seeds that only one system has, and a product of such ratios
    telescopes: a/b times b/c is a/c.
    """
    error, freedom = log_ratio_error(numerator, denominator, shared_seeds=shared_seeds)
    top, bottom = samples_of(numerator, "numerator"), samples_of(denominator, "denominator")
    ratio, n = float(top.mean() / bottom.mean()), top.size + bottom.size
    t = float(special.stdtrit(freedom, (1 + checked(confidence)) / 2))
    factor = math.exp(t * error)
    return Interval(ratio, ratio / factor, ratio * factor, n)


def log_ratio_error(
    numerator: ArrayLike, denominator: ArrayLike, *, shared_seeds: bool = True
) -> tuple[float, float]:
    """Compute the standard error of the logarithm of a ratio of means.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,) and (m,)
        As for `ratio_of_means`.
    shared_seeds : bool
        As for `ratio_of_means`.

    Returns
    -------
    tuple of float
        The standard error, to first order in the relative deviations, and its degrees of freedom;
        NaN if a system has a single sample.

    Raises
    ------
    ValueError
        As `ratio_of_means`.

    Notes
    -----
    The first k = min(n, m) seeds are pairs: their contributions to the two relative means are
    subtracted seed by seed, so that common effects of a seed cancel, and two systems with equal
    results have an error of zero. The other seeds of the longer sample contribute independently;
    without shared seeds all do. The degrees of freedom are those of Welch and Satterthwaite for
    these two parts (section 10.2 of [1]_).
    """
    top, bottom = samples_of(numerator, "numerator"), samples_of(denominator, "denominator")
    if top.mean() <= 0 or bottom.mean() <= 0:
        raise ValueError("numerator and denominator: allowed are samples whose mean is above 0")
    pairs = min(top.size, bottom.size)
    if pairs < 2:
        return math.nan, math.nan
    # Contribution of each sample to its mean, as a fraction of the mean.
    shares = [x / (x.size * float(x.mean())) for x in (top, bottom)]
    if shared_seeds:
        longer = max(shares, key=len)
        paired = pairs * float((shares[0][:pairs] - shares[1][:pairs]).var(ddof=1))
        alone = (longer.size - pairs) * float(longer.var(ddof=1))
        parts = (paired, pairs - 1), (alone, longer.size - 1)
    else:
        one, other = ((x.size * float(x.var(ddof=1)), x.size - 1) for x in shares)
        parts = one, other
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return 0.0, float(pairs - 1)
    squares = sum(part**2 / freedom for part, freedom in parts)
    return math.sqrt(variance), variance**2 / squares


def pairs_of(
    first: ArrayLike, second: ArrayLike, one: str, other: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert two samples to arrays; `ValueError` if they differ in length."""
    x, y = samples_of(first, one), samples_of(second, other)
    if x.size != y.size:
        raise ValueError(f"{one} and {other}: {x.size} and {y.size} samples, no pairs")
    return x, y


def _size(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the largest absolute value in both samples."""
    return float(max(np.abs(one).max(), np.abs(other).max()))


def _two_sided(t: float, freedom: float) -> float:
    """Return the probability that Student's t is at least as far from 0, on either side."""
    return 2 * float(special.stdtr(freedom, -abs(t)))


def welch(parts: Sequence[float], sizes: Sequence[int]) -> float:
    """Return Welch and Satterthwaite's degrees of freedom; `parts` are variances of means."""
    squares = sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    return sum(parts) ** 2 / squares if squares else float(sum(sizes) - 2)
