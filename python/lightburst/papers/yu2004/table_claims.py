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
from lightburst.papers.yu2004.tolerance import VISIBLE
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
# What we know of the cells that nothing explains.
_NEAREST: Final = (
    "No setting of the search explains all cells; with that of the scenario the 24 together are "
    "nearest (lightburst reproduce yu2004/search)."
)
_WHY: Final = {
    (25, -1.5): "No setting of the search comes below 0.84: when a burst of 25 is lost out of a "
    "window of 10 to 30, New-Reno needs a round trip for each segment, Reno a timeout, and these "
    "are 0.5 s and 0.5 to 1 s apart at the most; the printed ratio would need a timeout below one "
    "round trip.",
    (5, -0.5): "At p = 0.32 what is sent is timeouts almost alone, which all senders have in "
    "common.",
    (25, -0.5): "At p = 0.32 what is sent is timeouts almost alone, which all senders have in "
    "common.",
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
        verdict = agrees(ratio, low, high)
        power = round(math.log10(p), 1)
        why = "" if verdict is not Verdict.DIFFERS else _WHY.get((burst, power), _NEAREST)
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
                "by chance (95 %), by the spread of our runs",
                f"{told} {why}".strip(),
            )
        )
    return claims


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
