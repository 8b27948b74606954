"""The statements that a calibration looks at: their readings, targets and chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lightburst.experiment.calibrated.tried import numbers
from lightburst.foundation.errors import InputError, show
from lightburst.papers.statements import statements_of
from lightburst.study.calibration.implausibility import Target, implausibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightburst.experiment.calibrated.tried import Judged, Outcome
    from lightburst.papers.open import Open
    from lightburst.study.calibration.implausibility import FloatArray

#: Share of the tried settings at which a statement needs a number, to be emulated.
MOSTLY = 0.5


@dataclass(frozen=True)
class Reading:
    """A reading with its target.

    Attributes
    ----------
    id : str
        Id of its claim.
    target : Target
        Range of the criterion.
    seed_variance : float
        Variance of its number by chance of the seeds, on the scale of the target.
    """

    id: str
    target: Target
    seed_variance: float


@dataclass(frozen=True)
class Aim:
    """A statement of the paper with the readings that have a target.

    Attributes
    ----------
    id, text : str
        The statement.
    readings : tuple of Reading
        Its readings; the statement is met where one of them is.
    held_out : bool
        Whether the search does not see it.
    """

    id: str
    text: str
    readings: tuple[Reading, ...]
    held_out: bool = False


def aims_of(groups: Sequence[Judged], opened: Open) -> tuple[list[Aim], dict[str, str]]:
    """Find the statements with a number and a range.

    Parameters
    ----------
    groups : sequence of mapping
        Claims of the base by id, judged on each of several groups of seeds.
    opened : Open
        What the paper leaves open.

    Returns
    -------
    tuple of list of Aim, and dict
        The statements; and the others by id, with the reason why they are left out.
    """
    aims, rest = [], {}
    for statement in statements_of(groups[0].values()):
        ids = [one.id for one in statement.readings if one.bounds is not None]
        known = [one for one in ids if np.isfinite(numbers(groups, [one])).all()]
        if opened.leaves_out(statement.id):
            rest[statement.id] = f"left out by {', '.join(opened.left_out)} of open.toml"
        elif not ids:
            rest[statement.id] = "its criterion compares no number with a range"
        elif not known:
            rest[statement.id] = "the base has no number for it, in these runs"
        else:
            readings = tuple(_reading(groups, one, opened) for one in known)
            aims.append(Aim(statement.id, statement.text, readings))
    return aims, rest


def _reading(groups: Sequence[Judged], id: str, opened: Open) -> Reading:
    bounds = groups[0][id].bounds
    assert bounds is not None
    ratio = opened.is_ratio(id)
    if ratio and min(bounds[0] if bounds[0] > -np.inf else np.inf, bounds[1]) <= 0:
        allowed = "claims whose criterion compares with numbers above zero"
        raise InputError("logarithms", f"{show(id)}, {bounds[0]:g} to {bounds[1]:g}", allowed)
    target = Target(*bounds, logarithmic=ratio)
    values = target.scaled(numbers(groups, [id])[:, 0])
    # The groups have no seed in common, so that this is the variance of a number of one group.
    return Reading(id, target, float(np.var(values, ddof=1)) if len(values) > 1 else 0.0)


def readings_of(aims: Sequence[Aim]) -> list[Reading]:
    """List all readings of statements, in order."""
    return [one for aim in aims for one in aim.readings]


def scaled(aims: Sequence[Aim], judged: Sequence[Judged]) -> FloatArray:
    """Return the numbers of all readings on their scales, shape (settings, readings)."""
    readings = readings_of(aims)
    found = numbers(judged, [one.id for one in readings])
    for place, one in enumerate(readings):
        found[:, place] = one.target.scaled(found[:, place])
    return found


def numbers_of(aims: Sequence[Aim], outcomes: Sequence[Outcome]) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of all readings, and what chance adds to their variance on few seeds.

    Returns
    -------
    tuple of two ndarray of float, each of shape (settings, readings)
        The numbers as `scaled`; and the variance of a number by chance of its seeds, less that on
        all seeds: 0 where a setting was not given up.
    """
    values = scaled(aims, [one.judged for one in outcomes])
    return values, unshared(aims, np.array([one.share for one in outcomes]))


def unshared(aims: Sequence[Aim], shares: FloatArray) -> FloatArray:
    """Return the additional variance of numbers on a share of the seeds; see `numbers_of`."""
    # The variance of a mean is inverse to the number of its seeds.
    return np.outer(1 / shares - 1, [one.seed_variance for one in readings_of(aims)])


def implausible(
    aims: Sequence[Aim], values: FloatArray, variances: FloatArray | None = None
) -> FloatArray:
    """Compute the implausibility of statements: that of the least implausible reading of each.

    Parameters
    ----------
    aims : sequence of Aim
        The statements.
    values, variances : ndarray of float, shape (settings, readings)
        Numbers on their scales, and what adds to the variance of the seeds: the emulator's, or that
        of numbers on few seeds; None for none.

    Returns
    -------
    ndarray of float, shape (settings, statements)
        NaN where no reading has a number.
    """
    each = np.empty_like(values)
    for place, one in enumerate(readings_of(aims)):
        more = 0.0 if variances is None else variances[:, place]
        each[:, place] = implausibility(one.target, values[:, place], one.seed_variance, more)
    return _of_each(aims, each, np.fmin)


def met(
    aims: Sequence[Aim], values: FloatArray, variances: FloatArray | None = None
) -> NDArray[np.bool_]:
    """Return whether settings meet statements under a reading, shape (settings, statements).

    Parameters are those of `implausible`.
    """
    each = np.empty_like(values)
    for place, one in enumerate(readings_of(aims)):
        more = 0.0 if variances is None else variances[:, place]
        each[:, place] = one.target.is_met(values[:, place], one.seed_variance + more)
    return _of_each(aims, each, np.fmax) > 0


def _of_each(aims: Sequence[Aim], values: FloatArray, pick: np.ufunc) -> FloatArray:
    found, place = [], 0
    for aim in aims:
        found.append(pick.reduce(values[:, place : place + len(aim.readings)], axis=1))
        place += len(aim.readings)
    return np.column_stack(found) if found else np.zeros((len(values), 0))
