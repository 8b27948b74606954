"""Intervals for what replications measured.

Runs with different seeds are independent; runs with the same seed share their flows, whatever the
switch or the protocol, so two systems are compared seed by seed and the common fluctuation cancels.

References
----------
.. [1] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, sections 4.5
   (Student intervals) and 10.2 (paired comparison).
.. [2] J. Neter et al., "Applied Linear Statistical Models", 5th ed., 2005, appendix A.7 (chi-square
   interval of a variance).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lightburst.errors import InputError, did_you_mean, show


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the ends of its interval; NaN ends where one sample gives none.
    n : int
        Number of samples, or of pairs.
    """

    estimate: float
    low: float
    high: float
    n: int

    def contains(self, value: float) -> bool:
        """Whether `value` lies in the interval, its ends included."""
        return self.low <= value <= self.high


def number(value: float) -> float | None:
    """Give a float for JSON: None for what is not finite."""
    return float(value) if math.isfinite(value) else None


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Mean of independent samples with Student's interval.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        At least one sample; infinite ones are allowed.
    confidence : float
        Probability with which the interval covers the mean, between 0 and 1.

    Returns
    -------
    Interval
        Mean and ``mean -/+ t(n - 1) s / sqrt(n)`` [1]_; without ends when n is 1, or the mean is
        infinite.

    Raises
    ------
    ValueError
        If there is no sample, one is NaN or minus infinity, or `confidence` is not between 0 and
        1.
    """
    x = _samples(values, "values", infinite=True)
    if np.isinf(x).any():
        return Interval(math.inf, math.nan, math.nan, x.size)
    mean = float(x.mean())
    half = float(x.std(ddof=1) * _student(x.size, confidence)) if x.size > 1 else math.nan
    return Interval(mean, mean - half, mean + half, x.size)


def paired_ratio(
    numerator: ArrayLike, denominator: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Ratio of two systems that ran on the same seeds.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,)
        Positive measurements; the same place in both is the same seed.
    confidence : float
        Probability with which the interval covers the ratio, between 0 and 1.

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
    Chosen over Fellier's interval of the ratio of means, because a fluctuation of the flows scales
    both measurements (their standard deviation is proportional to their mean), so that the
    logarithm of the ratio has the same spread at every load and its interval never leaves the
    positive numbers. Where the ratios vary by a relative deviation c, their geometric mean is below
    their arithmetic mean by about c^2 / 2.
    """
    top, bottom = _samples(numerator, "numerator"), _samples(denominator, "denominator")
    if top.size != bottom.size:
        raise ValueError(
            f"numerator and denominator: {top.size} and {bottom.size} samples, no pairs"
        )
    if np.any(top <= 0) or np.any(bottom <= 0):
        raise ValueError("numerator and denominator: allowed are measurements above 0")
    log = mean_interval(np.log(top / bottom), confidence)
    return Interval(
        float(np.exp(log.estimate)), float(np.exp(log.low)), float(np.exp(log.high)), log.n
    )


def ratio_of_means(
    numerator: ArrayLike, denominator: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Ratio of the means of two systems that may have run with different numbers of seeds.

    Parameters
    ----------
    numerator : array_like of float, shape (n,)
        Samples of one system, with a mean above 0.
    denominator : array_like of float, shape (m,)
        Samples of the other; the same place in both is the same seed.
    confidence : float
        Probability with which the interval covers the ratio, between 0 and 1.

    Returns
    -------
    Interval
        Ratio of the means of all samples; ends from its logarithm and `log_ratio_error`; without
        ends where a system has one sample. `Interval.n` counts the samples of both.

    Raises
    ------
    ValueError
        If a system has no sample, or a mean that is not positive and finite.

    Notes
    -----
    Beside `paired_ratio` this keeps the seeds that only one system has, and a product of such
    ratios telescopes: a/b times b/c is a/c.
    """
    error, freedom = log_ratio_error(numerator, denominator)
    top, bottom = _samples(numerator, "numerator"), _samples(denominator, "denominator")
    ratio, n = float(top.mean() / bottom.mean()), top.size + bottom.size
    t = float(special.stdtrit(freedom, (1 + _checked(confidence)) / 2))
    factor = math.exp(t * error)
    return Interval(ratio, ratio / factor, ratio * factor, n)


def log_ratio_error(numerator: ArrayLike, denominator: ArrayLike) -> tuple[float, float]:
    """Give the standard error of the logarithm of a ratio of means.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (n,) and (m,)
        As for `ratio_of_means`.

    Returns
    -------
    tuple of float
        The error, to first order in the relative deviations, and its degrees of freedom; NaN
        where a system has one sample.

    Raises
    ------
    ValueError
        As `ratio_of_means`.

    Notes
    -----
    The first k = min(n, m) seeds are pairs: what they add to the two relative means is compared
    seed by seed, so that what a seed does to both cancels, and two systems that did the same have
    an error of zero. The other seeds of the longer one stand alone. The degrees of freedom are
    those of Welch and Satterthwaite for these two parts (section 10.2 of [1]_).
    """
    top, bottom = _samples(numerator, "numerator"), _samples(denominator, "denominator")
    if top.mean() <= 0 or bottom.mean() <= 0:
        raise ValueError("numerator and denominator: allowed are samples whose mean is above 0")
    pairs = min(top.size, bottom.size)
    if pairs < 2:
        return math.nan, math.nan
    # What each sample adds to its mean, as a fraction of it.
    shares = [x / (x.size * float(x.mean())) for x in (top, bottom)]
    longer = max(shares, key=len)
    paired = pairs * float((shares[0][:pairs] - shares[1][:pairs]).var(ddof=1))
    alone = (longer.size - pairs) * float(longer.var(ddof=1))
    variance = paired + alone
    if variance == 0:
        return 0.0, float(pairs - 1)
    squares = paired**2 / (pairs - 1) + alone**2 / (longer.size - 1)
    return math.sqrt(variance), variance**2 / squares


def compare(
    runs: pd.DataFrame,
    metric: str,
    numerator: Mapping[str, object],
    denominator: Mapping[str, object],
    confidence: float = 0.95,
) -> Interval:
    """Ratio of a metric between two points of a study, paired by seed.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run, as `lightburst.study.execute` returns it.
    metric : str
        Column to compare.
    numerator, denominator : mapping of str to object
        Columns and their values at the two points. Each must select one row for a seed.
    confidence : float
        Probability with which the interval covers the ratio, between 0 and 1.

    Returns
    -------
    Interval
        As `paired_ratio`, over the seeds that both points have.

    Raises
    ------
    ValueError
        If a point has several rows for one seed, or the two have no seed in common.
    """
    top, bottom = _by_seed(runs, metric, numerator), _by_seed(runs, metric, denominator)
    pairs = pd.concat([top, bottom], axis=1, join="inner", keys=["top", "bottom"])
    return paired_ratio(pairs["top"], pairs["bottom"], confidence)


def relative_deviation(
    groups: Iterable[ArrayLike], *, shared_seeds: bool = True, confidence: float = 0.95
) -> Interval:
    """Pool the standard deviation relative to the mean over several groups.

    Parameters
    ----------
    groups : iterable of array_like of float
        The samples of each point of a study; groups of one sample say nothing and are left out.
    shared_seeds : bool
        Whether the groups ran on the same seeds. Then they are far from independent, and the
        interval is that of the largest group alone: never too narrow.
    confidence : float
        Probability with which the interval covers the deviation, between 0 and 1.

    Returns
    -------
    Interval
        ``sqrt(sum (n_i - 1) (s_i / m_i)^2 / sum (n_i - 1))`` with the chi-square interval [2]_ for
        samples near normal; `n` counts all samples used.

    Raises
    ------
    ValueError
        If no group has two samples, or a mean is not positive.
    """
    samples = [x for x in (_samples(group, "groups") for group in groups) if x.size > 1]
    if not samples:
        raise ValueError("groups: at least one with two samples")
    if any(x.mean() <= 0 for x in samples):
        raise ValueError("groups: allowed are samples whose mean is above 0")
    freedom = np.array([x.size - 1 for x in samples])
    squares = np.array([x.var(ddof=1) / x.mean() ** 2 for x in samples])
    pooled = float(np.sqrt(freedom @ squares / freedom.sum()))
    degrees = int(freedom.max() if shared_seeds else freedom.sum())
    tail = (1 - _checked(confidence)) / 2
    # chdtri inverts the upper tail: the large quantile gives the low end.
    low = pooled * float(np.sqrt(degrees / special.chdtri(degrees, tail)))
    high = pooled * float(np.sqrt(degrees / special.chdtri(degrees, 1 - tail)))
    return Interval(pooled, low, high, sum(x.size for x in samples))


def summarise(
    runs: pd.DataFrame, by: Sequence[str], metric: str, confidence: float = 0.95
) -> pd.DataFrame:
    """Mean and interval of a metric at each point of a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run.
    by : sequence of str
        Columns that name a point.
    metric : str
        Column to average over the seeds; runs without a value are left out.
    confidence : float
        Probability with which each interval covers its mean, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        One row for each point, in the order of first appearance: the columns of `by`, then `n`,
        `mean`, `std`, `ci_low`, `ci_high` (NaN where n is 1, or a run is infinite and with it the
        mean).

    Raises
    ------
    InputError
        If `by` is not a list of columns, or `metric` not a column of numbers.
    ValueError
        If `confidence` is not between 0 and 1.
    """
    known = [str(name) for name in runs.columns]
    if isinstance(by, str) or not isinstance(by, Iterable):
        example = by if isinstance(by, str) else "workload.load"
        raise InputError("by", show(by), f"a list of columns that name a point, as [{example!r}]")
    for name in by:
        if name not in known:
            raise InputError("by", show(name), f"columns of runs{did_you_mean(name, known)}")
    numbers = [name for name in known if pd.api.types.is_numeric_dtype(runs[name])]
    if not isinstance(metric, str) or metric not in numbers:
        allowed = "the name of one column of runs with numbers, as 'throughput_bps'"
        raise InputError("metric", show(metric), allowed + did_you_mean(metric, numbers))
    grouped = runs.dropna(subset=[metric]).groupby(list(by), sort=False, dropna=False)[metric]
    table = grouped.agg(n="count", mean="mean", std="std").reset_index()
    half = table["std"] * _student(table["n"], confidence)
    return table.assign(ci_low=table["mean"] - half, ci_high=table["mean"] + half)


def _student(n: ArrayLike, confidence: float) -> NDArray[np.float64]:
    """Half width of the interval of a mean of n samples, in standard deviations of a sample."""
    number = np.asarray(n, dtype=np.float64)
    t = special.stdtrit(np.maximum(number - 1, 1), (1 + _checked(confidence)) / 2)
    return np.asarray(t / np.sqrt(number), dtype=np.float64)


def _by_seed(runs: pd.DataFrame, metric: str, point: Mapping[str, object]) -> "pd.Series[float]":
    chosen = np.ones(len(runs), dtype=bool)
    for column, value in point.items():
        chosen &= (runs[column] == value).to_numpy()
    series = runs.loc[chosen].set_index("seed")[metric]
    if not series.index.is_unique:
        raise ValueError(f"{dict(point)}: selects several runs of one seed")
    return series


def _samples(values: ArrayLike, name: str, *, infinite: bool = False) -> NDArray[np.float64]:
    x = np.asarray(values, dtype=np.float64).ravel()
    if x.size == 0:
        raise ValueError(f"{name}: at least one sample")
    if not np.all(np.isfinite(x) | (infinite & (x == np.inf))):
        raise ValueError(f"{name}: allowed are finite numbers")
    return x


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError("confidence: between 0 and 1")
    return confidence
