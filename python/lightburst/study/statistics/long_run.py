"""Analysis of one long run instead of many: removal of the warm-up, and batch means.

The observations of one run are correlated, so their own spread underestimates the error.

References
----------
.. [1] B. Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research
   30(3), 1982, pp. 556-568.
.. [2] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, section 9.5.3.
.. [3] G. S. Fishman, "Grouping observations in digital simulation", Management Science 24(5), 1978,
   pp. 510-521; the ratio is that of J. von Neumann, Annals of Mathematical Statistics 12(4), 1941.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lightburst.result.warm_up import Cut, mser
from lightburst.study.statistics.intervals import Interval, checked, mean_interval, samples_of

__all__ = ["BATCHES", "BatchMeans", "Cut", "batch_means", "mser"]

#: Number of batches, within the 10 to 30 beyond which Schmeiser found little to gain.
BATCHES: Final = 20
_LEAST: Final = 2
# Level of the test: probability that independent batches are declared dependent.
_SIGNIFICANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class BatchMeans(Interval):
    """The mean of a long run with its interval; `n` is the number of batches.

    Attributes
    ----------
    size : int
        Number of observations in a batch.
    cut : Cut
        Warm-up that was cut off at the beginning.
    independent : bool
        Whether the batch means show no correlation; if they do, the run is too short and the
        interval too narrow.
    """

    size: int
    cut: Cut
    independent: bool

    @property
    def trusted(self) -> bool:
        """Whether there is no sign that the run was too short."""
        return self.independent and self.cut.settled


def batch_means(
    series: ArrayLike,
    confidence: float = 0.95,
    *,
    batches: int = BATCHES,
    warm_up: int | None = None,
) -> BatchMeans:
    """Compute the mean of a correlated series in steady state by batch means.

    Parameters
    ----------
    series : array_like of float, shape (n,)
        Observations of one run in order, such as waiting times, completion times or queue lengths.
    confidence : float
        Probability, between 0 and 1, that the interval covers the mean in steady state.
    batches : int
        Number of batches of equal length, at least 2; recommended are 10 to 30 [1]_ [2]_: with
        fewer the interval is wide, with more the batches are so short that neighbours are
        correlated.
    warm_up : int, optional
        Number of observations to cut off at the beginning; None determines it by `mser`.

    Returns
    -------
    BatchMeans
        Mean of all batches, with Student's interval of the batch means. If the length is not a
        multiple of `batches`, the remainder is cut off at the beginning as well.

    Raises
    ------
    ValueError
        If an observation is not finite, `batches` is below 2, or fewer observations than batches
        remain after the warm-up.

    Notes
    -----
    Independence is tested by von Neumann's test on the batch means, at 5 %, against positive
    correlation [3]_. It detects strong dependence only: with 20 batches, a correlation of 0.4
    between neighbours is detected in half of all cases. `BatchMeans.trusted` is therefore necessary
    for a reliable result but not sufficient; several runs are safer.
    """
    x = samples_of(series, "series")
    if batches < _LEAST:
        raise ValueError(f"batches: a whole number from {_LEAST}")
    cut = mser(x) if warm_up is None else Cut(warm_up, settled=True)
    kept = x.size - cut.observations
    if cut.observations < 0 or kept < batches:
        raise ValueError(f"series: {x.size} observations, for {batches} batches after the warm-up")
    size = kept // batches
    means = x[x.size - size * batches :].reshape(batches, size).mean(axis=1)
    found = mean_interval(means, checked(confidence))
    independent = _independent(means)
    return BatchMeans(found.estimate, found.low, found.high, batches, size, cut, independent)


def _independent(means: NDArray[np.float64]) -> bool:
    """Return whether von Neumann's test finds no positive correlation of neighbours."""
    deviations = means - means.mean()
    squares = float(deviations @ deviations)
    if squares == 0 or means.size < _LEAST + 1:
        return True
    # Fishman's form: C = 1 - sum of squared steps / (2 sum of squares), which has mean 0 and
    # variance
    # (b - 2) / (b^2 - 1) for b independent normal means.
    steps = np.diff(means)
    correlation = 1 - float(steps @ steps) / (2 * squares)
    spread = math.sqrt((means.size - 2) / (means.size**2 - 1))
    return correlation / spread < float(special.ndtri(1 - _SIGNIFICANCE))
