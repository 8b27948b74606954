"""Section IV.E: ranges where assembly pays (ATO), or where assembly (ATI) or loss has no effect.

The functions work on any table of throughputs, computed, simulated or measured: the ratio of two
throughputs is the product of the differing gains over the penalties.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
Span = tuple[float, float]

#: Tolerance of "about 1". The paper gives no number. A tenth is the accuracy of the closed forms
#: where their assumptions hold; simulations are judged with the same tolerance.
ABOUT: float = 0.1


def assembly_time_optimal(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Find where assembly raises the throughput: the ATO range, ``DFL / (DP RP) > 1``.

    Parameters
    ----------
    throughput, unassembled : array_like of float
        Throughput at some assembly times, and without assembly (``T_b = 0``) at the same loss; in
        any common unit.
    tolerance : float
        Required excess of the ratio over 1, so that ATO and ATI do not overlap; from 0 to below 1,
        otherwise `ValueError`.

    Returns
    -------
    ndarray of bool
        Mask of the broadcast shape; False where a throughput is NaN.
    """
    return np.asarray(_ratio(throughput, unassembled) > 1 + _checked(tolerance))


def assembly_time_insensitive(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Find where assembly hardly changes the throughput: the ATI range, ``DFL / (DP RP)`` about 1.

    As `assembly_time_optimal`; the tolerance is the largest deviation of the ratio from 1.
    """
    return np.asarray(np.abs(_ratio(throughput, unassembled) - 1) <= _checked(tolerance))


def loss_rate_insensitive(
    throughput: ArrayLike, lossless: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Find where loss hardly changes the throughput: the LRI range, ``DFL / (DP RP LP)`` about 1.

    As `assembly_time_insensitive`, relative to the throughput without loss: without assembly as in
    the definition, or with the same assembly for "almost independent of the loss rate".
    """
    return assembly_time_insensitive(throughput, lossless, tolerance)


@dataclass(frozen=True)
class Ranges:
    """Ranges of a surface, each a union of intervals of its grid.

    Attributes
    ----------
    optimal, insensitive : tuple of list of tuple of (float, float)
        ATO and ATI: for each loss rate, assembly times in seconds.
    loss_insensitive : tuple of list of tuple of (float, float)
        LRI: for each assembly time, loss rates.
    """

    optimal: tuple[list[Span], ...]
    insensitive: tuple[list[Span], ...]
    loss_insensitive: tuple[list[Span], ...]


def surface_ranges(
    losses: ArrayLike,
    times_s: ArrayLike,
    throughput: ArrayLike,
    *,
    unassembled: ArrayLike | None = None,
    lossless: ArrayLike | None = None,
    tolerance: float = ABOUT,
) -> Ranges:
    """Find the ATO and the ATI range of each loss rate, and the LRI range of each assembly time.

    Parameters
    ----------
    losses : array_like of float, shape (m,)
        Loss rates, rising.
    times_s : array_like of float, shape (n,)
        Assembly times in seconds, rising.
    throughput : array_like of float, shape (m, n)
        Computed, simulated or measured throughput, in any unit; NaN for a missing value.
    unassembled : array_like of float, shape (m,), optional
        Throughput without assembly. Default: that at the shortest assembly time, where a burst
        should be one segment.
    lossless : array_like of float, shape (n,), optional
        Throughput without loss. Default: that at the smallest loss: "almost independent of p".
    tolerance : float
        Tolerance of "about 1"; from 0 to below 1.

    Returns
    -------
    Ranges
        Ranges of the surface. The default reference of a range always belongs to it.

    Raises
    ------
    ValueError
        If the tolerance is out of range, a grid does not rise or a shape does not fit.
    """
    rates = np.asarray(throughput, dtype=np.float64)
    if rates.shape != (np.size(losses), np.size(times_s)):
        raise ValueError("throughput: allowed is one for each loss rate and assembly time")
    alone = rates[:, 0] if unassembled is None else np.asarray(unassembled)
    whole = rates[0] if lossless is None else np.asarray(lossless)
    optimal = assembly_time_optimal(rates, alone[:, np.newaxis], tolerance)
    insensitive = assembly_time_insensitive(rates, alone[:, np.newaxis], tolerance)
    lasting = loss_rate_insensitive(rates, whole, tolerance)
    return Ranges(
        tuple(intervals(times_s, row) for row in optimal),
        tuple(intervals(times_s, row) for row in insensitive),
        tuple(intervals(losses, column) for column in lasting.T),
    )


def intervals(grid: ArrayLike, inside: ArrayLike) -> list[Span]:
    """Convert a range, a mask of grid points, to intervals of the grid.

    Parameters
    ----------
    grid : array_like of float, shape (n,)
        Assembly times or loss rates, rising.
    inside : array_like of bool, shape (n,)
        Whether each of them is in the range.

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


def level_until(grid: ArrayLike, throughput: ArrayLike, tolerance: float = ABOUT) -> float:
    """Find the end of the range of throughputs about equal to that at the first grid point.

    Over assembly times this is the ATI range, over loss rates the LRI range, with the default
    references of `surface_ranges`.
    """
    inside = assembly_time_insensitive(throughput, np.asarray(throughput)[0], tolerance)
    return intervals(grid, inside)[0][1]


def written(spans: list[Span], word: Callable[[float], str] = "{:.3g}".format) -> str:
    """Write a range in words: ``"1e-05 to 0.1"``, its intervals separated by commas.

    Parameters
    ----------
    spans : list of tuple of (float, float)
        As from `intervals`.
    word : callable
        Formats one number.

    Returns
    -------
    str
        One number for an interval of one point, ``"none"`` for no interval.
    """
    ends = ([word(end) for end in dict.fromkeys(span)] for span in spans)
    return ", ".join(" to ".join(words) for words in ends) or "none"


def _ratio(throughput: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(throughput, dtype=np.float64) / np.asarray(reference, dtype=np.float64)


def _checked(tolerance: float) -> float:
    if not 0 <= tolerance < 1:
        raise ValueError("tolerance: allowed are numbers from 0 to below 1")
    return tolerance
