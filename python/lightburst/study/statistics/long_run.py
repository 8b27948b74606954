"""One long run in place of many: where its beginning ends, and the mean of the rest.

The observations of one run hang together, so their own spread says too little.

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

from lightburst.active import Cut, mser
from lightburst.study.statistics.intervals import Interval, checked, mean_interval, samples_of

__all__ = ["BATCHES", "BatchMeans", "Cut", "batch_means", "mser"]

#: Of 10 to 30, which Schmeiser found to lose little against any larger number.
BATCHES: Final = 20
_LEAST: Final = 2
# How likely independent batches are called dependent.
_SIGNIFICANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class BatchMeans(Interval):
    """The mean of a long run with its interval; `n` is the number of batches.

    Attributes
    ----------
    size : int
        Observations in a batch.
    cut : Cut
        What was cut off at the beginning as warm-up.
    independent : bool
        Whether the means of the batches show no correlation: if they do, the run is too short and
        the interval too narrow.
    """

    size: int
    cut: Cut
    independent: bool

    @property
    def trusted(self) -> bool:
        """Whether nothing says that the run was too short."""
        return self.independent and self.cut.settled


def batch_means(
    series: ArrayLike,
    confidence: float = 0.95,
    *,
    batches: int = BATCHES,
    warm_up: int | None = None,
) -> BatchMeans:
    """Mean of a correlated series in steady state, by batch means.

    Parameters
    ----------
    series : array_like of float, shape (n,)
        Observations of one run in their order: waits, completion times, samples of a queue.
    confidence : float
        Probability with which the interval covers the mean in steady state, between 0 and 1.
    batches : int
        Of equal length, at least 2. Between 10 and 30 [1]_ [2]_: with fewer the interval is wide,
        with more a batch is so short that it hangs together with the next one.
    warm_up : int, optional
        Observations that are cut off at the beginning; without it `mser` finds how many.

    Returns
    -------
    BatchMeans
        Mean of all batches with Student's interval of the means of batches. So many of the first
        observations as are left over after the division are cut off, too.

    Raises
    ------
    ValueError
        If an observation is not finite, fewer than 2 batches are asked for, or there are fewer
        observations than batches after the warm-up.

    Notes
    -----
    Whether the batches are independent is von Neumann's test on their means, at 5 %, against
    positive correlation [3]_. It finds strong dependence only: at 20 batches a correlation of 0.4
    from batch to batch is found in half of all cases. `BatchMeans.trusted` is therefore needed for
    trust, and not enough for it; the safe way is several runs.
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
    """Whether von Neumann's test finds no positive correlation of neighbours."""
    deviations = means - means.mean()
    squares = float(deviations @ deviations)
    if squares == 0 or means.size < _LEAST + 1:
        return True
    # Fishman's form: C = 1 - sum of squared steps / (2 sum of squares), of mean 0 and variance
    # (b - 2) / (b^2 - 1) for independent normal means.
    steps = np.diff(means)
    correlation = 1 - float(steps @ steps) / (2 * squares)
    spread = math.sqrt((means.size - 2) / (means.size**2 - 1))
    return correlation / spread < float(special.ndtri(1 - _SIGNIFICANCE))
