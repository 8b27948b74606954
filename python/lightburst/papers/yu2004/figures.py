"""Figures 5 to 7 and 11, and the pictures of tables I and II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.papers.claims import known
from lightburst.papers.figure import COLUMNS, MAP_COLUMNS, Figure, Listing, Maps, Panel
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
    PAPER_SENDERS,
    RFC_SENDERS,
    Point,
)
from lightburst.papers.yu2004.published import ratio_of
from lightburst.papers.yu2004.theory import throughput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs
    from lightburst.study.statistics import Interval

SURFACES: Final = {"fig5": HIGH, "fig6": MEDIUM, "fig7": LOW}
TABLES: Final = {"table1": (5, "I"), "table2": (25, "II")}
TIME_LABEL: Final = "Assembly time (s)"
RATE_LABEL: Final = "Throughput (segments/s)"
LOSS_LABEL: Final = "Burst loss probability"
PAPER_FAMILY: Final = "senders of ns-2"
RFC_FAMILY: Final = "senders of the RFCs"
_PATH: Final = (
    "One flow over two edge and two core nodes, 0.1 s there and back, segments of 1 kB, W_m = 50, "
    "b = 1, minimum timeout 0.2 s, timer-based assembly of data and ACKs."
)


def rate_name(access: float) -> str:
    """Write an access bandwidth as the paper does: ``125 MB/s``."""
    for unit, size in (("MB/s", 1e6), ("kB/s", 1e3)):
        if access >= size:
            return f"{access / size:g} {unit}"
    return f"{access:g} B/s"


def caption(runs: Runs, points: Sequence[Point], words: str, version: str) -> str:
    """Say what was run.

    Parameters
    ----------
    runs : Runs
        The runs.
    points : sequence of Point
        The points of the figure.
    words : str
        What is special about it: sentences.
    version : str
        Version of lightburst.

    Returns
    -------
    str
        The caption.
    """
    lengths = [runs.simulated_s[point] for point in points if point in runs]
    if not lengths:
        return f"{_PATH} {words} lightburst {version}."
    span = f"{min(lengths):,.0f}"
    if max(lengths) > min(lengths):
        span += f" to {max(lengths):,.0f}"
    return f"{_PATH} {words} {span} simulated seconds a point. lightburst {version}."


def surface(runs: Runs, id: str, version: str) -> Iterator[AnyFigure]:
    """Draw up figure 5, 6 or 7, as maps and as curves.

    Parameters
    ----------
    runs : Runs
        The runs.
    id : str
        ``"fig5"``, ``"fig6"`` or ``"fig7"``.
    version : str
        Version of lightburst.

    Yields
    ------
    Maps or Figure
        Simulation, theory and their difference side by side; then curves of the first two.
    """
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
    words = "Theory: equations (26) and (28), corrected, nothing clipped."
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


def grid_of(runs: Runs, access: float) -> list[Point]:
    """List the points of a surface that were run, by assembly time and loss rate."""
    points = (Point(access, time, p) for time in TIMES[access] for p in LOSSES)
    return [point for point in points if point in runs]


def crossing(runs: Runs, version: str) -> Figure:
    """Draw up figure 11: the three implementations over the assembly time.

    Parameters
    ----------
    runs : Runs
        The runs.
    version : str
        Version of lightburst.

    Returns
    -------
    Figure
        Throughput, with the senders of ns-2 and, where they were run, those of the RFCs.
    """
    points = [point for point in crossing_points(quick=False) if point in runs]
    rows = []
    for family, senders in ((PAPER_FAMILY, PAPER_SENDERS), (RFC_FAMILY, RFC_SENDERS)):
        for sender in senders:
            rows += [
                (NAMES[sender], family, point.time, *_height(runs.mean(point)))
                for point in points
                if point.by(sender) == point
            ]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    return Figure(
        id="fig11",
        title=f"Figure 11: throughput at p = {CROSSING_LOSS:g}, access bandwidth {rate_name(HIGH)}",
        caption=caption(runs, points, "Bands: 95 % interval of the mean.", version),
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
    """Compare New-Reno and SACK with Reno as tables I and II do.

    Parameters
    ----------
    runs : Runs
        The runs.
    burst : int
        S.
    senders : sequence of Sender
        Reno, New-Reno and SACK of one family.

    Returns
    -------
    dict of (str, float) to (Point, Point, Interval)
        By ``"new-reno"`` or ``"sack"`` and the loss rate: both points and the ratio; cells that
        nobody ran are not there.
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


def table_figure(runs: Runs, id: str, version: str) -> Figure:
    """Draw table I or II, the published ratios beside ours.

    Parameters
    ----------
    runs : Runs
        The runs.
    id : str
        ``"table1"`` or ``"table2"``.
    version : str
        Version of lightburst.

    Returns
    -------
    Figure
        Ratios over the loss rate.
    """
    burst, number = TABLES[id]
    rows: list[tuple[Any, ...]] = []
    names = {"new-reno": "New-Reno over Reno", "sack": "SACK over Reno"}
    points: list[Point] = []
    for kind, name in names.items():
        for p in TABLE_LOSSES:
            printed, rounding = ratio_of(burst, p, kind)
            low, high = printed - rounding, printed + rounding
            rows.append((name, "published", p, printed, low, high, 0))
    for family, senders in ((PAPER_FAMILY, PAPER_SENDERS), (RFC_FAMILY, RFC_SENDERS)):
        for (kind, p), (top, bottom, ratio) in ratios(runs, burst, senders).items():
            points += [top, bottom]
            rows.append((names[kind], family, p, *_height(ratio)))
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    words = "Bands: rounding of the published ratios, 95 % interval of ours."
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


def table_listing(runs: Runs, id: str) -> Listing:
    """Write table I or II, the published ratios beside ours with their intervals.

    Parameters
    ----------
    runs : Runs
        The runs.
    id : str
        ``"table1"`` or ``"table2"``.

    Returns
    -------
    Listing
        One row for each ratio and loss rate.
    """
    burst, number = TABLES[id]
    ours, standard = ratios(runs, burst, PAPER_SENDERS), ratios(runs, burst, RFC_SENDERS)
    rows = []
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
        "Access bandwidth 125 kB/s, W_m = 50, b = 1, minimum timeout 0.2 s, senders of ns-2; "
        "beside them the ratios of senders as the RFCs have them.",
        pd.DataFrame(rows),
    )


def _height(mean: Interval) -> tuple[float, float, float, int]:
    return (mean.estimate, mean.low, mean.high, mean.n)
