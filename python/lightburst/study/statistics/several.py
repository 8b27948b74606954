"""Corrections for several comparisons at once, which bound the probability of any wrong one.

In 20 comparisons of two equal systems, on average one p-value is below 0.05 by chance.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6(2), 1979, pp. 65-70.
.. [2] O. J. Dunn, "Multiple comparisons among means", Journal of the American Statistical
   Association 56(293), 1961, pp. 52-64: intervals by Bonferroni's inequality; also A. M. Law,
   "Simulation Modeling and Analysis", 5th ed., 2015, section 9.7.
.. [3] O. Guilbaud, "Simultaneous confidence regions for closed tests, including Holm-, Hochberg-,
   and Hommel-related procedures", Biometrical Journal 54(3), 2012, pp. 317-342.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.study.statistics.intervals import checked


def bonferroni(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct the p-values of several comparisons consistently with their intervals.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        As for `holm`.

    Returns
    -------
    ndarray of float, shape (m,)
        Each p-value times the number of comparisons [2]_, at most 1. It is at most 0.05 if and only
        if the interval with the confidence of `confidence_of_each` excludes the null hypothesis.

    Raises
    ------
    ValueError
        If a p-value is not between 0 and 1.
    """
    p = _checked(p_values)
    return np.minimum(p * np.count_nonzero(~np.isnan(p)), 1)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct the p-values of several comparisons by Holm's method.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        One per comparison, dependent or not; NaN for comparisons that were not possible, which do
        not count.

    Returns
    -------
    ndarray of float, shape (m,)
        In the same order. If every value of at most 0.05 is called a difference, the probability
        that any of these is wrong is at most 0.05 [1]_.

    Raises
    ------
    ValueError
        If a p-value is not between 0 and 1.
    """
    p = _checked(p_values)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    found = np.full(p.size, math.nan)
    # The smallest of m times m, the next times m - 1, and so on, made non-decreasing.
    steps = np.arange(order.size, 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(steps * p[order]), 1)
    return found


def confidence_of_each(together: float, number: int) -> float:
    """Return the confidence that each interval needs so that all of them hold together.

    Parameters
    ----------
    together : float
        Probability, between 0 and 1, that all intervals cover the quantities that they estimate.
    number : int
        Number of intervals, at least 1.

    Returns
    -------
    float
        ``1 - (1 - together) / number``, by Bonferroni's inequality [2]_, valid for dependent
        intervals.

    Raises
    ------
    ValueError
        If `together` is not between 0 and 1, or `number` is below 1.

    Notes
    -----
    The intervals agree with `bonferroni`. Intervals that agree exactly with `holm` show only the
    sign of a difference that it finds [3]_.
    """
    if number < 1:
        raise ValueError("number: a whole number from 1")
    return 1 - (1 - checked(together)) / number


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or np.any((p < 0) | (p > 1)):
        raise ValueError("p_values: allowed is a list of numbers from 0 to 1, or NaN")
    return p
