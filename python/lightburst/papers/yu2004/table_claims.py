"""What section V.B says of the three implementations in tables I and II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import (
    UNKNOWN,
    Claim,
    Verdict,
    agrees,
    at_least,
    at_most,
    judged,
    known,
)
from lightburst.papers.yu2004.figures import TABLES, ratios
from lightburst.papers.yu2004.points import PAPER_SENDERS, RFC_SENDERS, Point
from lightburst.papers.yu2004.published import ratio_of
from lightburst.papers.yu2004.tolerance import CHECK, VISIBLE
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

FAMILIES: Final = (
    (PAPER_SENDERS, "", "paper"),
    (RFC_SENDERS, "-rfc", "paper, with the senders of the RFCs"),
)
_KINDS: Final = {"new-reno": "New-Reno", "sack": "SACK"}
# What we know of the cells that differ.
_SEARCH: Final = "How near other settings come: docs/yu2004-search.md."
_HIGH: Final = (
    "At so high a loss, the paper's own text says, timeouts decide, in which the senders do not "
    "differ."
)
_WHY: Final = {
    (25, -1.5): f"{_SEARCH} When a burst of 25 is lost New-Reno needs a round trip for each "
    "segment and Reno a timeout; the printed ratio asks for more difference than that makes here.",
    (5, -0.5): _HIGH,
    (25, -0.5): _HIGH,
}


def table_claims(runs: Runs, id: str) -> list[Claim]:
    """Judge each cell of table I or II and what the text says of it.

    Parameters
    ----------
    runs : Runs
        The runs.
    id : str
        ``"table1"`` or ``"table2"``.

    Returns
    -------
    list of Claim
        The cells with the senders of ns-2, the text, and the text with the senders of the RFCs.
    """
    found = _cells(runs, id)
    for senders, suffix, source in FAMILIES:
        table = ratios(runs, TABLES[id][0], senders)
        if table:
            found += _text(runs, id, senders, table, suffix, source)
    return found


def _cells(runs: Runs, id: str) -> list[Claim]:
    burst, number = TABLES[id]
    claims = []
    for (kind, p), (top, bottom, ratio) in ratios(runs, burst, PAPER_SENDERS).items():
        published, rounding = ratio_of(burst, p, kind)
        chance = runs.paper_half(top, bottom)
        low = (published - rounding) * math.exp(-chance)
        high = (published + rounding) * math.exp(chance)
        fine = max(CHECK, math.log(high / low) / 2)
        verdict = agrees(ratio, low, high, fine)
        power = round(math.log10(p), 1)
        why = ""
        if verdict is Verdict.DIFFERS:
            why = _WHY.get((burst, power), _SEARCH)
        elif verdict is Verdict.HOLDS and not _meets(ratio, published, rounding):
            why = "Outside of the printed digits, and inside of what chance can do to them."
        if ratio.low == ratio.high:
            why = f"The two send the same with every seed. {why}"
        beside = {
            "senders of the RFCs": runs.ratio(*_by_rfc(kind, top, bottom)),
            "Reno without bug_fix": runs.ratio(top, bottom._replace(bug_fix=False)),
        }
        told = " ".join(
            f"With {name}: {other.estimate:.3f}." for name, other in beside.items() if known(other)
        )
        claims.append(
            judged(
                f"{id}-{kind}{power:g}",
                id,
                f"Table {number}: {_KINDS[kind]} over Reno, S = {burst}, log10 p = {power:g}",
                published,
                ratio,
                verdict,
                f"our interval meets {low:.3f} to {high:.3f}: the printed digits, and "
                f"{chance:.2%} to either side, which the ratio of two means over 1e6 s can be off "
                "by chance (95 %), by the spread of our runs; and is no wider than "
                f"{fine:.2g} of the ratio to either side",
                f"{told} {why}".strip(),
            )
        )
    return claims


def _meets(ratio: Interval, published: float, rounding: float) -> bool:
    return ratio.low <= published + rounding and ratio.high >= published - rounding


def _by_rfc(kind: str, top: Point, bottom: Point) -> tuple[Point, Point]:
    """Give the same cell with the senders of the RFCs."""
    reno, new_reno, sack = RFC_SENDERS
    return top.by(new_reno if kind == "new-reno" else sack), bottom.by(reno)


def _text(
    runs: Runs,
    id: str,
    senders: tuple[Sender, ...],
    table: Mapping[tuple[str, float], tuple[Point, Point, Interval]],
    suffix: str,
    source: str,
) -> list[Claim]:
    burst, _ = TABLES[id]
    middle = {
        p: ratio
        for (kind, p), (_, _, ratio) in table.items()
        if kind == "new-reno" and -2.55 < math.log10(p) < -0.95
    }
    told = ", ".join(f"{ratio.estimate:.3f} at p = {p:.2g}" for p, ratio in middle.items())
    if burst == 5:
        extreme = min(middle.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
        verdict, words, rule = at_least(extreme, 1.0), "better", "above"
    else:
        extreme = max(middle.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
        verdict, words, rule = at_most(extreme, 1.0), "worse", "below"
    order = judged(
        f"new-reno-{words}-S{burst}{suffix}",
        id,
        f"S = {burst}: New-Reno is {words} than Reno between p = 10^-2.5 and 10^-1 (ratio nearest "
        "to or beyond 1)",
        1.0,
        extreme,
        verdict,
        f"the whole interval is {rule} 1 at every loss rate",
        f"Ratios: {told}.",
        source=source,
    )
    _, new_reno, sack = senders
    over_reno = {p: ratio for (kind, p), (_, _, ratio) in table.items() if kind == "sack"}
    others = dict(over_reno)
    beside = {}
    for (kind, p), (top, _, _) in table.items():
        if kind == "sack":
            beside[p] = runs.ratio(top, top.by(new_reno))
    worst = min(
        [*others.values(), *(ratio for ratio in beside.values() if known(ratio))],
        key=lambda ratio: ratio.estimate,
        default=UNKNOWN,
    )
    told = ", ".join(f"{ratio.estimate:.3f} at p = {p:.2g}" for p, ratio in over_reno.items())
    more = ", ".join(f"{ratio.estimate:.3f}" for ratio in beside.values())
    best = judged(
        f"sack-best-S{burst}{suffix}",
        id,
        f"S = {burst}: SACK ({sack.recovery}) is nowhere worse than Reno or New-Reno (smallest "
        "ratio)",
        1.0,
        worst,
        at_least(worst, 1 / VISIBLE),
        f"the whole interval is above {1 / VISIBLE:.3f}, which two means can just tell apart",
        f"Over Reno: {told}. Over New-Reno: {more}.",
        source=source,
    )
    return [order, best]
