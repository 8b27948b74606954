"""What section V.B says of the implementations: figure 11, tables I and II; and check values."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, ends, known
from lightburst.papers.curves import Curve, between, crossing, from_one, in_ms, listed, smallest
from lightburst.papers.figure import Figure, Listing
from lightburst.papers.sheet import slug
from lightburst.papers.yu2004 import design
from lightburst.papers.yu2004.points import PAPER_TIME_S, Point
from lightburst.papers.yu2004.published import PROTOTYPE, SHEET, TOLERANCE, ratio_of
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NS2, RFC
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.senders import Family, Sender

#: S and the number of each table.
TABLES: Final = {"table1": (5, "I"), "table2": (25, "II")}
#: What is compared with Reno.
KINDS: Final = {"new-reno": "New-Reno", "sack": "SACK"}
# Times on the grid are powers of ten; a little room decides on which side of a limit they are.
_ROOM: Final = 1.01
_FORM: Final = "{value:.3f} at p = {at:.2g}"


def _line(sender: Sender) -> dict[float, Point]:
    """Give the points of a sender in figure 11, by assembly time."""
    return design.over_time(design.CROSSING_LOSS, design.CROSSING_TIMES, sender)


def crossing_figure(runs: Runs[Point], version: str) -> Figure:
    """Draw up figure 11: the three implementations over the assembly time, of each family run."""
    curves = {
        (NAMES[sender], family.name): curve
        for family in FAMILIES
        for sender in family.senders
        if (curve := runs.means(_line(sender)))
    }
    words = f"{_families(curves)} Bars: 95 % interval of the mean."
    return Figure.of(
        curves,
        id="fig11",
        title=f"Figure 11: throughput at p = {design.CROSSING_LOSS:g}, access bandwidth 125 MB/s",
        caption=design.caption(runs, design.crossing_points(quick=False), words, version),
        x_label=design.TIME_LABEL,
        y_label=design.RATE_LABEL,
        colours=tuple(NAMES[sender] for sender in reversed(NS2.senders)),
        legends=("Implementation", "Family"),
    )


def _families(curves: Iterable[tuple[str, str]]) -> str:
    """Say what the senders of a figure are, by the words of its second legend."""
    shown = {name for _, name in curves}
    return " ".join(family.words for family in FAMILIES if family.name in shown)


def crossing_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what the paper says of figure 11, for each family of senders that was run."""

    def over(top: Sender, bottom: Sender) -> Curve:
        """Compare two senders at each assembly time that both were run at."""
        below = _line(bottom)
        return runs.ratios({time: (point, below[time]) for time, point in _line(top).items()})

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


def cells(id: str, family: Family) -> dict[tuple[str, float], tuple[Point, Point]]:
    """Give the points of a table for one family: New-Reno and SACK, each beside Reno.

    By ``"new-reno"`` or ``"sack"`` and the loss rate.
    """
    (burst, _), (reno, *others) = TABLES[id], family.senders
    return {
        (kind, p): (design.table_point(burst, p, sender), design.table_point(burst, p, reno))
        for kind, sender in zip(KINDS, others, strict=True)
        for p in design.TABLE_LOSSES
    }


def table_figure(id: str, runs: Runs[Point], version: str) -> Figure:
    """Draw table I or II: the published ratios beside ours over the loss rate."""
    burst, number = TABLES[id]
    points: list[Point] = []
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    for kind, p in cells(id, NS2):
        printed, rounding = ratio_of(burst, p, kind)
        band = Interval(printed, printed - rounding, printed + rounding, 0)
        curves.setdefault((f"{KINDS[kind]} over Reno", "published"), {})[p] = band
    for family in FAMILIES:
        table = cells(id, family)
        for (kind, p), ratio in runs.ratios(table).items():
            points += table[kind, p]
            curves.setdefault((f"{KINDS[kind]} over Reno", family.name), {})[p] = ratio
    words = f"{_families(curves)} Bars: rounding of the published ratios, 95 % interval of ours."
    return Figure.of(
        curves,
        id=id,
        title=f"Table {number}: throughput over that of Reno, S = {burst}, 125 kB/s",
        caption=design.caption(runs, points, words, version),
        x_label=design.LOSS_LABEL,
        y_label="Ratio of throughputs",
        reference=((1.0, "as much as Reno"),),
        legends=("Ratio", "Source"),
        y_zero=False,
        published=("published",),
    )


def table_listing(id: str, runs: Runs[Point]) -> Listing:
    """Write table I or II, the published ratios beside ours with their intervals."""
    burst, number = TABLES[id]
    own, rfc = cells(id, NS2), cells(id, RFC)
    ours, standard = runs.ratios(own), runs.ratios(rfc)
    points = [*(x for at in ours for x in own[at]), *(x for at in standard for x in rfc[at])]
    rows = [
        {
            "ratio": f"{KINDS[kind].replace('-', '')}/Reno",
            "log10 p": round(math.log10(p), 2),
            "published": ratio_of(burst, p, kind)[0],
            "measured": round(ratio.estimate, 3),
            **ends(ratio, 3),
            "RFC senders": round(standard.get((kind, p), UNKNOWN).estimate, 3),
            "Reno (segments/s)": round(runs.mean(own[kind, p][1]).estimate, 2),
        }
        for (kind, p), ratio in ours.items()
    ]
    return Listing(
        id,
        f"Table {number}: throughput over that of Reno, S = {burst}",
        f"Access bandwidth 125 kB/s, W_m = 50, b = 1, minimum timeout 0.2 s. {NS2.words} "
        f"{RFC.words + ' ' if standard else ''}{design.lengths(runs, points)}".strip(),
        pd.DataFrame(rows),
    )


def claims(id: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what is said of table I or II, and with it the check values."""
    yield from table_claims(id, runs)
    yield from prototype_claims(runs) if id == "table1" else ()


def table_claims(id: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge each cell of table I or II, and what the text says of it for each family of senders."""
    for (kind, p), ratio in runs.ratios(cells(id, NS2)).items():
        yield _cell(runs, id, kind, p, ratio)
    for family in FAMILIES:
        yield from _text(runs, id, family)


def _cell(runs: Runs[Point], id: str, kind: str, p: float, ratio: Interval) -> Claim:
    (burst, number), (top, bottom) = TABLES[id], cells(id, NS2)[kind, p]
    published, rounding = ratio_of(burst, p, kind)
    # As long as the paper ran them; whether its runs had losses in common is not known.
    chance = runs.chance(top, bottom, PAPER_TIME_S)
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
        keys = f"differs S{burst} p{power:g}", f"differs p{power:g}", "differs"
        why = SHEET.note("table-cell", *keys)
    elif claim.verdict is Verdict.HOLDS and not (
        ratio.low <= published + rounding and ratio.high >= published - rounding
    ):
        why = SHEET.note("table-cell", "outside")
    if ratio.low == ratio.high:
        why = SHEET.note("table-cell", "same") + why
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
    return design.table_point(5, p, design.PROTOTYPE_SENDERS[sender])


def prototype_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether the two simulators agree, for each value of the prototype that we have run."""
    for (sender, p), value in PROTOTYPE.items():
        mean, power = runs.mean(check_point(sender, p)), math.log10(p)
        if known(mean):
            sheet = SHEET.told(slug=slug(sender), sender=sender, power=power, value=value)
            note = sheet.note("check", f"{sender} p{round(power, 1):g}")
            yield sheet.judge("check", mean, note, published=value)
