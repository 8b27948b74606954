"""Intervals by resampling, for skewed data: the bias-corrected and accelerated bootstrap.

References
----------
.. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
   Association 82(397), 1987, pp. 171-185.
.. [2] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993,
   chapter 14.
.. [3] H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed., Wiley, 2003, section 7.1.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.study.statistics.intervals import Interval, checked, samples_of

#: Statistics by name: functions of an array and an axis.
STATISTICS: Final[dict[str, Callable[..., Any]]] = {
    "mean": np.mean,
    "median": np.median,
    "std": lambda x, axis: np.std(x, axis=axis, ddof=1),
}
# For more samples the jackknife of the acceleration, with n times n numbers, takes minutes.
_MOST: Final = 10_000
# Largest number of values held in memory at once.
_AT_ONCE: Final = 4_000_000
_RESAMPLES: Final = 9999
# Relative spread of resamples below which their differences are rounding errors.
_ROUNDING: Final = 1e-12


def bootstrap_interval(
    values: ArrayLike,
    statistic: str | Callable[..., Any] = "mean",
    confidence: float = 0.95,
    *,
    resamples: int = _RESAMPLES,
    seed: int = 1,
) -> Interval:
    """Compute the BCa bootstrap interval of any statistic of independent samples.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Up to 10,000 independent samples: one per run, not the flows of one run.
    statistic : str or callable
        ``"mean"``, ``"median"``, ``"std"``, or a function of an array and an ``axis``, like those
        of NumPy.
    confidence : float
        Probability, between 0 and 1, that the interval covers the statistic.
    resamples : int
        Number of resamples.
    seed : int
        Seed of the resampling, which makes calls reproducible.

    Returns
    -------
    Interval
        The statistic of the samples with the bias-corrected and accelerated interval of
        `scipy.stats.bootstrap` [1]_ [2]_. The ends are NaN if n is 1, and equal to the estimate if
        all samples are equal.

    Raises
    ------
    ValueError
        If there is no sample or more than 10,000, a sample is not finite, or `confidence` is not
        between 0 and 1.

    Notes
    -----
    For fewer than about 50 samples the interval is too narrow, because a bootstrap only draws from
    observed values; Student's interval of a mean then has better coverage (see docs/statistics.md).
    For a quantile, `quantile_interval` is exact without resampling.
    """
    x, level = samples_of(values, "values"), checked(confidence)
    if x.size > _MOST:
        raise ValueError(f"values: {x.size:,} samples; allowed are up to {_MOST:,}")
    function = STATISTICS.get(statistic) if isinstance(statistic, str) else statistic
    if function is None:
        raise ValueError(f"statistic: one of {', '.join(STATISTICS)}, or a function")
    estimate = float(function(x, axis=0))
    if np.all(x == x[0]) and x.size > 1:
        return Interval(estimate, estimate, estimate, x.size)
    return Interval(estimate, *_bca(x, function, level, resamples, seed), x.size)


def _bca(
    x: NDArray[np.float64], statistic: Callable[..., Any], level: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the ends: NaN for fewer than two samples, the estimate if resamples do not vary."""
    from scipy import stats  # takes longer to import than all the rest

    if x.size < 2:
        return math.nan, math.nan
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # SciPy warns, and returns NaN, if the resamples do not vary.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found: Any = stats.bootstrap(
            (x,),
            statistic,
            n_resamples=resamples,
            batch=max(1, _AT_ONCE // x.size),
            vectorized=True,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    ends = float(found.confidence_interval.low), float(found.confidence_interval.high)
    if np.isnan(ends).any() and np.ptp(found.bootstrap_distribution) <= _ROUNDING * np.abs(
        estimate := float(statistic(x, axis=-1))
    ):
        return estimate, estimate
    return ends


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Interval:
    """Compute a distribution-free interval of a quantile of independent samples.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Independent samples; infinite ones are allowed.
    q : float
        Probability of the quantile, between 0 and 1: 0.99 for the 99th percentile.
    confidence : float
        Smallest probability, between 0 and 1, that the interval covers the quantile.

    Returns
    -------
    Interval
        The smallest sample that at least a fraction `q` of the samples do not exceed, with the
        interval of `scipy.stats.quantile_test` [3]_, whose ends are samples. An end is infinite if
        n is too small to bound the quantile on that side.

    Raises
    ------
    ValueError
        If there is no sample, a sample is NaN, or `q` or `confidence` is not between 0 and 1.

    Notes
    -----
    The number of samples below the quantile is binomial for any distribution. The interval is
    therefore exact, except that its ends can only be samples, which makes it too wide rather than
    too narrow. A two-sided 95 % interval of the 99th percentile needs 368 samples.
    """
    from scipy import stats  # takes longer to import than all the rest

    x = np.asarray(values, dtype=np.float64).ravel()
    if x.size == 0 or np.isnan(x).any():
        raise ValueError("values: at least one sample, none of them NaN")
    if not 0 < q < 1:
        raise ValueError("q: between 0 and 1")
    found: Any = stats.quantile_test(x, p=q).confidence_interval(checked(confidence))
    low, high = (float(end) for end in (found.low, found.high))
    # An actual sample: interpolation could mix in an infinite value.
    estimate = float(np.quantile(x, q, method="inverted_cdf"))
    return Interval(
        estimate,
        -math.inf if math.isnan(low) else low,
        math.inf if math.isnan(high) else high,
        x.size,
    )
