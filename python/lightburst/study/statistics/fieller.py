"""Ratio of two means, consistent with the test of their difference.

References
----------
.. [1] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical
   Society B 16(2), 1954, pp. 175-185.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from lightburst.study.statistics.intervals import Interval, checked, samples_of
from lightburst.study.statistics.paired import pairs_of, welch


def fieller_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    confidence: float = 0.95,
    *,
    shared_seeds: bool = True,
) -> Interval:
    """Compute the ratio of two means with Fieller's interval, which inverts the t-test.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,) and (m,)
        Samples of the two systems, with means above 0.
    confidence : float
        Probability, between 0 and 1, that the interval covers the ratio.
    shared_seeds : bool
        Whether the samples are paired; otherwise all samples are independent.

    Returns
    -------
    Interval
        All r from 0 for which the t-test finds no difference between the numerator and r times the
        denominator [1]_. It therefore excludes 1 if and only if the interval of
        `paired_difference`, or of `difference_of_means`, excludes 0. The upper end is infinite if
        the mean of the denominator may be 0. The ends are NaN if a system has a single sample.

    Raises
    ------
    ValueError
        As `ratio_of_means`, and as `paired_difference`.

    Notes
    -----
    Without shared seeds the degrees of freedom are those of Welch's test of the difference. If the
    mean of the denominator may be 0, the set of r may consist of two pieces. The piece with the
    estimate is returned or, if 1 is in the other piece, the interval from 0 to infinity.
    """
    if shared_seeds:
        one, other = pairs_of(denominator, numerator, "denominator", "numerator")
    else:
        one, other = samples_of(denominator, "denominator"), samples_of(numerator, "numerator")
    if one.mean() <= 0 or other.mean() <= 0:
        raise ValueError("numerator and denominator: allowed are samples whose mean is above 0")
    ratio, level = float(other.mean() / one.mean()), checked(confidence)
    n = one.size if shared_seeds else one.size + other.size
    if min(one.size, other.size) < 2:
        return Interval(ratio, math.nan, math.nan, n)
    alone = float(one.var(ddof=1)) / one.size
    if shared_seeds:
        error, freedom = float((other - one).var(ddof=1)) / n, float(n - 1)
        common = float(np.cov(other - one, one)[0, 1]) / n
    else:
        parts = [alone, float(other.var(ddof=1)) / other.size]
        error, common = sum(parts), -alone
        freedom = welch(parts, (one.size, other.size))
    t2 = float(special.stdtrit(freedom, (1 + level) / 2)) ** 2
    d, m = float(other.mean() - one.mean()), float(one.mean())
    # With r = 1 + x: (d - x m)^2 <= t^2 (var d - 2 x cov + x^2 var m), which at x = 0 is exactly
    # the
    # test of the difference.
    low, high = _between(m * m - t2 * alone, d * m - t2 * common, d * d - t2 * error, d / m)
    return Interval(ratio, max(0.0, 1 + low), 1 + high, n)


def _between(a: float, b: float, c: float, inside: float) -> tuple[float, float]:
    """Solve ``a x^2 - 2 b x + c <= 0``: the piece with `inside`, or all x if 0 is in the other."""
    root = b * b - a * c
    if root <= 0 and a <= 0:
        return -math.inf, math.inf
    far = b + math.copysign(math.sqrt(max(root, 0.0)), b)
    if far == 0:
        return 0.0, 0.0
    # The smaller root by division, so that its sign, which is that of c, is exact.
    near = c / far
    other = far / a if a != 0 else -math.copysign(math.inf, far)
    low, high = min(near, other), max(near, other)
    if a > 0:
        return low, high
    low, high = (high, math.inf) if inside >= high else (-math.inf, low)
    return (low, high) if c > 0 or low <= 0 <= high else (-math.inf, math.inf)
