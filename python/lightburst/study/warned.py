"""What the runs of a study warn of, each kind once."""

import re
from typing import Final, NamedTuple

import pandas as pd

from lightburst.metrics import BETWEEN_WARNINGS

# A number, with its unit: 92.5 kB and 1.07 MB are as alike as 5 and 6.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?: (?:[kMGTmµnp]i?)?(?:B|b/s|s)\b)?")


def warnings_of(runs: pd.DataFrame) -> tuple[str, ...]:
    """Gather the warnings of runs.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run, with ``seed`` and ``warnings``.

    Returns
    -------
    tuple of str
        Warnings that differ in their numbers only are one: ``in 3 of 10 runs, first with seed 2: 5
        of 100 flows did not finish before the time limit (1 ms)``. What all runs say in the same
        words stands alone.
    """
    return tuple(
        found.text
        if found.runs == len(runs) and found.alike
        else f"in {found.runs} of {len(runs)} runs, first with seed {found.seed}: {found.text}"
        for found in warned(runs)
    )


class Warned(NamedTuple):
    """A kind of warning.

    Attributes
    ----------
    text : str
        In the words of the first run that has it.
    runs : int
        How many have it.
    place : int
        Row of that run in the table of runs, from 0.
    seed : int
        Its seed.
    alike : bool
        Whether all say it in the same words.
    """

    text: str
    runs: int
    place: int
    seed: int
    alike: bool


def warned(runs: pd.DataFrame) -> list[Warned]:
    """Count the warnings of runs, each kind once.

    Parameters
    ----------
    runs : pandas.DataFrame
        As in `warnings_of`.

    Returns
    -------
    list of Warned
        In the order in which they come first.
    """
    kinds: dict[str, Warned] = {}
    rows = zip(runs["seed"].tolist(), runs["warnings"].tolist(), strict=True)
    for place, (seed, together) in enumerate(rows):
        for text in together.split(BETWEEN_WARNINGS) if together else ():
            kind = _NUMBER.sub("", text)
            one = kinds.get(kind)
            kinds[kind] = (
                Warned(text, 1, place, seed, alike=True)
                if one is None
                else one._replace(runs=one.runs + 1, alike=one.alike and text == one.text)
            )
    return list(kinds.values())
