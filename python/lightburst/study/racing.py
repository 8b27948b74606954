"""When a trial of a search has been run often enough: races of means on common seeds.

All trials run on the same seeds, in rounds: all of a batch on the first few, those that are left on
twice as many, and so on to the last seed. After each round but the last a trial is given up if it
is worse than the best so far by more than chance explains: a paired t-test of the differences seed
by seed, one-sided, so that what a seed does to both cancels.

The level of each test is ``risk / (looks * rivals)``: a trial is looked at several times, and the
best so far is the best of several trials on these very seeds, any of which chance may have brought
there. By Bonferroni's inequality a trial whose mean is no worse than that of any trial before it is
then given up with a probability of at most ``risk``, as far as the differences of means are normal
and the trial was not chosen by the noise of these seeds. The search does choose by the means on
these seeds, so that the best mean is a little too good: what it is worth is said on fresh seeds
alone.

References
----------
.. [1] O. Maron, A. W. Moore, "Hoeffding races: accelerating model selection search for
   classification and function approximation", Advances in Neural Information Processing Systems 6,
   1994, pp. 59-66.
.. [2] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, sections 10.2
   (paired comparison), 10.4 (selection of the best) and 11.2 (common random numbers).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightburst.study.statistics import paired_difference
from lightburst.study.stopping import Stopping
from lightburst.study.sweep import Point

FloatArray = NDArray[np.float64]
#: Runs points on seeds: an array of shape (points, seeds, objectives).
Evaluate = Callable[[Sequence[Point], Sequence[int]], FloatArray]

#: What became of a trial.
COMPLETE: Final = "complete"
GIVEN_UP: Final = "given up"
UNUSABLE: Final = "unusable"
#: An unusable one, because a run of it failed.
FAILED: Final = "failed"

_GROWTH: Final = 2.0


@dataclass(frozen=True)
class Race:
    """The rule, and what it is applied to.

    Attributes
    ----------
    seeds : sequence of int
        Those of a complete trial.
    first : int
        Seeds before the first look.
    risk : float
        As the module says.
    signs : tuple of float
        Of each objective 1 where less is better, -1 where more is.
    evaluate : callable
        Runs points.
    """

    seeds: Sequence[int]
    first: int
    risk: float
    signs: tuple[float, ...]
    evaluate: Evaluate

    @property
    def looks(self) -> list[int]:
        """After how many seeds it is asked whether a trial goes on; the last are all seeds."""
        return Stopping("", first=self.first, growth=_GROWTH).looks(len(self.seeds))

    def run(
        self, points: Sequence[Point], front: Sequence[FloatArray], rivals: int
    ) -> list[tuple[FloatArray, str]]:
        """Run points, each on as many seeds as it deserves.

        Parameters
        ----------
        points : sequence of mapping
            A batch.
        front : sequence of ndarray of float, shape (seeds, objectives)
            What the best so far have done; one, if there is one objective.
        rivals : int
            Complete trials so far, of which these are the best.

        Returns
        -------
        list of (ndarray of float, str)
            Of each point what it did, of shape (seeds that it was run on, objectives), and what
            became of it: `COMPLETE`, `GIVEN_UP`, or `UNUSABLE` where an objective is not finite.
        """
        found = [np.empty((0, len(self.signs))) for _ in points]
        states = [COMPLETE for _ in points]
        active = list(range(len(points)))
        tests = (len(self.looks) - 1) * max(rivals, 1)
        for begin, end in itertools.pairwise([0, *self.looks]):
            if not active:
                break
            table = self.evaluate([points[i] for i in active], self.seeds[begin:end])
            for place, i in enumerate(active):
                found[i] = np.concatenate([found[i], table[place]])
                if not np.isfinite(found[i]).all():
                    states[i] = UNUSABLE
                elif end < len(self.seeds) and self.is_worse(found[i], front, self.risk / tests):
                    states[i] = GIVEN_UP
            active = [i for i in active if states[i] == COMPLETE]
        return list(zip(found, states, strict=True))

    def is_worse(self, values: FloatArray, front: Sequence[FloatArray], level: float) -> bool:
        """Tell whether a trial is worse than one of the best, in all objectives, beyond chance.

        Parameters
        ----------
        values : ndarray of float, shape (n, objectives)
            Of the trial, on the first n seeds.
        front : sequence of ndarray of float, shape (at least n, objectives)
            Of the best.
        level : float
            Of each one-sided test.

        Returns
        -------
        bool
            By the least certain objective: that two means are both worse is tested by testing each
            of them at the same level.
        """
        return any(self._worst_p(values, one[: len(values)]) <= level for one in front)

    def _worst_p(self, values: FloatArray, best: FloatArray) -> float:
        worst = 0.0
        for place, sign in enumerate(self.signs):
            gap = paired_difference(sign * best[:, place], sign * values[:, place])
            # Two-sided, so half of it; not worse at all, or too few seeds to tell: no.
            worst = max(worst, gap.p / 2 if gap.estimate > 0 and gap.p == gap.p else 1.0)
        return worst

    def comparable(self, values: FloatArray, front: Sequence[FloatArray]) -> FloatArray:
        """Estimate the means of a trial on all seeds, of shape (objectives,), signs applied.

        Of a trial that was given up there are two estimates: the mean of what it did, and the mean
        of one of the best on all seeds with the paired difference from it on the common ones, which
        is the better one where seeds do the same to both: the first seeds may be luckier than all.
        The one that spreads less is taken.
        """
        signed = np.array(self.signs) * values
        mean = signed.mean(axis=0)
        if len(values) in (1, len(self.seeds)) or not front:
            return np.asarray(mean)
        others = [np.array(self.signs) * one for one in front]
        gaps = [signed - other[: len(values)] for other in others]
        # The one that it loses to most clearly.
        place = int(np.argmax([gap.mean(axis=0).min() for gap in gaps]))
        paired = others[place].mean(axis=0) + gaps[place].mean(axis=0)
        steadier = gaps[place].std(axis=0) < signed.std(axis=0)
        return np.asarray(np.where(steadier, paired, mean), dtype=np.float64)


def front_of(means: FloatArray) -> list[int]:
    """Find what nothing else is better than in one objective and as good in all others.

    Parameters
    ----------
    means : ndarray of float, shape (n, objectives)
        Less is better.

    Returns
    -------
    list of int
        Places, in their order; of equals the first.
    """
    found = []
    for i, one in enumerate(means):
        beaten = (means <= one).all(axis=1) & (means < one).any(axis=1)
        same = (means[:i] == one).all(axis=1)
        if not beaten.any() and not same.any():
            found.append(i)
    return found
