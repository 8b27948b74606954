"""Section V.B on the implementations: figure 11, tables I and II, and check values."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, ends, known
from lightburst.papers.curves import between, crossing, every, from_one, in_ms, listed, smallest
from lightburst.papers.figure import Figure, Listing
from lightburst.papers.sheet import meets, slug
from lightburst.papers.yu2004 import design
from lightburst.papers.yu2004.design import BURST_OF, line
from lightburst.papers.yu2004.points import Point
from lightburst.papers.yu2004.published import PROTOTYPE, RATIOS, SHEET, TOLERANCE
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NS2, RENO, RFC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.curves import Curve
    from lightburst.papers.runs import Runs
    from lightburst.papers.yu2004.senders import Family
    from lightburst.study.statistics import Interval

_NUMBERS: Final = {"table1": "I", "table2": "II"}
#: Implementations compared with Reno.
KINDS: Final = {"new-reno": "New-Reno", "sack": "SACK"}
# Relative tolerance of a limit on the time axis, because grid times are rounded powers of ten.
_ROOM: Final = 1.01


def _over_reno(runs: Runs[Point], id: str) -> dict[Family, dict[str, Curve]]:
    """Compute ratios to Reno in figure 11 or a table, for each family that was run."""
    found = {}
    for family in FAMILIES:
        reno, *others = (line(id, sender) for sender in family.senders)
        found[family] = {kind: runs.over(x, reno) for kind, x in zip(KINDS, others, strict=True)}
    return {family: curves for family, curves in found.items() if any(curves.values())}


def _points(id: str) -> list[Point]:
    return [point for sender in NAMES for point in line(id, sender).values()]


def crossing_figures(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build figure 11: three implementations over the assembly time, for each family."""
    families = " ".join(family.words for family in _over_reno(runs, "fig11"))
    words = f"{families} Bars: 95 % interval of the mean."
    yield Figure.of(
        {
            (NAMES[sender], family.name): runs.means(line("fig11", sender))
            for family in FAMILIES
            for sender in family.senders
        },
        id="fig11",
        title=f"Figure 11: throughput at p = {design.CROSSING_LOSS:g}, access bandwidth 125 MB/s",
        caption=design.caption(runs, _points("fig11"), words, version),
        x_label=design.TIME_LABEL,
        y_label=design.RATE_LABEL,
        colours=tuple(NAMES[sender] for sender in reversed(NS2.senders)),
        legends=("Implementation", "Family"),
    )


def crossing_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the paper's claims about figure 11, for each family of senders that was run."""
    for family, over_reno in _over_reno(runs, "fig11").items():
        sheet, curve = SHEET.told(**family.told), over_reno["new-reno"]
        if not curve:
            continue
        lines = [line("fig11", sender) for sender in family.senders]
        late = {
            (time * 1e3, place): from_one(ratio)
            for place, pair in enumerate(itertools.combinations(lines, 2))
            for time, ratio in between(runs.over(*pair), 1e-3 * _ROOM).items()
        }
        yield sheet.judge("fig11-same-above-1ms", late)
        pair = over_reno["sack"], runs.over(lines[2], lines[1])
        above, beside = (between(x, high=1e-3 / _ROOM) for x in pair)
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


def figures(id: str, runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build the figure of table I or II: published and measured ratios over the loss rate."""
    burst, found = BURST_OF[id], _over_reno(runs, id)
    sources = {"published": RATIOS[burst]} | {family.name: x for family, x in found.items()}
    families = " ".join(family.words for family in found)
    words = f"{families} Bars: rounding of the published ratios, 95 % interval of ours."
    yield Figure.of(
        {
            (f"{KINDS[kind]} over Reno", source): curve
            for source, curves in sources.items()
            for kind, curve in curves.items()
        },
        id=id,
        title=f"Table {_NUMBERS[id]}: throughput over that of Reno, S = {burst}, 125 kB/s",
        caption=design.caption(runs, _points(id), words, version),
        x_label=design.LOSS_LABEL,
        y_label="Ratio of throughputs",
        reference=((1.0, "as much as Reno"),),
        legends=("Ratio", "Source"),
        y_zero=False,
        published=("published",),
    )


def tables(id: str, runs: Runs[Point]) -> Iterator[Listing]:
    """Build table I or II: published ratios beside ours with their intervals."""
    burst, found, reno = BURST_OF[id], _over_reno(runs, id), line(id, RENO)
    standard = found.get(RFC, {})
    rows = [
        {
            "ratio": f"{KINDS[kind].replace('-', '')}/Reno",
            "log10 p": round(math.log10(p), 2),
            "published": RATIOS[burst][kind][p].estimate,
            "measured": round(ratio.estimate, 3),
            **ends(ratio, 3),
            "RFC senders": round(standard.get(kind, {}).get(p, UNKNOWN).estimate, 3),
            "Reno (segments/s)": round(runs.mean(reno[p]).estimate, 2),
        }
        for kind, curve in found.get(NS2, {}).items()
        for p, ratio in curve.items()
    ]
    families = " ".join(family.words for family in found)
    yield Listing(
        id,
        f"Table {_NUMBERS[id]}: throughput over that of Reno, S = {burst}",
        f"Access bandwidth 125 kB/s, W_m = 50, b = 1, minimum timeout 0.2 s. {families} "
        f"{design.lengths(runs, _points(id))}".strip(),
        pd.DataFrame(rows),
    )


def claims(id: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the claims about table I or II, and with table I the check values."""
    yield from table_claims(id, runs)
    yield from prototype_claims(runs) if id == "table1" else ()


def table_claims(id: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge each cell of table I or II, and for each family of senders the claims of the text."""
    burst, found = BURST_OF[id], _over_reno(runs, id)
    standard = found.get(RFC, {})
    for kind, curve in found.get(NS2, {}).items():
        for p, ratio in curve.items():
            yield _cell(runs, id, kind, p, ratio, standard.get(kind, {}).get(p, UNKNOWN))
    for family, over_reno in found.items():
        sheet = SHEET.told(figure=id, burst=burst, **family.told)
        middle = between(over_reno["new-reno"], 10**-2.55, 10**-0.95)
        yield sheet.judge("new-reno-better" if burst == 5 else "new-reno-worse", middle)
        _, new_reno, sack = (line(id, sender) for sender in family.senders)
        both = {"reno": over_reno["sack"], "new-reno": runs.over(sack, new_reno)}
        reno = listed(both["reno"], "{value:.3f} at p = {at:.2g}")
        beside = listed(both["new-reno"], "{value:.3f}")
        yield sheet.judge("sack-best", every(both), reno=reno, new_reno=beside)


def _cell(runs: Runs[Point], id: str, kind: str, p: float, ratio: Interval, rfc: Interval) -> Claim:
    burst, printed = BURST_OF[id], RATIOS[BURST_OF[id]][kind][p]
    sender = NS2.senders[1 + list(KINDS).index(kind)]
    top, bottom = (design.table_point(burst, p, x) for x in (sender, RENO))
    # Random deviation for runs of the paper's length. `chance` assumes that runs of different
    # senders had independent losses, which the paper does not state.
    chance = runs.chance(top, bottom, design.PAPER_TIME_S)
    low, high = printed.low * math.exp(-chance), printed.high * math.exp(chance)
    fine = max(TOLERANCE["check"], math.log(high / low) / 2)
    outside = meets(ratio, printed.low, printed.high) is Verdict.DIFFERS
    power = round(math.log10(p), 1)
    claim = SHEET.judge(
        "table-cell", ratio, bound=(low, high, fine), published=printed.estimate, figure=id,
        number=_NUMBERS[id], kind=kind, name=KINDS[kind], burst=burst, power=power, chance=chance,
        fine=fine,
    )  # fmt: skip
    why = SHEET.note("table-cell", "same") if ratio.low == ratio.high else ""
    if claim.verdict is Verdict.DIFFERS:
        keys = f"differs S{burst} p{power:g}", f"differs p{power:g}", "differs"
        why += SHEET.note("table-cell", *keys)
    elif claim.verdict is Verdict.HOLDS and outside:
        why += SHEET.note("table-cell", "outside")
    beside = {
        "senders of the RFCs": rfc,
        "Reno without bug_fix": runs.ratio(top, bottom._replace(bug_fix=False)),
    }
    told = [f"With {name}: {x.estimate:.3f}." for name, x in beside.items() if known(x)]
    return claim.noted(" ".join([*told, why]))


def prototype_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether the simulators agree, for each value of the prototype that was run."""
    for sender, point, value in PROTOTYPE:
        mean, power = runs.mean(point), math.log10(point.p)
        if known(mean):
            sheet = SHEET.told(slug=slug(sender), sender=sender, power=power, value=value)
            note = sheet.note("check", f"{sender} p{round(power, 1):g}")
            yield sheet.judge("check", mean, note, published=value)
