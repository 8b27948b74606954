"""Intervals for what is skewed, by resampling: the bias-corrected and accelerated bootstrap.

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
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.study.statistics.intervals import Interval, checked, samples_of
from lightburst.study.statistics.paired import Difference, pairs_of

#: Statistics by name: functions of an array and an axis.
STATISTICS: Final[dict[str, Callable[..., Any]]] = {
    "mean": np.mean,
    "median": np.median,
    "std": lambda x, axis: np.std(x, axis=axis, ddof=1),
}
# Beyond so many samples the jackknife of the acceleration, n times n numbers, takes minutes.
_MOST: Final = 10_000
# Numbers held at a time.
_AT_ONCE: Final = 4_000_000
_RESAMPLES: Final = 9999
# Resamples that vary by less than this part of what they are differ by rounding alone.
_ROUNDING: Final = 1e-12


def bootstrap_interval(
    values: ArrayLike,
    statistic: str | Callable[..., Any] = "mean",
    confidence: float = 0.95,
    *,
    resamples: int = _RESAMPLES,
    seed: int = 1,
) -> Interval:
    """Interval of any statistic of independent samples, by the BCa bootstrap.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Up to 10,000 independent samples: one for each run, not the flows of one run.
    statistic : str or callable
        ``"mean"``, ``"median"``, ``"std"``, or a function of an array and the ``axis`` over which
        it is taken, as those of NumPy.
    confidence : float
        Probability with which the interval covers the statistic, between 0 and 1.
    resamples : int
        How many times samples are drawn.
    seed : int
        Of the draws, so that a second call gives the same.

    Returns
    -------
    Interval
        The statistic of the samples with the bias-corrected and accelerated interval of
        `scipy.stats.bootstrap` [1]_ [2]_. Without ends where n is 1; without width where all
        samples are equal.

    Raises
    ------
    ValueError
        If there is no sample or more than 10,000, one is not finite, or `confidence` is not between
        0 and 1.

    Notes
    -----
    For fewer than about 50 samples it is too narrow, and Student's interval of a mean covers more
    often (docs/statistics.md has the coverage): a bootstrap draws from what it has seen. For a
    quantile `quantile_interval` needs no draws and is exact.
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
    return Interval(estimate, *_bca((x,), function, level, resamples, seed), x.size)


def bootstrap_difference(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, *, shared_seeds: bool = True
) -> Difference:
    """Difference of two means by the BCa bootstrap, with the p-value of the permutation test.

    Parameters
    ----------
    first, second : array_like of float, shape (n,) and (m,)
        Measurements of the two; where seeds are shared the same place in both is the same seed.
    confidence : float
        Probability with which the interval covers the difference, between 0 and 1.
    shared_seeds : bool
        Whether the two are paired.

    Returns
    -------
    Difference
        As `lightburst.study.paired_difference` and `lightburst.study.difference_of_means`; p asks
        how often a difference as large comes out where, by chance, each pair changes its sides, or
        samples change between the two (9,999 draws from a fixed seed; all changes where there are
        fewer). It assumes no distribution and is at least two over the number of changes, ``2^(1 -
        n)`` for n pairs.

    Raises
    ------
    ValueError
        As those.
    """
    found = gap_interval(first, second, confidence, shared_seeds=shared_seeds)
    one, other = (np.asarray(x, dtype=np.float64) for x in (first, second))
    p = _permuted(one, other, paired=shared_seeds) if min(one.size, other.size) > 1 else math.nan
    return Difference(found.estimate, found.low, found.high, found.n, p)


def gap_interval(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, *, shared_seeds: bool = True
) -> Interval:
    """Give the interval of `bootstrap_difference` without the test, which takes most of its time.

    Parameters
    ----------
    first, second, confidence, shared_seeds
        As there.

    Returns
    -------
    Interval
        Of the mean of `second` less that of `first`.
    """
    level = checked(confidence)
    if shared_seeds:
        one, other = pairs_of(first, second, "first", "second")
        return bootstrap_interval(other - one, "mean", level)
    one, other = samples_of(first, "first"), samples_of(second, "second")
    ends = _bca((other, one), _gap, level)
    return Interval(float(other.mean() - one.mean()), *ends, one.size + other.size)


def _permuted(one: NDArray[np.float64], other: NDArray[np.float64], *, paired: bool) -> float:
    """Give the p-value of the permutation test of a difference of means."""
    from scipy import stats

    how: dict[str, Any] = {"vectorized": True, "n_resamples": _RESAMPLES}
    random = np.random.default_rng(1)
    if paired:
        gaps: Any = (other - one,)
        found = stats.permutation_test(gaps, np.mean, permutation_type="samples", rng=random, **how)
    else:
        found = stats.permutation_test((other, one), _gap, rng=random, **how)
    return float(found.pvalue)


def bootstrap_ratio(
    top: ArrayLike, bottom: ArrayLike, confidence: float = 0.95, *, shared_seeds: bool = True
) -> Interval:
    """Ratio of two means by the BCa bootstrap; see `lightburst.study.ratio_of_means`."""
    level = checked(confidence)
    if shared_seeds:
        one, other = pairs_of(top, bottom, "top", "bottom")
    else:
        one, other = samples_of(top, "top"), samples_of(bottom, "bottom")
    estimate = float(one.mean() / other.mean())
    ends = _bca((one, other), _over, level, paired=shared_seeds)
    n = one.size if shared_seeds else one.size + other.size
    return Interval(estimate, *ends, n)


def _gap(first: Any, second: Any, axis: int = -1) -> Any:
    return np.mean(first, axis=axis) - np.mean(second, axis=axis)


def _over(top: Any, bottom: Any, axis: int = -1) -> Any:
    return np.mean(top, axis=axis) / np.mean(bottom, axis=axis)


def _bca(
    samples: Sequence[NDArray[np.float64]],
    statistic: Callable[..., Any],
    level: float,
    resamples: int = _RESAMPLES,
    seed: int = 1,
    *,
    paired: bool = False,
) -> tuple[float, float]:
    """Give the ends; NaN with fewer than two samples, both the estimate where none varies."""
    from scipy import stats  # takes longer to import than all the rest

    if min(x.size for x in samples) < 2:
        return math.nan, math.nan
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Where resamples do not vary it warns, and gives no ends.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found: Any = stats.bootstrap(
            tuple(samples),
            statistic,
            n_resamples=resamples,
            batch=max(1, _AT_ONCE // max(x.size for x in samples)),
            vectorized=True,
            paired=paired,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    ends = float(found.confidence_interval.low), float(found.confidence_interval.high)
    if np.isnan(ends).any() and np.ptp(found.bootstrap_distribution) <= _ROUNDING * np.abs(
        estimate := float(statistic(*samples, axis=-1))
    ):
        return estimate, estimate
    return ends


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Interval:
    """Interval of a quantile of independent samples, whatever their distribution.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Independent samples; infinite ones are allowed.
    q : float
        Which quantile, between 0 and 1: 0.99 for the 99th percentile.
    confidence : float
        Probability with which the interval covers the quantile, at least, between 0 and 1.

    Returns
    -------
    Interval
        The smallest sample that is not exceeded by a part `q` of them, between two of the samples:
        the interval of `scipy.stats.quantile_test` [3]_. An end is infinite where n is too small to
        bound the quantile on that side.

    Raises
    ------
    ValueError
        If there is no sample, one is NaN, or `q` or `confidence` is not between 0 and 1.

    Notes
    -----
    The number of samples below the quantile is binomial, whatever they are drawn from, so the
    interval is exact but for the steps from sample to sample, which make it too wide rather than
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
    # A sample, so that no infinite one is averaged with another.
    estimate = float(np.quantile(x, q, method="inverted_cdf"))
    return Interval(
        estimate,
        -math.inf if math.isnan(low) else low,
        math.inf if math.isnan(high) else high,
        x.size,
    )
