"""Section IV.E: where assembly pays (ATO), where it does not matter (ATI), and where loss does not.

All work on any table of throughputs, computed, simulated or measured: the ratio of two throughputs
is the product of the gains over the penalties that differ between them.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]

#: How far "about 1" reaches from 1. The paper gives no number. A tenth is what the closed forms are
#: good for where their assumptions hold; simulations are compared with the same.
ABOUT: float = 0.1


def assembly_time_optimal(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where assembly raises the throughput: the ATO range, ``DFL / (DP RP) > 1``.

    Parameters
    ----------
    throughput : array_like of float
        At some assembly times.
    unassembled : array_like of float
        At the same loss without assembly (``T_b = 0``); any unit, the same for both.
    tolerance : float
        How much above 1 the ratio must be, so that ATO and ATI do not overlap; from 0 to below 1.

    Returns
    -------
    ndarray of bool
        Of the broadcast shape; False where a throughput is not a number.

    Raises
    ------
    ValueError
        If the tolerance is not allowed.
    """
    return np.asarray(_ratio(throughput, unassembled) > 1 + _checked(tolerance))


def assembly_time_insensitive(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where assembly leaves the throughput as it is: the ATI range, ``DFL / (DP RP)`` about 1.

    Parameters
    ----------
    throughput, unassembled : array_like of float
        As for `assembly_time_optimal`.
    tolerance : float
        How far from 1 the ratio may be; from 0 to below 1.

    Returns
    -------
    ndarray of bool
        Of the broadcast shape; False where a throughput is not a number.

    Raises
    ------
    ValueError
        If the tolerance is not allowed.
    """
    return np.asarray(np.abs(_ratio(throughput, unassembled) - 1) <= _checked(tolerance))


def loss_rate_insensitive(
    throughput: ArrayLike, lossless: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where losses leave the throughput as it is: the LRI range, ``DFL / (DP RP LP)`` about 1.

    Parameters
    ----------
    throughput : array_like of float
        At some loss rates.
    lossless : array_like of float
        Without loss, any unit, the same for both: without assembly as the definition has it, or
        with the same assembly for "almost independent of the loss rate".
    tolerance : float
        How far from 1 the ratio may be; from 0 to below 1.

    Returns
    -------
    ndarray of bool
        Of the broadcast shape; False where a throughput is not a number.

    Raises
    ------
    ValueError
        If the tolerance is not allowed.
    """
    return assembly_time_insensitive(throughput, lossless, tolerance)


def intervals(grid: ArrayLike, inside: ArrayLike) -> list[tuple[float, float]]:
    """Write a range, which may be a union of several, as intervals of a grid.

    Parameters
    ----------
    grid : array_like of float, shape (n,)
        Assembly times or loss rates, rising.
    inside : array_like of bool, shape (n,)
        Which of them are in the range.

    Returns
    -------
    list of tuple of (float, float)
        First and last point of each run of neighbours.

    Raises
    ------
    ValueError
        If the shapes differ or the grid does not rise.
    """
    points, chosen = np.asarray(grid, dtype=np.float64), np.asarray(inside, dtype=bool)
    if points.shape != chosen.shape or points.ndim != 1 or np.any(np.diff(points) <= 0):
        raise ValueError("grid: allowed is a rising row of numbers, one for each of inside")
    edges = np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return [(float(points[i]), float(points[j])) for i, j in zip(first, last, strict=True)]


def _ratio(throughput: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(throughput, dtype=np.float64) / np.asarray(reference, dtype=np.float64)


def _checked(tolerance: float) -> float:
    if not 0 <= tolerance < 1:
        raise ValueError("tolerance: allowed are numbers from 0 to below 1")
    return tolerance
