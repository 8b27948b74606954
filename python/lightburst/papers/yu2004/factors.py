"""The gains and penalties of section IV, measured one at a time beside equations (55) to (61).

The paper defines each as a ratio of two throughputs "fixing all other factors except the one under
consideration". So it is measured, between points of a chain of which each differs from the one
before in one factor alone (`design.factor_case`); retransmissions by New-Reno or Reno take the
place of those by SACK, which the paper takes as having no penalty.

The throughput of New-Reno and of Reno is then that without loss, over the first penalty, times the
gain, over the other two: exactly, because each step is a ratio of neighbours. The first penalty is
(55) at S = 1, which is what (55) is with the gain taken out; the loss penalty at S that the paper
itself defines is judged beside it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.models.yu2004 import Flow, gains
from lightburst.papers.claims import UNKNOWN, ends, known
from lightburst.papers.figure import BAR_COLUMNS, Bars, Listing
from lightburst.papers.sheet import slug
from lightburst.papers.yu2004.design import FACTOR_CASES, FACTOR_LOSS, caption, factor_case
from lightburst.papers.yu2004.points import flow_of, rate_name
from lightburst.papers.yu2004.published import SHEET, TOLERANCE
from lightburst.papers.yu2004.senders import SACK_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightburst.papers.claims import Claim
    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.points import Point
    from lightburst.study.statistics import Interval


class Factor(NamedTuple):
    """A gain or a penalty: the ratio of two points of a case, beside its closed form."""

    name: str
    top: str
    bottom: str
    equation: str
    form: Callable[[Flow], Any]
    at: str = "delay"  # the point whose flow it is given
    gain: bool = False

    @property
    def end(self) -> str:
        """The point at which one is after it."""
        return self.top if self.gain else self.bottom


FACTORS: Final = (
    Factor("loss penalty", "no loss", "loss", "(55) at S = 1", gains.loss_penalty, at="loss"),
    Factor("delayed first loss", "first loss", "loss", "(61)", gains.delayed_first_loss_gain,
           gain=True),
    Factor("delay penalty", "first loss", "delay", "(56)", gains.delay_penalty),
    Factor("retransmission, New-Reno", "delay", "New-Reno", "(57)",
           partial(gains.retransmission_penalty, flavour="new-reno")),
    Factor("retransmission, Reno", "delay", "Reno", "(58) or (59)",
           partial(gains.retransmission_penalty, flavour="reno")),
    Factor("loss penalty at S", "burst, no loss", "delay", "(55)", gains.loss_penalty),
)  # fmt: skip


class Case(NamedTuple):
    """A case that was run: its words, its points, and each factor with what both say of it."""

    told: dict[str, Any]
    points: dict[str, Point]
    found: list[tuple[Factor, Interval, float]]


def cases(runs: Runs[Point]) -> Iterator[Case]:
    """Measure each gain and penalty of the cases that were run, beside equations (55) to (61)."""
    for access, burst in FACTOR_CASES:
        points, name = factor_case(access, burst), rate_name(access)
        if not all(point in runs for point in points.values()):
            continue
        figure = f"factors-{name.replace('/', '').replace(' ', '')}-S{burst}"
        found = [
            (factor, ratio, float(np.ravel(factor.form(flow_of([points[factor.at]])))[0]))
            for factor in FACTORS
            if known(ratio := runs.ratio(points[factor.top], points[factor.bottom]))
        ]
        yield Case({"figure": figure, "access": name, "burst": burst}, points, found)


def figures(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Draw up a waterfall for each case, from the throughput without loss to New-Reno and Reno."""
    words = (
        f"{SACK_WORDS} From packets without loss to bursts with it: each step changes one thing "
        "alone and says by which factor the throughput goes down (÷) or up (×). Both rows begin at "
        "the simulated throughput without loss; New-Reno and Reno are alternatives."
    )
    title = f"Gains and penalties at {{access}}, S = {{burst}}, p = {FACTOR_LOSS:g}"
    for told, points, found in cases(runs):
        level = runs.mean(points["no loss"]).estimate
        simulated = [
            (factor, ratio.estimate, runs.mean(points[factor.end])) for factor, ratio, _ in found
        ]
        closed = [(factor, ratio, UNKNOWN) for factor, _, ratio in found]
        rows = [
            *_levels("simulation", level, simulated),
            *_levels("equations (55) to (61)", level, closed),
        ]
        data = pd.DataFrame(rows, columns=list(BAR_COLUMNS))
        yield Bars(
            id=told["figure"],
            title=title.format(**told),
            caption=caption(runs, list(points.values()), words, version),
            x_label="Step",
            y_label="Throughput (segments/s)",
            bars=tuple(data["bar"].unique()),
            groups=tuple(data["group"].unique()),
            data=data,
        )


def _levels(
    group: str, level: float, steps: Sequence[tuple[Factor, float, Interval]]
) -> Iterator[tuple[Any, ...]]:
    """Go down and up the steps; the last two both begin where the delay penalty ends."""
    yield "no\nloss", group, 0.0, level, math.nan, math.nan, f"{level:.3g}"
    for factor, ratio, end in steps[:-1]:
        after = level * ratio if factor.gain else level / ratio
        words = f"{'×' if factor.gain else '÷'} {ratio:#.3g}"
        yield factor.name.replace(" ", "\n", 1), group, level, after, end.low, end.high, words
        if not factor.name.startswith("retransmission"):
            level = after


def tables(runs: Runs[Point]) -> Iterator[Listing]:
    """Write the gains and penalties into a table, a row for each case and factor."""
    rows = [
        {
            "access": told["access"],
            "S": told["burst"],
            "factor": factor.name,
            "equation": factor.equation,
            "measured": round(ratio.estimate, 4),
            **ends(ratio, 4),
            "closed form": round(closed, 4),
        }
        for told, _, found in cases(runs)
        for factor, ratio, closed in found
    ]
    yield Listing(
        "factors",
        f"Gains and penalties at p = {FACTOR_LOSS:g}",
        "Each factor is a ratio of two throughputs that differ in one thing alone. W_m = 50. "
        f"{SACK_WORDS}",
        pd.DataFrame(rows),
    )


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge each closed form of section IV against the simulation, for each case and factor."""
    for told, _, found in cases(runs):
        for factor, ratio, closed in found:
            sheet = SHEET.told(**told, factor=factor.name, equation=factor.equation)
            off = max(closed / ratio.estimate, ratio.estimate / closed) > TOLERANCE["match"]
            why = sheet.note("factor", factor.name) if off else ""
            yield sheet.judge("factor", ratio, why, published=closed, slug=slug(factor.name))
