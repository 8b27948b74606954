"""Conclusions from the scores about the open parameters of yu2004, judged."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from lightburst.papers.claims import Claim, at_least, judged, known
from lightburst.papers.curves import smallest
from lightburst.papers.runs import Runs
from lightburst.papers.yu2004.design import BURSTS, TABLE_LOSSES
from lightburst.papers.yu2004.points import Point
from lightburst.papers.yu2004.published import PROTOTYPE, RATIOS
from lightburst.study.statistics import mean_interval
from searching import claim
from yu2004_settings import HALVINGS, INFERRED, NEW_RENOS, RENOS, WORDS, networks, point_of

# Tolerance within which a score counts as reproduced: published ratios are rounded by up to 0.05,
# and two searches differ by chance.
FOUND_AGAIN: Final = 0.02
CELLS: Final = 2 * len(BURSTS) * len(TABLE_LOSSES)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Confirm or refute the conclusions of an independent search about the open parameters.

    Parameters
    ----------
    table : pandas.DataFrame
        Output of `scores`.

    Returns
    -------
    list of Claim
        Claims about the best score, the inferred setting, the number of explained cells, and each
        parameter: the increase of the best score with another value.
    """
    if table.empty:
        return []
    at = table[_selected(table, INFERRED)]
    inferred = float(at["rms"].iloc[0]) if len(at) else math.nan
    best = float(table["rms"].iloc[0])
    found = [
        claim(
            "best",
            "Distance of the best setting from the 24 cells of tables I and II (RMS of the "
            "logarithm)",
            0.07,
            best,
            abs(best - 0.07) <= FOUND_AGAIN,
            f"within {FOUND_AGAIN}, what rounding and chance can do to the distance",
            f"Best: {_described(table.iloc[0])}. Chance adds to the square of the distance that of "
            f"{float(table['by_chance'].iloc[0]):.3f}.",
        ),
        claim(
            "inferred",
            "Distance of the setting that the prototype's search inferred, over that of the best",
            1.0,
            inferred / best,
            inferred - best <= alike(table),
            f"not more than {alike(table):.3f} above the best, what chance makes of two scores",
            f"Inferred: distance {inferred:.3f}; best: {best:.3f}.",
        ),
    ]
    return [*found, _most_cells(table), *_parameters(table)]


def _most_cells(table: pd.DataFrame) -> Claim:
    nearest = table.iloc[0]
    # Nearest of the settings with the largest number of explained cells.
    most = table.iloc[int(table["cells"].to_numpy().argmax())]
    scenario = table.loc[_selected(table, INFERRED), "cells"]
    own = f"; that of the scenario: {scenario.iloc[0]}" if len(scenario) else ""
    return claim(
        "cells",
        f"The setting nearest to the tables explains most of their {CELLS} cells, too (cells that "
        "it explains, over the most that a setting does)",
        1.0,
        nearest["cells"] / max(most["cells"], 1),
        nearest["cells"] == most["cells"],
        "no other setting explains more",
        f"The nearest: {nearest['cells']} cells{own}. Most cells: {most['cells']}, at a distance "
        f"of {most['rms']:.3f} with {_described(most)}. Wide intervals explain more.",
        source="search of this project",
    )


def lowest_claim(runs: Runs[Point]) -> Claim:
    """Judge whether any setting reaches the one printed ratio that is far below the others.

    It is the ratio of New-Reno over Reno at S = 25 and log10 p = -1.5.
    """
    burst, p = BURSTS[1], TABLE_LOSSES[3]
    printed = RATIOS[burst]["new-reno"][p]
    found = [
        ratio
        for _, network in networks()
        for halving in HALVINGS
        for above in NEW_RENOS.values()
        for below in RENOS.values()
        if known(
            ratio := runs.ratio(
                point_of(network, burst, p, above._replace(halving=halving)),
                point_of(network, burst, p, below._replace(halving=halving)),
            )
        )
    ]
    lowest = smallest(found)
    return judged(
        "search-lowest",
        "search",
        f"No setting has New-Reno over Reno at S = {burst}, log10 p = {math.log10(p):.2g} as low "
        "as printed (lowest ratio)",
        printed.estimate,
        lowest,
        at_least(lowest, printed.high),
        f"the whole interval is above {printed.high:g}, what the printed digits may stand for",
        f"Of {len(found)} ratios.",
        source="independent prototype",
    )


def limited_claim(runs: Runs[Point]) -> list[Claim]:
    """Judge whether the prototype used limited transmit; empty unless all senders were run."""
    off = {
        limited: np.abs(np.log([
            runs.mean(point._replace(limited=limited)).estimate / published
            for _, point, published in PROTOTYPE
        ]))
        for limited in (False, True)
    }  # fmt: skip
    nearer = off[False] - off[True]
    if not np.isfinite(nearer).all():
        return []
    gain = mean_interval(nearer)
    return [
        judged(
            "search-limited",
            "search",
            "With limited transmit our senders come nearer to the check values (mean over the "
            f"{nearer.size} of their distance without it less that with it; logarithms)",
            None,
            gain,
            at_least(gain, 0.0),
            "the whole interval is above 0",
            f"Largest distance without: {off[False].max():.1%}, with: {off[True].max():.1%}.",
            source="independent prototype",
        )
    ]


def alike(table: pd.DataFrame) -> float:
    """Return the 95 % limit of the difference of two scores by chance alone.

    To first order: the standard error of a score is its ``by_chance`` over the root of its 24
    cells.
    """
    return float(1.96 * math.sqrt(2 / CELLS) * table["by_chance"].iloc[0])


def _parameters(table: pd.DataFrame) -> Iterator[Claim]:
    limit = alike(table)
    for column, value in INFERRED.items():
        others = [other for other in table[column].unique() if other != value]
        # A parameter varied alone is compared only with the same setting without it.
        rest = {name: x for name, x in INFERRED.items() if name != column}
        within = table[_selected(table, rest if column == "more" else {"more": ""})]
        own = float(within.loc[within[column] == value, "rms"].min())
        beside = {
            other: float(within.loc[within[column] == other, "rms"].min()) for other in others
        }
        if not beside or not math.isfinite(own):
            continue
        nearest = min(beside.values())
        yield claim(
            column.replace("_", "-").lower(),
            f"No other {WORDS[column]} than {value or 'none'} explains the tables better "
            "(distance of the best setting with another value, less that with this one)",
            None,
            nearest - own,
            nearest - own >= -limit,
            f"not below -{limit:.3f}, what chance makes of two scores; above {limit:.3f} the "
            "tables tell the values apart",
            f"{value or 'none'}: {own:.3f}; "
            + ", ".join(f"{other}: {score:.3f}" for other, score in beside.items())
            + (". The tables tell it." if nearest - own > limit else ". The tables do not tell."),
        )


def _selected(table: pd.DataFrame, values: dict[str, Any]) -> pd.Series[bool]:
    chosen = pd.Series(data=True, index=table.index)
    for column, value in values.items():
        chosen &= table[column] == value
    return chosen


def _described(row: pd.Series[Any]) -> str:
    return ", ".join(f"{words} {row[column]}" for column, words in WORDS.items() if row[column])
