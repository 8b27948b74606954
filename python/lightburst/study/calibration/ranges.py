"""How much of the range of a parameter is left: determined, bounded or free."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

#: Intervals into which a range is divided.
INTERVALS: Final = 20
#: A parameter is determined if this share of its range is left, or less, or a single choice.
DETERMINED_UP_TO: Final = 0.25
#: A parameter is free if this share of its range is left, or more.
FREE_FROM: Final = 0.9


class Kind(StrEnum):
    """How much the statements say about a parameter."""

    DETERMINED = "determined"
    BOUNDED = "bounded"
    FREE = "free"
    NOTHING = "nothing left"


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of the range of a parameter.

    Attributes
    ----------
    share : float
        Share of the intervals, or of the choices, that are left.
    kind : Kind
        The same in a word.
    stretches : tuple of (float, float)
        Stretches of neighbouring intervals that are left, as fractions of the range; for choices
        each by itself.
    """

    share: float
    kind: Kind
    stretches: tuple[tuple[float, float], ...]


def left_of(parts: ArrayLike, left: ArrayLike, number: int | None = None) -> Left:
    """Return what is left of one parameter, whatever the others are.

    Parameters
    ----------
    parts : array_like of float, shape (n,)
        Fraction of the range, in [0, 1), of each setting that was considered.
    left : array_like of bool, shape (n,)
        Whether each is left.
    number : int, optional
        Number of choices; None for a range, which is divided into `INTERVALS`.

    Returns
    -------
    Left
        An interval is left if a setting in it is. One without settings counts as ruled out.
    """
    count = number or INTERVALS
    places = np.minimum((np.asarray(parts) * count).astype(int), count - 1)
    there = np.zeros(count, dtype=bool)
    there[places[np.asarray(left, dtype=bool)]] = True
    share = float(there.mean())
    return Left(share, kind_of(share, count if number else None), _stretches(there, number is None))


def kind_of(share: float, choices: int | None = None) -> Kind:
    """Classify the share of a range, or of a number of choices, that is left."""
    if share == 0:
        return Kind.NOTHING
    if share == 1 or (choices is None and share >= FREE_FROM):
        return Kind.FREE
    one = choices is not None and round(share * choices) == 1
    return Kind.DETERMINED if one or share <= DETERMINED_UP_TO else Kind.BOUNDED


def _stretches(
    there: np.ndarray[tuple[int], np.dtype[np.bool_]], joined: bool
) -> tuple[tuple[float, float], ...]:
    found: list[tuple[float, float]] = []
    for place in np.flatnonzero(there):
        begin, end = float(place / len(there)), float((place + 1) / len(there))
        if joined and found and found[-1][1] == begin:
            begin = found.pop()[0]
        found.append((begin, end))
    return tuple(found)
