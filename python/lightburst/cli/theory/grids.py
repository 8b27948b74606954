"""Parsing of numbers and lists in the options of ``lightburst model``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.cli.terminal.options import whole
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import TIME, Quantity, parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_STEPS: Final = 1000
# Outside this range the equations lose their precision, and describe no real network.
_LEAST_PROBABILITY: Final = 1e-9
_MOST: Final = 1e9
_PICOSECONDS: Final = 1e12
_ROUNDING: Final = 1e-5  # tolerance for rounded shares such as 0.333333


def probability(path: str, text: str) -> float:
    """Parse a loss probability; `InputError` at ``path`` if it is not from 1e-9 and below 1."""
    value = parse_number(text)
    if value is None or not _LEAST_PROBABILITY <= value < 1:
        raise InputError(path, show(text), f"probabilities from {_LEAST_PROBABILITY:g} and below 1")
    return value


def number_from_one(path: str, text: str) -> float:
    """Parse a number from 1 to 1e9; `InputError` at ``path`` if it is not one."""
    value = parse_number(text)
    if value is None or not 1 <= value <= _MOST:
        raise InputError(path, show(text), f"a number from 1 to {_MOST:g}")
    return value


def number_above_zero(path: str, text: str) -> float:
    """Parse a number above 0, up to 1e9; `InputError` at ``path`` if it is not one."""
    value = parse_number(text)
    if value is None or not 0 < value <= _MOST:
        raise InputError(path, show(text), f"a number above 0, up to {_MOST:g}")
    return value


def seconds(path: str, text: str, *, positive: bool = False) -> float:
    """Parse a duration into seconds; `InputError` at ``path`` if it is not one."""
    try:
        held = Quantity(TIME, positive=positive).parse(text)
    except ValueError as error:
        raise InputError(path, show(text), str(error)) from None
    assert held is not None  # None stands for a word such as "all", and durations have no such word
    return held / _PICOSECONDS


def grid(path: str, text: str, read: Callable[[str, str], float]) -> list[float]:
    """Parse values and ranges of values.

    Parameters
    ----------
    path : str
        Name of the option, for the message.
    text : str
        Values separated by commas. ``FROM:TO:N`` stands for N values, evenly spaced on a
        logarithmic scale.
    read : callable
        Parses one value from the name of the option and the text.

    Returns
    -------
    list of float
        Distinct values in ascending order.

    Raises
    ------
    InputError
        If a value or a range is invalid.
    """
    found: set[float] = set()
    for part in text.split(","):
        ends = [end.strip() for end in part.split(":")]
        if len(ends) == 1:
            found.add(read(path, ends[0]))
            continue
        if len(ends) != 3:
            raise InputError(path, show(part), "a value, or FROM:TO:N")
        low, high = read(path, ends[0]), read(path, ends[1])
        steps = whole(path, ends[2], 2)
        if not 0 < low < high or steps > _MOST_STEPS:
            allowed = f"FROM:TO:N with FROM above zero, TO above FROM, N up to {_MOST_STEPS}"
            raise InputError(path, show(part), allowed)
        found.update(np.geomspace(low, high, steps).tolist())
    return sorted(found)


def names(path: str, text: str, known: Sequence[str]) -> list[str]:
    """Parse names separated by commas; `InputError` at ``path`` for an unknown one."""
    given = [name.strip() for name in text.split(",")]
    for name in given:
        if name not in known:
            raise InputError(path, show(name), f"one or more of {', '.join(known)}")
    return [name for name in known if name in given]


def wholes(path: str, text: str, least: int, most: int) -> list[int]:
    """Parse integers separated by commas into distinct values in ascending order.

    Parameters
    ----------
    path, text : str
        Name of the option and its text.
    least, most : int
        Smallest and largest allowed value.

    Raises
    ------
    InputError
        If a value is not an integer, or out of range.
    """
    found = {whole(path, part.strip(), least) for part in text.split(",")}
    if max(found) > most:
        raise InputError(path, show(max(found)), f"whole numbers from {least} to {most:,}")
    return sorted(found)


def parts(path: str, text: str) -> list[float]:
    """Parse shares separated by commas; `InputError` at ``path`` if they do not add up to 1."""
    found = [number_above_zero(path, part.strip()) for part in text.split(",")]
    if abs(sum(found) - 1) > _ROUNDING:
        raise InputError(path, show(text), "numbers above 0 that add up to 1")
    return found
