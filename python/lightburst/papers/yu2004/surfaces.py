"""Figures 5 to 7: SACK over assembly time and loss rate, with the claims of section V.A."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from lightburst.models.yu2004 import ABOUT, level_until, surface_ranges, written
from lightburst.papers.claims import UNKNOWN, Claim, exact
from lightburst.papers.curves import every, largest, listed, peak
from lightburst.papers.design import decades
from lightburst.papers.figure import Listing
from lightburst.papers.overlay import Beside, curves, maps
from lightburst.papers.yu2004 import design
from lightburst.papers.yu2004.design import OPTIMUM_LOSS, SURFACES
from lightburst.papers.yu2004.points import Point, carried, rate_name, throughput
from lightburst.papers.yu2004.published import SHEET, TOLERANCE
from lightburst.papers.yu2004.senders import FAMILIES, SACK_WORDS
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.runs import Runs

# Section V.A, figure 5: "no obvious LRI range ... for a given T_b"; figure 7 has one.
_LRI_TIME_S: Final = 10**0.5
#: SACK of each family of senders.
_SACKS: Final = ("Sack1 of ns-2", "RFC 6675")
_OPTIMA: Final = ((0.003, 9.0), (0.1, 2.7))

# Points at one loss rate by assembly time, and such lines by loss rate.
Line = dict[float, Point]
Plane = dict[float, Line]


def _points(id: str, runs: Runs[Point]) -> list[Point]:
    """List the points of the figure's grid that were run."""
    access = SURFACES[id]
    points = (Point(access, time, p) for time in design.TIMES[access] for p in design.LOSSES)
    return [point for point in points if point in runs]


def _places(id: str, runs: Runs[Point]) -> list[Beside]:
    """Compute theory and simulation at each of these points."""
    points = _points(id, runs)
    closed = throughput(points).tolist()
    return [Beside(x.time, x.p, runs.mean(x), y) for x, y in zip(points, closed, strict=True)]


def figures(id: str, runs: Runs[Point], version: str) -> Iterator[AnyFigure]:
    """Build figure 5, 6 or 7: maps of simulation, theory and their difference; then curves."""
    access, places = SURFACES[id], _places(id, runs)
    words = f"{SACK_WORDS} Theory: equations (26) and (28), corrected, nothing clipped."
    if id == "fig7":
        words += " Its round trip is the paper's, 18 s at p = 0.003 and 5.4 s at 0.1."
    told = design.caption(runs, _points(id, runs), words, version)
    named = {
        "title": f"Figure {id[-1]}: throughput of SACK, access bandwidth {rate_name(access)}",
        "x_label": design.TIME_LABEL,
    }
    yield maps(places, "segments/s", told, id=id, y_label=design.LOSS_LABEL, **named)
    yield curves(
        places,
        "p = {:.2g}".format,
        id=f"{id}-curves",
        caption=f"{told} Bars: 95 % interval of the mean.",
        y_label=design.RATE_LABEL,
        legends=("Loss", "Source"),
        **named,
    )


def tables(id: str, runs: Runs[Point]) -> Iterator[Listing]:
    """List the ranges of section IV.E: ATO and ATI per loss rate, LRI per assembly time."""
    rows = [(x, p, mean.estimate, theory) for x, p, mean, theory in _places(id, runs)]
    sources = ("simulation", "theory")
    rates = pd.DataFrame(rows, columns=["time", "p", *sources])
    # Points of the grid that were not run become NaN.
    planes = {source: rates.pivot_table(source, "p", "time") for source in sources}
    found = {name: surface_ranges(x.index, x.columns, x) for name, x in planes.items()}
    losses, times = planes["theory"].index, planes["theory"].columns
    ranges = [
        {"range": kind, "at": at.format(value)}
        | {source: written(getattr(ranges, name)[place]) for source, ranges in found.items()}
        for kind, name, at, values in (
            ("ATO", "optimal", "p = {:.3g}", losses),
            ("ATI", "insensitive", "p = {:.3g}", losses),
            ("LRI", "loss_insensitive", "T_b = {:.3g} s", times),
        )
        for place, value in enumerate(values)
    ]
    yield Listing(
        f"{id}-ranges",
        f"Figure {id[-1]}: ranges of section IV.E, access bandwidth {rate_name(SURFACES[id])}",
        f"On the grid of the figure, of the means. ATO and ATI: assembly times (s) at which the "
        f"throughput is more than {1 + ABOUT:g} times that at the shortest one, and within "
        f"{ABOUT:.0%} of it. LRI: loss rates at which it is within {ABOUT:.0%} of that at the "
        "smallest one.",
        pd.DataFrame(ranges),
    )


def claims(id: str, runs: Runs[Point]) -> list[Claim]:
    """Judge the paper's claims about figure 5, 6 or 7."""
    plane: Plane = {}
    for point in _points(id, runs):
        plane.setdefault(point.p, {})[point.time] = point
    judges = {"fig5": _at_125_megabytes, "fig6": _at_500_kilobytes, "fig7": _at_1250_bytes}
    return [*judges[id](runs, plane), *_match(runs, id)]


def _at_125_megabytes(runs: Runs[Point], plane: Plane) -> Iterator[Claim]:
    line = plane.get(OPTIMUM_LOSS, {})
    whole = {time: line[time] for time in decades(-6, 0, 1) if time in line}
    told = listed(runs.means(whole), "{value:.4g} at {at:.0e} s")
    at = whole.pop(1e-3, None)
    ratio = runs.ratio(at, runs.best(whole.values())) if at and whole else UNKNOWN
    sheet = SHEET.told(**FAMILIES[0].told, sender=_SACKS[0])
    yield sheet.judge("optimum-decade", ratio, decades=told)
    yield from _fine(runs)
    gains = {p: largest(_gains(runs, x).values()) for p, x in plane.items() if len(x) > 1}
    told = listed(gains, "{value:.3g} at p = {at:.2g}")
    yield SHEET.judge("ato-125MB", gains.get(OPTIMUM_LOSS, UNKNOWN), gains=told)
    ratios = {
        f"p = {less:.2g} over {more:.2g}, T_b = {time:.2g} s": ratio
        for more, less in itertools.pairwise(sorted(plane, reverse=True))
        for time, ratio in runs.over(plane[less], plane[more]).items()
    }
    usual = sum(ratio.low >= 1 for ratio in ratios.values())
    yield SHEET.judge("no-lri-125MB", ratios, usual=usual, pairs=len(ratios))


def _gains(runs: Runs[Point], line: Line) -> dict[float, Interval]:
    """Compute ratios to the shortest assembly time of a line, where a burst is one packet."""
    packet, *others = sorted(line)
    return runs.over({time: line[time] for time in others}, dict.fromkeys(others, line[packet]))


def _fine(runs: Runs[Point]) -> Iterator[Claim]:
    for family, name in zip(FAMILIES, _SACKS, strict=True):
        line = design.over_time(OPTIMUM_LOSS, design.FINE_TIMES, family.senders[-1])
        means = runs.means(line)
        if not means:
            continue
        place = peak(means, TOLERANCE["visibly_more"])
        top = line[place.estimate]
        at, late = (runs.ratio(top._replace(time=x), top) for x in (1e-3, design.EQUATION_32_S))
        sheet = SHEET.told(
            **family.told,
            sender=name,
            times=len(means),
            highest=means[top.time].estimate,
            ms=top.time * 1e3,
            burst=top.segments_per_burst,
            share=at.estimate,
        )
        yield sheet.judge("optimum-fine", place)
        yield sheet.judge("optimum-equation-32", late)


def _at_500_kilobytes(runs: Runs[Point], plane: Plane) -> Iterator[Claim]:
    notes, errors = [], []
    for p, line in plane.items():
        points = list(line.values())
        ours, theirs = runs.best(points), points[int(np.argmax(throughput(points)))]
        errors.append(math.log10(theirs.time / ours.time))
        notes.append(f"{ours.time:.2g} and {theirs.time:.2g} s at p = {p:.2g}")
    worst = max(errors, key=abs, default=math.nan)
    yield SHEET.judge("same-optimum-500kB", exact(worst), optima="; ".join(notes))


def _at_1250_bytes(runs: Runs[Point], plane: Plane) -> Iterator[Claim]:
    gains = every({p: _gains(runs, line) for p, line in plane.items()})
    yield SHEET.judge("no-ato-1250B", gains)
    ends = {p: _until(runs, line) for p, line in plane.items()}
    yield SHEET.judge("ati-1250B", {p: exact(end) for p, end in ends.items()})
    for p, time in _OPTIMA:
        for at in (other for other in plane if 1 / 1.1 < other / p < 1.1):
            beyond = min((t for t in plane[at] if t > ends[at]), default=math.inf)
            edge = Interval(ends[at], ends[at], beyond, len(plane[at]))
            words = {"p": p, "time": time, "taken": at}
            yield SHEET.told(**words).judge("ati-edge-1250B", edge, published=time)
    rising = [ends[p] for p in sorted(ends)]
    steps = (math.log10(after / before) for before, after in itertools.pairwise(rising))
    told = ", ".join(f"{end:.3g} s" for end in rising)
    yield SHEET.judge("ati-wider-1250B", exact(max(steps, default=math.nan)), ends=told)
    low, high = min(plane, default=math.nan), max(plane, default=math.nan)
    short = {time: x for time, x in plane.get(high, {}).items() if time < _LRI_TIME_S * 0.99}
    found = runs.over(short, plane.get(low, {}))
    reach = {time: _until(runs, {p: plane[p][time] for p in plane}) for time in found}
    told = listed(reach, "{value:.2g} at T_b = {at:.2g} s")
    worst = min(found, key=lambda time: found[time].estimate, default=None)
    idle = "" if worst is None else _idle(runs, plane[low][worst], plane[high][worst])
    sheet = SHEET.told(most=high, least=low, about=ABOUT, reach=told)
    yield sheet.judge("lri-1250B", found, idle=idle)


def _until(runs: Runs[Point], line: Line) -> float:
    """Find the end of the ATI range of a loss rate, or of the LRI range of an assembly time."""
    return level_until(sorted(line), [runs.mean(line[at]).estimate for at in sorted(line)])


def _idle(runs: Runs[Point], low: Point, high: Point) -> str:
    """Describe the cause of the low throughput at the highest loss, compared with the lowest."""
    (calm, _), (busy, again) = (carried(runs, point) for point in (low, high))
    timeouts = runs.total(high, "timeouts")
    if not (busy < 1 - ABOUT and timeouts > 0):
        return ""
    return SHEET.note(
        "lri-1250B", "idle", low=low, high=high, calm=calm, busy=busy, again=again / busy,
        each=runs.total(high, "makespan_s") / timeouts,
    )  # fmt: skip


def _match(runs: Runs[Point], id: str) -> Iterator[Claim]:
    places = _places(id, runs)
    if not places:
        return
    errors = np.array([abs(np.log2(theory / mean.estimate)) for *_, mean, theory in places])
    sheet = SHEET.told(
        figure=id,
        access=rate_name(SURFACES[id]),
        place=places[int(np.argmax(errors))],
        worst=2 ** float(errors.max()),
        usual=np.mean(errors <= math.log2(TOLERANCE["match"])),
        number=len(places),
    )
    yield sheet.judge("match", exact(2 ** float(np.median(errors))))
    yield sheet.judge("match-worst", exact(2 ** float(errors.max())))
