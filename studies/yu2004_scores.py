"""Scores of the settings by their distance from tables I and II, as table and picture."""

from __future__ import annotations

import itertools
import math
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lightburst.papers.claims import known
from lightburst.papers.design import Effort
from lightburst.papers.figure import COLUMNS, Figure, Listing
from lightburst.papers.runs import Runs
from lightburst.papers.yu2004.design import BURSTS, TABLE_LOSSES
from lightburst.papers.yu2004.points import Point, rate_name
from lightburst.papers.yu2004.published import RATIOS
from lightburst.papers.yu2004.senders import Sender
from lightburst.study.statistics import log_ratio_error
from yu2004_settings import (
    ALONE,
    HALVINGS,
    INFERRED,
    NEW_RENOS,
    RENOS,
    SACKS,
    WORDS,
    Network,
    networks,
    point_of,
)

# There are many points, and each score averages 24 ratios, so 3 % for each suffices. At the highest
# loss timeouts dominate and segments are few.
USUAL: Final = Effort(most=16, first=4, precision=0.03, horizon_s=1e3)
HEAVY: Final = USUAL._replace(horizon_s=5e4)

_SHORT: Final = {
    "access_kB_s": "kB/s",
    "window": "W_m",
    "min_timeout_s": "RTO s",
    "reno_bug_fix": "bug_fix",
    "new_reno_timer": "New-Reno",
    "sack": "SACK",
    "by_chance": "chance",
}


def scores(runs: Runs[Point]) -> pd.DataFrame:
    """Score every setting that was run by the distance of its 24 ratios from the published ones.

    Returns
    -------
    pandas.DataFrame
        One row per setting, the best first: its values, ``rms`` (root mean square of the logarithm
        of measured over published), ``by_chance`` (contribution of our runs' spread to it),
        ``worst`` (the largest such logarithm) and ``cells`` (number of published ratios within our
        95 % interval, widened by the rounding of the published ratio).
    """
    rows = []
    for more, network in networks():
        cells = cache(partial(_cells, runs, network))
        for halving, reno, new_reno, sack in itertools.product(HALVINGS, RENOS, NEW_RENOS, SACKS):
            below = RENOS[reno]._replace(halving=halving)
            one = cells("new-reno", NEW_RENOS[new_reno]._replace(halving=halving), below)
            other = cells("sack", SACKS[sack]._replace(halving=halving), below)
            if one is None or other is None:
                continue
            row = (network["access"] / 1e3, network["window"], network["b"], network["min_timeout"])
            setting = dict(zip(INFERRED, (*row, more, halving, reno, new_reno, sack), strict=True))
            rows.append({**setting, **_score(np.concatenate([one, other]))})
    table = pd.DataFrame(rows)
    return table.sort_values("rms", kind="stable", ignore_index=True) if rows else table


def _cells(
    runs: Runs[Point], network: Network, kind: str, sender: Sender, reno: Sender
) -> NDArray[np.float64] | None:
    """Compare one flavour with Reno in all cells of both tables; None if one was not run.

    A row has the logarithm of our ratio over the published one, its standard error, and 1 if the
    two agree.
    """
    rows = []
    for burst, p in itertools.product(BURSTS, TABLE_LOSSES):
        top, bottom = (point_of(network, burst, p, sender) for sender in (sender, reno))
        ratio, above, below = runs.ratio(top, bottom), runs.samples(top), runs.samples(bottom)
        if above is None or below is None or not known(ratio):
            return None
        printed = RATIOS[burst][kind][p]
        met = ratio.low <= printed.high and ratio.high >= printed.low
        error, _ = log_ratio_error(above, below)
        rows.append((math.log(ratio.estimate / printed.estimate), error, met))
    return np.array(rows)


def _score(cells: NDArray[np.float64]) -> dict[str, float]:
    off, error, met = cells.T
    return {
        "rms": float(np.sqrt(np.mean(off**2))),
        "by_chance": float(np.sqrt(np.mean(error**2))),
        "worst": float(np.max(np.abs(off))),
        "cells": int(met.sum()),
    }


def listing(table: pd.DataFrame) -> Listing:
    """Build a table of the scores."""
    return Listing(
        "search",
        "Settings of what the paper leaves open, by their distance from tables I and II",
        "rms: root of the mean square, over the 24 cells, of the logarithm of our ratio over the "
        "published one; chance: the part of it that the spread of our runs adds; worst: its "
        "largest cell; cells: how many of the 24 published ratios lie in our 95 % interval, "
        "widened to both sides by what they may have been rounded. "
        f"{_tried(table)}",
        table.round({"rms": 4, "by_chance": 4, "worst": 3}).rename(columns=_SHORT),
        shown=30,
    )


def _tried(table: pd.DataFrame) -> str:
    """Describe the values of each parameter in the search, and the length of the runs."""
    grid, alone = table[table["more"] == ""], [x for x in ALONE if x in set(table["more"])]
    values = (
        f"{words}: {', '.join(_value(x) for x in sorted(grid[column].unique()))}"
        for column, words in WORDS.items()
        if column != "more"
    )
    text = f"All combinations of {'; '.join(values)}."
    if len(alone):
        text += f" Varied alone, around the setting of the paper's scenario: {', '.join(alone)}."
    return (
        f"{text} A point has {USUAL.first} to {USUAL.most} runs of {USUAL.horizon_s:,.0f} s "
        f"({HEAVY.horizon_s:,.0f} s at p = {max(TABLE_LOSSES):.2g}), until its mean is known to "
        f"{100 * USUAL.precision:g} %."
    )


def _value(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


def figure(table: pd.DataFrame, version: str) -> Figure:
    """Build a figure of the sorted scores, one curve per access bandwidth and minimum timeout."""
    rows: list[tuple[Any, ...]] = []
    grid = table[table["more"] == ""]
    for (access, timeout), group in grid.groupby(["access_kB_s", "min_timeout_s"]):
        for rank, score in enumerate(sorted(group["rms"]), start=1):
            name = (rate_name(1e3 * float(str(access))), f"timeout from {timeout:g} s")
            rows.append((*name, float(rank), score, score, score, 1))
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    return Figure(
        id="search",
        title="Distance from tables I and II, best settings first",
        caption=f"{len(table)} settings of what the paper leaves open; each curve: all of W_m, b "
        "and the senders' options, sorted. Distance: root of the mean square of the logarithm of "
        f"our ratio over the published one, over 24 cells. {_tried(table)} "
        f"lightburst {version}.",
        x_label="Rank among the settings with this access bandwidth and timeout",
        y_label="Distance (RMS of the logarithm)",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        x_log=False,
        legends=("Access bandwidth", "Minimum timeout"),
        ordered=True,
    )
