"""Synchronisation of flows: several queues per egress, and longer assembly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, exact
from lightburst.papers.figure import Figure
from lightburst.papers.vlachos2008 import metrics
from lightburst.papers.vlachos2008.claims import SHEET
from lightburst.papers.vlachos2008.design import BURSTIFIER, MORE_FLOWS, SYNCHRONISED, queued
from lightburst.papers.vlachos2008.figures import Drawn, over_time
from lightburst.papers.vlachos2008.points import A_POSTERIORI, A_PRIORI, PER_FLOW, Point
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs

#: Printed by the slides: decrease of the standard deviation, by number of queues.
_PRINTED: Final = {2: 0.37, 4: 0.40}
_DEVIATIONS: Final = (
    ("window", metrics.WINDOW_DEVIATION, "aggregate window"),
    ("throughput", metrics.THROUGHPUT_DEVIATION, "aggregate throughput"),
)
_OVER_TIME: Final = [
    Drawn(f"synchronisation-{id}", {f"{BURSTIFIER.long_flows} flows": metric}, 1.0, label,
          f"{label} over the assembly time")
    for id, metric, label in (
        ("correlation", metrics.CORRELATION, "Correlation of window reductions of two flows"),
        ("hit", metrics.LOST_FLOWS, "Flows with data in a lost burst"),
    )
]  # fmt: skip


def law(flows: int, queues: int) -> float:
    """Return the deviation of the aggregate relative to one queue, in closed form.

    Model: flows that lose together move alike, others independently. Of the variance, 1/N belongs
    to the N flows individually; the rest is shared with one queue, and n queues reduce it to 1/n.
    The deviation of the aggregate is then the root of ``1/N + (1 - 1/N) / n``. With one queue per
    flow the shared part is zero.
    """
    shared = 0.0 if queues == PER_FLOW else 1 / queues
    return math.sqrt(1 / flows + (1 - 1 / flows) * shared)


def figures(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build figures of the aggregate's deviation over the queues, and of synchronisation over T."""
    numbers = runs.numbers_text(point for point in runs.points if point.long_flows)
    words = (
        "Flows without end through one burstifier, access of 100 Mb/s, round trip of 27 ms and "
        f"the assembly; a burst with data is lost with p = {BURSTIFIER.p:g}. {{}}{numbers}; "
        f"bars: 95 % interval of the mean. lightburst {version}."
    )
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for one in (BURSTIFIER, MORE_FLOWS):
        flows, measured = one.long_flows, {}
        for _, metric, name in _DEVIATIONS:
            for allocation, end in ((A_PRIORI, ""), (A_POSTERIORI, ", a posteriori")):
                several = queued(one, allocation).items()
                pairs = {queues: (point, one) for queues, point in several if point != one}
                if ratios := runs.ratios(pairs, metric):
                    measured[name + end] = {1: exact(1.0), **ratios}
        # The closed form is drawn only beside measured values.
        if measured:
            measured["closed form"] = {queues: exact(law(flows, queues)) for queues in queued(one)}
        for name, curve in measured.items():
            # One queue per flow is drawn at x = number of flows.
            curves[f"{flows} flows", name] = {float(at or flows): x for at, x in curve.items()}
    queues = Figure.of(
        curves,
        id="queues",
        title="Standard deviation of the aggregate over that with one queue",
        caption=words.format("T = 5 ms. Last: a queue for each flow. "),
        x_label="Queues for an egress",
        y_label="Ratio to one queue",
        legends=("Flows", "What"),
        theory=("closed form",),
    )
    yield queues.beside("published", (("", float(n), 1 - x) for n, x in _PRINTED.items()))
    yield from over_time(
        runs,
        _OVER_TIME,
        SYNCHRONISED,
        "one queue",
        caption=words.format("One queue. "),
        legends=("Flows", "Queues"),
    )


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the slides' claims about several queues and about the assembly time."""
    several = queued(BURSTIFIER)
    for queues, printed in _PRINTED.items():
        for name, metric, words in _DEVIATIONS:
            fallen = _less(runs.ratio(several[queues], several[1], metric))
            closed = 1 - law(BURSTIFIER.long_flows, queues)
            sheet = SHEET.told(queues=queues, name=name, words=words, closed=closed)
            yield sheet.judge("queues", fallen, published=printed)
        network = _less(runs.ratio(Point(queues=queues), Point(), metrics.WINDOW_DEVIATION))
        yield SHEET.judge("queues-nsfnet", network, published=printed, queues=queues)
    for queues, point in queued(BURSTIFIER, A_POSTERIORI).items():
        for name, other in (("posteriori", 1), ("posteriori-beside-priori", queues)):
            ratio = runs.ratio(point, several[other], metrics.WINDOW_DEVIATION)
            yield SHEET.judge(name, ratio, queues=queues)
    short, *_, long = SYNCHRONISED
    yield SHEET.judge("stronger-short", runs.ratio(short, long, metrics.CORRELATION))
    yield SHEET.judge("fewer-short", runs.ratio(long, short, metrics.LOST_FLOWS))
    yield SHEET.judge("losses-synchronise", runs.mean(BURSTIFIER, metrics.WINDOW_RATIO))
    apart = runs.ratio(several[1], several[PER_FLOW], metrics.THROUGHPUT_DEVIATION)
    yield SHEET.judge("flows-in-a-burst", apart)


def _less(ratio: Interval) -> Interval:
    return Interval(1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low, ratio.n)
