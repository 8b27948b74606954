"""Settings as fractions of the ranges of parameters, and as coordinates of emulators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.study.calibration.implausibility import FloatArray


def hypercube(settings: int, parameters: int, seed: int) -> FloatArray:
    """Draw a Latin hypercube [1]_, shape (settings, parameters), each in [0, 1).

    References
    ----------
    .. [1] M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting
       values of input variables in the analysis of output from a computer code", Technometrics
       21(2), 1979, pp. 239-245.
    """
    from scipy.stats import qmc

    return np.asarray(qmc.LatinHypercube(parameters, rng=seed).random(settings))


def coordinates(parts: FloatArray, choices: Sequence[int | None]) -> FloatArray:
    """Convert settings to coordinates of an emulator.

    Parameters
    ----------
    parts : ndarray of float, shape (settings, parameters)
        Fractions of the ranges.
    choices : sequence of int or None
        Number of choices of each parameter; None for a range.

    Returns
    -------
    ndarray of float, shape (settings, coordinates)
        One column for a range; for choices one column each, with a 1 at the chosen one, so that no
        order of them is assumed.
    """
    columns = []
    for place, number in enumerate(choices):
        column = parts[:, place]
        if number is None:
            columns.append(column[:, None])
        else:
            chosen = np.minimum((column * number).astype(int), number - 1)
            columns.append(np.eye(number)[chosen])
    return np.concatenate(columns, axis=1)


def apart(candidates: FloatArray, taken: FloatArray, number: int) -> FloatArray:
    """Choose settings far from each other and from those taken, one by one.

    Parameters
    ----------
    candidates, taken : ndarray of float, shape (n, coordinates)
        Coordinates of settings to choose from, and of those that were run.
    number : int
        Number of settings to choose.

    Returns
    -------
    ndarray of int
        Indices of candidates; the farthest from all others first.
    """
    nearest = np.full(len(candidates), np.inf)
    for one in taken:
        nearest = np.minimum(nearest, ((candidates - one) ** 2).sum(axis=1))
    found: list[int] = []
    while len(found) < min(number, len(candidates)):
        best = int(np.argmax(nearest))
        found.append(best)
        nearest = np.minimum(nearest, ((candidates - candidates[best]) ** 2).sum(axis=1))
        nearest[best] = -1.0
    return np.array(found, dtype=int)
