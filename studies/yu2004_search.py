"""Which of the parameters that yu2004 leaves open explain its tables I and II.

``python studies/yu2004_search.py [--quick] --out DIR`` runs the senders of the tables with every
setting of a grid, and with what else is open one at a time, and scores each setting by its distance
from the printed ratios. docs/yu2004-search.md has what came of it.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lightburst.papers.claims import Claim, at_least, exact, judged, known, smallest, verdict_of
from lightburst.papers.figure import COLUMNS, Figure, Listing
from lightburst.papers.paper import Block, Paper, Part
from lightburst.papers.yu2004 import PAPER
from lightburst.papers.yu2004.design import Effort, blocks_of
from lightburst.papers.yu2004.grids import (
    BURSTS,
    TABLE_LOSSES,
    table_point,
)
from lightburst.papers.yu2004.points import (
    HIGH,
    MEDIUM,
    NEW_RENO,
    RENO,
    SACK,
    TABLES,
    Point,
    Sender,
    assembly_time,
)
from lightburst.papers.yu2004.prototype import PROTOTYPE, check_point
from lightburst.papers.yu2004.published import ratio_of
from lightburst.papers.yu2004.runs import Runs
from lightburst.report.reproduction import reproduce_parts
from lightburst.study.statistics import mean_interval

Network = dict[str, Any]

# The grid: every combination of these, with every sender below.
ACCESS: Final = (TABLES, MEDIUM, HIGH)
WINDOWS: Final = (20, 50, 100)
TIMEOUTS: Final = (0.2, 0.5, 1.0)
ACKS: Final = (1, 2)
HALVINGS: Final = ("window", "flight-size")
RENOS: Final = {"on": RENO, "off": RENO._replace(bug_fix=False)}
NEW_RENOS: Final = {
    "slow-but-steady": NEW_RENO,
    "impatient": NEW_RENO._replace(partial="impatient"),
}
SACKS: Final = {"sack1": SACK, "sack": SACK._replace(recovery="sack")}
# The setting of the paper's scenario, and what is varied alone around it. A value of "p" is the
# loss probability of the data.
OWN: Final[Network] = {"access": TABLES, "window": 50, "b": 1, "min_timeout": 0.2}
ALONE: Final[dict[str, Network]] = {
    "35 ms more": {"extra": 0.035},
    "ACKs not assembled": {"assembled": False},
    "initial window 2": {"initial_window": 2},
    "limited transmit": {"limited": True},
    "ticks of 0.1 s": {"tick": 0.1},
    "no growth on exit": {"exit_growth": False},
    "ACKs lost as data": {"ack_loss": "p"},
    "each fibre loses": {"every_link": True},
}
# There are many points, and each score averages 24 ratios: 3 % for each is enough. At the highest
# loss timeouts decide and segments are few.
USUAL: Final = Effort(1e3, 16, 4, 0.03)
HEAVY: Final = USUAL._replace(horizon_s=5e4)

# The published ratios are rounded by up to 0.05, and two searches have a different chance: as close
# as this a score counts as found again.
FOUND_AGAIN: Final = 0.02
CELLS: Final = 2 * len(BURSTS) * len(TABLE_LOSSES)
# What the independent prototype inferred, as the columns of the table of scores.
INFERRED: Final = {
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


def networks(quick: bool = False) -> list[tuple[str, Network]]:
    """List the settings of the path: what is varied alone (nothing in the grid), and the fields."""
    if quick:
        return [("", OWN), ("", {**OWN, "min_timeout": 1.0})]
    grid = itertools.product(ACCESS, WINDOWS, ACKS, TIMEOUTS)
    found = [("", dict(zip(OWN, values, strict=True))) for values in grid]
    return [*found, *((name, {**OWN, **fields}) for name, fields in ALONE.items())]


def point_of(network: Network, burst: int, p: float, sender: Sender) -> Point:
    """Give the point with bursts of S; fields of the network that are a sender's override it."""
    fields: Network = {name: p if value == "p" else value for name, value in network.items()}
    time = assembly_time(fields["access"], burst)
    return table_point(burst, p, sender)._replace(**fields, time=time)


def points(quick: bool = False) -> list[Point]:
    """List all points, without repetition."""
    senders = [
        sender._replace(halving=halving)
        for choice in (RENOS, NEW_RENOS, SACKS)
        for sender in choice.values()
        for halving in (HALVINGS[:1] if quick else HALVINGS)
    ]
    found = (
        point_of(network, burst, p, sender)
        for _, network in networks(quick)
        for burst in BURSTS
        for p in TABLE_LOSSES
        for sender in senders
    )
    return list(dict.fromkeys(found))


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs."""
    return blocks_of((point, HEAVY if point.p > 0.2 else USUAL) for point in points(quick))


def scores(runs: Runs) -> pd.DataFrame:
    """Score every setting that was run: how far its 24 ratios are from the published ones.

    Returns
    -------
    pandas.DataFrame
        One row for each setting, the best first: what it sets, ``rms`` (root of the mean square of
        the logarithm of measured over published), ``by_chance`` (what our runs' own spread adds to
        it), ``worst`` (the largest such logarithm) and ``cells`` (how many of the published ratios
        lie in our 95 % interval, widened to both sides by what they may have been rounded).
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
    runs: Runs, network: Network, kind: str, above: Sender, below: Sender
) -> NDArray[np.float64] | None:
    """Compare one flavour with Reno in all cells of both tables; None if one was not run.

    A row has the logarithm of our ratio over the published one, its standard error, and 1 where the
    two agree.
    """
    rows = []
    for burst, p in itertools.product(BURSTS, TABLE_LOSSES):
        top, bottom = (point_of(network, burst, p, sender) for sender in (above, below))
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


def listing(table: pd.DataFrame) -> Listing:
    """Put the scores into a table to read."""
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
    """Say which values of each parameter the settings have, and how long each was run."""
    grid, alone = table[table["more"] == ""], [x for x in ALONE if x in set(table["more"])]
    values = (
        f"{words}: {', '.join(_value(x) for x in sorted(grid[column].unique()))}"
        for column, words in _WORDS.items()
        if column != "more"
    )
    text = f"All combinations of {'; '.join(values)}."
    if len(alone):
        text += f" Varied alone, around the setting of the paper's scenario: {', '.join(alone)}."
    return (
        f"{text} A point has {USUAL.first} to {USUAL.most} runs of {USUAL.horizon_s:,.0f} s "
        f"({HEAVY.horizon_s:,.0f} s at p = {max(TABLE_LOSSES):.2g}), until its mean is known to "
        f"{USUAL.precision:.0%}."
    )


def _value(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


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
        f"our ratio over the published one, over 24 cells. {_tried(table)} "
        f"lightburst {version}.",
        x_label="Rank among the settings with this access bandwidth and timeout",
        y_label="Distance (RMS of the logarithm)",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        x_log=False,
        legends=("Access", "Timeout"),
    )


def claims(table: pd.DataFrame) -> list[Claim]:
    """Confirm or refute what an independent search has inferred of the open parameters.

    Parameters
    ----------
    table : pandas.DataFrame
        What `scores` gave.

    Returns
    -------
    list of Claim
        The best score, that of the inferred setting, how many cells are explained, and one for each
        parameter: how much worse the best setting with another value is.
    """
    if table.empty:
        return []
    at = table[_selected(table, INFERRED)]
    inferred = float(at["rms"].iloc[0]) if len(at) else math.nan
    best = float(table["rms"].iloc[0])
    found = [
        _claim(
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
        _claim(
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


def _claim(
    name: str,
    words: str,
    published: float | None,
    measured: float,
    good: bool,
    rule: str,
    note: str,
    source: str = "independent prototype",
) -> Claim:
    return judged(
        f"search-{name}", "search", words, published, exact(measured), verdict_of(good), rule, note,
        source,
    )  # fmt: skip


def _most_cells(table: pd.DataFrame) -> Claim:
    nearest = table.iloc[0]
    # The nearest of those that explain as many.
    most = table.iloc[int(table["cells"].to_numpy().argmax())]
    scenario = table.loc[_selected(table, INFERRED), "cells"]
    own = f"; that of the scenario: {scenario.iloc[0]}" if len(scenario) else ""
    return _claim(
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


def lowest_claim(runs: Runs) -> Claim:
    """Judge whether any setting comes down to the one printed ratio that is far below the others.

    It is that of New-Reno over Reno at S = 25 and log10 p = -1.5.
    """
    burst, p = BURSTS[1], TABLE_LOSSES[3]
    published, rounding = ratio_of(burst, p, "new-reno")
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
        published,
        lowest,
        at_least(lowest, published + rounding),
        f"the whole interval is above {published + rounding:g}, what the printed digits may stand "
        "for",
        f"Of {len(found)} ratios.",
        source="independent prototype",
    )


def limited_claim(runs: Runs) -> list[Claim]:
    """Judge whether the prototype had limited transmit on; nothing unless all senders were run."""
    off = {
        limited: np.abs(np.log([
            runs.mean(check_point(sender, p)._replace(limited=limited)).estimate / published
            for (sender, p), published in PROTOTYPE.items()
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
    """Give the largest difference that chance alone makes between two scores, in 95 of 100 cases.

    To first order: a score is off by its ``by_chance`` over the root of its 24 cells.
    """
    return float(1.96 * math.sqrt(2 / CELLS) * table["by_chance"].iloc[0])


def _parameters(table: pd.DataFrame) -> Iterator[Claim]:
    limit = alike(table)
    for column, value in INFERRED.items():
        others = [other for other in table[column].unique() if other != value]
        # What is varied alone says something only beside the same setting without it.
        rest = {name: x for name, x in INFERRED.items() if name != column}
        within = table[_selected(table, rest if column == "more" else {"more": ""})]
        own = float(within.loc[within[column] == value, "rms"].min())
        beside = {
            other: float(within.loc[within[column] == other, "rms"].min()) for other in others
        }
        if not beside or not math.isfinite(own):
            continue
        nearest = min(beside.values())
        yield _claim(
            column.replace("_", "-").lower(),
            f"No other {_WORDS[column]} than {value or 'none'} explains the tables better "
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
    return ", ".join(f"{words} {row[column]}" for column, words in _WORDS.items() if row[column])


def _claims(runs: Runs) -> list[Claim]:
    return [*claims(scores(runs)), lowest_claim(runs), *limited_claim(runs)]


#: The study as a paper of one part, so that it runs, is drawn and is saved like one.
STUDY: Final = Paper(
    name="yu2004-search",
    title="Which of the parameters that yu2004 leaves open explain its tables",
    citation=PAPER.citation,
    parts={
        "search": Part(
            "distance of each setting from tables I and II",
            lambda runs, version: [figure(scores(runs), version)],
            _claims,
            lambda runs: [listing(scores(runs))],
        )
    },
    blocks=blocks,
    runs=Runs.of,
)


def main() -> int:
    """Run the study and write figure, table, claims and page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two settings of the path: a preview")
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write the outcome")
    parser.add_argument("--workers", type=int, metavar="N", help="threads; all cores by default")
    chosen = parser.parse_args()
    found = reproduce_parts(STUDY, STUDY.default, quick=chosen.quick, workers=chosen.workers)
    print(found.save(chosen.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
