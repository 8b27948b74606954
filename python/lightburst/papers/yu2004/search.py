"""Which of the parameters that the paper leaves open explain its tables."""

from __future__ import annotations

import itertools
import math
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, at_least, judged, known
from lightburst.papers.figure import COLUMNS, Figure, Listing
from lightburst.papers.yu2004.design import effort
from lightburst.papers.yu2004.grids import (
    BURSTS,
    HALVINGS,
    SEARCH_MORE,
    SEARCH_NEW_RENO,
    SEARCH_RENO,
    SEARCH_SACK,
    TABLE_LOSSES,
    search_networks,
    search_point,
)
from lightburst.papers.yu2004.points import TABLES, Point
from lightburst.papers.yu2004.published import ratio_of
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

# The published ratios are rounded by up to 0.05, and two searches have a different chance: as close
# as this a score counts as found again.
FOUND_AGAIN: Final = 0.02


_CELLS: Final = 2 * len(BURSTS) * len(TABLE_LOSSES)


def scores(runs: Runs) -> pd.DataFrame:
    """Score every setting that was run: how far its 24 ratios are from the published ones.

    Parameters
    ----------
    runs : Runs
        Runs of the search.

    Returns
    -------
    pandas.DataFrame
        One row for each setting, the best first: what it sets, ``rms`` (root of the mean square of
        the logarithm of measured over published), ``by_chance`` (what our runs' own spread adds to
        it), ``worst`` (the largest such logarithm) and ``cells`` (how many of the published ratios
        lie in our 95 % interval, widened to both sides by what they may have been rounded).
    """
    rows = []
    for more, network in search_networks(quick=False):
        cells = cache(partial(_cells, runs, network))
        for choice in itertools.product(HALVINGS, SEARCH_RENO, SEARCH_NEW_RENO, SEARCH_SACK):
            halving, reno, new_reno, sack = choice
            below = SEARCH_RENO[reno]._replace(halving=halving)
            found = [
                cells("new-reno", SEARCH_NEW_RENO[new_reno]._replace(halving=halving), below),
                cells("sack", SEARCH_SACK[sack]._replace(halving=halving), below),
            ]
            run = [part for part in found if part is not None]
            if len(run) == len(found):
                rows.append(
                    {
                        "access_kB_s": float(str(network["access"])) / 1e3,
                        "window": network["window"],
                        "b": network["b"],
                        "min_timeout_s": network["min_timeout"],
                        "more": more,
                        "halving": halving,
                        "reno_bug_fix": reno,
                        "new_reno_timer": new_reno,
                        "sack": sack,
                        **_score(np.concatenate(run)),
                    }
                )
    table = pd.DataFrame(rows)
    return table.sort_values("rms", kind="stable", ignore_index=True) if rows else table


def _cells(
    runs: Runs, network: dict[str, object], kind: str, above: Sender, below: Sender
) -> NDArray[np.float64] | None:
    """Compare one flavour with Reno in all cells of both tables.

    Returns
    -------
    ndarray of float, shape (cells, 3), or None
        Logarithm of our ratio over the published one, its standard error, and 1 where the two
        agree; None where a cell was not run.
    """
    rows = []
    for burst, p in itertools.product(BURSTS, TABLE_LOSSES):
        top, bottom = (search_point(network, burst, p, sender) for sender in (above, below))
        ratio = runs.ratio(top, bottom)
        if not known(ratio):
            return None
        published, rounding = ratio_of(burst, p, kind)
        met = ratio.low - rounding <= published <= ratio.high + rounding
        rows.append((math.log(ratio.estimate / published), runs.ratio_error(top, bottom), met))
    return np.array(rows)


def _score(cells: NDArray[np.float64]) -> dict[str, float]:
    off, error, met = cells.T
    return {
        "rms": float(np.sqrt(np.mean(off**2))),
        "by_chance": float(np.sqrt(np.mean(error**2))),
        "worst": float(np.max(np.abs(off))),
        "cells": int(met.sum()),
    }


_WORDS: Final = {
    "access_kB_s": "access bandwidth (kB/s)",
    "window": "W_m",
    "b": "b",
    "min_timeout_s": "minimum timeout (s)",
    "more": "what is varied alone",
    "halving": "what is halved",
    "reno_bug_fix": "Reno's bug_fix",
    "new_reno_timer": "New-Reno's timer",
    "sack": "kind of SACK",
}
_SHORT: Final = {
    "access_kB_s": "kB/s",
    "window": "W_m",
    "min_timeout_s": "RTO s",
    "reno_bug_fix": "bug_fix",
    "new_reno_timer": "New-Reno",
    "sack": "SACK",
    "by_chance": "chance",
}


def listing(table: pd.DataFrame) -> Listing:
    """Put the scores into a table to read."""
    return Listing(
        "search",
        "Settings of what the paper leaves open, by their distance from tables I and II",
        "rms: root of the mean square, over the 24 cells, of the logarithm of our ratio over the "
        "published one; chance: the part of it that the spread of our runs adds; worst: its "
        "largest cell; cells: how many of the 24 published ratios lie in our 95 % interval, "
        "widened to both sides by what they may have been rounded. "
        f"{tried(table)} {_lengths()}",
        table.round({"rms": 4, "by_chance": 4, "worst": 3}).rename(columns=_SHORT),
        shown=30,
    )


def tried(table: pd.DataFrame) -> str:
    """Say which values of each parameter the settings have."""
    grid, more = table[table["more"] == ""], [x for x in SEARCH_MORE if x in set(table["more"])]
    values = (
        f"{words}: {', '.join(_value(x) for x in sorted(grid[column].unique()))}"
        for column, words in _WORDS.items()
        if column != "more"
    )
    text = f"All combinations of {'; '.join(values)}."
    if len(more):
        text += f" Varied alone, around the setting of the paper's scenario: {', '.join(more)}."
    return text


def _value(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


def _lengths() -> str:
    usual, heavy = (
        effort("search", Point(TABLES, 0.0, p), quick=False) for p in (0.01, max(TABLE_LOSSES))
    )
    return (
        f"A point has {usual.first} to {usual.most} runs of {usual.horizon_s:,.0f} s "
        f"({heavy.horizon_s:,.0f} s at p = {max(TABLE_LOSSES):.2g}), until its mean is known to "
        f"{usual.precision:.0%}."
    )


def figure(table: pd.DataFrame, version: str) -> Figure:
    """Draw the scores up, sorted, one curve for each access bandwidth and minimum timeout."""
    rows: list[tuple[Any, ...]] = []
    grid = table[table["more"] == ""]
    for (access, timeout), group in grid.groupby(["access_kB_s", "min_timeout_s"]):
        for rank, score in enumerate(sorted(group["rms"]), start=1):
            name = (f"{access:g} kB/s", f"timeout from {timeout:g} s")
            rows.append((*name, float(rank), score, score, score, 1))
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    return Figure(
        id="search",
        title="Distance from tables I and II, best settings first",
        caption=f"{len(table)} settings of what the paper leaves open; each curve: all of W_m, b "
        "and the senders' options, sorted. Distance: root of the mean square of the logarithm of "
        f"our ratio over the published one, over 24 cells. {tried(table)} {_lengths()} "
        f"lightburst {version}.",
        x_label="Rank among the settings with this access bandwidth and timeout",
        y_label="Distance (RMS of the logarithm)",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        x_log=False,
        legends=("Access", "Timeout"),
    )


# What the independent prototype inferred, as the columns of the table.
_INFERRED: Final = {
    "access_kB_s": 125.0,
    "window": 50,
    "b": 1,
    "min_timeout_s": 0.2,
    "more": "",
    "halving": "window",
    "reno_bug_fix": "on",
    "new_reno_timer": "slow-but-steady",
    "sack": "sack1",
}


def claims(table: pd.DataFrame) -> list[Claim]:
    """Confirm or refute what an independent search has inferred of the open parameters.

    Parameters
    ----------
    table : pandas.DataFrame
        What `scores` gave.

    Returns
    -------
    list of Claim
        The best score, that of the inferred setting, and one for each parameter: how much worse
        the best setting with another value is.
    """
    if table.empty:
        return []
    at = table[_selected(table, _INFERRED)]
    inferred = float(at["rms"].iloc[0]) if len(at) else math.nan
    best = float(table["rms"].iloc[0])
    found = [
        judged(
            "search-best",
            "search",
            "Distance of the best setting from the 24 cells of tables I and II (RMS of the "
            "logarithm)",
            0.07,
            _exact(best),
            _verdict(abs(best - 0.07) <= FOUND_AGAIN),
            f"within {FOUND_AGAIN}, what rounding and chance can do to the distance",
            f"Best: {_described(table.iloc[0])}. Chance adds to the square of the distance that of "
            f"{float(table['by_chance'].iloc[0]):.3f}.",
            source="independent prototype",
        ),
        judged(
            "search-inferred",
            "search",
            "Distance of the setting that the prototype's search inferred, over that of the best",
            1.0,
            _exact(inferred / best),
            _verdict(inferred - best <= alike(table)),
            f"not more than {alike(table):.3f} above the best, what chance makes of two scores",
            f"Inferred: distance {inferred:.3f}; best: {best:.3f}.",
            source="independent prototype",
        ),
    ]
    return [*found, _most_cells(table), *_parameters(table)]


def _most_cells(table: pd.DataFrame) -> Claim:
    nearest = table.iloc[0]
    # The nearest of those that explain as many.
    most = table.iloc[int(table["cells"].to_numpy().argmax())]
    scenario = table.loc[_selected(table, _INFERRED), "cells"]
    own = f"; that of the scenario: {scenario.iloc[0]}" if len(scenario) else ""
    return judged(
        "search-cells",
        "search",
        f"The setting nearest to the tables explains most of their {_CELLS} cells, too (cells that "
        "it explains, over the most that a setting does)",
        1.0,
        _exact(nearest["cells"] / max(most["cells"], 1)),
        _verdict(nearest["cells"] == most["cells"]),
        "no other setting explains more",
        f"The nearest: {nearest['cells']} cells{own}. Most cells: {most['cells']}, at a distance "
        f"of {most['rms']:.3f} with {_described(most)}. Wide intervals explain more.",
        source="search of this project",
    )


def lowest_claim(runs: Runs) -> Claim:
    """Judge whether any setting comes down to the one printed ratio that is far below the others.

    Parameters
    ----------
    runs : Runs
        Runs of the search.

    Returns
    -------
    Claim
        About New-Reno over Reno at S = 25 and log10 p = -1.5.
    """
    burst, p = BURSTS[1], TABLE_LOSSES[3]
    published, rounding = ratio_of(burst, p, "new-reno")
    found = [
        ratio
        for _, network in search_networks(quick=False)
        for halving in HALVINGS
        for above in SEARCH_NEW_RENO.values()
        for below in SEARCH_RENO.values()
        if known(
            ratio := runs.ratio(
                search_point(network, burst, p, above._replace(halving=halving)),
                search_point(network, burst, p, below._replace(halving=halving)),
            )
        )
    ]
    lowest = min(found, key=lambda ratio: ratio.estimate, default=UNKNOWN)
    return judged(
        "search-lowest",
        "search",
        f"No setting has New-Reno over Reno at S = {burst}, log10 p = {math.log10(p):.2g} as low "
        "as printed (lowest ratio)",
        published,
        lowest,
        at_least(lowest, published + rounding),
        f"the whole interval is above {published + rounding:g}, what the printed digits may stand "
        "for",
        f"Of {len(found)} ratios.",
        source="independent prototype",
    )


def alike(table: pd.DataFrame) -> float:
    """Give the largest difference that chance alone makes between two scores, in 95 of 100 cases.

    Parameters
    ----------
    table : pandas.DataFrame
        What `scores` gave.

    Returns
    -------
    float
        To first order: a score is off by its ``by_chance`` over the root of its 24 cells.
    """
    return float(1.96 * math.sqrt(2 / _CELLS) * table["by_chance"].iloc[0])


def _parameters(table: pd.DataFrame) -> Iterator[Claim]:
    limit = alike(table)
    for column, value in _INFERRED.items():
        others = [other for other in table[column].unique() if other != value]
        # What is varied alone says something only beside the same setting without it.
        rest = {name: x for name, x in _INFERRED.items() if name != column}
        fixed = rest if column == "more" else {"more": ""}
        within = table[_selected(table, fixed)]
        own = float(within.loc[within[column] == value, "rms"].min())
        beside = {
            other: float(within.loc[within[column] == other, "rms"].min()) for other in others
        }
        if not beside or not math.isfinite(own):
            continue
        nearest = min(beside.values())
        yield judged(
            f"search-{column.replace('_', '-').lower()}",
            "search",
            f"No other {_WORDS[column]} than {value or 'none'} explains the tables better "
            "(distance of the best setting with another value, less that with this one)",
            None,
            _exact(nearest - own),
            _verdict(nearest - own >= -limit),
            f"not below -{limit:.3f}, what chance makes of two scores; above {limit:.3f} the "
            "tables tell the values apart",
            f"{value or 'none'}: {own:.3f}; "
            + ", ".join(f"{other}: {score:.3f}" for other, score in beside.items())
            + (". The tables tell it." if nearest - own > limit else ". The tables do not tell."),
            source="independent prototype",
        )


def _selected(table: pd.DataFrame, values: dict[str, Any]) -> pd.Series[bool]:
    chosen = pd.Series(data=True, index=table.index)
    for column, value in values.items():
        chosen &= table[column] == value
    return chosen


def _described(row: pd.Series[Any]) -> str:
    return ", ".join(f"{words} {row[column]}" for column, words in _WORDS.items() if row[column])


def _exact(value: float) -> Interval:
    return Interval(value, value, value, 1) if math.isfinite(value) else UNKNOWN


def _verdict(good: bool) -> Verdict:
    return Verdict.HOLDS if good else Verdict.DIFFERS
