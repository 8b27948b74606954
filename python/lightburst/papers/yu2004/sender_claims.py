"""What section V.B says of the implementations: figure 11, tables I and II; and check values."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, Verdict, known
from lightburst.papers.curves import Curve, between, crossing, from_one, in_ms, listed, smallest
from lightburst.papers.yu2004.design import (
    CROSSING_LOSS,
    CROSSING_TIMES,
    PROTOTYPE_SENDERS,
    table_point,
)
from lightburst.papers.yu2004.figures import TABLES, cells
from lightburst.papers.yu2004.points import HIGH, Point, paper_half
from lightburst.papers.yu2004.published import PROTOTYPE, SHEET, TOLERANCE, ratio_of
from lightburst.papers.yu2004.senders import FAMILIES, NS2, RFC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.senders import Family, Sender
    from lightburst.study.statistics import Interval

_MS: Final = 1e-3
# Times on the grid are powers of ten; a little room decides on which side of a limit they are.
_ROOM: Final = 1.01
_KINDS: Final = {"new-reno": "New-Reno", "sack": "SACK"}
# What we know of the cells that differ, by S and log10 p.
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
_CORRECTION: Final = {
    ("RFC 6675", -1.0): "The prototype's 26.5 was corrected to 26.9-27.0 after three faults of its "
    "RFC senders were mended: FlightSize with what limited transmit sent, SACKed data sent again "
    "after a timeout, no recovery that begins at the recovery point."
}
_FORM: Final = "{value:.3f} at p = {at:.2g}"


def crossing_claims(runs: Runs[Point]) -> list[Claim]:
    """Judge what the paper says of figure 11, for each family of senders that was run."""
    return [claim for family in FAMILIES for claim in _crossing_family(runs, family)]


def _crossing_family(runs: Runs[Point], family: Family) -> Iterator[Claim]:
    reno, new_reno, sack = family.senders
    over = _over(runs, new_reno, reno)
    if not over:
        return
    sheet = SHEET.told(suffix=family.suffix, source=family.source, sack=sack.recovery)
    late = {
        (time * 1e3, top, bottom): from_one(ratio)
        for top, bottom in itertools.combinations(family.senders, 2)
        for time, ratio in _over(runs, top, bottom).items()
        if time > _MS * _ROOM
    }
    yield sheet.judge("fig11-same-above-1ms", late)
    both = _over(runs, sack, reno), _over(runs, sack, new_reno)
    below = {
        time: smallest(table[time] for table in both)
        for time in both[0]
        if time < _MS / _ROOM and time in both[1]
    }
    yield sheet.judge("fig11-sack-highest", in_ms(below))
    early = between(over, 10**-5.5 / _ROOM, 1e-4 / _ROOM)
    yield sheet.judge("fig11-new-reno-early", in_ms(early))
    middle = between(over, 1e-4 * _ROOM, _MS / _ROOM)
    yield sheet.judge("fig11-reno-late", in_ms(middle))
    place = crossing(between(over, 1e-5 / _ROOM))
    never = None if known(place) else Verdict.DIFFERS
    curve = listed(in_ms(over), "{value:.3f} at {at:.3g} ms")
    yield sheet.judge("fig11-crossing", place, verdict=never, curve=curve)


def _over(runs: Runs[Point], top: Sender, bottom: Sender) -> Curve:
    """Compare two senders at each assembly time that both were run at."""
    points = (Point(HIGH, time, CROSSING_LOSS) for time in CROSSING_TIMES)
    return runs.ratios({point.time: (point.by(top), point.by(bottom)) for point in points})


def table_claims(id: str, runs: Runs[Point]) -> list[Claim]:
    """Judge each cell of table I or II, and what the text says of it for each family of senders."""
    table = cells(TABLES[id][0], NS2.senders)
    ratios = runs.ratios(table)
    found = [_cell(runs, id, kind, *table[kind, p], ratio) for (kind, p), ratio in ratios.items()]
    for family in FAMILIES:
        found += _text(runs, id, family)
    return found


def _cell(
    runs: Runs[Point], id: str, kind: str, top: Point, bottom: Point, ratio: Interval
) -> Claim:
    burst, number = TABLES[id]
    published, rounding = ratio_of(burst, top.p, kind)
    chance = paper_half(runs, top, bottom)
    low = (published - rounding) * math.exp(-chance)
    high = (published + rounding) * math.exp(chance)
    fine = max(TOLERANCE["check"], math.log(high / low) / 2)
    power = round(math.log10(top.p), 1)
    sheet = SHEET.told(figure=id, number=number, kind=kind, name=_KINDS[kind], burst=burst)
    claim = sheet.judge(
        "table-cell", ratio, bound=(low, high, fine), published=published,
        power=power, chance=chance, fine=fine,
    )  # fmt: skip
    why = ""
    if claim.verdict is Verdict.DIFFERS:
        why = _WHY.get((burst, power), _SEARCH)
    elif claim.verdict is Verdict.HOLDS and not (
        ratio.low <= published + rounding and ratio.high >= published - rounding
    ):
        why = "Outside of the printed digits, and inside of what chance can do to them."
    if ratio.low == ratio.high:
        why = f"The two send the same with every seed. {why}"
    reno, *others = RFC.senders
    rfc = dict(zip(_KINDS, others, strict=True))[kind]
    beside = {
        "senders of the RFCs": (top.by(rfc), bottom.by(reno)),
        "Reno without bug_fix": (top, bottom._replace(bug_fix=False)),
    }
    told = (f"With {name}: {x.estimate:.3f}." for name, x in runs.ratios(beside).items())
    return claim.noted(" ".join([*told, why]))


def _text(runs: Runs[Point], id: str, family: Family) -> Iterator[Claim]:
    burst, _ = TABLES[id]
    table = cells(burst, family.senders)
    ratios = runs.ratios(table)
    if not ratios:
        return
    _, new_reno, sack = family.senders
    sheet = SHEET.told(figure=id, burst=burst, sack=sack.recovery).told(
        suffix=family.suffix, source=family.source
    )
    by = {kind: {p: x for (other, p), x in ratios.items() if other == kind} for kind in _KINDS}
    middle = {p: ratio for p, ratio in by["new-reno"].items() if -2.55 < math.log10(p) < -0.95}
    yield sheet.judge("new-reno-better" if burst == 5 else "new-reno-worse", middle)
    tops = {p: table["sack", p][0] for p in by["sack"]}
    beside = {p: runs.ratio(top, top.by(new_reno)) for p, top in tops.items()}
    over = {("reno", p): x for p, x in by["sack"].items()}
    over |= {("new-reno", p): x for p, x in beside.items() if known(x)}
    words = {"reno": listed(by["sack"], _FORM), "new_reno": listed(beside, "{value:.3f}")}
    yield sheet.told(**words).judge("sack-best", over)


def check_point(sender: str, p: float) -> Point:
    """Give the point of a check value."""
    return table_point(5, p, PROTOTYPE_SENDERS[sender])


def prototype_claims(runs: Runs[Point]) -> list[Claim]:
    """Judge whether the two simulators agree, for each value of the prototype that we have run."""
    found = []
    for (sender, p), value in PROTOTYPE.items():
        mean, power = runs.mean(check_point(sender, p)), math.log10(p)
        if known(mean):
            slug = sender.replace(",", "").replace(" ", "-").lower()
            sheet = SHEET.told(slug=slug, sender=sender, power=power, value=value)
            note = _CORRECTION.get((sender, round(power, 1)), "")
            found.append(sheet.judge("check", mean, note, published=value))
    return found
