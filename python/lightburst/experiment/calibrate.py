"""``calibrate``: the settings of what a paper leaves open under which its statements hold."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.compile import check_seeds
from lightburst.experiment.calibrated.aims import Aim, aims_of, scaled
from lightburst.experiment.calibrated.alternatives import (
    Alternative,
    alternatives,
    held_out,
    proposed,
    winners,
)
from lightburst.experiment.calibrated.calibration import Calibration, Wave
from lightburst.experiment.calibrated.history import Emulated, considered, next_settings
from lightburst.experiment.calibrated.needs import needed_blocks
from lightburst.experiment.calibrated.racing import (
    Race,
    fewest_failing,
    first_seeds,
    rungs_of,
)
from lightburst.experiment.calibrated.tried import Judged, Outcome, Tries, judge
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.provenance import of_study
from lightburst.papers import find
from lightburst.papers.open import Open, read
from lightburst.result.files import STORE
from lightburst.study.calibration.hypercube import coordinates, hypercube
from lightburst.study.calibration.implausibility import RANK
from lightburst.study.execution.executor import opened as opened_store
from lightburst.study.execution.progress import progress_bar
from lightburst.study.search.search import needed
from lightburst.study.store.failures import failures_of
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lightburst.papers.paper import Paper
    from lightburst.study import Store
    from lightburst.study.calibration.implausibility import FloatArray
    from lightburst.study.workers.where import Where

#: Groups of seeds without a common one, on which the base tells the chance of each number.
GROUPS: Final = 5
#: Limits of the numbers that a user may give, by name: the least and the most.
LIMITS: Final = {
    "waves": (1, 5),
    "points": (2, 1000),
    "seeds": (2, 1000),
    "confirm": (2, 10_000),
    "seed": (0, 2**31 - 1),
}


@dataclass(frozen=True)
class Plan:
    """How much a calibration runs; parameters of `calibrate`."""

    waves: int
    points: int
    seeds: int
    confirm: int
    budget: int | None
    seed: int
    whole: bool = False

    def check(self) -> None:
        """Refuse numbers beyond `LIMITS`."""
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(name, show(value), f"a whole number from {least} to {most:,}")
        if self.budget is not None and (isinstance(self.budget, bool) or self.budget < 1):
            raise InputError("budget", show(self.budget), "a whole number of runs from 1")

    def seeds_of(self, group: int) -> range:
        """Return the seeds of a group; those of group 0 are common to all settings."""
        return range(1 + group * self.seeds, 1 + (group + 1) * self.seeds)

    @property
    def fresh(self) -> range:
        """Seeds of the confirmation, which nothing before has used."""
        begin = 1 + GROUPS * self.seeds
        return range(begin, begin + self.confirm)


def calibrate(
    name: str,
    *,
    quick: bool = False,
    full: bool = False,
    open: str | Path | None = None,
    waves: int | None = None,
    points: int | None = None,
    seeds: int = 2,
    confirm: int = 10,
    budget: int | None = None,
    seed: int = 1,
    whole: bool = False,
    store: Store | str | Path | None = STORE,
    workers: Where = None,
    progress: bool = True,
) -> Calibration:
    """Find the settings of a paper's open parameters under which its statements hold.

    Parameters
    ----------
    name : str
        A paper, or a part of it.
    quick : bool
        Two waves, and four settings per parameter in each.
    full : bool
        The paper's full plan of points and lengths, in place of that of ``reproduce --quick``.
    open : str or Path, optional
        File of the open parameters, in place of the paper's ``open.toml``.
    waves, points : int, optional
        Waves of history matching, 3 by default, and settings per parameter in each, 10 by default.
    seeds : int
        Runs per point and setting, with common random numbers.
    confirm : int
        Runs per point for the base and the best settings, on fresh seeds.
    budget : int, optional
        Largest number of runs of all waves and the search: statements that need the most runs are
        left out until the others fit. None keeps all.
    seed : int
        Seed of the settings, of the search, and of the choice of statements held out of it.
    whole : bool
        Give no setting up, even if it fails two statements more than the best on its first runs.
    store : Store, str or Path, optional
        Store of finished runs, from which a repeated call continues; None stores nothing.
    workers, progress
        As for `lightburst.execute`; the result is the same with any number of workers.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If there is no such paper or part, ``open.toml`` or an argument is invalid, scikit-learn or
        Optuna is not installed, or no statement has a number.
    KeyboardInterrupt
        On Ctrl-C, within a second; finished runs are in the store.
    """
    plan = Plan(
        (2 if quick else 3) if waves is None else waves,
        (4 if quick else 10) if points is None else points,
        seeds, confirm, budget, seed, whole,
    )  # fmt: skip
    plan.check()
    check_seeds(plan.fresh)
    needed("sklearn.gaussian_process")
    needed("optuna", "calibrate")
    how: dict[str, Any] = {"store": store, "workers": workers, "progress": progress, "open": open}
    return calibrate_parts(*find(name), plan, quick=quick, full=full, **how)


def calibrate_parts(
    paper: Paper,
    parts: tuple[str, ...],
    plan: Plan,
    *,
    quick: bool = False,
    full: bool = False,
    open: str | Path | None = None,
    store: Store | str | Path | None = None,
    workers: Where = None,
    progress: bool = True,
) -> Calibration:
    """Calibrate some parts of a paper, or of a study described like a paper, as `calibrate`."""
    blocks = [block for block in paper.blocks(parts, not full) if len(block.study.points)]
    opened = read(paper, blocks[0].study.base, open)
    with (
        workers_of(workers) as computing,
        opened_store(store) as kept,
        progress_bar(progress) as bar,
        # Small matrices: with threads of its own the library is slower, and its sums have an order
        # that depends on their number.
        needed("threadpoolctl").threadpool_limits(1),
    ):
        tries = Tries(paper, parts, blocks, opened, kept, computing, bar)
        return _Calibrating(plan, quick, full, tries).run()


class _Calibrating:
    """A calibration on its way.

    Parameters
    ----------
    plan : Plan
        How much is run.
    quick, full : bool
        Arguments of the call.
    tries : Tries
        Runs settings.
    """

    def __init__(self, plan: Plan, quick: bool, full: bool, tries: Tries) -> None:
        self.plan, self.quick, self.full, self.tries = plan, quick, full, tries
        self.opened: Open = tries.opened
        self.choices = [one.number for one in self.opened.parameters]
        self.base = np.array([one.part for one in self.opened.parameters])
        self.each = plan.points * len(self.choices)
        self.parts = self.base[None, :]
        self.waves: list[Wave] = []

    def run(self) -> Calibration:
        """Run the base, the waves, the search and the confirmation."""
        groups = self._groups()
        everything = self.tries.blocks
        aims, rest = aims_of(groups, self.opened)
        needed = needed_blocks(
            self.tries, self.tables[0], aims, self._settings_run, self.plan.budget
        )
        rest |= needed.dear
        if not needed.aims:
            raise InputError("statements", "none with a number", f"a part with one: {rest}")
        aims = held_out(needed.aims, self.plan.seed)
        rungs = [] if self.plan.whole else rungs_of(self.tries, self.tables[0], needed)
        first = first_seeds(self.tries, self.tables[0], aims)
        self.tries.blocks = needed.blocks
        self.race = Race(self.tries, rungs, self.plan.seeds_of(0), first)
        seen = [aim for aim in aims if not aim.held_out]
        self.outcomes = [Outcome(groups[0])]
        # The winners come from the first wave and the search: the statements that are held out
        # have no say in what is given up there.
        self._wave(hypercube(self.each, len(self.choices), self.plan.seed), seen)
        first = len(self.outcomes)
        for number in range(1, self.plan.waves + 1):
            emulated = self._emulated(aims)
            found = considered(emulated, self.plan.seed + number)
            self.waves.append(Wave(len(self.parts) - 1, found.share, found.rank))
            if number < self.plan.waves:
                self._wave(next_settings(found, self.parts, self.choices, self.each), aims)
        # The last wave's emulators tell what is left; those of the search see fewer statements.
        before = len(self.outcomes)
        self._wave(self._searched(seen), seen)
        pool = [*range(1, first), *range(before, len(self.outcomes))]
        self.tries.blocks = everything
        best = self._confirmed(aims, pool)
        return Calibration(
            paper=self.tries.paper,
            parts=self.tries.parts,
            quick=self.quick,
            full=self.full,
            opened=self.opened,
            plan=self.plan,
            aims=tuple(aims),
            rest=rest,
            settings=self.parts,
            outcomes=tuple(self.outcomes),
            waves=tuple(self.waves),
            considered=found,
            emulated=emulated,
            best=tuple(best),
            runs=self.tries.runs,
            packet_hops=self.tries.packet_hops,
            warnings=tuple(self._warnings()),
            provenance={
                **of_study({"name": self.tries.paper.name}),
                "scikit-learn": metadata.version("scikit-learn"),
                "optuna": metadata.version("optuna"),
            },
        )

    @property
    def _settings_run(self) -> int:
        return (self.plan.waves + 1) * self.each

    def _groups(self) -> list[Judged]:
        """Judge the base on each group of seeds."""
        seeds = [seed for group in range(GROUPS) for seed in self.plan.seeds_of(group)]
        (table,) = self.tries.tables(self.parts, seeds)
        if table is None:
            raise InputError("base", self.tries.impossible[0], "a scenario that can be run")
        self.tables = [
            table[table["seed"].isin(self.plan.seeds_of(group))] for group in range(GROUPS)
        ]
        tries = self.tries
        return [judge(tries.paper, tries.parts, one) for one in self.tables]

    def _wave(self, settings: FloatArray, aims: list[Aim]) -> None:
        """Run settings; those that some statements rule out early are given up."""
        best = fewest_failing(aims, self.outcomes)
        self.parts = np.concatenate([self.parts, settings])
        self.outcomes += self.race.run(settings, aims, best)

    def _emulated(self, aims: list[Aim]) -> Emulated:
        return Emulated.fit(aims, self.choices, self.parts, self.outcomes, self.plan.seed)

    def _searched(self, seen: list[Aim]) -> FloatArray:
        emulated = self._emulated(seen)
        starts = considered(emulated, self.plan.seed + self.plan.waves + 1)
        return proposed(emulated, starts, self.parts, self.each, self.plan.seed)

    def _confirmed(self, aims: list[Aim], pool: list[int]) -> list[Alternative]:
        whole = [place for place in pool if self.outcomes[place].whole]
        pool = whole or pool
        values = scaled(aims, [self.outcomes[place].judged for place in pool])
        at = coordinates(self.parts[pool], self.choices)
        chosen = [pool[place] for place in winners(aims, values, at)]
        settings = np.concatenate([self.base[None, :], self.parts[chosen]])
        names = ["base", *(f"alternative {place}" for place in range(1, len(chosen) + 1))]
        return alternatives(names, settings, self.tries.judged(settings, self.plan.fresh), aims)

    def _warnings(self) -> Iterator[str]:
        """Yield what a reader of the result must know."""
        tries = self.tries
        yield from failures_of(tries.failed, tries.runs, lambda place: f"point {place}")
        if tries.impossible:
            yield (
                f"{len(tries.impossible)} settings are none that the scenario takes and were left "
                f"out; first: {tries.impossible[0]}"
            )
        if self.waves[-1].rank > RANK:
            yield (
                f"no setting is left by the second largest implausibility: {self.waves[-1].rank} "
                "statements at once must be given up, and what is left is what the largest but "
                f"{self.waves[-1].rank - 1} leave"
            )
