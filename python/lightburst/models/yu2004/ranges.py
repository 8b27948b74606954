"""Section IV.E: where assembly pays (ATO), where it does not matter (ATI), and where loss does not.

All work on any table of throughputs, computed, simulated or measured: the ratio of two throughputs
is the product of the gains over the penalties that differ between them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
Span = tuple[float, float]

#: How far "about 1" reaches from 1. The paper gives no number. A tenth is what the closed forms are
#: good for where their assumptions hold; simulations are compared with the same.
ABOUT: float = 0.1


def assembly_time_optimal(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where assembly raises the throughput: the ATO range, ``DFL / (DP RP) > 1``.

    Parameters
    ----------
    throughput, unassembled : array_like of float
        At some assembly times, and at the same loss without assembly (``T_b = 0``); any unit, the
        same for both.
    tolerance : float
        How much above 1 the ratio must be, so that ATO and ATI do not overlap; from 0 to below 1,
        else `ValueError`.

    Returns
    -------
    ndarray of bool
        Of the broadcast shape; False where a throughput is not a number.
    """
    return np.asarray(_ratio(throughput, unassembled) > 1 + _checked(tolerance))


def assembly_time_insensitive(
    throughput: ArrayLike, unassembled: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where assembly leaves the throughput as it is: the ATI range, ``DFL / (DP RP)`` about 1.

    As `assembly_time_optimal`; the tolerance is how far from 1 the ratio may be.
    """
    return np.asarray(np.abs(_ratio(throughput, unassembled) - 1) <= _checked(tolerance))


def loss_rate_insensitive(
    throughput: ArrayLike, lossless: ArrayLike, tolerance: float = ABOUT
) -> BoolArray:
    """Tell where losses leave the throughput as it is: the LRI range, ``DFL / (DP RP LP)`` about 1.

    As `assembly_time_insensitive`, over the throughput without loss: without assembly as the
    definition has it, or with the same assembly for "almost independent of the loss rate".
    """
    return assembly_time_insensitive(throughput, lossless, tolerance)


@dataclass(frozen=True)
class Ranges:
    """The ranges of a surface, each a union of intervals of its grid.

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
        Computed, simulated or measured, in any unit; not a number where there is none.
    unassembled : array_like of float, shape (m,), optional
        The same without assembly. By default that at the shortest assembly time, which should then
        be one at which a burst is a segment.
    lossless : array_like of float, shape (n,), optional
        The same without loss. By default that at the smallest loss: "almost independent of p".
    tolerance : float
        How far "about 1" reaches from 1; from 0 to below 1.

    Returns
    -------
    Ranges
        What a range is compared with by default is always in it.

    Raises
    ------
    ValueError
        If the tolerance is not allowed, a row does not rise or a shape does not fit.
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


def level_until(grid: ArrayLike, throughput: ArrayLike, tolerance: float = ABOUT) -> float:
    """Find where the range ends over which a throughput is about that at the first point of a grid.

    Over assembly times that is the ATI range, over loss rates the LRI range, as `surface_ranges`
    has them by default.
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
        Writes one number.

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
