"""Flows that fall in step: several queues for an egress, and longer assembly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import UNKNOWN, Claim, exact, known
from lightburst.papers.curves import in_ms
from lightburst.papers.figure import Figure
from lightburst.papers.vlachos2008.design import (
    BURSTIFIER,
    MORE_FLOWS,
    TIMES,
    along,
    kept_apart,
    queued,
)
from lightburst.papers.vlachos2008.points import (
    A_POSTERIORI,
    A_PRIORI,
    CORRELATION,
    LOST_FLOWS,
    PER_FLOW,
    THROUGHPUT_DEVIATION,
    WINDOW_DEVIATION,
    WINDOW_RATIO,
    Point,
)
from lightburst.papers.vlachos2008.sheet import SHEET
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lightburst.papers.runs import Runs

_NUMBERS: Final = (BURSTIFIER.long_flows, MORE_FLOWS)
#: What the slides print: by how much the standard deviation falls with so many queues.
_PRINTED: Final = {2: 0.37, 4: 0.40}
_DEVIATIONS: Final = (
    ("window", WINDOW_DEVIATION, "aggregate window"),
    ("throughput", THROUGHPUT_DEVIATION, "aggregate throughput"),
)


def law(flows: int, queues: int) -> float:
    """Give the deviation of the aggregate of flows over that with one queue, as a closed form.

    Flows that lose together move alike and others independently: of N flows 1/N of the variance is
    their own, and of the rest, which one queue has in common, n queues leave the n-th part. So the
    deviation of the aggregate is the root of ``1/N + (1 - 1/N) / n``. With a queue for each flow
    nothing is in common.
    """
    shared = 0.0 if queues == PER_FLOW else 1 / queues
    return math.sqrt(1 / flows + (1 - 1 / flows) * shared)


def figures(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Draw up the deviation of the aggregate over the queues, and how alike flows are over T."""
    numbers = runs.numbers_text(
        at
        for flows in _NUMBERS
        for point in (
            *queued(_of(flows)).values(),
            *kept_apart(_of(flows)).values(),
            *along(TIMES, _of(flows)).values(),
        )
        for at in (point, point.shortened())
    )
    words = (
        f"Flows without end through one burstifier, access of 100 Mb/s, round trip of 27 ms and "
        f"the assembly; a burst with data is lost with p = {BURSTIFIER.p:g}. {{}}{numbers}; "
        f"bars: 95 % interval of the mean. lightburst {version}."
    )
    runs = runs.under(Point.in_full)
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for flows in _NUMBERS:
        for _, metric, name in _DEVIATIONS:
            curves[f"{flows} flows", name] = _by_queues(flows, fallen(runs, _of(flows), metric))
            apart = fallen(runs, _of(flows), metric, A_POSTERIORI)
            curves[f"{flows} flows", f"{name}, a posteriori"] = _by_queues(flows, apart)
        closed = {queues: exact(law(flows, queues)) for queues in queued(_of(flows))}
        curves[f"{flows} flows", "closed form"] = _by_queues(flows, closed)
    queues = Figure.of(
        {legend: curve for legend, curve in curves.items() if curve and _run(curves, legend)},
        id="queues",
        title="Standard deviation of the aggregate over that with one queue",
        caption=words.format("T = 5 ms. Last: a queue for each flow. "),
        x_label="Queues for an egress",
        y_label="Ratio to one queue",
        legends=("Flows", "What"),
        theory=("closed form",),
    )
    yield queues.beside("published", (("", float(n), 1 - x) for n, x in _PRINTED.items()))
    points = along(TIMES, BURSTIFIER)
    for id, metric, label in (
        ("correlation", CORRELATION, "Correlation of window reductions of two flows"),
        ("hit", LOST_FLOWS, "Flows with data in a lost burst"),
    ):
        found = in_ms(runs.means(points, metric))
        yield Figure.of(
            {(f"{BURSTIFIER.long_flows} flows", "one queue"): found},
            id=f"synchronisation-{id}",
            title=f"{label} over the assembly time",
            caption=words.format("One queue. "),
            x_label="Assembly time T (ms)",
            y_label=label,
            x_log=False,
            legends=("Flows", "Queues"),
        )


def fallen(
    runs: Runs[Point], point: Point, metric: str, allocation: str = A_PRIORI
) -> dict[int, Interval]:
    """Compare the deviation with each number of queues to that with one."""
    points = kept_apart(point) if allocation == A_POSTERIORI else queued(point)
    pairs = {queues: (at, queued(point)[1]) for queues, at in points.items() if queues != 1}
    found = runs.ratios(pairs, metric)
    return {1: exact(1.0), **found} if found else {}


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what the slides say of several queues and of the assembly time."""
    runs = runs.under(Point.in_full)
    for queues, printed in _PRINTED.items():
        for name, metric, words in _DEVIATIONS:
            found = fallen(runs, BURSTIFIER, metric).get(queues, UNKNOWN)
            closed = 1 - law(BURSTIFIER.long_flows, queues)
            sheet = SHEET.told(queues=queues, name=name, words=words, closed=closed)
            yield sheet.judge("queues", _less(found), published=printed)
        network = fallen(runs, Point(), WINDOW_DEVIATION).get(queues, UNKNOWN)
        yield SHEET.told(queues=queues).judge("queues-nsfnet", _less(network), published=printed)
    for queues, point in kept_apart(BURSTIFIER).items():
        sheet = SHEET.told(queues=queues)
        found = fallen(runs, BURSTIFIER, WINDOW_DEVIATION, A_POSTERIORI).get(queues, UNKNOWN)
        yield sheet.judge("posteriori", found)
        beside = runs.ratio(point, queued(BURSTIFIER)[queues], WINDOW_DEVIATION)
        yield sheet.judge("posteriori-beside-priori", beside)
    points = along(TIMES, BURSTIFIER)
    short, long = points[TIMES[0]], points[TIMES[-1]]
    yield SHEET.judge("stronger-short", runs.ratio(short, long, CORRELATION))
    yield SHEET.judge("fewer-short", runs.ratio(long, short, LOST_FLOWS))
    yield SHEET.judge("losses-synchronise", runs.mean(BURSTIFIER, WINDOW_RATIO))
    flows = queued(BURSTIFIER)
    apart = runs.ratio(flows[1], flows[PER_FLOW], THROUGHPUT_DEVIATION)
    yield SHEET.judge("flows-in-a-burst", apart)


def _of(flows: int) -> Point:
    return BURSTIFIER._replace(long_flows=flows)


def _by_queues(flows: int, found: Mapping[int, Interval]) -> dict[float, Interval]:
    """Put a queue for each flow where as many queues would be."""
    return {float(flows if queues == PER_FLOW else queues): x for queues, x in found.items()}


def _run(
    curves: Mapping[tuple[str, str], Mapping[float, Interval]], legend: tuple[str, str]
) -> bool:
    """Tell whether there is something to lay a closed form beside."""
    measured = (curve for (flows, _), curve in curves.items() if flows == legend[0])
    return any(x.n > 1 for curve in measured for x in curve.values() if known(x))


def _less(ratio: Interval) -> Interval:
    return Interval(1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low, ratio.n)
