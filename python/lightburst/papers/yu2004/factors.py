"""The gains and penalties of section IV, measured one at a time beside equations (55) to (61).

The paper defines each as a ratio of two throughputs "fixing all other factors except the one under
consideration". So it is measured, between points of a chain of which each differs from the one
before in one factor alone:

===========================  ======================================================================
no loss                      packets, RTT0, p = 0
loss penalty                 packets are lost with probability p, repaired by SACK
delayed first loss           bursts of S are lost with the same p, at the same round trip: the
                             signal takes the 2 T_b less that the assembly takes
delay penalty                the signal takes as long as before: the round trip is RTT0 + 2 T_b
retransmission penalty       New-Reno or Reno in place of SACK, which the paper takes as having none
===========================  ======================================================================

The throughput of New-Reno and of Reno is then that without loss, over the first penalty, times the
gain, over the other two: exactly, because each step is a ratio of neighbours. The first penalty is
(55) at S = 1, which is what (55) is with the gain taken out; the loss penalty at S that the paper
itself defines is judged beside it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.models.yu2004 import gains
from lightburst.papers.claims import UNKNOWN, ends
from lightburst.papers.figure import BAR_COLUMNS, Bars, Listing
from lightburst.papers.yu2004.design import FACTOR_CASES, FACTOR_LOSS, factor_case
from lightburst.papers.yu2004.figures import caption, rate_name
from lightburst.papers.yu2004.published import SHEET, TOLERANCE
from lightburst.papers.yu2004.senders import SACK_WORDS
from lightburst.papers.yu2004.theory import flow_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.claims import Claim
    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.points import Point
    from lightburst.study.statistics import Interval

_GROUPS: Final = ("simulation", "equations (55) to (61)")
# Name of the step, its points (numerator and denominator of the factor), and whether it is a gain.
_STEPS: Final = (
    ("loss penalty", ("no loss", "loss"), False),
    ("delayed first loss", ("first loss", "loss"), True),
    ("delay penalty", ("first loss", "delay"), False),
    ("retransmission, New-Reno", ("delay", "New-Reno"), False),
    ("retransmission, Reno", ("delay", "Reno"), False),
)
# The equation, and why it may be off.
_EQUATIONS: Final = {
    "loss penalty": (
        "(55) at S = 1",
        "The closed form knows no limit of the window and counts no timeouts.",
    ),
    "delayed first loss": (
        "(61)",
        "The closed form knows no limit of the window: a gain that would lift it above W_m is cut "
        "off, and a burst that holds much of the window is repaired by a timeout.",
    ),
    "delay penalty": (
        "(56)",
        "Where the window waits at the access link, a longer round trip costs less.",
    ),
    "retransmission, New-Reno": (
        "(57)",
        "The closed form has one loss in a period, and no timeout.",
    ),
    "retransmission, Reno": (
        "(58) or (59)",
        "The closed form has Reno halve its window at each segment of the burst or time out, and "
        "grow from there by one segment a round without slow start.",
    ),
    "loss penalty at S": (
        "(55)",
        "The closed form falls below 1 where the window limit is what holds the throughput.",
    ),
}


def measured(runs: Runs[Point], access: float, burst: int) -> dict[str, Interval]:
    """Measure each gain and penalty of one case, and the paper's own (55), where they were run."""
    case = factor_case(access, burst)
    pairs = {name: (case[top], case[bottom]) for name, (top, bottom), _ in _STEPS}
    return runs.ratios(pairs | {"loss penalty at S": (case["burst, no loss"], case["delay"])})


def formulas(access: float, burst: int) -> dict[str, float]:
    """Compute each gain and penalty of one case by equations (55) to (61), as `measured`."""
    case = factor_case(access, burst)
    packet, whole = flow_of([case["loss"]]), flow_of([case["delay"]])
    found = {
        "loss penalty": gains.loss_penalty(packet),
        "delayed first loss": gains.delayed_first_loss_gain(whole),
        "delay penalty": gains.delay_penalty(whole),
        "retransmission, New-Reno": gains.retransmission_penalty(whole, "new-reno"),
        "retransmission, Reno": gains.retransmission_penalty(whole, "reno"),
        "loss penalty at S": gains.loss_penalty(whole),
    }
    return {name: float(np.ravel(value)[0]) for name, value in found.items()}


def cases(runs: Runs[Point]) -> Iterator[tuple[float, int, dict[str, Point]]]:
    """Give the cases that were run: access bandwidth, S and the points."""
    for access, burst in FACTOR_CASES:
        points = factor_case(access, burst)
        if all(point in runs for point in points.values()):
            yield access, burst, points


def figures(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Draw up a waterfall for each case, from the throughput without loss to New-Reno and Reno."""
    words = (
        f"{SACK_WORDS} From packets without loss to bursts with it: each step changes one thing "
        "alone and says by which factor the throughput goes down (÷) or up (×). Both rows begin at "
        "the simulated throughput without loss; New-Reno and Reno are alternatives."
    )
    for access, burst, points in cases(runs):
        simulated = {name: x.estimate for name, x in measured(runs, access, burst).items()}
        rows = [
            *_levels(_GROUPS[0], simulated, runs, points),
            *_levels(_GROUPS[1], formulas(access, burst), runs, points),
        ]
        yield Bars(
            id=_figure_id(access, burst),
            title=f"Gains and penalties at {rate_name(access)}, S = {burst}, p = {FACTOR_LOSS:g}",
            caption=caption(runs, list(points.values()), words, version),
            x_label="Step",
            y_label="Throughput (segments/s)",
            bars=tuple(dict.fromkeys(row[0] for row in rows)),
            groups=_GROUPS,
            data=pd.DataFrame(rows, columns=list(BAR_COLUMNS)),
        )


def _levels(
    group: str, ratios: dict[str, float], runs: Runs[Point], points: dict[str, Point]
) -> Iterator[tuple[Any, ...]]:
    """Go down and up the steps; the last two both begin where the delay penalty ends."""
    level = runs.mean(points["no loss"]).estimate
    yield "no\nloss", group, 0.0, level, math.nan, math.nan, f"{level:.3g}"
    for name, (top, bottom), gain in _STEPS:
        after = level * ratios[name] if gain else level / ratios[name]
        end = runs.mean(points[top if gain else bottom]) if group == _GROUPS[0] else UNKNOWN
        words = f"{'×' if gain else '÷'} {ratios[name]:#.3g}"
        yield name.replace(" ", "\n", 1), group, level, after, end.low, end.high, words
        if not name.startswith("retransmission"):
            level = after


def listing(runs: Runs[Point]) -> Listing:
    """Write the gains and penalties into a table, a row for each case and factor."""
    rows = []
    for access, burst, _ in cases(runs):
        closed = formulas(access, burst)
        for name, ratio in measured(runs, access, burst).items():
            rows.append(
                {
                    "access": rate_name(access),
                    "S": burst,
                    "factor": name,
                    "equation": _EQUATIONS[name][0],
                    "measured": round(ratio.estimate, 4),
                    **ends(ratio, 4),
                    "closed form": round(closed[name], 4),
                }
            )
    return Listing(
        "factors",
        f"Gains and penalties at p = {FACTOR_LOSS:g}",
        "Each factor is a ratio of two throughputs that differ in one thing alone. W_m = 50. "
        f"{SACK_WORDS}",
        pd.DataFrame(rows),
    )


def claims(runs: Runs[Point]) -> list[Claim]:
    """Judge each closed form of section IV against the simulation, for each case and factor."""
    found = []
    for access, burst, _ in cases(runs):
        closed = formulas(access, burst)
        case = SHEET.told(figure=_figure_id(access, burst), access=rate_name(access), burst=burst)
        for factor, ratio in measured(runs, access, burst).items():
            (equation, why), form = _EQUATIONS[factor], closed[factor]
            slug = factor.replace(",", "").replace(" ", "-").lower()
            sheet = case.told(slug=slug, factor=factor, equation=equation)
            off = max(form / ratio.estimate, ratio.estimate / form) > TOLERANCE["match"]
            found.append(sheet.judge("factor", ratio, why if off else "", published=form))
    return found


def _figure_id(access: float, burst: int) -> str:
    return f"factors-{rate_name(access).replace('/', '').replace(' ', '')}-S{burst}"
