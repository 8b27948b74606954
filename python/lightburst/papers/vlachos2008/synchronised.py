"""Flows that fall in step: several queues for an egress, and longer assembly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, exact
from lightburst.papers.curves import in_ms
from lightburst.papers.figure import Figure
from lightburst.papers.vlachos2008 import metrics
from lightburst.papers.vlachos2008.claims import SHEET
from lightburst.papers.vlachos2008.design import (
    BURSTIFIER,
    MORE_FLOWS,
    TIMES,
    along,
    kept_apart,
    queued,
)
from lightburst.papers.vlachos2008.figures import TIME_LABEL
from lightburst.papers.vlachos2008.points import PER_FLOW, Point
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs

#: What the slides print: by how much the standard deviation falls with so many queues.
_PRINTED: Final = {2: 0.37, 4: 0.40}
_DEVIATIONS: Final = (
    ("window", metrics.WINDOW_DEVIATION, "aggregate window"),
    ("throughput", metrics.THROUGHPUT_DEVIATION, "aggregate throughput"),
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
    bases = [BURSTIFIER._replace(long_flows=flows) for flows in (BURSTIFIER.long_flows, MORE_FLOWS)]
    numbers = runs.numbers_text(
        point
        for base in bases
        for points in (queued(base), kept_apart(base), along(TIMES, base))
        for point in points.values()
    )
    words = (
        f"Flows without end through one burstifier, access of 100 Mb/s, round trip of 27 ms and "
        f"the assembly; a burst with data is lost with p = {BURSTIFIER.p:g}. {{}}{numbers}; "
        f"bars: 95 % interval of the mean. lightburst {version}."
    )
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for base in bases:
        flows, one, measured = base.long_flows, queued(base)[1], {}
        for _, metric, name in _DEVIATIONS:
            for words_of, points in (("", queued(base)), (", a posteriori", kept_apart(base))):
                pairs = {queues: (point, one) for queues, point in points.items() if point != one}
                if ratios := runs.ratios(pairs, metric):
                    measured[name + words_of] = {1: exact(1.0), **ratios}
        # A closed form is drawn where there is something to lay it beside.
        if measured:
            measured["closed form"] = {queues: exact(law(flows, queues)) for queues in queued(base)}
        for name, curve in measured.items():
            # A queue for each flow stands where as many queues would be.
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
    for id, metric, label in (
        ("correlation", metrics.CORRELATION, "Correlation of window reductions of two flows"),
        ("hit", metrics.LOST_FLOWS, "Flows with data in a lost burst"),
    ):
        found = in_ms(runs.means(along(TIMES, BURSTIFIER), metric))
        yield Figure.of(
            {(f"{BURSTIFIER.long_flows} flows", "one queue"): found},
            id=f"synchronisation-{id}",
            title=f"{label} over the assembly time",
            caption=words.format("One queue. "),
            x_label=TIME_LABEL,
            y_label=label,
            x_log=False,
            legends=("Flows", "Queues"),
        )


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what the slides say of several queues and of the assembly time."""
    several = queued(BURSTIFIER)
    for queues, printed in _PRINTED.items():
        for name, metric, words in _DEVIATIONS:
            fallen = _less(runs.ratio(several[queues], several[1], metric))
            closed = 1 - law(BURSTIFIER.long_flows, queues)
            sheet = SHEET.told(queues=queues, name=name, words=words, closed=closed)
            yield sheet.judge("queues", fallen, published=printed)
        network = _less(runs.ratio(Point(queues=queues), Point(), metrics.WINDOW_DEVIATION))
        yield SHEET.judge("queues-nsfnet", network, published=printed, queues=queues)
    for queues, point in kept_apart(BURSTIFIER).items():
        for name, other in (("posteriori", 1), ("posteriori-beside-priori", queues)):
            ratio = runs.ratio(point, several[other], metrics.WINDOW_DEVIATION)
            yield SHEET.judge(name, ratio, queues=queues)
    short, *_, long = along(TIMES, BURSTIFIER).values()
    yield SHEET.judge("stronger-short", runs.ratio(short, long, metrics.CORRELATION))
    yield SHEET.judge("fewer-short", runs.ratio(long, short, metrics.LOST_FLOWS))
    yield SHEET.judge("losses-synchronise", runs.mean(BURSTIFIER, metrics.WINDOW_RATIO))
    apart = runs.ratio(several[1], several[PER_FLOW], metrics.THROUGHPUT_DEVIATION)
    yield SHEET.judge("flows-in-a-burst", apart)


def _less(ratio: Interval) -> Interval:
    return Interval(1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low, ratio.n)
