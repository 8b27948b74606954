"""Search among the settings that are left: NSGA-II on the emulators.

References
----------
.. [1] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic
   algorithm: NSGA-II", IEEE Transactions on Evolutionary Computation 6(2), 2002, pp. 182-197.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.study.search.search import needed, quiet

if TYPE_CHECKING:
    from lightburst.study.calibration.implausibility import FloatArray

#: Size of a generation, and number of generations.
POPULATION: Final = 40
GENERATIONS: Final = 25
_EXCESS: Final = "excess"

#: Objectives of settings (smaller is better), shape (settings, objectives), and by how much each
#: setting exceeds the cut; above 0 it is ruled out.
Score = Callable[["FloatArray"], tuple["FloatArray", "FloatArray"]]


def searched(
    choices: Sequence[int | None],
    score: Score,
    starts: FloatArray,
    seed: int,
    generations: int = GENERATIONS,
) -> FloatArray:
    """Search for settings with the best objectives among those that are not ruled out.

    Parameters
    ----------
    choices : sequence of int or None
        For each parameter the number of its choices; None for a range.
    score : callable
        Scores settings, given as fractions of the ranges.
    starts : ndarray of float, shape (starts, parameters)
        Settings of the first generation, as fractions; the rest of it is random.
    seed : int
        Seed of the search.
    generations : int
        Number of generations, each of `POPULATION` settings.

    Returns
    -------
    ndarray of float, shape (settings, parameters)
        All visited settings, those not ruled out first, by their objectives in order.

    Raises
    ------
    InputError
        If Optuna is not installed.
    """
    optuna = needed("optuna")
    visited: list[FloatArray] = []
    scores: list[FloatArray] = []
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constraints are called experimental
        sampler = optuna.samplers.NSGAIISampler(
            population_size=POPULATION, seed=seed, constraints_func=_excess
        )
        objectives = score(starts[:1])[0].shape[1]
        study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
        for start in starts[:POPULATION]:
            study.enqueue_trial(_written(choices, start))
        for _ in range(generations):
            trials = [study.ask() for _ in range(POPULATION)]
            parts = np.array([_parts(choices, trial) for trial in trials])
            found, excess = score(parts)
            for trial, one, over in zip(trials, found, excess, strict=True):
                trial.set_user_attr(_EXCESS, float(over))
                study.tell(trial, [float(value) for value in one])
            visited.append(parts)
            scores.append(np.column_stack([np.maximum(excess, 0.0), found]))
    every, keys = np.concatenate(visited), np.concatenate(scores)
    return every[np.lexsort(keys.T[::-1])]


def _excess(trial: Any) -> tuple[float]:
    return (trial.user_attrs[_EXCESS],)


def _written(choices: Sequence[int | None], parts: FloatArray) -> dict[str, float]:
    return {
        str(place): float(part) if number is None else int(part * number)
        for place, (number, part) in enumerate(zip(choices, parts, strict=True))
    }


def _parts(choices: Sequence[int | None], trial: Any) -> list[float]:
    """Let Optuna choose a fraction of each range, and the middle of the part of each choice."""
    return [
        trial.suggest_float(str(place), 0.0, 1.0)
        if number is None
        else (trial.suggest_categorical(str(place), list(range(number))) + 0.5) / number
        for place, number in enumerate(choices)
    ]
