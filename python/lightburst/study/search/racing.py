"""Racing: stops a trial of a search early if it is worse than the best, on common seeds.

All trials run on the same seeds, in rounds: all trials of a batch on the first few seeds, the
remaining ones on twice as many, and so on up to all seeds. After each round except the last, a
trial is given up if it is worse than the best so far by more than chance explains. The test is a
one-sided paired t-test of the differences per seed, in which common effects of a seed cancel.

The level of each test is ``risk / (looks * rivals)``, because a trial is tested several times, and
because the best so far is the best of several trials on these same seeds, any of which may be the
best by chance. By Bonferroni's inequality, a trial whose mean is no worse than that of any earlier
trial is then given up with probability at most ``risk``, provided that differences of means are
normal and the trial was not chosen by the noise of these seeds. As the search does choose by means
on these seeds, the best mean is slightly too good; only fresh seeds give an unbiased value.

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

from lightburst.study.execution.stopping import Stopping
from lightburst.study.runs import Point
from lightburst.study.statistics import paired_difference

FloatArray = NDArray[np.float64]
#: Runs points on seeds: an array of shape (points, seeds, objectives).
Evaluate = Callable[[Sequence[Point], Sequence[int]], FloatArray]

#: Outcomes of a trial.
COMPLETE: Final = "complete"
GIVEN_UP: Final = "given up"
UNUSABLE: Final = "unusable"
#: Verdict on an unusable trial of which a run failed.
FAILED: Final = "failed"

_GROWTH: Final = 2.0


@dataclass(frozen=True)
class Race:
    """The rule of a race, with the seeds and the function that runs points.

    Attributes
    ----------
    seeds : sequence of int
        Seeds of a complete trial.
    first : int
        Number of seeds before the first test.
    risk : float
        Largest probability of giving up a trial wrongly, see the module.
    signs : tuple of float
        For each objective 1 if it is minimised, -1 if it is maximised.
    evaluate : callable
        Runs points on seeds.
    """

    seeds: Sequence[int]
    first: int
    risk: float
    signs: tuple[float, ...]
    evaluate: Evaluate

    @property
    def looks(self) -> list[int]:
        """Numbers of seeds after which trials are tested; the last is the number of all seeds."""
        return Stopping("", first=self.first, growth=_GROWTH).looks(len(self.seeds))

    def run(
        self, points: Sequence[Point], front: Sequence[FloatArray], rivals: int
    ) -> list[tuple[FloatArray, str]]:
        """Run points, each on more seeds until it is complete or given up.

        Parameters
        ----------
        points : sequence of mapping
            The batch of points.
        front : sequence of ndarray of float, shape (seeds, objectives)
            Outcomes of the best trials so far; a single one if there is one objective.
        rivals : int
            Number of complete trials from which these are the best.

        Returns
        -------
        list of (ndarray of float, str)
            For each point its outcome, of shape (seeds that it ran on, objectives), and its state:
            `COMPLETE`, `GIVEN_UP`, or `UNUSABLE` if an objective is not finite.
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
        """Return whether a trial is significantly worse, in all objectives, than one of the best.

        Parameters
        ----------
        values : ndarray of float, shape (n, objectives)
            Outcome of the trial on the first n seeds.
        front : sequence of ndarray of float, shape (at least n, objectives)
            Outcomes of the best trials.
        level : float
            Level of each one-sided test.

        Returns
        -------
        bool
            Decided by the objective with the largest p-value: to test that all means are worse,
            each of them is tested at the same level.
        """
        return any(self._worst_p(values, one[: len(values)]) <= level for one in front)

    def _worst_p(self, values: FloatArray, best: FloatArray) -> float:
        worst = 0.0
        for place, sign in enumerate(self.signs):
            gap = paired_difference(sign * best[:, place], sign * values[:, place])
            # gap.p is two-sided, so it is halved. 1.0 if the mean is not worse, or with too few
            # seeds (NaN).
            worst = max(worst, gap.p / 2 if gap.estimate > 0 and gap.p == gap.p else 1.0)
        return worst

    def comparable(self, values: FloatArray, front: Sequence[FloatArray]) -> FloatArray:
        """Estimate the means of a trial over all seeds, of shape (objectives,), times the signs.

        For a trial that was given up there are two estimates: the mean of its own outcomes; and the
        mean of one of the best over all seeds plus the paired difference on the common seeds. The
        second corrects for first seeds that are luckier than the rest, if seeds affect both alike.
        The one with the smaller spread is used.
        """
        signed = np.array(self.signs) * values
        mean = signed.mean(axis=0)
        if len(values) in (1, len(self.seeds)) or not front:
            return np.asarray(mean)
        others = [np.array(self.signs) * one for one in front]
        gaps = [signed - other[: len(values)] for other in others]
        # Compare with the trial of the front that it loses to most clearly.
        place = int(np.argmax([gap.mean(axis=0).min() for gap in gaps]))
        paired = others[place].mean(axis=0) + gaps[place].mean(axis=0)
        steadier = gaps[place].std(axis=0) < signed.std(axis=0)
        return np.asarray(np.where(steadier, paired, mean), dtype=np.float64)


def front_of(means: FloatArray) -> list[int]:
    """Return the Pareto front: items that no other item dominates.

    Parameters
    ----------
    means : ndarray of float, shape (n, objectives)
        Means; smaller is better.

    Returns
    -------
    list of int
        Indices, ascending; of equal items only the first.
    """
    found = []
    for i, one in enumerate(means):
        beaten = (means <= one).all(axis=1) & (means < one).any(axis=1)
        same = (means[:i] == one).all(axis=1)
        if not beaten.any() and not same.any():
            found.append(i)
    return found
