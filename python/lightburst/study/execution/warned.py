"""Warnings of the runs of a study, grouped by kind."""

import re
from typing import Final, NamedTuple

import pandas as pd

from lightburst.result.metrics import BETWEEN_WARNINGS

# A number with an optional unit: warnings that differ only in numbers and units are one kind.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?: (?:[kMGTmµnp]i?)?(?:B|b/s|s)\b)?")


def warnings_of(runs: pd.DataFrame) -> tuple[str, ...]:
    """Collect the warnings of runs, each kind once.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per run, with ``seed`` and ``warnings``.

    Returns
    -------
    tuple of str
        Warnings that differ only in their numbers are merged, as in ``in 3 of 10 runs, first with
        seed 2: 5 of 100 flows did not finish before the time limit (1 ms)``. A warning that all
        runs have in identical words is returned unchanged.
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
        Text of the warning in the first run that has it.
    runs : int
        Number of runs that have it.
    place : int
        Row of the first of these runs in the table, from 0.
    seed : int
        Seed of that run.
    alike : bool
        Whether the text is identical in all of them.
    """

    text: str
    runs: int
    place: int
    seed: int
    alike: bool


def warned(runs: pd.DataFrame) -> list[Warned]:
    """Count the warnings of runs by kind.

    Parameters
    ----------
    runs : pandas.DataFrame
        As in `warnings_of`.

    Returns
    -------
    list of Warned
        Kinds of warnings, in the order of first occurrence.
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
