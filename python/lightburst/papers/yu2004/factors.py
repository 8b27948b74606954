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
from lightburst.papers.claims import UNKNOWN, ends
from lightburst.papers.figure import BAR_COLUMNS, Bars, Listing
from lightburst.papers.sheet import slug
from lightburst.papers.yu2004.design import FACTOR_CASES, FACTOR_LOSS, caption, factor_case
from lightburst.papers.yu2004.points import rate_name
from lightburst.papers.yu2004.published import SHEET, TOLERANCE
from lightburst.papers.yu2004.senders import SACK_WORDS
from lightburst.papers.yu2004.theory import flow_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightburst.papers.claims import Claim
    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.points import Point
    from lightburst.study.statistics import Interval

_GROUPS: Final = ("simulation", "equations (55) to (61)")


class Factor(NamedTuple):
    """A gain or a penalty: the ratio of two points of a case, beside its closed form."""

    name: str
    top: str
    bottom: str
    equation: str
    form: Callable[[Flow], Any]
    at: str = "delay"  # the point whose flow it is given
    gain: bool = False


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


def measured(runs: Runs[Point], access: float, burst: int) -> dict[str, Interval]:
    """Measure each gain and penalty of one case, where they were run."""
    case = factor_case(access, burst)
    return runs.ratios({each.name: (case[each.top], case[each.bottom]) for each in FACTORS})


def formulas(access: float, burst: int) -> dict[str, float]:
    """Compute each gain and penalty of one case by equations (55) to (61), as `measured`."""
    case = factor_case(access, burst)
    flows = {at: flow_of([case[at]]) for at in ("loss", "delay")}
    return {each.name: float(np.ravel(each.form(flows[each.at]))[0]) for each in FACTORS}


class _Case(NamedTuple):
    """A case that was run: its words, its points, and each factor with what both say of it."""

    words: dict[str, Any]
    points: dict[str, Point]
    found: list[tuple[Factor, Interval, float]]


def _cases(runs: Runs[Point]) -> Iterator[_Case]:
    for access, burst in FACTOR_CASES:
        points, name = factor_case(access, burst), rate_name(access)
        if all(point in runs for point in points.values()):
            figure = f"factors-{name.replace('/', '').replace(' ', '')}-S{burst}"
            ratios, closed = measured(runs, access, burst), formulas(access, burst)
            found = [(x, ratios[x.name], closed[x.name]) for x in FACTORS if x.name in ratios]
            yield _Case({"figure": figure, "access": name, "burst": burst}, points, found)


def figures(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Draw up a waterfall for each case, from the throughput without loss to New-Reno and Reno."""
    words = (
        f"{SACK_WORDS} From packets without loss to bursts with it: each step changes one thing "
        "alone and says by which factor the throughput goes down (÷) or up (×). Both rows begin at "
        "the simulated throughput without loss; New-Reno and Reno are alternatives."
    )
    title = f"Gains and penalties at {{access}}, S = {{burst}}, p = {FACTOR_LOSS:g}"
    for told, points, found in _cases(runs):
        means = {name: runs.mean(point) for name, point in points.items()}
        level = means["no loss"].estimate
        simulated = [(factor, ratio.estimate) for factor, ratio, _ in found]
        closed = [(factor, ratio) for factor, _, ratio in found]
        rows = [*_levels(_GROUPS[0], level, simulated, means)]
        rows += _levels(_GROUPS[1], level, closed, {})
        yield Bars(
            id=told["figure"],
            title=title.format(**told),
            caption=caption(runs, list(points.values()), words, version),
            x_label="Step",
            y_label="Throughput (segments/s)",
            bars=tuple(dict.fromkeys(row[0] for row in rows)),
            groups=_GROUPS,
            data=pd.DataFrame(rows, columns=list(BAR_COLUMNS)),
        )


def _levels(
    group: str, level: float, factors: Sequence[tuple[Factor, float]], means: dict[str, Interval]
) -> Iterator[tuple[Any, ...]]:
    """Go down and up the steps; the last two both begin where the delay penalty ends."""
    yield "no\nloss", group, 0.0, level, math.nan, math.nan, f"{level:.3g}"
    for factor, ratio in factors[:-1]:
        after = level * ratio if factor.gain else level / ratio
        end = means.get(factor.top if factor.gain else factor.bottom, UNKNOWN)
        words = f"{'×' if factor.gain else '÷'} {ratio:#.3g}"
        yield factor.name.replace(" ", "\n", 1), group, level, after, end.low, end.high, words
        if not factor.name.startswith("retransmission"):
            level = after


def listing(runs: Runs[Point]) -> Listing:
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
        for told, _, found in _cases(runs)
        for factor, ratio, closed in found
    ]
    return Listing(
        "factors",
        f"Gains and penalties at p = {FACTOR_LOSS:g}",
        "Each factor is a ratio of two throughputs that differ in one thing alone. W_m = 50. "
        f"{SACK_WORDS}",
        pd.DataFrame(rows),
    )


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge each closed form of section IV against the simulation, for each case and factor."""
    for told, _, found in _cases(runs):
        for factor, ratio, closed in found:
            sheet = SHEET.told(**told, factor=factor.name, equation=factor.equation)
            off = max(closed / ratio.estimate, ratio.estimate / closed) > TOLERANCE["match"]
            why = sheet.note("factor", factor.name) if off else ""
            yield sheet.judge("factor", ratio, why, published=closed, slug=slug(factor.name))
