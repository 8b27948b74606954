"""What the runs of a study warn of, each kind once."""

import re

import pandas as pd

from lightburst.metrics import BETWEEN_WARNINGS


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
    texts: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for seed, together in zip(runs["seed"], runs["warnings"], strict=True):
        for text in together.split(BETWEEN_WARNINGS) if together else ():
            kind = re.sub(r"\d+", "", text)
            texts.setdefault(kind, []).append(text)
            first.setdefault(kind, seed)
    return tuple(
        text[0]
        if len(text) == len(runs) and len(set(text)) == 1
        else f"in {len(text)} of {len(runs)} runs, first with seed {first[kind]}: {text[0]}"
        for kind, text in texts.items()
    )
