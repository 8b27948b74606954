"""Plan of the runs for each part of the paper: points, and number and length of their runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from lightburst.papers.design import Effort, blocks_of, decades, grid
from lightburst.papers.yu2004.points import HIGH, LOW, MEDIUM, TABLES, Point, assembly_time, base
from lightburst.papers.yu2004.published import PROTOTYPE
from lightburst.papers.yu2004.senders import NEW_RENO, NS2, RENO, RFC, RFC_SACK, SACK, Sender

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightburst.papers.runs import Runs
    from lightburst.study import Block

TIME_LABEL: Final = "Assembly time (s)"
RATE_LABEL: Final = "Throughput (segments/s)"
LOSS_LABEL: Final = "Burst loss probability"
_PATH: Final = (
    "One flow over two edge and two core nodes, 0.1 s there and back, segments of 1 kB, W_m = 50, "
    "b = 1, minimum timeout 0.2 s, timer-based assembly of data and ACKs."
)
# "The throughput is obtained over a period of approximately 10^6 s", section V.
PAPER_TIME_S: Final = 1e6
_MOST: Final = f"{PAPER_TIME_S:.0e}".replace("+0", "")

# Figures 5 to 7. Section V: "p ... from 10^-4 to 10^-1"; the text gives no range of T_b.
LOSSES: Final = decades(-4, -1, 2)
TIMES: Final = {HIGH: decades(-6, 0, 2), MEDIUM: decades(-4, 0, 2), LOW: decades(-2, 1.5, 2)}
QUICK_LOSSES: Final = (*decades(-3, -2, 2), 0.1)
QUICK_TIMES: Final = {HIGH: decades(-6, -1, 1), MEDIUM: decades(-4, 0, 1), LOW: decades(-2, 1, 1)}
SURFACES: Final = {"fig5": HIGH, "fig6": MEDIUM, "fig7": LOW}

# Loss at which the paper states an optimum; its equation (32) puts it at 4 ms.
OPTIMUM_LOSS: Final = 0.01
EQUATION_32_S: Final = 4e-3
FINE_TIMES: Final = decades(-4, -2, 12)
QUICK_FINE_TIMES: Final = decades(-4, -2, 3)

# Figure 11.
CROSSING_LOSS: Final = 0.03
CROSSING_TIMES: Final = decades(-5.5, -2, 4)
QUICK_CROSSING_TIMES: Final = decades(-5.5, -2, 2)

# Burst size S of tables I and II.
BURST_OF: Final = {"table1": 5, "table2": 25}
TABLE_LOSSES: Final = decades(-3, -0.5, 2)
BURSTS: Final = tuple(BURST_OF.values())

# Section IV: pairs of access bandwidth and burst size, at one loss rate.
FACTOR_LOSS: Final = 0.01
FACTOR_CASES: Final = tuple(itertools.product((HIGH, MEDIUM), BURSTS))

# Up to the paper's 1e6 s per point: a hundred runs of 1e4 s, or ten of 1e5 s at 1.25 kB/s, where a
# round trip takes a minute. A preview has a tenth of the length, at most a hundredth of the total,
# and an interval five times as wide. At p = 10^-0.5 timeouts of up to a minute dominate and
# segments are few, so long runs cost little. Without loss all runs are the same.
HORIZON_S: Final = 1e4
LOW_HORIZON_S: Final = 1e5
PREVIEW: Final = Effort(most=10, first=3, precision=0.05, horizon_s=1e3)
LOSSLESS: Final = Effort(most=2, first=2, precision=0.01, horizon_s=1e3)


def effort(point: Point, quick: bool) -> Effort:
    """Return the number and length of the runs of a point: up to the paper's 1e6 s in full."""
    low = point.access <= LOW
    if not point.p:
        return LOSSLESS
    if quick:
        heavy = 5e4 if point.p > 0.2 else PREVIEW.horizon_s
        return PREVIEW._replace(horizon_s=1e4 if low else heavy)
    horizon = LOW_HORIZON_S if low else HORIZON_S
    return Effort(round(PAPER_TIME_S / horizon), 10, 0.01, horizon)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs for some parts of the paper: one study for each effort."""
    points = (point for part in parts for point in points_of(part, quick))
    return blocks_of(base(), ((point, effort(point, quick)) for point in points), Point._fields)


def points_of(part: str, quick: bool) -> list[Point]:
    """List the points of a part of the paper; a preview leaves out the senders of the RFCs."""
    senders = NS2.senders if quick else (*NS2.senders, *RFC.senders)
    if part in SURFACES:
        access, losses = SURFACES[part], QUICK_LOSSES if quick else LOSSES
        times = (QUICK_TIMES if quick else TIMES)[access]
        points = grid(Point, access=[access], time=times, p=losses)
        if part == "fig5":
            fine = (*(QUICK_FINE_TIMES if quick else FINE_TIMES), EQUATION_32_S)
            for sender in (SACK,) if quick else (SACK, RFC_SACK):
                points += over_time(OPTIMUM_LOSS, fine, sender).values()
        return points
    if part == "factors":
        cases = FACTOR_CASES[:1] if quick else FACTOR_CASES
        return [point for case in cases for point in factor_case(*case).values()]
    if part not in ("fig11", *BURST_OF):
        # Figures 8 to 10 are traces of single runs; one point stands for their scenario.
        return [table_point(BURSTS[0], TABLE_LOSSES[0], RENO)]
    if part in BURST_OF and not quick:
        senders = (*senders, RENO._replace(bug_fix=False))
    points = [point for sender in senders for point in line(part, sender, quick).values()]
    if part == "table1" and not quick:
        points += [point for _, point, _ in PROTOTYPE]
    return points


def line(part: str, sender: Sender, quick: bool = False) -> dict[float, Point]:
    """Return the points of a sender: by assembly time in figure 11, by loss rate in a table."""
    if part == "fig11":
        times = QUICK_CROSSING_TIMES if quick else CROSSING_TIMES
        return over_time(CROSSING_LOSS, times, sender)
    return {p: table_point(BURST_OF[part], p, sender) for p in TABLE_LOSSES}


def over_time(p: float, times: Iterable[float], sender: Sender) -> dict[float, Point]:
    """Return the points of a sender at 125 MB/s, by assembly time."""
    return {time: Point(HIGH, time, p).by(sender) for time in times}


def table_point(burst: int, p: float, sender: Sender) -> Point:
    """Return the point of a table, with bursts of S segments at 125 kB/s."""
    return Point(TABLES, assembly_time(TABLES, burst), p).by(sender)


def factor_case(access: float, burst: int) -> dict[str, Point]:
    """Return the points whose ratios are the gains and penalties of one case.

    Each differs from the previous one in a single factor: ``"no loss"`` (no assembly, p = 0),
    ``"loss"`` (packets are lost), ``"first loss"`` (bursts of S are lost; the propagation time is
    reduced by the 2 T_b of the assembly), ``"delay"`` (full round trip), and ``"New-Reno"`` and
    ``"Reno"`` instead of SACK. In addition ``"burst, no loss"``: ``"delay"`` at p = 0.
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


def caption(runs: Runs[Point], points: Sequence[Point], words: str, version: str) -> str:
    """Describe the runs of a figure's points, and in `words` the specifics of the figure."""
    return f"{_PATH} {words} {lengths(runs, points)}lightburst {version}."


def lengths(runs: Runs[Point], points: Sequence[Point]) -> str:
    """State the simulated time of some points, and whether they belong to a preview."""
    run = [point for point in points if point in runs]
    # Tolerance of 1 %: rounding cuts off the end of a run.
    short = any(
        1.01 * runs.total(point, "makespan_s") / runs.number(point)
        < (effort(point, quick=False).horizon_s or 0)
        for point in run
        if point.p
    )
    preview = f": a quick run, in full up to {_MOST} s" if short else ""
    return f"{runs.lengths_text(run)}{preview}. " if run else ""
