"""Search for an optimum: Optuna proposes points, and a race on common seeds judges them.

Trials are proposed in batches, whose size is part of the study, and judged in rounds that depend
only on earlier runs. The same study therefore visits the same points with any number of threads,
and an interrupted search finds its runs in the store and continues from there.

References
----------
.. [1] T. Akiba, S. Sano, T. Yanase, T. Ohta, M. Koyama, "Optuna: a next-generation hyperparameter
   optimization framework", KDD 2019, pp. 2623-2631.
.. [2] S. Watanabe, "Tree-structured Parzen estimator: understanding its algorithm components and
   their roles for better empirical performance", arXiv:2304.11127, 2023.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.study.search.racing import COMPLETE, UNUSABLE, FloatArray, Race, front_of
from lightburst.study.search.space import Dimension, Space

if TYPE_CHECKING:
    import optuna

    from lightburst.study.design.points import Place

# Number of random points before the sampler uses the results.
_AT_RANDOM: Final = 10
# Most proposals, per wanted trial, in which impossible combinations are discarded.
_PATIENCE: Final = 20

#: The call that needs an optional package, the package's name, and the extra that has it.
_ASKED: Final = {
    "optuna": ("optimise", "Optuna", "optimise"),
    "SALib": ("sensitivity", "SALib", "optimise"),
    "sklearn": ("calibrate", "scikit-learn", "calibrate"),
    "threadpoolctl": ("calibrate", "threadpoolctl", "calibrate"),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A point that was tried.

    Attributes
    ----------
    number : int
        Number of the trial, from 1.
    place : Place
        The point.
    chosen : mapping of str to float
        Choices by name of dimension; see `lightburst.study.search.space.Dimension.at`.
    outcome : ndarray of float, shape (seeds that it was run on, objectives)
        Objectives in each run.
    state : str
        State of the trial, see `lightburst.study.search.racing`.
    means : ndarray of float, shape (objectives,)
        Means as the search sees them, smaller being better; not finite if the trial is unusable.
    """

    number: int
    place: Place
    chosen: Mapping[str, float]
    outcome: FloatArray
    state: str
    means: FloatArray


@dataclass(frozen=True)
class Search:
    """A search: its space, its race and its limits.

    Attributes
    ----------
    space : Space
        Space of the points.
    race : Race
        Race that judges the points.
    trials : int
        Largest number of points.
    batch : int
        Number of points proposed at once.
    seed : int
        Seed of the proposals.
    budget : int or None
        Largest number of runs of all trials; None for no limit.
    """

    space: Space
    race: Race
    trials: int
    batch: int
    seed: int
    budget: int | None = None

    @property
    def visits_all(self) -> bool:
        """Whether there are no more points than trials, so that every point is tried."""
        return self.space.number is not None and self.space.number <= self.trials

    def run(self, told: Callable[[Sequence[Trial]], object] = lambda trials: None) -> list[Trial]:
        """Run the search.

        Parameters
        ----------
        told : callable
            Called after each batch with all trials so far.

        Returns
        -------
        list of Trial
            All trials, in order.

        Raises
        ------
        InputError
            If Optuna is not installed, or no point is possible.
        """
        optuna = needed("optuna")
        found: list[Trial] = []
        with quiet():
            study = optuna.create_study(
                directions=["minimize"] * len(self.race.signs),
                sampler=optuna.samplers.TPESampler(seed=self.seed, n_startup_trials=_AT_RANDOM),
            )
            wanted = self.trials
            if self.visits_all:
                ways = list(self.space.every())
                wanted = len(ways)
                # Shuffled, so that an early result is based on points from the whole space.
                for place in np.random.default_rng(self.seed).permutation(wanted):
                    study.enqueue_trial(ways[place])
            while (left := wanted - len(found)) > 0 and self._goes_on(found):
                batch = self._asked(study, optuna, min(left, self.batch))
                found += self._judged(study, optuna, batch, found)
                told(found)
        return found

    def _goes_on(self, found: Sequence[Trial]) -> bool:
        """Return whether the budget allows another batch; also stop if all trials are unusable."""
        if len(found) >= 2 * _AT_RANDOM and all(trial.state == UNUSABLE for trial in found):
            return False
        if self.budget is None:
            return True
        spent = sum(len(trial.outcome) for trial in found)
        return self.budget - spent >= self.batch * len(self.race.seeds)

    def _asked(
        self, study: optuna.Study, optuna: Any, number: int
    ) -> list[tuple[optuna.Trial, Place]]:
        """Ask for possible points; impossible ones are reported to the sampler as pruned."""
        batch: list[tuple[Any, Place]] = []
        for _ in range(_PATIENCE * number):
            if len(batch) == number:
                break
            asked = study.ask()
            place = self.space.place(partial(_chosen, asked))
            if self.space.is_possible(place):
                batch.append((asked, place))
            else:
                study.tell(asked, state=optuna.trial.TrialState.PRUNED)
        if not batch:
            self.space.base.with_(dict(place.point))  # raises the error that describes the point
        return batch

    def _judged(
        self, study: optuna.Study, optuna: Any, batch: Sequence[Any], found: Sequence[Trial]
    ) -> list[Trial]:
        complete = [trial for trial in found if trial.state == COMPLETE]
        front = [complete[i].outcome for i in best_of(complete)]
        outcomes = self.race.run([place.point for _, place in batch], front, len(complete))
        judged: list[Trial] = []
        for (asked, place), (values, state) in zip(batch, outcomes, strict=True):
            number = len(found) + len(judged) + 1
            if state == UNUSABLE:
                means = np.full(len(self.race.signs), np.nan)
                # A pruned trial ranks below all trials with means.
                study.tell(asked, state=optuna.trial.TrialState.PRUNED)
            else:
                means = self.race.comparable(values, front)
                study.tell(asked, [float(mean) for mean in means])
            judged.append(Trial(number, place, dict(asked.params), values, state, means))
        return judged


def best_of(trials: Sequence[Trial]) -> list[int]:
    """Return the indices of the best complete trials: one, or the front for several objectives."""
    if not trials:
        return []
    return front_of(np.array([trial.means for trial in trials]))


def needed(package: str, call: str = "") -> Any:
    """Import an optional package; raise `InputError` if it is not installed.

    The message names the call that needs it, and the extra of that name where `call` is given.
    """
    try:
        with warnings.catch_warnings():
            # In a notebook Optuna's own progress bar, which is not used, warns of missing widgets.
            warnings.filterwarnings("ignore", "IProgress not found")
            return importlib.import_module(package)
    except ImportError:
        whole = package.partition(".")[0]
        asks, name, extra = _ASKED[whole]
        asks, extra = call or asks, call or extra
        allowed = f"with it: pip install 'lightburst[{extra}]'"
        raise InputError(asks, f"no package {name}", allowed) from None


def _chosen(asked: optuna.Trial, one: Dimension) -> float:
    """Let Optuna choose the value of a dimension."""
    if one.steps and not one.ordered:
        return int(asked.suggest_categorical(one.name, list(range(len(one.steps)))))
    if one.steps:
        return asked.suggest_int(one.name, 0, len(one.steps) - 1)
    if one.whole is None:
        return asked.suggest_float(one.name, 0.0, 1.0)
    values = one.wholes
    log = one.ranges[0].scale == "log" and values.step == 1
    return asked.suggest_int(one.name, values[0], values[-1], step=values.step, log=log)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Optuna's message per trial; its previous log level is restored."""
    logger = logging.getLogger("optuna")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
