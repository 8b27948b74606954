"""What section V.A says of figures 5 to 7, judged on our runs."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.models.yu2004.ranges import (
    ABOUT,
    assembly_time_insensitive,
    intervals,
    loss_rate_insensitive,
)
from lightburst.papers.claims import UNKNOWN, Claim, exact, known, largest, listed, smallest
from lightburst.papers.yu2004.figures import SURFACES, grid_of, rate_name
from lightburst.papers.yu2004.grids import EQUATION_32_S, OPTIMUM_LOSS, optimum_points
from lightburst.papers.yu2004.points import (
    HIGH,
    LOW,
    PAYLOAD_BITS,
    RFC_SACK,
    SACK,
    SEGMENT_BYTES,
    Point,
)
from lightburst.papers.yu2004.published import FAMILIES, SHEET, TOLERANCE
from lightburst.papers.yu2004.theory import throughput
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

# "No obvious LRI range ... for a given T_b", section V.A, figure 5, and its opposite for figure 7.
_LRI_TIME_S: Final = 10**0.5
_OPTIMA: Final = ((0.003, 9.0), (0.1, 2.7))

Line = dict[float, Point]


def surface_claims(id: str, runs: Runs) -> list[Claim]:
    """Judge what the paper says of figure 5, 6 or 7."""
    if id == "fig5":
        found = [*_best_time(runs), _range_exists(runs), _more_loss(runs)]
    elif id == "fig6":
        found = [_same_optimum(runs)]
    else:
        table = lines(runs, LOW)
        ends = {p: insensitive_until(runs, line) for p, line in table.items()}
        found = [
            _no_optimum(runs, table),
            *_insensitive(table, ends),
            _wider(ends),
            _loss_insensitive(runs, table),
        ]
    return [*found, *_match(runs, id)]


def lines(runs: Runs, access: float) -> dict[float, Line]:
    """Sort the points of a surface into lines of one loss rate, by assembly time."""
    found: dict[float, Line] = {}
    for point in grid_of(runs, access):
        found.setdefault(point.p, {})[point.time] = point
    return found


def over_packets(runs: Runs, line: Line) -> dict[float, Interval]:
    """Compare a line with its shortest assembly time, at which a burst is a packet."""
    packet = line[min(line)]
    return {time: runs.ratio(point, packet) for time, point in line.items() if point != packet}


def best(runs: Runs, points: Iterable[Point]) -> Point:
    """Find the point with the highest mean."""
    return max(points, key=lambda point: runs.mean(point).estimate)


def _best_time(runs: Runs) -> Iterator[Claim]:
    decades = [p for p in grid_of(runs, HIGH) if p.p == OPTIMUM_LOSS and _is_decade(p.time)]
    at, others = Point(HIGH, 1e-3, OPTIMUM_LOSS), [p for p in decades if p.time != 1e-3]
    ratio = runs.ratio(at, best(runs, others)) if others else UNKNOWN
    told = listed({p.time: runs.mean(p) for p in decades}, "{value:.4g} at {at:.0e} s")
    yield SHEET.judge("optimum-decade", ratio, f"Segments/s: {told}.")
    yield from _fine(runs, SACK, "Sack1 of ns-2", *FAMILIES[0][1:])
    yield from _fine(runs, RFC_SACK, "RFC 6675", *FAMILIES[1][1:])


def _fine(runs: Runs, sender: Sender, name: str, suffix: str, source: str) -> Iterator[Claim]:
    points = [p for p in optimum_points(quick=False) if p.by(sender) == p and p in runs]
    points = [p for p in points if p.time != EQUATION_32_S]
    if not points:
        return
    top = best(runs, points)
    # Not to be told from the best: their means are nearer than two means can be told apart.
    apart = TOLERANCE["visibly_more"]
    alike = [p.time for p in points if runs.mean(p).estimate * apart >= runs.mean(top).estimate]
    place = Interval(top.time, min(alike), max(alike), len(points))
    beside = (Point(HIGH, time, OPTIMUM_LOSS).by(sender) for time in (1e-3, EQUATION_32_S))
    at, late = (runs.ratio(point, top) for point in beside)
    peak = f"Highest: {runs.mean(top).estimate:.4g} segments/s at {top.time * 1e3:.3g} ms"
    peak += f", where S is {top.segments_per_burst:.3g}."
    note = f"{peak} At 1 ms: {at.estimate:.3f} of it."
    sheet = SHEET.told(suffix=suffix, sender=name, source=source, times=len(points))
    yield sheet.judge("optimum-fine", place, note)
    note = (
        f"{peak} From S = W_m on (T_b = 0.39 ms) a longer assembly only delays; the printed (32) "
        "adds seconds to segments and knows no limit of S."
    )
    yield sheet.judge("optimum-equation-32", late, note)


def _range_exists(runs: Runs) -> Claim:
    gains = {
        p: largest(over_packets(runs, line).values())
        for p, line in lines(runs, HIGH).items()
        if len(line) > 1
    }
    note = f"By loss rate: {listed(gains, '{value:.3g} at p = {at:.2g}')}."
    return SHEET.judge("ato-125MB", gains.get(OPTIMUM_LOSS, UNKNOWN), note)


def _more_loss(runs: Runs) -> Claim:
    table = lines(runs, HIGH)
    ratios = {
        f"p = {less:.2g} over {more:.2g}, T_b = {time:.2g} s": runs.ratio(
            table[less][time], table[more][time]
        )
        for more, less in itertools.pairwise(sorted(table, reverse=True))
        for time in table[less]
        if time in table[more]
    }
    worst = smallest(ratio for ratio in ratios.values() if known(ratio))
    where = next((place for place, ratio in ratios.items() if ratio is worst), "")
    usual = sum(ratio.low >= 1 for ratio in ratios.values())
    note = f"Smallest at {where}. Certainly larger at {usual} of {len(ratios)} pairs."
    return SHEET.judge("no-lri-125MB", worst, note)


def _same_optimum(runs: Runs) -> Claim:
    notes, errors = [], []
    for p, line in lines(runs, SURFACES["fig6"]).items():
        points = list(line.values())
        ours, theirs = best(runs, points), points[int(np.argmax(throughput(points)))]
        errors.append(math.log10(theirs.time / ours.time))
        notes.append(f"{ours.time:.2g} and {theirs.time:.2g} s at p = {p:.2g}")
    note = (
        f"Simulation and theory: {'; '.join(notes)}. Where the loss is small, all short assembly "
        "times carry a full window and the highest of them is chance."
    )
    worst = max(errors, key=abs, default=math.nan)
    return SHEET.judge("same-optimum-500kB", exact(worst), note)


def _no_optimum(runs: Runs, table: dict[float, Line]) -> Claim:
    gains = [
        (ratio, p, time)
        for p, line in table.items()
        for time, ratio in over_packets(runs, line).items()
    ]
    most, p, time = max(gains, key=lambda gain: gain[0].estimate, default=(UNKNOWN, 0.0, 0.0))
    return SHEET.judge("no-ato-1250B", most, f"Largest at p = {p:.2g}, T_b = {time:.2g} s.")


def insensitive_until(runs: Runs, line: Line) -> float:
    """Find where the ATI range of section IV.E that begins at the shortest assembly time ends."""
    times = sorted(line)
    means = [runs.mean(line[time]).estimate for time in times]
    return intervals(times, assembly_time_insensitive(means, means[0]))[0][1]


def _insensitive(table: dict[float, Line], ends: dict[float, float]) -> Iterator[Claim]:
    told = listed(ends, "{value:.3g} s at p = {at:.2g}")
    longest = max(ends.values(), default=math.nan)
    yield SHEET.judge("ati-1250B", exact(longest), f"It ends at {told}.")
    step = TOLERANCE["half_decade"]
    for p, time in _OPTIMA:
        for at in (other for other in table if 1 / 1.1 < other / p < 1.1):
            beyond = min((t for t in table[at] if t > ends[at]), default=math.inf)
            yield SHEET.told(p=p, time=time).judge(
                "ati-edge-1250B",
                Interval(ends[at], ends[at], beyond, len(table[at])),
                f"Taken at p = {at:.2g}, with the round trip of the paper; ours is shorter at high "
                "loss.",
                bound=(time / step, time * step),
                published=time,
            )


def _wider(ends: dict[float, float]) -> Claim:
    rising = [ends[p] for p in sorted(ends)]
    steps = (math.log10(after / before) for before, after in itertools.pairwise(rising))
    note = f"From the lowest loss rate on: {', '.join(f'{end:.3g} s' for end in rising)}."
    return SHEET.judge("ati-wider-1250B", exact(max(steps, default=math.nan)), note)


def _loss_insensitive(runs: Runs, table: dict[float, Line]) -> Claim:
    low, high = min(table, default=math.nan), max(table, default=math.nan)
    found = {
        time: runs.ratio(table[high][time], table[low][time])
        for time in table.get(low, {})
        if time < _LRI_TIME_S * 0.99 and time in table[high]
    }
    reach = {}
    for time in found:
        means = [runs.mean(table[p][time]).estimate for p in sorted(table)]
        reach[time] = intervals(sorted(table), loss_rate_insensitive(means, means[0]))[0][1]
    note = (
        f"Within {ABOUT:.0%} of the throughput at the lowest loss up to p = "
        f"{listed(reach, '{value:.2g} at T_b = {at:.2g} s')}.{_idle(runs, table, found)}"
    )
    return SHEET.told(most=high, least=low).judge("lri-1250B", smallest(found.values()), note)


def _idle(runs: Runs, table: dict[float, Line], found: dict[float, Interval]) -> str:
    """Say what limits the throughput at the highest loss, where the ratio is smallest."""
    time = min(found, key=lambda time: found[time].estimate, default=None)
    if time is None:
        return ""
    low, high = table[min(table)][time], table[max(table)][time]
    busy, calm = _busy(runs, high), _busy(runs, low)
    timeouts = runs.total(high, "timeouts")
    if not (busy < 1 - ABOUT and timeouts > 0):
        return ""
    again = runs.total(high, "retransmissions") / busy / _full(runs, high)
    return (
        f" At T_b = {time:.2g} s the access link is what limits at p = {low.p:.2g}, where it is "
        f"busy {calm:.0%} of the time, and not at p = {high.p:.2g}: busy {busy:.0%} of the time, "
        f"{again:.0%} of it with what is sent again, with a timeout each "
        f"{runs.simulated_s[high] / timeouts:.3g} s."
    )


def _full(runs: Runs, point: Point) -> float:
    """Count the segments that the access link could have carried."""
    return runs.simulated_s[point] * point.access / SEGMENT_BYTES


def _busy(runs: Runs, point: Point) -> float:
    """Give the share of the time in which the source sent; NaN where it is not known."""
    sent = 8 * runs.total(point, "delivered_bytes") / PAYLOAD_BITS
    return (sent + runs.total(point, "retransmissions")) / _full(runs, point)


def _match(runs: Runs, id: str) -> Iterator[Claim]:
    points = grid_of(runs, SURFACES[id])
    if not points:
        return
    measured = np.array([runs.mean(point).estimate for point in points])
    errors = np.abs(np.log2(throughput(points) / measured))
    place = points[int(np.argmax(errors))]
    worst, middle = float(errors.max()), float(np.median(errors))
    usual = np.mean(errors <= math.log2(TOLERANCE["match"]))
    note = (
        f"Farthest at p = {place.p:.2g}, T_b = {place.time:.2g} s, a factor of {2**worst:.2f}; "
        f"within 25% at {usual:.0%} of {len(points)} points. The closed forms leave out slow start "
        "after a timeout, bursts lost in the recovery, and the access bandwidth as a limit."
    )
    sheet = SHEET.told(figure=id, access=rate_name(SURFACES[id]))
    yield sheet.judge("match", exact(2**middle), note)
    yield sheet.judge("match-worst", exact(2**worst), note)


def _is_decade(time: float) -> bool:
    power = math.log10(time)
    return abs(power - round(power)) < 1e-9
