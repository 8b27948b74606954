"""Confidence intervals for one system, from independent runs with different seeds.

References
----------
.. [1] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, section 4.5
   (Student intervals).
.. [2] J. Neter et al., "Applied Linear Statistical Models", 5th ed., 2005, appendix A.7 (chi-square
   interval of a variance).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lightburst.foundation.errors import InputError, show

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
