"""What section V.B says of the three implementations in tables I and II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, Verdict, known, largest, listed, smallest
from lightburst.papers.yu2004.figures import TABLES, ratios
from lightburst.papers.yu2004.points import PAPER_SENDERS, RFC_SENDERS
from lightburst.papers.yu2004.published import FAMILIES, SHEET, TOLERANCE, ratio_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.yu2004.points import Point, Sender
    from lightburst.papers.yu2004.runs import Runs
    from lightburst.study.statistics import Interval

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
_FORM: Final = "{value:.3f} at p = {at:.2g}"


def table_claims(id: str, runs: Runs) -> list[Claim]:
    """Judge each cell of table I or II, and what the text says of it for each family of senders."""
    cells = ratios(runs, TABLES[id][0], PAPER_SENDERS)
    found = [_cell(runs, id, kind, p, *cell) for (kind, p), cell in cells.items()]
    for family in FAMILIES:
        found += _text(runs, id, *family)
    return found


def _cell(
    runs: Runs, id: str, kind: str, p: float, top: Point, bottom: Point, ratio: Interval
) -> Claim:
    burst, number = TABLES[id]
    published, rounding = ratio_of(burst, p, kind)
    chance = runs.paper_half(top, bottom)
    low = (published - rounding) * math.exp(-chance)
    high = (published + rounding) * math.exp(chance)
    fine = max(TOLERANCE["check"], math.log(high / low) / 2)
    power = round(math.log10(p), 1)
    sheet = SHEET.told(figure=id, number=number, kind=kind, name=_KINDS[kind], burst=burst)
    claim = sheet.told(power=power, chance=chance, fine=fine).judge(
        "table-cell", ratio, bound=(low, high, fine), published=published
    )
    why = ""
    if claim.verdict is Verdict.DIFFERS:
        why = _WHY.get((burst, power), _SEARCH)
    elif claim.verdict is Verdict.HOLDS and not _meets(ratio, published, rounding):
        why = "Outside of the printed digits, and inside of what chance can do to them."
    if ratio.low == ratio.high:
        why = f"The two send the same with every seed. {why}"
    reno, new_reno, sack = RFC_SENDERS
    beside = {
        "senders of the RFCs": runs.ratio(
            top.by(new_reno if kind == "new-reno" else sack), bottom.by(reno)
        ),
        "Reno without bug_fix": runs.ratio(top, bottom._replace(bug_fix=False)),
    }
    told = (f"With {name}: {x.estimate:.3f}." for name, x in beside.items() if known(x))
    return claim.noted(" ".join([*told, why]))


def _meets(ratio: Interval, published: float, rounding: float) -> bool:
    return ratio.low <= published + rounding and ratio.high >= published - rounding


def _text(
    runs: Runs, id: str, senders: tuple[Sender, ...], suffix: str, source: str
) -> Iterator[Claim]:
    burst, _ = TABLES[id]
    table = ratios(runs, burst, senders)
    if not table:
        return
    _, new_reno, sack = senders
    sheet = SHEET.told(figure=id, burst=burst, suffix=suffix, source=source, sack=sack.recovery)
    by = {
        kind: {p: ratio for (other, p), (_, _, ratio) in table.items() if other == kind}
        for kind in _KINDS
    }
    middle = {p: ratio for p, ratio in by["new-reno"].items() if -2.55 < math.log10(p) < -0.95}
    note = f"Ratios: {listed(middle, _FORM)}."
    if burst == 5:
        yield sheet.judge("new-reno-better", smallest(middle.values()), note)
    else:
        yield sheet.judge("new-reno-worse", largest(middle.values()), note)
    tops = {p: top for (kind, p), (top, _, _) in table.items() if kind == "sack"}
    beside = {p: runs.ratio(top, top.by(new_reno)) for p, top in tops.items()}
    worst = smallest([*by["sack"].values(), *(x for x in beside.values() if known(x))])
    told, more = listed(by["sack"], _FORM), listed(beside, "{value:.3f}")
    yield sheet.judge("sack-best", worst, f"Over Reno: {told}. Over New-Reno: {more}.")
