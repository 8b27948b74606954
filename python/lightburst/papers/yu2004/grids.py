"""The points of each study: what the paper's figures and tables show, and a little more."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Final

from lightburst.papers.yu2004.points import (
    HIGH,
    LOW,
    MEDIUM,
    NEW_RENO,
    PAPER_SENDERS,
    RENO,
    RFC_SACK,
    RFC_SENDERS,
    SACK,
    TABLES,
    Point,
    Sender,
    assembly_time,
)


def decades(first: float, last: float, each: int) -> tuple[float, ...]:
    """Give powers of ten from 10^first to 10^last, so many to a decade."""
    steps = round((last - first) * each)
    return tuple(10 ** (first + step / each) for step in range(steps + 1))


# Figures 5 to 7. "p ... from 10^-4 to 10^-1", section V; how far T_b goes, the text does not say.
LOSSES: Final = decades(-4, -1, 2)
TIMES: Final = {HIGH: decades(-6, 0, 2), MEDIUM: decades(-4, 0, 2), LOW: decades(-2, 1.5, 2)}
QUICK_LOSSES: Final = (*decades(-3, -2, 2), 0.1)
QUICK_TIMES: Final = {HIGH: decades(-6, -1, 1), MEDIUM: decades(-4, 0, 1), LOW: decades(-2, 1, 1)}

# Where the paper has the optimum, p = 0.01; its equation (32) has it at 4 ms.
OPTIMUM_LOSS: Final = 0.01
EQUATION_32_S: Final = 4e-3
FINE_TIMES: Final = decades(-4, -2, 12)
QUICK_FINE_TIMES: Final = decades(-4, -2, 3)

# Figure 11.
CROSSING_LOSS: Final = 0.03
CROSSING_TIMES: Final = decades(-5.5, -2, 4)
QUICK_CROSSING_TIMES: Final = decades(-5.5, -2, 2)

# Tables I and II.
TABLE_LOSSES: Final = decades(-3, -0.5, 2)
BURSTS: Final = (5, 25)

# The senders of the check values; all halve the window, as ns-2 does.
PROTOTYPE_SENDERS: Final[dict[str, Sender]] = {
    "Reno, bug_fix off": RENO._replace(bug_fix=False),
    "Reno, bug_fix on": RENO,
    "New-Reno, impatient": NEW_RENO._replace(partial="impatient"),
    "New-Reno, slow but steady": NEW_RENO,
    "Sack1": SACK,
    "RFC 6675": SACK._replace(recovery="sack"),
}
PROTOTYPE_LOSSES: Final = TABLE_LOSSES[:-1]

# Section IV: cases of access bandwidth and burst, at one loss rate.
FACTOR_LOSS: Final = 0.01
FACTOR_CASES: Final = tuple(itertools.product((HIGH, MEDIUM), BURSTS))


def surface_points(access: float, quick: bool) -> list[Point]:
    """List the points of figure 5, 6 or 7: SACK over assembly time and loss rate."""
    times = (QUICK_TIMES if quick else TIMES)[access]
    losses = QUICK_LOSSES if quick else LOSSES
    return [Point(access, time, p) for time in times for p in losses]


def optimum_points(quick: bool) -> list[Point]:
    """List the points around the best assembly time at 125 MB/s, with both kinds of SACK."""
    times = (*(QUICK_FINE_TIMES if quick else FINE_TIMES), EQUATION_32_S)
    senders = (SACK,) if quick else (SACK, RFC_SACK)
    return [Point(HIGH, time, OPTIMUM_LOSS).by(sender) for sender in senders for time in times]


def crossing_points(quick: bool) -> list[Point]:
    """List the points of figure 11, with the paper's senders and the standards'."""
    times = QUICK_CROSSING_TIMES if quick else CROSSING_TIMES
    senders = PAPER_SENDERS if quick else (*PAPER_SENDERS, *RFC_SENDERS)
    return [Point(HIGH, time, CROSSING_LOSS).by(sender) for sender in senders for time in times]


def burst_points(burst: int, quick: bool) -> list[Point]:
    """List the points of table I (S = 5) or II (S = 25)."""
    more = (*RFC_SENDERS, RENO._replace(bug_fix=False))
    senders = PAPER_SENDERS if quick else (*PAPER_SENDERS, *more)
    return [table_point(burst, p, sender) for sender in senders for p in TABLE_LOSSES]


def table_point(burst: int, p: float, sender: Sender) -> Point:
    """Give the point of a table with bursts of S segments at 125 kB/s."""
    return Point(TABLES, assembly_time(TABLES, burst), p).by(sender)


def prototype_points(quick: bool) -> list[Point]:
    """List the points of the check values; a preview has those of the tables alone."""
    senders = PAPER_SENDERS if quick else tuple(PROTOTYPE_SENDERS.values())
    return [table_point(5, p, sender) for sender in senders for p in PROTOTYPE_LOSSES]


def factor_points(quick: bool) -> list[Point]:
    """List the points of the gains and penalties of section IV."""
    cases = FACTOR_CASES[:1] if quick else FACTOR_CASES
    return [point for case in cases for point in factor_case(*case).values()]


def factor_case(access: float, burst: int) -> dict[str, Point]:
    """Give the points whose ratios are the gains and penalties of one case.

    Each differs from the one before in one factor alone: ``"no loss"`` (no assembly, p = 0),
    ``"loss"`` (packets are lost), ``"first loss"`` (bursts of S are lost, with the signal's round
    trip shorter by the 2 T_b of the assembly), ``"delay"`` (with the whole round trip), and in
    place of SACK ``"New-Reno"`` and ``"Reno"``; besides ``"burst, no loss"``: ``"delay"`` at p = 0.
    """
    time = assembly_time(access, burst)
    burst_lost = Point(access, time, FACTOR_LOSS)
    return {
        "no loss": Point(access, 0.0, 0.0),
        "loss": Point(access, 0.0, FACTOR_LOSS),
        "first loss": burst_lost._replace(propagation=burst_lost.propagation - 2 * time),
        "delay": burst_lost,
        "New-Reno": burst_lost.by(NEW_RENO),
        "Reno": burst_lost.by(RENO),
        "burst, no loss": burst_lost._replace(p=0.0),
    }


def _for_traces(quick: bool) -> list[Point]:
    """Figures 8 to 10 are traces of single runs; one point stands for their scenario."""
    return burst_points(5, quick)[:1]


#: The points of each part of the paper, given whether it is a preview.
POINTS: Final[dict[str, Callable[[bool], list[Point]]]] = {
    "fig5": lambda quick: [*surface_points(HIGH, quick), *optimum_points(quick)],
    "fig6": partial(surface_points, MEDIUM),
    "fig7": partial(surface_points, LOW),
    "fig8": _for_traces,
    "fig9": _for_traces,
    "fig10": _for_traces,
    "fig11": crossing_points,
    "table1": lambda quick: [*burst_points(5, quick), *prototype_points(quick)],
    "table2": partial(burst_points, 25),
    "factors": factor_points,
}
