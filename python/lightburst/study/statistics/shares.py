"""Confidence interval of a share, such as a loss ratio, within 0 to 1 and valid for rare events.

References
----------
.. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
   case of the binomial", Biometrika 26(4), 1934, pp. 404-413.
.. [2] E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected
   number of positive counts estimated from survey data", Survey Methodology 24(2), 1998,
   pp. 193-201.
.. [3] J. A. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", Journal
   of the American Medical Association 249(13), 1983, pp. 1743-1745.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from lightburst.foundation.support import COUNT, OF, beside
from lightburst.study.statistics.intervals import Interval, checked

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def share_interval(counts: ArrayLike, sizes: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute the mean share over independent runs, with an interval from the counts.

    Parameters
    ----------
    counts : array_like of float, shape (n,)
        Number of units with the property in each run, such as lost bursts.
    sizes : array_like of float, shape (n,)
        Number of all units in each run, such as offered bursts. Runs without any are ignored.
    confidence : float
        Probability, between 0 and 1, that the interval covers the share.

    Returns
    -------
    Interval
        The mean of the runs' shares with Clopper and Pearson's interval [1]_ for the units of all
        runs. If shares vary between runs more than independent units would, the number of units is
        reduced accordingly (Korn and Graubard [2]_). If no unit of N has the property, the interval
        is 0 to ``1 - (1 - confidence)^(1 / N)``, about 3 / N at 95 % [3]_; correspondingly if all
        have it. `Interval.n` counts the runs.

    Raises
    ------
    If no run has a unit, a count is not between 0 and the size, or `confidence` is not between 0
    and 1.

    Notes
    -----
    The runs must be independent. If no unit has the property, if there is a single run, or if runs
    vary less than by chance, the units must be independent as well. Losses that occur together are
    fewer independent cases than units, which shows only in the variation between runs.
    """
    k, n = (np.asarray(x, dtype=np.float64).ravel() for x in (counts, sizes))
    if k.size != n.size or not np.isfinite([k, n]).all() or np.any((k < 0) | (k > n)):
        raise ValueError("counts and sizes: allowed are counts from 0 to the size, one for each")
    if not n.any():
        raise ValueError("sizes: at least one run with a unit")
    (p,), (low,), (high,) = _ends(k, n, np.zeros(k.size, np.int64), confidence)
    return Interval(float(p), float(low), float(high), int(np.count_nonzero(n)))


def is_share(runs: pd.DataFrame, metric: str) -> bool:
    """Return whether runs have the two counts of which a metric is the quotient."""
    return beside(metric, COUNT) in runs and beside(metric, OF) in runs


def share_of(runs: pd.DataFrame, metric: str, confidence: float = 0.95) -> Interval:
    """Return `share_interval` of a metric of runs that have its counts and at least one unit."""
    return share_interval(runs[beside(metric, COUNT)], runs[beside(metric, OF)], confidence)


def shares_of(
    runs: pd.DataFrame, metric: str, group: ArrayLike, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of `share_interval` for each group of runs; NaN for a group without units.

    Parameters
    ----------
    runs, metric
        As for `share_of`.
    group : array_like of int, shape (runs,)
        Index of each run's group, from 0.
    confidence : float
        As for `share_of`.
    """
    k, n = (runs[beside(metric, ending)].to_numpy(np.float64) for ending in (COUNT, OF))
    _, low, high = _ends(np.nan_to_num(k), np.nan_to_num(n), np.asarray(group), confidence)
    return low, high


def _ends(
    k: NDArray[np.float64], n: NDArray[np.float64], group: NDArray[np.int64], confidence: float
) -> tuple[Any, Any, Any]:
    """Return mean share and ends of each group."""
    miss, size = 1 - checked(confidence), int(group.max(initial=-1)) + 1
    there = n > 0
    k, n, group = k[there], n[there], group[there]
    runs = np.bincount(group, minlength=size)
    seen, total = (np.bincount(group, x, size) for x in (k, n))
    with np.errstate(all="ignore"):
        p = np.bincount(group, k / n, size) / runs
        # Variance of the mean of the runs' shares; NaN for a single run.
        variance = np.bincount(group, (k / n - p[group]) ** 2, size) / (runs - 1) / runs
        # Effective number of units n*: p (1 - p) / n* = variance, reduced for few degrees of
        # freedom.
        quantiles = special.stdtrit([total - 1, runs - 1], 1 - miss / 2)
        effective = p * (1 - p) / variance * (quantiles[0] / quantiles[1]) ** 2
        units = np.fmin(total, np.where(variance > 0, effective, np.inf))
        # Clopper and Pearson's ends are quantiles of beta distributions.
        low = special.betaincinv(p * units, units - p * units + 1, miss / 2)
        high = special.betaincinv(p * units + 1, units - p * units, 1 - miss / 2)
        none, every = seen == 0, seen == total
        bound = np.log(miss) / total
        low = np.select([none, every], [np.zeros(size), np.exp(bound)], low)
        high = np.select([none, every], [-np.expm1(bound), np.ones(size)], high)
        p = np.select([none, every], [np.zeros(size), np.ones(size)], p)
    empty = runs == 0
    p[empty] = low[empty] = high[empty] = math.nan
    return p, low, high
