"""Implausibility of a setting: the distance of a number from its target, in standard deviations.

History matching [1]_ rules out the settings at which a number cannot meet its target, given all
that is uncertain: chance of the seeds, the emulator in place of runs, and the tolerance of the
target itself. A setting that is left is not right; it is not yet ruled out.

References
----------
.. [1] P. S. Craig, M. Goldstein, A. H. Seheult, J. A. Smith, "Pressure matching for hydrocarbon
   reservoirs: a case study in the use of Bayes linear strategies for large computer experiments",
   Case Studies in Bayesian Statistics III, Springer, 1997, pp. 37-93.
.. [2] I. Vernon, M. Goldstein, R. G. Bower, "Galaxy formation: a Bayesian uncertainty analysis",
   Bayesian Analysis 5(4), 2010, pp. 619-670; the second largest implausibility, section 3.7.
.. [3] F. Pukelsheim, "The three sigma rule", The American Statistician 48(2), 1994, pp. 88-91: at
   most 5 % of any unimodal distribution lie beyond three standard deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.foundation.errors import InputError, show

FloatArray = NDArray[np.float64]

#: Implausibility above which a setting is ruled out, by Pukelsheim's rule of three deviations.
CUT: Final = 3.0
#: Which of the largest implausibilities must not exceed `CUT`: the second, as one emulator of many
#: may be wrong, and one statement of many may be.
RANK: Final = 2
#: A number meets its target if it is this many deviations of the seeds away from it at most.
MET: Final = 2.0


@dataclass(frozen=True, slots=True)
class Target:
    """The range in which a statement wants its number.

    Attributes
    ----------
    low, high : float
        Ends of the range, in the unit of the number; one of them infinite for a bound.
    logarithmic : bool
        Whether distances are those of logarithms, as for a ratio.
    """

    low: float
    high: float
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high or math.inf in (self.low, -self.high):
            raise InputError("target", show(f"{self.low:g} to {self.high:g}"), "ascending ends")
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        if self.logarithmic and min(ends, default=1.0) <= 0:
            raise InputError("target", show(min(ends)), "more than zero, to take logarithms")

    def scaled(self, values: ArrayLike) -> FloatArray:
        """Return numbers on the scale of the distances; NaN for those without a logarithm."""
        x = np.asarray(values, dtype=np.float64)
        if not self.logarithmic:
            return x
        return np.log(x, out=np.full(x.shape, np.nan), where=x > 0)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends on the scale of the distances."""
        if not self.logarithmic:
            return self.low, self.high
        low = math.log(self.low) if self.low > 0 else -math.inf
        return low, math.log(self.high) if math.isfinite(self.high) else math.inf

    @property
    def tolerance(self) -> float:
        """Half the width of the range on the scale of the distances; 0 for a bound."""
        low, high = self.ends
        return (high - low) / 2 if math.isfinite(high - low) else 0.0

    def beyond(self, scaled: ArrayLike) -> FloatArray:
        """Return how far numbers lie outside the range, on the scale of the distances; else 0."""
        x, (low, high) = np.asarray(scaled, dtype=np.float64), self.ends
        return np.maximum(np.maximum(low - x, x - high), 0.0)

    def distance(self, scaled: ArrayLike) -> FloatArray:
        """Return the distance from the middle of the range, or of a bound how far it is missed."""
        x, (low, high) = np.asarray(scaled, dtype=np.float64), self.ends
        return np.abs(x - (low + high) / 2) if math.isfinite(high - low) else self.beyond(x)

    def is_met(self, scaled: ArrayLike, seed_variance: ArrayLike) -> NDArray[np.bool_]:
        """Return whether numbers lie in the range, or `MET` deviations of the seeds beside it."""
        reach = MET * np.sqrt(seed_variance)
        return np.asarray(self.beyond(scaled) <= reach, dtype=np.bool_)


def implausibility(
    target: Target, scaled: ArrayLike, seed_variance: float, emulator_variance: ArrayLike = 0.0
) -> FloatArray:
    """Compute the implausibility of numbers, equation (14) of Vernon et al. [2]_.

    Parameters
    ----------
    target : Target
        The target.
    scaled : array_like of float
        Numbers, or the emulator's means of them, on the scale of the target.
    seed_variance : float
        Variance of a number by chance of its seeds, on that scale.
    emulator_variance : array_like of float
        The emulator's variance of each, on that scale; 0 for numbers from runs.

    Returns
    -------
    ndarray of float
        Distance over the root of both variances and the square of the tolerance; NaN for a number
        that is not known, infinite for a distance that nothing uncertain explains.
    """
    distance = target.distance(scaled)
    variance = seed_variance + np.asarray(emulator_variance, dtype=np.float64)
    spread = np.broadcast_to(np.sqrt(variance + target.tolerance**2), distance.shape)
    exact = np.where(distance > 0, np.inf, np.where(distance == 0, 0.0, np.nan))
    return np.asarray(np.divide(distance, spread, out=exact, where=spread > 0))


def ranked(implausibilities: ArrayLike, rank: int = RANK) -> FloatArray:
    """Return the largest, second largest, ... implausibility of each setting.

    Parameters
    ----------
    implausibilities : array_like of float, shape (settings, statements)
        Unknown ones (NaN) count as 0: they rule nothing out.
    rank : int
        1 for the largest; a setting with fewer statements has the smallest that there is.

    Returns
    -------
    ndarray of float, shape (settings,)
        0 without statements.
    """
    known = np.nan_to_num(np.asarray(implausibilities, dtype=np.float64), nan=0.0, posinf=np.inf)
    if not known.shape[1]:
        return np.zeros(len(known))
    return np.asarray(np.sort(known, axis=1)[:, -min(rank, known.shape[1])])
