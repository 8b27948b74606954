"""The interval of a share, such as a loss, that never leaves 0 to 1 and knows what was not seen.

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

from lightburst.study.statistics.intervals import Interval, checked
from lightburst.support import COUNT, OF, beside

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def share_interval(counts: ArrayLike, sizes: ArrayLike, confidence: float = 0.95) -> Interval:
    """Mean share over independent runs, with an interval that rests on the counts.

    Parameters
    ----------
    counts : array_like of float, shape (n,)
        In each run, units of which something holds: bursts lost.
    sizes : array_like of float, shape (n,)
        Units of which it could hold: bursts offered. Runs without any say nothing.
    confidence : float
        Probability with which the interval covers the share, between 0 and 1.

    Returns
    -------
    Interval
        The mean of the shares of the runs with Clopper and Pearson's interval [1]_ of all units of
        all runs; where shares differ from run to run by more than independent units would, of as
        many fewer units as make up for that (Korn and Graubard [2]_). Where none was seen in N
        units it is 0 to ``1 - (1 - confidence)^(1 / N)``, about 3 / N at 95 % [3]_; where all,
        likewise. `Interval.n` counts the runs.

    Raises
    ------
    ValueError
        If no run has a unit, a count is not between 0 and the size, or `confidence` is not between
        0 and 1.

    Notes
    -----
    Rests on independent runs; where none was seen, where there is one run, or where runs are more
    alike than chance would make them, on independent units, too. Losses that come together are
    fewer cases than units, which is seen only where runs differ.
    """
    k, n = (np.asarray(x, dtype=np.float64).ravel() for x in (counts, sizes))
    if k.size != n.size or not np.isfinite([k, n]).all() or np.any((k < 0) | (k > n)):
        raise ValueError("counts and sizes: allowed are counts from 0 to the size, one for each")
    if not n.any():
        raise ValueError("sizes: at least one run with a unit")
    (p,), (low,), (high,) = _ends(k, n, np.zeros(k.size, np.int64), confidence)
    return Interval(float(p), float(low), float(high), int(np.count_nonzero(n)))


def is_share(runs: pd.DataFrame, metric: str) -> bool:
    """Tell whether runs have the counts that a metric is the quotient of."""
    return beside(metric, COUNT) in runs and beside(metric, OF) in runs


def share_of(runs: pd.DataFrame, metric: str, confidence: float = 0.95) -> Interval:
    """Give `share_interval` of a metric of runs that have its counts, and one unit at least."""
    return share_interval(runs[beside(metric, COUNT)], runs[beside(metric, OF)], confidence)


def shares_of(
    runs: pd.DataFrame, metric: str, group: ArrayLike, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the ends of `share_interval` of each group of runs, NaN where it has no unit.

    Parameters
    ----------
    runs, metric
        As for `share_of`.
    group : array_like of int, shape (runs,)
        Of each run, from 0.
    confidence : float
        As there.
    """
    k, n = (runs[beside(metric, ending)].to_numpy(np.float64) for ending in (COUNT, OF))
    _, low, high = _ends(np.nan_to_num(k), np.nan_to_num(n), np.asarray(group), confidence)
    return low, high


def _ends(
    k: NDArray[np.float64], n: NDArray[np.float64], group: NDArray[np.int64], confidence: float
) -> tuple[Any, Any, Any]:
    """Give mean share and ends of each group."""
    miss, size = 1 - checked(confidence), int(group.max(initial=-1)) + 1
    there = n > 0
    k, n, group = k[there], n[there], group[there]
    runs = np.bincount(group, minlength=size)
    seen, total = (np.bincount(group, x, size) for x in (k, n))
    with np.errstate(all="ignore"):
        p = np.bincount(group, k / n, size) / runs
        # Of the mean of the runs' shares; NaN of one run.
        variance = np.bincount(group, (k / n - p[group]) ** 2, size) / (runs - 1) / runs
        # p (1 - p) / n* = variance, and n* smaller for a variance of few degrees of freedom.
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
