"""Figures 5 to 7 and 11, the pictures of tables I and II, and the tables beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.models.yu2004 import ABOUT, surface_ranges, written
from lightburst.papers import overlay
from lightburst.papers.claims import UNKNOWN, ends
from lightburst.papers.figure import Figure, Listing
from lightburst.papers.yu2004.design import (
    CROSSING_LOSS,
    CROSSING_TIMES,
    LOSSES,
    SURFACES,
    TABLE_LOSSES,
    TIMES,
    crossing_points,
    effort,
    over_time,
    table_point,
)
from lightburst.papers.yu2004.points import HIGH, LOW, PAPER_TIME_S, Point
from lightburst.papers.yu2004.published import ratio_of
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NS2, RFC, SACK_WORDS, Family
from lightburst.papers.yu2004.theory import throughput
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.runs import Runs

TABLES: Final = {"table1": (5, "I"), "table2": (25, "II")}
#: What is compared with Reno.
KINDS: Final = {"new-reno": "New-Reno", "sack": "SACK"}
TIME_LABEL: Final = "Assembly time (s)"
RATE_LABEL: Final = "Throughput (segments/s)"
LOSS_LABEL: Final = "Burst loss probability"
_PATH: Final = (
    "One flow over two edge and two core nodes, 0.1 s there and back, segments of 1 kB, W_m = 50, "
    "b = 1, minimum timeout 0.2 s, timer-based assembly of data and ACKs."
)
_MOST: Final = f"{PAPER_TIME_S:.0e}".replace("+0", "")


def rate_name(access: float) -> str:
    """Write an access bandwidth as the paper does: ``125 MB/s``."""
    for unit, size in (("MB/s", 1e6), ("kB/s", 1e3)):
        if access >= size:
            return f"{access / size:g} {unit}"
    return f"{access:g} B/s"


def caption(runs: Runs[Point], points: Sequence[Point], words: str, version: str) -> str:
    """Say what was run at the points of a figure, and in sentences what is special about it."""
    return f"{_PATH} {words} {_lengths(runs, points)}lightburst {version}."


def _lengths(runs: Runs[Point], points: Sequence[Point]) -> str:
    """Say how long the points were run, and whether that was for a preview."""
    run = [point for point in points if point in runs]
    # The last part of a run is cut off by rounding alone.
    short = any(
        1.01 * runs.total(point, "makespan_s") / runs.number(point)
        < (effort(point, quick=False).horizon_s or 0)
        for point in run
        if point.p
    )
    preview = f": a quick run, in full up to {_MOST} s" if short else ""
    return f"{runs.lengths_text(run)}{preview}. " if run else ""


def grid_of(runs: Runs[Point], id: str) -> list[Point]:
    """List the points of figure 5, 6 or 7 that were run, by assembly time and loss rate."""
    access = SURFACES[id]
    points = (Point(access, time, p) for time in TIMES[access] for p in LOSSES)
    return [point for point in points if point in runs]


def surface(id: str, runs: Runs[Point], version: str) -> Iterator[AnyFigure]:
    """Draw up figure 5, 6 or 7: simulation, theory and their difference as maps; then as curves."""
    access, points = SURFACES[id], grid_of(runs, id)
    places = [
        overlay.Beside(point.time, point.p, runs.mean(point), float(formula))
        for point, formula in zip(points, throughput(points), strict=True)
    ]
    title = f"Figure {id[-1]}: throughput of SACK, access bandwidth {rate_name(access)}"
    words = f"{SACK_WORDS} Theory: equations (26) and (28), corrected, nothing clipped."
    if access == LOW:
        words += " Its round trip is the paper's, 18 s at p = 0.003 and 5.4 s at 0.1."
    told = caption(runs, points, words, version)
    yield overlay.maps(
        places, "segments/s", told, id=id, title=title, x_label=TIME_LABEL, y_label=LOSS_LABEL
    )
    yield overlay.curves(
        places,
        "p = {:.2g}".format,
        id=f"{id}-curves",
        title=title,
        caption=f"{told} Bars: 95 % interval of the mean.",
        x_label=TIME_LABEL,
        y_label=RATE_LABEL,
        legends=("Loss", "Source"),
    )


def ranges(id: str, runs: Runs[Point]) -> Listing:
    """Write the ranges of section IV.E of figure 5, 6 or 7 into a table, theory beside simulation.

    A row for the ATO and the ATI range of each loss rate, then for the LRI range of each assembly
    time.
    """
    points = grid_of(runs, id)
    means, closed = [runs.mean(point).estimate for point in points], throughput(points)
    rates = pd.DataFrame({"simulation": means, "theory": closed})
    rates["p"], rates["time"] = [point.p for point in points], [point.time for point in points]
    found, losses, times = {}, rates["p"].unique(), rates["time"].unique()
    for source in ("simulation", "theory"):
        # Points of the grid that were not run are gaps in it.
        plane = rates.pivot_table(source, "p", "time")
        found[source] = surface_ranges(plane.index, plane.columns, plane)
    rows = [
        {
            "range": kind,
            "at": at.format(value),
            **{source: written(getattr(ranges, name)[place]) for source, ranges in found.items()},
        }
        for kind, name, at, values in (
            ("ATO", "optimal", "p = {:.3g}", losses),
            ("ATI", "insensitive", "p = {:.3g}", losses),
            ("LRI", "loss_insensitive", "T_b = {:.3g} s", times),
        )
        for place, value in enumerate(sorted(values))
    ]
    return Listing(
        f"{id}-ranges",
        f"Figure {id[-1]}: ranges of section IV.E, access bandwidth {rate_name(SURFACES[id])}",
        f"On the grid of the figure, of the means. ATO and ATI: assembly times (s) at which the "
        f"throughput is more than {1 + ABOUT:g} times that at the shortest one, and within "
        f"{ABOUT:.0%} of it. LRI: loss rates at which it is within {ABOUT:.0%} of that at the "
        "smallest one.",
        pd.DataFrame(rows),
    )


def crossing(runs: Runs[Point], version: str) -> Figure:
    """Draw up figure 11: the three implementations over the assembly time, of each family run."""
    curves = {
        (NAMES[sender], family.name): curve
        for family in FAMILIES
        for sender in family.senders
        if (curve := runs.means(over_time(CROSSING_LOSS, CROSSING_TIMES, sender)))
    }
    words = f"{_families(curves)} Bars: 95 % interval of the mean."
    return Figure.of(
        curves,
        id="fig11",
        title=f"Figure 11: throughput at p = {CROSSING_LOSS:g}, access bandwidth {rate_name(HIGH)}",
        caption=caption(runs, crossing_points(quick=False), words, version),
        x_label=TIME_LABEL,
        y_label=RATE_LABEL,
        colours=tuple(NAMES[sender] for sender in reversed(NS2.senders)),
        legends=("Implementation", "Family"),
    )


def _families(curves: Iterable[tuple[str, str]]) -> str:
    """Say what the senders of a figure are, by the words of its second legend."""
    shown = {name for _, name in curves}
    return " ".join(family.words for family in FAMILIES if family.name in shown)


def cells(id: str, family: Family) -> dict[tuple[str, float], tuple[Point, Point]]:
    """Give the points of a table for one family: New-Reno and SACK, each beside Reno.

    By ``"new-reno"`` or ``"sack"`` and the loss rate.
    """
    (burst, _), (reno, *others) = TABLES[id], family.senders
    return {
        (kind, p): (table_point(burst, p, sender), table_point(burst, p, reno))
        for kind, sender in zip(KINDS, others, strict=True)
        for p in TABLE_LOSSES
    }


def table_figure(id: str, runs: Runs[Point], version: str) -> Figure:
    """Draw table I or II: the published ratios beside ours over the loss rate."""
    burst, number = TABLES[id]
    points: list[Point] = []
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for kind, p in cells(id, NS2):
        printed, rounding = ratio_of(burst, p, kind)
        band = Interval(printed, printed - rounding, printed + rounding, 0)
        curves.setdefault((f"{KINDS[kind]} over Reno", "published"), {})[p] = band
    for family in FAMILIES:
        table = cells(id, family)
        for (kind, p), ratio in runs.ratios(table).items():
            points += table[kind, p]
            curves.setdefault((f"{KINDS[kind]} over Reno", family.name), {})[p] = ratio
    words = f"{_families(curves)} Bars: rounding of the published ratios, 95 % interval of ours."
    return Figure.of(
        curves,
        id=id,
        title=f"Table {number}: throughput over that of Reno, S = {burst}, 125 kB/s",
        caption=caption(runs, points, words, version),
        x_label=LOSS_LABEL,
        y_label="Ratio of throughputs",
        reference=((1.0, "as much as Reno"),),
        legends=("Ratio", "Source"),
        y_zero=False,
        published=("published",),
    )


def table_listing(id: str, runs: Runs[Point]) -> Listing:
    """Write table I or II, the published ratios beside ours with their intervals."""
    burst, number = TABLES[id]
    own, rfc = cells(id, NS2), cells(id, RFC)
    ours, standard = runs.ratios(own), runs.ratios(rfc)
    points = [*(x for at in ours for x in own[at]), *(x for at in standard for x in rfc[at])]
    rows = [
        {
            "ratio": f"{KINDS[kind].replace('-', '')}/Reno",
            "log10 p": round(math.log10(p), 2),
            "published": ratio_of(burst, p, kind)[0],
            "measured": round(ratio.estimate, 3),
            **ends(ratio, 3),
            "RFC senders": round(standard.get((kind, p), UNKNOWN).estimate, 3),
            "Reno (segments/s)": round(runs.mean(own[kind, p][1]).estimate, 2),
        }
        for (kind, p), ratio in ours.items()
    ]
    return Listing(
        id,
        f"Table {number}: throughput over that of Reno, S = {burst}",
        f"Access bandwidth 125 kB/s, W_m = 50, b = 1, minimum timeout 0.2 s. {NS2.words} "
        f"{RFC.words + ' ' if standard else ''}{_lengths(runs, points)}".strip(),
        pd.DataFrame(rows),
    )
