"""Confidence intervals for one system, from independent runs with different seeds.

References
----------
.. [1] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, section 4.5
   (Student intervals).
.. [2] J. Neter et al., "Applied Linear Statistical Models", 5th ed., 2005, appendix A.7 (chi-square
   interval of a variance).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lightburst.foundation.errors import InputError, did_you_mean, show

STUDENT: Final = "t"
BCA: Final = "bca"
#: Interval of a share; chosen automatically, not by the user.
SHARE: Final = "share"
#: Names of intervals of means, and their descriptions.
INTERVALS: Final = {STUDENT: "Student", BCA: "BCa bootstrap", SHARE: "Clopper-Pearson"}


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the ends of its interval; the ends are NaN if a single sample gives none.
    n : int
        Number of samples, or of pairs.
    """

    estimate: float
    low: float
    high: float
    n: int

    def contains(self, value: float) -> bool:
        """Return whether `value` lies in the interval, including its ends."""
        return self.low <= value <= self.high

    def in_unit(self, unit: float) -> "Interval":
        """Convert to a unit that equals `unit` present ones: 1e6 converts b/s to Mb/s."""
        return Interval(self.estimate / unit, self.low / unit, self.high / unit, self.n)


def number(value: float) -> float | None:
    """Return a float for JSON: None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute the mean of independent samples with Student's interval.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        At least one sample; plus infinity is allowed.
    confidence : float
        Probability, between 0 and 1, that the interval covers the mean.

    Returns
    -------
    Interval
        Mean and ``mean -/+ t(n - 1) s / sqrt(n)`` [1]_; the ends are NaN if n is 1 or the mean is
        infinite.

    Raises
    ------
    ValueError
        If there is no sample, a sample is NaN or minus infinity, or `confidence` is not between 0
        and 1.
    """
    x = samples_of(values, "values", infinite=True)
    if np.isinf(x).any():
        return Interval(math.inf, math.nan, math.nan, x.size)
    mean = float(x.mean())
    half = float(x.std(ddof=1) * student(x.size, confidence)) if x.size > 1 else math.nan
    return Interval(mean, mean - half, mean + half, x.size)


def relative_deviation(
    groups: Iterable[ArrayLike], *, shared_seeds: bool = True, confidence: float = 0.95
) -> Interval:
    """Pool the standard deviation relative to the mean over several groups.

    Parameters
    ----------
    groups : iterable of array_like of float
        Samples of each point of a study; groups with a single sample are ignored.
    shared_seeds : bool
        Whether the groups ran on the same seeds. They are then far from independent, and the
        interval is that of the largest group alone, which is never too narrow.
    confidence : float
        Probability, between 0 and 1, that the interval covers the deviation.

    Returns
    -------
    Interval
        ``sqrt(sum (n_i - 1) (s_i / m_i)^2 / sum (n_i - 1))`` with the chi-square interval [2]_,
        valid for nearly normal samples; `n` counts all samples used.

    Raises
    ------
    ValueError
        If no group has two samples, or a mean is not positive.
    """
    samples = [x for x in (samples_of(group, "groups") for group in groups) if x.size > 1]
    if not samples:
        raise ValueError("groups: at least one with two samples")
    if any(x.mean() <= 0 for x in samples):
        raise ValueError("groups: allowed are samples whose mean is above 0")
    freedom = np.array([x.size - 1 for x in samples])
    squares = np.array([x.var(ddof=1) / x.mean() ** 2 for x in samples])
    pooled = float(np.sqrt(freedom @ squares / freedom.sum()))
    degrees = int(freedom.max() if shared_seeds else freedom.sum())
    tail = (1 - checked(confidence)) / 2
    # chdtri inverts the upper tail: the large quantile gives the low end.
    low = pooled * float(np.sqrt(degrees / special.chdtri(degrees, tail)))
    high = pooled * float(np.sqrt(degrees / special.chdtri(degrees, 1 - tail)))
    return Interval(pooled, low, high, sum(x.size for x in samples))


def summarise(
    runs: pd.DataFrame,
    by: Sequence[str],
    metric: str,
    confidence: float = 0.95,
    *,
    interval: str = STUDENT,
) -> pd.DataFrame:
    """Compute the mean and interval of a metric at each point of a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per run.
    by : sequence of str
        Columns that name a point.
    metric : str
        Column to average over the seeds; runs without a value are ignored.
    confidence : float
        Probability, between 0 and 1, that each interval covers its mean.
    interval : str
        ``"t"``, Student's, or ``"bca"``, by bootstrap (`bootstrap_interval`), for skewed metrics
        and many runs (docs/statistics.md explains the choice). A share whose counts are columns as
        well (``burst_loss_count``, ``burst_loss_of``) has the interval of `share_interval` instead
        of Student's, and instead of a bootstrap interval without width.

    Returns
    -------
    pandas.DataFrame
        One row per point, in the order of first appearance: the columns of `by`, then `n`, `mean`,
        `std`, `ci_low` and `ci_high` (NaN if n is 1, or a run and thus the mean is infinite).

    Raises
    ------
    InputError
        If `by` is not a list of columns, or `metric` not a numeric column.
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
    there = runs.dropna(subset=[metric])
    grouped = there.groupby(list(by), sort=False, dropna=False)[metric]
    table = grouped.agg(n="count", mean="mean", std="std").reset_index()
    ends = _given(there, metric, grouped, confidence, checked_interval(interval))
    if ends is not None:
        return table.assign(ci_low=ends[0], ci_high=ends[1])
    half = table["std"] * student(table["n"], confidence)
    return table.assign(ci_low=table["mean"] - half, ci_high=table["mean"] + half)


def _given(
    runs: pd.DataFrame, metric: str, grouped: Any, confidence: float, interval: str
) -> tuple[Any, Any] | None:
    """Return the ends of bootstrap or share intervals; None if Student's apply."""
    from lightburst.study.statistics.shares import is_share, shares_of

    drawn: tuple[Any, Any] | None = None
    if interval == BCA:
        from lightburst.study.statistics.bootstrap import bootstrap_interval

        none = Interval(math.nan, math.nan, math.nan, 0)
        found = [
            bootstrap_interval(x, "mean", confidence) if np.isfinite(x).all() else none
            for x in (x.to_numpy(np.float64) for _, x in grouped)
        ]
        drawn = np.array([x.low for x in found]), np.array([x.high for x in found])
    if not is_share(runs, metric):
        return drawn
    exact = shares_of(runs, metric, grouped.ngroup(), confidence)
    if drawn is None:
        return exact
    # A bootstrap of runs with equal values gives no information on rare losses.
    wide = drawn[0] < drawn[1]
    return np.where(wide, drawn[0], exact[0]), np.where(wide, drawn[1], exact[1])


def checked_interval(kind: object, where: str = "interval") -> str:
    """Return a kind of interval unchanged; raise `InputError` if it is unknown."""
    if kind not in (STUDENT, BCA):
        names = ", ".join(f"'{name}' ({INTERVALS[name]})" for name in (STUDENT, BCA))
        raise InputError(where, show(kind), f"one of {names}")
    return str(kind)


def student(n: ArrayLike, confidence: float) -> NDArray[np.float64]:
    """Return the half-width of the interval of a mean of n samples, in standard deviations."""
    number = np.asarray(n, dtype=np.float64)
    t = special.stdtrit(np.maximum(number - 1, 1), (1 + checked(confidence)) / 2)
    return np.asarray(t / np.sqrt(number), dtype=np.float64)


def samples_of(values: ArrayLike, name: str, *, infinite: bool = False) -> NDArray[np.float64]:
    """Convert samples to an array; `ValueError` if it is empty or not finite (see `infinite`)."""
    x = np.asarray(values, dtype=np.float64).ravel()
    if x.size == 0:
        raise ValueError(f"{name}: at least one sample")
    if not np.all(np.isfinite(x) | (infinite & (x == np.inf))):
        raise ValueError(f"{name}: allowed are finite numbers")
    return x


def checked(confidence: float) -> float:
    """Return a confidence unchanged; raise `ValueError` if it is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError("confidence: between 0 and 1")
    return confidence
