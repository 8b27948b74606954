"""Racing: a setting that fails too many statements on its first runs is given up.

The runs of a setting go in rungs: those of the first seed at the points that complete most
statements for the least cost, then at all points, then those of the other seeds. (Where one seed
gives few numbers, as for ratios of two means, the first seeds are as many as give half of them.)
After each rung but the last a setting is given up if it fails at least `RANK` statements more than
the best setting that ran whole, or than one of the same wave may fail in the end.

History matching rules out a setting by the second largest implausibility, or, where nothing would
be left, by the third, and so on. Whatever this rank turns out to be, and whichever statements that
are met nowhere are set aside, a setting that fails `RANK` statements more than another is not left
if the other is.

A statement counts as soon as all points that it needs have been run, so that no number changes with
more points. On some of the seeds it fails beyond `EARLY_CUT`, in deviations of so few seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from lightburst.experiment.calibrated.aims import (
    implausible,
    numbers_of,
    readings_of,
    scaled,
)
from lightburst.experiment.calibrated.needs import cost_of, judged_alike, only
from lightburst.experiment.calibrated.tried import Outcome, has_number, judge
from lightburst.study.calibration.implausibility import CUT, RANK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.experiment.calibrated.aims import Aim
    from lightburst.experiment.calibrated.needs import Needed, Point
    from lightburst.experiment.calibrated.tried import Judged, Tries
    from lightburst.study import Block
    from lightburst.study.calibration.implausibility import FloatArray

#: Shares of the cost of one seed after which settings are judged, before all points.
STAGES: Final = (0.25, 0.5)
#: Implausibility beyond which a statement fails on some of the seeds. Let its number be this
#: far from the range on one of two seeds: then the mean of both is normal about the same distance
#: with the deviation of a mean of two, and within `CUT` of those with a probability of 0.004
#: (4 sqrt(2) - 3 = 2.66 deviations).
EARLY_CUT: Final = 4.0
#: Implausibility on some of the seeds up to which a statement is taken as one that does not
#: fail on all: with a probability of 0.94 (3 - sqrt(2) = 1.59 deviations).
EARLY_MET: Final = 1.0


@dataclass(frozen=True)
class Rung:
    """Points that are run before settings are judged again.

    Attributes
    ----------
    blocks : tuple of Block
        The points that this rung adds.
    claims : frozenset of str
        Ids of the readings of the statements of which all points have been run after it.
    """

    blocks: tuple[Block, ...]
    claims: frozenset[str]


def rungs_of(tries: Tries, base: pd.DataFrame, needed: Needed) -> list[Rung]:
    """Order points by what they cost for each statement that they complete.

    Parameters
    ----------
    tries : Tries
        Has the studies of the paper.
    base : pandas.DataFrame
        Runs of the base, which tell the cost of each point.
    needed : Needed
        The statements with their points in these studies.

    Returns
    -------
    list of Rung
        The last completes all statements. A rung after which the base would be judged by other
        numbers than by all its runs is joined with the next.
    """
    cost = {point: cost_of(tries, base, point) for point in set().union(*needed.points)}
    limits = [share * sum(cost.values()) for share in STAGES]
    there: set[Point] = set()
    before: set[Point] = set()
    found: list[Rung] = []
    for place in cheapest_first(needed.points, cost):
        there |= needed.points[place]
        spent = sum(cost[point] for point in there)
        if not limits or spent < limits[0] or len(there) == len(cost):
            continue
        limits = [limit for limit in limits if limit > spent]
        aims = [
            aim for aim, points in zip(needed.aims, needed.points, strict=True) if points <= there
        ]
        if judged_alike(tries, base, only(tries.blocks, there), aims):
            found.append(_rung(tries, there - before, aims))
            before = set(there)
    return [*found, _rung(tries, set(cost) - before, needed.aims)]


def _rung(tries: Tries, points: set[Point], aims: Sequence[Aim]) -> Rung:
    claims = frozenset(one.id for one in readings_of(aims))
    return Rung(tuple(only(tries.blocks, points)), claims)


def cheapest_first(needs: Sequence[set[Point]], cost: dict[Point, float]) -> Iterator[int]:
    """Yield statements, each time the one whose missing points cost least.

    Its cost is shared by all statements that are complete with it; of equal ones the first.
    """
    there: set[Point] = set()
    waiting = list(range(len(needs)))

    def share(place: int) -> tuple[float, int]:
        complete = sum(needs[other] <= there | needs[place] for other in waiting)
        return sum(cost[point] for point in needs[place] - there) / complete, place

    while waiting:
        cheapest = min(waiting, key=share)
        waiting.remove(cheapest)
        there |= needs[cheapest]
        yield cheapest


def first_seeds(tries: Tries, base: pd.DataFrame, aims: Sequence[Aim]) -> int:
    """Return the least number of seeds on which the base has numbers for half of the statements."""
    seeds = sorted(set(base["seed"]))
    for number in range(1, len(seeds)):
        judged = judge(tries.paper, tries.parts, base[base["seed"].isin(seeds[:number])])
        known = [np.isfinite(scaled([aim], [judged])).any() for aim in aims]
        if 2 * sum(known) >= len(aims):
            return number
    return len(seeds)


def _failures(aims: Sequence[Aim], outcomes: Sequence[Outcome]) -> tuple[list[int], list[int]]:
    """Return how many statements settings fail on their first seeds, and how many they may fail.

    A statement without a number may fail.
    """
    each = implausible(aims, *numbers_of(aims, outcomes))
    few = np.array([one.share < 1 for one in outcomes])[:, None]
    fail = each > np.where(few, EARLY_CUT, CUT)
    passed = each <= np.where(few, EARLY_MET, CUT)
    return fail.sum(axis=1).tolist(), (~passed).sum(axis=1).tolist()


def fewest_failing(aims: Sequence[Aim], outcomes: Sequence[Outcome]) -> int:
    """Return the number of statements that the best setting fails, of those that ran whole.

    A statement without a number there counts as failed. Without a setting these are all.
    """
    whole = [one for one in outcomes if one.whole]
    if not whole:
        return len(aims)
    each = implausible(aims, *numbers_of(aims, whole))
    return int((~(each <= CUT)).sum(axis=1).min())


@dataclass(frozen=True)
class Race:
    """Runs settings in rungs.

    Attributes
    ----------
    tries : Tries
        Runs the points.
    rungs : sequence of Rung
        The rungs of the first seeds; empty to run every setting whole.
    seeds : sequence of int
        Seeds of a setting that is not given up.
    first : int
        Number of the first seeds.
    """

    tries: Tries
    rungs: Sequence[Rung]
    seeds: Sequence[int]
    first: int = 1

    def run(self, settings: FloatArray, aims: Sequence[Aim], best: int) -> list[Outcome]:
        """Run settings, each until it is whole or given up.

        Parameters
        ----------
        settings : ndarray of float, shape (settings, parameters)
            Fractions of the ranges.
        aims : sequence of Aim
            Statements that have a say.
        best : int
            Number of these that the best setting before fails.

        Returns
        -------
        list of Outcome
            One for each setting.
        """
        tries = self.tries
        active = tries.possible(settings)
        tables: dict[int, list[pd.DataFrame]] = {place: [] for place in active}
        found = [Outcome({}) for _ in settings]
        first, others = self.seeds[: self.first], self.seeds[self.first :]
        share = len(first) / len(self.seeds)
        for rung in self.rungs if others else self.rungs[:-1]:
            self._add(tables, settings, active, first, rung.blocks)
            for place in active:
                judged = self._judged(tables[place])
                known = {
                    id: claim
                    for id, claim in judged.items()
                    if id in rung.claims and (share == 1 or has_number(claim))
                }
                found[place] = Outcome(known, share, given_up=True)
            fail, may_fail = _failures(aims, [found[place] for place in active])
            best = min([best, *may_fail])
            active = [place for place, n in zip(active, fail, strict=True) if n < best + RANK]
        if not self.rungs:
            self._add(tables, settings, active, self.seeds, tries.blocks)
        elif others:
            self._add(tables, settings, active, others, tries.blocks)
        else:
            self._add(tables, settings, active, first, self.rungs[-1].blocks)
        for place in active:
            found[place] = Outcome(self._judged(tables[place]))
        return found

    def _judged(self, tables: Sequence[pd.DataFrame]) -> Judged:
        return judge(self.tries.paper, self.tries.parts, pd.concat(tables, ignore_index=True))

    def _add(
        self,
        tables: dict[int, list[pd.DataFrame]],
        settings: FloatArray,
        active: Sequence[int],
        seeds: Sequence[int],
        blocks: Sequence[Block],
    ) -> None:
        for place, rows in self.tries.ran(settings, active, seeds, blocks).items():
            tables[place].append(rows)
