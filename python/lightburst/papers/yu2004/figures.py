"""Figures 5 to 7 and 11, and the pictures of tables I and II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.papers.claims import known
from lightburst.papers.figure import (
    COLUMNS,
    MAP_COLUMNS,
    Figure,
    Listing,
    Maps,
    Panel,
    curves_table,
)
from lightburst.papers.yu2004.design import effort
from lightburst.papers.yu2004.grids import (
    CROSSING_LOSS,
    LOSSES,
    TABLE_LOSSES,
    TIMES,
    crossing_points,
    table_point,
)
from lightburst.papers.yu2004.points import (
    HIGH,
    LOW,
    MEDIUM,
    NAMES,
    NS2_WORDS,
    PAPER_SENDERS,
    RFC_SENDERS,
    RFC_WORDS,
    SACK_WORDS,
    Point,
)
from lightburst.papers.yu2004.published import FAMILIES, ratio_of
from lightburst.papers.yu2004.runs import PAPER_TIME_S
from lightburst.papers.yu2004.theory import throughput
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

SURFACES: Final = {"fig5": HIGH, "fig6": MEDIUM, "fig7": LOW}
TABLES: Final = {"table1": (5, "I"), "table2": (25, "II")}
TIME_LABEL: Final = "Assembly time (s)"
RATE_LABEL: Final = "Throughput (segments/s)"
LOSS_LABEL: Final = "Burst loss probability"
#: By the end of a family's claims.
FAMILY_NAMES: Final = {"": "senders of ns-2", "-rfc": "senders of the RFCs"}
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


def caption(runs: Runs, points: Sequence[Point], words: str, version: str) -> str:
    """Say what was run at the points of a figure, and in sentences what is special about it."""
    return f"{_PATH} {words} {_lengths(runs, points)}lightburst {version}."


def _lengths(runs: Runs, points: Sequence[Point]) -> str:
    """Say how long the points were run, and whether that was for a preview."""
    run = [point for point in points if point in runs]
    if not run:
        return ""
    numbers = [runs.number(point) for point in run]
    lengths = [runs.simulated_s[point] for point in run]
    told = f"{_span(lengths)} simulated seconds a point, in {_span(numbers)} runs"
    # The last part of a run is cut off by rounding alone.
    short = any(
        1.01 * runs.simulated_s[point] / runs.number(point) < effort(point, quick=False).horizon_s
        for point in run
        if point.p
    )
    return f"{told}{f': a quick run, in full up to {_MOST} s' if short else ''}. "


def _span(values: Sequence[float]) -> str:
    least, most = f"{min(values):,.0f}", f"{max(values):,.0f}"
    return least if least == most else f"{least} to {most}"


def surface(id: str, runs: Runs, version: str) -> Iterator[AnyFigure]:
    """Draw up figure 5, 6 or 7: simulation, theory and their difference as maps; then as curves."""
    access = SURFACES[id]
    points = grid_of(runs, access)
    means = [runs.mean(point) for point in points]
    formulas = [float(value) for value in throughput(points)]
    rows: list[tuple[str, float, float, float]] = []
    curves: list[tuple[Any, ...]] = []
    simulated, closed = "(a) simulation", "(b) theory"
    for point, mean, formula in zip(points, means, formulas, strict=True):
        place = (point.time, point.p)
        error = math.log2(formula / mean.estimate) if mean.estimate > 0 else math.nan
        rows += [(simulated, *place, mean.estimate), (closed, *place, formula)]
        rows.append(("difference", *place, error))
        name = f"p = {point.p:.2g}"
        curves.append((name, simulated, point.time, mean.estimate, mean.low, mean.high, mean.n))
        curves.append((name, closed, point.time, formula, formula, formula, 0))
    title = f"Figure {id[-1]}: throughput of SACK, access bandwidth {rate_name(access)}"
    words = f"{SACK_WORDS} Theory: equations (26) and (28), corrected, nothing clipped."
    if access == LOW:
        words += " Its round trip is the paper's, 18 s at p = 0.003 and 5.4 s at 0.1."
    told = caption(runs, points, words, version)
    yield Maps(
        id=id,
        title=title,
        caption=f"{told} Difference: +1 where the theory has twice the throughput of the "
        "simulation, -1 where it has half.",
        x_label=TIME_LABEL,
        y_label=LOSS_LABEL,
        panels=(
            Panel(simulated, "segments/s", scale="throughput"),
            Panel(closed, "segments/s", scale="throughput"),
            Panel("difference", "log2 of theory over simulation", centre=0.0),
        ),
        data=pd.DataFrame(rows, columns=list(MAP_COLUMNS)),
    )
    losses = sorted({point.p for point in points})
    yield Figure(
        id=f"{id}-curves",
        title=title,
        caption=f"{told} Bands: 95 % interval of the mean.",
        x_label=TIME_LABEL,
        y_label=RATE_LABEL,
        colours=tuple(f"p = {p:.2g}" for p in losses),
        dashes=(simulated, closed),
        data=pd.DataFrame(curves, columns=list(COLUMNS)),
        legends=("Loss", "Source"),
    )


def families(data: pd.DataFrame) -> str:
    """Say what the senders of a figure are, by the words of its second legend."""
    shown = zip(FAMILY_NAMES.values(), (NS2_WORDS, RFC_WORDS), strict=True)
    return " ".join(words for family, words in shown if family in set(data["dash"]))


def grid_of(runs: Runs, access: float) -> list[Point]:
    """List the points of a surface that were run, by assembly time and loss rate."""
    points = (Point(access, time, p) for time in TIMES[access] for p in LOSSES)
    return [point for point in points if point in runs]


def crossing(runs: Runs, version: str) -> Figure:
    """Draw up figure 11: the three implementations over the assembly time, of each family run."""
    points = [point for point in crossing_points(quick=False) if point in runs]
    curves = {
        (NAMES[sender], FAMILY_NAMES[suffix]): {
            point.time: runs.mean(point) for point in points if point.by(sender) == point
        }
        for senders, suffix, _ in FAMILIES
        for sender in senders
    }
    data = curves_table(curves)
    return Figure(
        id="fig11",
        title=f"Figure 11: throughput at p = {CROSSING_LOSS:g}, access bandwidth {rate_name(HIGH)}",
        caption=caption(
            runs, points, f"{families(data)} Bands: 95 % interval of the mean.", version
        ),
        x_label=TIME_LABEL,
        y_label=RATE_LABEL,
        colours=tuple(NAMES[sender] for sender in reversed(PAPER_SENDERS)),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        legends=("Implementation", "Family"),
    )


def ratios(
    runs: Runs, burst: int, senders: Sequence[Sender]
) -> dict[tuple[str, float], tuple[Point, Point, Interval]]:
    """Compare New-Reno and SACK with Reno, of one family, as tables I and II do.

    By ``"new-reno"`` or ``"sack"`` and the loss rate: both points and the ratio; cells that nobody
    ran are not there.
    """
    reno, new_reno, sack = senders
    found = {}
    for kind, sender in (("new-reno", new_reno), ("sack", sack)):
        for p in TABLE_LOSSES:
            top, bottom = table_point(burst, p, sender), table_point(burst, p, reno)
            ratio = runs.ratio(top, bottom)
            if known(ratio):
                found[kind, p] = (top, bottom, ratio)
    return found


def table_figure(id: str, runs: Runs, version: str) -> Figure:
    """Draw table I or II: the published ratios beside ours over the loss rate."""
    burst, number = TABLES[id]
    names = {"new-reno": "New-Reno over Reno", "sack": "SACK over Reno"}
    points: list[Point] = []
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for kind, name in names.items():
        for p in TABLE_LOSSES:
            printed, rounding = ratio_of(burst, p, kind)
            band = Interval(printed, printed - rounding, printed + rounding, 0)
            curves.setdefault((name, "published"), {})[p] = band
    for senders, suffix, _ in FAMILIES:
        for (kind, p), (top, bottom, ratio) in ratios(runs, burst, senders).items():
            points += [top, bottom]
            curves.setdefault((names[kind], FAMILY_NAMES[suffix]), {})[p] = ratio
    data = curves_table(curves)
    words = f"{families(data)} Bands: rounding of the published ratios, 95 % interval of ours."
    return Figure(
        id=id,
        title=f"Table {number}: throughput over that of Reno, S = {burst}, 125 kB/s",
        caption=caption(runs, points, words, version),
        x_label=LOSS_LABEL,
        y_label="Ratio of throughputs",
        colours=tuple(names.values()),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        reference=((1.0, "Reno"),),
        legends=("Ratio", "Source"),
        y_zero=False,
    )


def table_listing(id: str, runs: Runs) -> Listing:
    """Write table I or II, the published ratios beside ours with their intervals."""
    burst, number = TABLES[id]
    ours, standard = ratios(runs, burst, PAPER_SENDERS), ratios(runs, burst, RFC_SENDERS)
    rows = []
    points = [point for cells in (ours, standard) for cell in cells.values() for point in cell[:2]]
    for (kind, p), (_, bottom, ratio) in ours.items():
        other = standard.get((kind, p))
        rows.append(
            {
                "ratio": "NewReno/Reno" if kind == "new-reno" else "SACK/Reno",
                "log10 p": round(math.log10(p), 2),
                "published": ratio_of(burst, p, kind)[0],
                "measured": round(ratio.estimate, 3),
                "95 % from": round(ratio.low, 3),
                "to": round(ratio.high, 3),
                "RFC senders": math.nan if other is None else round(other[2].estimate, 3),
                "Reno (segments/s)": round(runs.mean(bottom).estimate, 2),
            }
        )
    return Listing(
        id,
        f"Table {number}: throughput over that of Reno, S = {burst}",
        f"Access bandwidth 125 kB/s, W_m = 50, b = 1, minimum timeout 0.2 s. {NS2_WORDS} "
        f"{RFC_WORDS + ' ' if standard else ''}{_lengths(runs, points)}".strip(),
        pd.DataFrame(rows),
    )
