"""The best settings: searched without a third of the statements, confirmed on fresh seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.experiment.calibrated.aims import implausible, met
from lightburst.papers.claims import Verdict
from lightburst.papers.statements import statements_of
from lightburst.study.calibration.genetic import GENERATIONS, searched
from lightburst.study.calibration.hypercube import apart, coordinates
from lightburst.study.calibration.implausibility import CUT, RANK, ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.experiment.calibrated.aims import Aim
    from lightburst.experiment.calibrated.history import Considered, Emulated
    from lightburst.experiment.calibrated.tried import Judged
    from lightburst.papers.statements import Statement
    from lightburst.study.calibration.implausibility import FloatArray

#: One of so many statements is held out of the search.
HELD_OUT_OF: Final = 3
#: Settings that are confirmed on fresh seeds.
WINNERS: Final = 3
#: Least distance of two of them in one parameter, as a fraction of its range.
APART: Final = 0.1


def held_out(aims: Sequence[Aim], seed: int) -> list[Aim]:
    """Hold a third of the statements out of the search, chosen by a seed; none of fewer than 3."""
    order = np.random.default_rng(seed).permutation(len(aims))
    out = set(order[: len(aims) // HELD_OUT_OF].tolist())
    return [replace(aim, held_out=place in out) for place, aim in enumerate(aims)]


def proposed(
    emulated: Emulated,
    starts: Considered,
    taken: FloatArray,
    number: int,
    seed: int,
    generations: int = GENERATIONS,
) -> FloatArray:
    """Search by NSGA-II, on the emulators, for settings that meet most statements.

    Parameters
    ----------
    emulated : Emulated
        Emulators of the statements that the search sees.
    starts : Considered
        Settings that these emulators considered; those left begin the search.
    taken : ndarray of float, shape (settings, parameters)
        Settings that were run.
    number : int
        Number of settings to propose.
    seed, generations : int
        Seed and length of the search.

    Returns
    -------
    ndarray of float, shape (number, parameters)
        The best of those visited, far from each other.
    """

    def score(parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        worst = ranked(emulated.implausible(parts), starts.rank)
        # Finite: the sampler compares objectives by their differences.
        bounded = np.minimum(worst, 1e6)
        expected = emulated.chances(parts).sum(axis=1)
        return np.column_stack([-expected, bounded]), worst - CUT

    first = starts.parts[np.argsort(~starts.left, kind="stable")]
    best = searched(emulated.choices, score, first, seed, generations)
    # Many of the best differ by nothing that matters; of three times as many the farthest are run.
    near = best[: 3 * number]
    chosen: FloatArray = near[
        apart(coordinates(near, emulated.choices), coordinates(taken, emulated.choices), number)
    ]
    return chosen


def winners(aims: Sequence[Aim], values: FloatArray, at: FloatArray) -> list[int]:
    """Return the best tried settings by the statements that the search sees.

    Parameters
    ----------
    aims : sequence of Aim
        The statements.
    values : ndarray of float, shape (settings, readings)
        Numbers of all readings at the settings that the search may choose from.
    at : ndarray of float, shape (settings, coordinates)
        Coordinates of these settings.

    Returns
    -------
    list of int
        Up to `WINNERS` indices: most statements met first, of equal ones the least implausible;
        none nearer than `APART` to one before it.
    """
    seen = np.array([not aim.held_out for aim in aims])
    number = met(aims, values)[:, seen].sum(axis=1)
    worst = ranked(implausible(aims, values)[:, seen], RANK)
    found: list[int] = []
    for place in np.lexsort([worst, -number]):
        far = all(np.abs(at[place] - at[other]).max() >= APART for other in found)
        if far and len(found) < WINNERS:
            found.append(int(place))
    return found


@dataclass(frozen=True)
class Alternative:
    """A setting with what it gains and loses against the base, on fresh seeds.

    Attributes
    ----------
    name : str
        ``"base"``, ``"alternative 1"``, ...
    parts : tuple of float
        The setting, as fractions of the ranges.
    verdicts : dict of str to Verdict
        Verdict of each statement by the paper's own criteria.
    gained, lost : tuple of str
        Statements that hold here and not in the base, and the other way round.
    held_seen, held_out : int
        Number of statements that hold among those that the search saw, and among those held out.
    """

    name: str
    parts: tuple[float, ...]
    verdicts: dict[str, Verdict]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    held_seen: int
    held_out: int

    @property
    def held(self) -> int:
        """Number of all statements of the paper that hold, also of those without a range."""
        return sum(verdict is Verdict.HOLDS for verdict in self.verdicts.values())


def alternatives(
    names: Sequence[str], settings: FloatArray, judged: Sequence[Judged], aims: Sequence[Aim]
) -> list[Alternative]:
    """Compare settings, judged on fresh seeds, with the first of them, which is the base."""
    found: list[Alternative] = []
    base: set[str] = set()
    for name, parts, claims in zip(names, settings, judged, strict=True):
        verdicts = {one.id: one.verdict for one in _statements(claims)}
        holding = {id for id, verdict in verdicts.items() if verdict is Verdict.HOLDS}
        base = base if found else holding
        found.append(
            Alternative(
                name,
                tuple(float(part) for part in parts),
                verdicts,
                tuple(id for id in verdicts if id in holding - base),
                tuple(id for id in base_order(found, verdicts) if id in base - holding),
                sum(aim.id in holding and not aim.held_out for aim in aims),
                sum(aim.id in holding and aim.held_out for aim in aims),
            )
        )
    return found


def base_order(found: Sequence[Alternative], verdicts: dict[str, Verdict]) -> Sequence[str]:
    """Return the statements in the order of the base, which may have some that others lack."""
    return list(found[0].verdicts if found else verdicts)


def _statements(claims: Judged) -> list[Statement]:
    return statements_of(claims.values())
