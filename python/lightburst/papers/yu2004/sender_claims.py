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
    over_time,
    table_point,
)
from lightburst.papers.yu2004.figures import KINDS, TABLES, cells
from lightburst.papers.yu2004.points import Point, paper_half
from lightburst.papers.yu2004.published import PROTOTYPE, SHEET, TOLERANCE, ratio_of, slug_of
from lightburst.papers.yu2004.senders import FAMILIES, NS2, RFC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.senders import Family, Sender
    from lightburst.study.statistics import Interval

# Times on the grid are powers of ten; a little room decides on which side of a limit they are.
_ROOM: Final = 1.01
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


def crossing_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what the paper says of figure 11, for each family of senders that was run."""

    def over(top: Sender, bottom: Sender) -> Curve:
        """Compare two senders at each assembly time that both were run at."""
        above, below = (over_time(CROSSING_LOSS, CROSSING_TIMES, x) for x in (top, bottom))
        return runs.ratios({time: (point, below[time]) for time, point in above.items()})

    for family in FAMILIES:
        sheet, (reno, new_reno, sack) = SHEET.told(**family.told), family.senders
        curve = over(new_reno, reno)
        if not curve:
            continue
        late = {
            (time * 1e3, *pair): from_one(ratio)
            for pair in itertools.combinations(family.senders, 2)
            for time, ratio in between(over(*pair), 1e-3 * _ROOM).items()
        }
        yield sheet.judge("fig11-same-above-1ms", late)
        above, beside = (between(over(sack, x), high=1e-3 / _ROOM) for x in (reno, new_reno))
        best = {time: smallest([x, beside[time]]) for time, x in above.items() if time in beside}
        yield sheet.judge("fig11-sack-highest", in_ms(best))
        for name, low, high in (
            ("fig11-new-reno-early", 10**-5.5 / _ROOM, 1e-4 / _ROOM),
            ("fig11-reno-late", 1e-4 * _ROOM, 1e-3 / _ROOM),
        ):
            yield sheet.judge(name, in_ms(between(curve, low, high)))
        place = crossing(between(curve, 1e-5 / _ROOM))
        never = None if known(place) else Verdict.DIFFERS
        told = listed(in_ms(curve), "{value:.3f} at {at:.3g} ms")
        yield sheet.judge("fig11-crossing", place, verdict=never, curve=told)


def table_claims(id: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge each cell of table I or II, and what the text says of it for each family of senders."""
    for (kind, p), ratio in runs.ratios(cells(id, NS2)).items():
        yield _cell(runs, id, kind, p, ratio)
    for family in FAMILIES:
        yield from _text(runs, id, family)


def _cell(runs: Runs[Point], id: str, kind: str, p: float, ratio: Interval) -> Claim:
    (burst, number), (top, bottom) = TABLES[id], cells(id, NS2)[kind, p]
    published, rounding = ratio_of(burst, p, kind)
    chance = paper_half(runs, top, bottom)
    low = (published - rounding) * math.exp(-chance)
    high = (published + rounding) * math.exp(chance)
    fine = max(TOLERANCE["check"], math.log(high / low) / 2)
    power = round(math.log10(p), 1)
    claim = SHEET.judge(
        "table-cell", ratio, bound=(low, high, fine), published=published, figure=id, number=number,
        kind=kind, name=KINDS[kind], burst=burst, power=power, chance=chance, fine=fine,
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
    beside = {
        "senders of the RFCs": cells(id, RFC)[kind, p],
        "Reno without bug_fix": (top, bottom._replace(bug_fix=False)),
    }
    told = (f"With {name}: {x.estimate:.3f}." for name, x in runs.ratios(beside).items())
    return claim.noted(" ".join([*told, why]))


def _text(runs: Runs[Point], id: str, family: Family) -> Iterator[Claim]:
    table, burst = cells(id, family), TABLES[id][0]
    ratios = runs.ratios(table)
    if not ratios:
        return
    sheet = SHEET.told(figure=id, burst=burst, **family.told)
    new_reno, sack = ({p: x for (of, p), x in ratios.items() if of == kind} for kind in KINDS)
    middle = between(new_reno, 10**-2.55, 10**-0.95)
    yield sheet.judge("new-reno-better" if burst == 5 else "new-reno-worse", middle)
    beside = {p: runs.ratio(table["sack", p][0], table["new-reno", p][0]) for p in sack}
    over = {("reno", p): x for p, x in sack.items()}
    over |= {("new-reno", p): x for p, x in beside.items() if known(x)}
    told = listed(sack, _FORM), listed(beside, "{value:.3f}")
    yield sheet.judge("sack-best", over, reno=told[0], new_reno=told[1])


def check_point(sender: str, p: float) -> Point:
    """Give the point of a check value."""
    return table_point(5, p, PROTOTYPE_SENDERS[sender])


def prototype_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether the two simulators agree, for each value of the prototype that we have run."""
    for (sender, p), value in PROTOTYPE.items():
        mean, power = runs.mean(check_point(sender, p)), math.log10(p)
        if known(mean):
            sheet = SHEET.told(slug=slug_of(sender), sender=sender, power=power, value=value)
            note = _CORRECTION.get((sender, round(power, 1)), "")
            yield sheet.judge("check", mean, note, published=value)
