"""Typing errors: the known name that a misspelt name was probably meant to be."""

import re
from collections.abc import Iterable
from typing import Final

# Letters per slip. A slip is one letter added, omitted or replaced, or two swapped. Three letters
# allow one slip, seven two, and each further four letters one more.
_LETTERS_A_SLIP: Final = 4
# Least letters of a part of a name that identify the name.
_LEAST_PART: Final = 3


def typo_of(given: str, known: Iterable[str]) -> str | None:
    """Find the known name for a misspelt name, or for a part of a name.

    Parameters
    ----------
    given : str
        The name as written.
    known : iterable of str
        The known names, in the same case.

    Returns
    -------
    str or None
        The name with the fewest slips (of equal ones the first), if it has one slip, or two in
        seven letters, three in eleven and so on; otherwise the shortest name that begins with
        `given` or has it as one of its words; otherwise None.
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
    """Return the most slips with which two names still match: none for one or two letters."""
    longer = max(len(given), len(name))
    return max(1, (longer + 1) // _LETTERS_A_SLIP) if longer > 2 else 0


def distance(one: str, other: str) -> int:
    """Return the number of slips between two words (optimal string alignment, Damerau 1964)."""
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
