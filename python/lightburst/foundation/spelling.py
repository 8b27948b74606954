"""Slips of the keys: which of some names another one may have been meant to be."""

import re
from collections.abc import Iterable
from typing import Final

# A slip is one letter too many, one missing, another one, or two in each other's place. Seven
# letters have room for two, and for one more for each so many.
_LETTERS_A_SLIP: Final = 4
# A part of a name of fewer letters stands for nothing.
_LEAST_PART: Final = 3


def typo_of(given: str, known: Iterable[str]) -> str | None:
    """Find the name that is meant by a misspelt one, or by a part of one.

    Parameters
    ----------
    given : str
        What was written.
    known : iterable of str
        What could have been meant, in the same case.

    Returns
    -------
    str or None
        The one with the fewest slips, of several the first, if there is one slip, or two in seven
        letters, three in eleven and so on; else the shortest name that begins with
        what is given or has it as one of its words; None if there is neither.
    """
    names = list(known)
    slips = {name: distance(given, name) for name in names}
    close = [name for name in names if slips[name] <= _allowed(given, name)]
    if close:
        return min(close, key=lambda name: slips[name])
    if len(given) < _LEAST_PART:
        return None
    parts = [name for name in names if name.startswith(given) or given in re.split(r"\W|_", name)]
    return min(parts, key=len, default=None)


def _allowed(given: str, name: str) -> int:
    """Give the most slips by which the two are one name: none in one or two letters."""
    longer = max(len(given), len(name))
    return max(1, (longer + 1) // _LETTERS_A_SLIP) if longer > 2 else 0


def distance(one: str, other: str) -> int:
    """Count the slips between two words (optimal string alignment, Damerau 1964)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, its in enumerate(other, 1):
            steps = [before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its)]
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], its):
                steps.append(last[j - 2] + 1)
            row.append(min(steps))
    return row[-1]
