"""Gains and penalties of section IV, measured one at a time beside equations (55) to (61).

The paper defines each as a ratio of two throughputs "fixing all other factors except the one under
consideration". They are measured between the points of a chain, each differing from the previous
one in a single factor (`design.factor_case`). Retransmissions by New-Reno or Reno replace those by
SACK, which have no penalty in the paper.

Along the chain, the throughput of New-Reno or Reno equals the throughput without loss, divided by
the first penalty, times the gain, divided by the other two penalties. This is exact, because each
step is a ratio of neighbours. The first penalty is (55) at S = 1, that is (55) without the gain;
the paper's own loss penalty at S is judged as well.
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
    """Gain or penalty: the ratio of two points of a case, and its closed form."""

    name: str
    top: str
    bottom: str
    equation: str
    form: Callable[[Flow], Any]
    at: str = "delay"  # point whose flow is the argument of `form`
    gain: bool = False

    @property
    def end(self) -> str:
        """Point reached after applying the factor."""
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
    """Case that was run: its words, its points, and (factor, measured, closed form) triples."""

    told: dict[str, Any]
    points: dict[str, Point]
    found: list[tuple[Factor, Interval, float]]


def cases(runs: Runs[Point]) -> Iterator[Case]:
    """Measure each gain and penalty of the cases that were run, and compute its closed form."""
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
    """Build a waterfall for each case, from the throughput without loss to New-Reno and Reno."""
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
    """Apply the steps in order; the last two both start where the delay penalty ends."""
    yield "no\nloss", group, 0.0, level, math.nan, math.nan, f"{level:.3g}"
    for factor, ratio, end in steps[:-1]:
        after = level * ratio if factor.gain else level / ratio
        words = f"{'×' if factor.gain else '÷'} {ratio:#.3g}"
        yield factor.name.replace(" ", "\n", 1), group, level, after, end.low, end.high, words
        if not factor.name.startswith("retransmission"):
            level = after


def tables(runs: Runs[Point]) -> Iterator[Listing]:
    """Build a table of the gains and penalties, one row per case and factor."""
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
