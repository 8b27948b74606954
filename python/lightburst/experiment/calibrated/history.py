"""History matching in waves: what the emulators rule out, and settings for the next runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr

from lightburst.experiment.calibrated.aims import implausible, numbers_of, readings_of
from lightburst.study.calibration.emulator import FEWEST, Emulator
from lightburst.study.calibration.hypercube import apart, coordinates, hypercube
from lightburst.study.calibration.implausibility import CUT, RANK, ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.experiment.calibrated.aims import Aim
    from lightburst.experiment.calibrated.tried import Outcome
    from lightburst.study.calibration.implausibility import FloatArray

#: Settings considered by the emulators at once, and the most times this is done to find `ENOUGH`
#: settings that are left.
CONSIDERED: Final = 2048
_MOST_TIMES: Final = 6
ENOUGH: Final = 400


@dataclass(frozen=True)
class Emulated:
    """Emulators of all readings, and what they rule out.

    Attributes
    ----------
    aims : sequence of Aim
        The statements.
    choices : sequence of int or None
        Number of choices of each parameter.
    emulators : sequence of Emulator or None
        One for each reading; None with too few numbers, which rules nothing out.
    counted : ndarray of bool, shape (statements,)
        Whether a statement counts: those that no tried setting comes near rule out everything, and
        say nothing about the parameters.
    """

    aims: Sequence[Aim]
    choices: Sequence[int | None]
    emulators: Sequence[Emulator | None]
    counted: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def fit(
        cls,
        aims: Sequence[Aim],
        choices: Sequence[int | None],
        parts: FloatArray,
        outcomes: Sequence[Outcome],
        seed: int,
    ) -> Emulated:
        """Fit emulators to the outcomes of tried settings.

        A reading is emulated from the settings at which its runs were made, if it has a number at
        half of these.
        """
        at = coordinates(parts, choices)
        values, more = numbers_of(aims, outcomes)
        emulators: list[Emulator | None] = []
        for one, column in zip(readings_of(aims), values.T, strict=True):
            known = np.isfinite(column)
            asked = sum(one.id in outcome.judged for outcome in outcomes)
            fine = known.sum() >= max(FEWEST, asked / 2)
            emulators.append(Emulator.fit(at[known], column[known], seed) if fine else None)
        each = implausible(aims, values, more)
        nearest = np.nan_to_num(each, nan=np.inf).min(axis=0, initial=np.inf)
        return cls(aims, choices, emulators, np.asarray(nearest <= CUT))

    def predict(self, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of all readings, each of shape (settings, readings)."""
        at = coordinates(parts, self.choices)
        means, variances = (np.full((len(at), len(self.emulators)), np.nan) for _ in range(2))
        for place, one in enumerate(self.emulators):
            if one is not None:
                means[:, place], variances[:, place] = one.predict(at)
        return means, variances

    def implausible(self, parts: FloatArray) -> FloatArray:
        """Return the implausibility of statements, shape (settings, statements); NaN if unknown."""
        found = implausible(self.aims, *self.predict(parts))
        return np.where(self.counted, found, np.nan)

    def rank(self, parts: FloatArray, rank: int = RANK) -> FloatArray:
        """Return the second largest implausibility of settings, or that of another rank."""
        return ranked(self.implausible(parts), rank)

    @property
    def columns(self) -> list[slice]:
        """Columns of the readings of each statement."""
        found, place = [], 0
        for aim in self.aims:
            found.append(slice(place, place + len(aim.readings)))
            place += len(aim.readings)
        return found

    def chances(self, parts: FloatArray) -> FloatArray:
        """Return the probability that settings meet statements, shape (settings, statements)."""
        means, variances = self.predict(parts)
        found = np.zeros_like(means)
        for place, one in enumerate(readings_of(self.aims)):
            spread = np.sqrt(variances[:, place] + one.seed_variance) + np.finfo(float).tiny
            low, high = one.target.ends
            found[:, place] = ndtr((high - means[:, place]) / spread) - ndtr(
                (low - means[:, place]) / spread
            )
        known = np.nan_to_num(found)
        return np.column_stack([known[:, columns].max(axis=1) for columns in self.columns])


@dataclass(frozen=True)
class Considered:
    """Settings that the emulators considered.

    Attributes
    ----------
    parts : ndarray of float, shape (settings, parameters)
        All of them: first those spread evenly over the ranges, then neighbours of those left.
    even : int
        Number of the former.
    left : ndarray of bool, shape (settings,)
        Whether each is left.
    rank : int
        Which of the largest implausibilities was compared with the cut: the second, or the first
        after it by which anything is left.
    score : ndarray of float, shape (settings,)
        That implausibility.
    """

    parts: FloatArray
    even: int
    left: np.ndarray[tuple[int], np.dtype[np.bool_]]
    rank: int
    score: FloatArray

    @property
    def share(self) -> float:
        """Share of the evenly spread settings that are left."""
        return float(self.left[: self.even].mean())


def considered(emulated: Emulated, seed: int) -> Considered:
    """Consider settings until enough are left; if none is, more statements may fail."""
    parts = np.zeros((0, len(emulated.choices)))
    each = np.zeros((0, len(emulated.aims)))
    for time in range(_MOST_TIMES):
        batch = hypercube(CONSIDERED, len(emulated.choices), seed * _MOST_TIMES + time)
        parts, each = (
            np.concatenate([parts, batch]),
            np.concatenate([each, emulated.implausible(batch)]),
        )
        if (ranked(each) <= CUT).sum() >= ENOUGH:
            break
    even, rank = len(parts), RANK
    while rank < each.shape[1] and not (ranked(each, rank) <= CUT).any():
        rank += 1
    draw = np.random.default_rng(seed)
    for _ in range(_MOST_TIMES):
        left = parts[ranked(each, rank) <= CUT]
        if not 0 < len(left) < ENOUGH:
            break
        batch = _neighbours(left, draw)
        parts, each = (
            np.concatenate([parts, batch]),
            np.concatenate([each, emulated.implausible(batch)]),
        )
    score = ranked(each, rank)
    return Considered(parts, even, score <= CUT, rank, score)


def _neighbours(left: FloatArray, draw: np.random.Generator) -> FloatArray:
    """Draw settings that differ from some that are left in one parameter, anywhere in its range.

    Where little is left, even settings hardly meet it, and its extent would seem too small.
    """
    found: FloatArray = left[draw.integers(len(left), size=CONSIDERED // 2)]
    found[np.arange(len(found)), draw.integers(left.shape[1], size=len(found))] = draw.random(
        len(found)
    )
    return found


def next_settings(
    found: Considered, taken: FloatArray, choices: Sequence[int | None], number: int
) -> FloatArray:
    """Choose settings to run among those left, far from each other; else the least implausible."""
    left = found.parts[found.left]
    chosen: FloatArray = left[
        apart(coordinates(left, choices), coordinates(taken, choices), number)
    ]
    if len(chosen) < number:
        order = np.argsort(found.score[~found.left], kind="stable")
        chosen = np.concatenate([chosen, found.parts[~found.left][order][: number - len(chosen)]])
    return chosen
