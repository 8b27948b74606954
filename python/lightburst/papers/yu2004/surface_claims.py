"""What section V.A says of figures 5 to 7, judged on our runs."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.models.yu2004.ranges import (
    assembly_time_insensitive,
    intervals,
    loss_rate_insensitive,
)
from lightburst.papers.claims import (
    UNKNOWN,
    Claim,
    agrees,
    at_least,
    at_most,
    exact,
    judged,
    known,
    verdict_of,
)
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
from lightburst.papers.yu2004.theory import throughput
from lightburst.papers.yu2004.tolerance import ABOUT, HALF_DECADE, MATCH, MATCH_WORST, VISIBLE
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

# "No obvious LRI range ... for a given T_b", section V.A, figure 5, and its opposite for figure 7.
_LRI_TIME_S: Final = 10**0.5
_OPTIMA: Final = ((0.003, 9.0), (0.1, 2.7))


def surface_claims(runs: Runs, id: str) -> list[Claim]:
    """Judge what the paper says of figure 5, 6 or 7.

    Parameters
    ----------
    runs : Runs
        Runs of the figure's points.
    id : str
        ``"fig5"``, ``"fig6"`` or ``"fig7"``.

    Returns
    -------
    list of Claim
        In the order of the paper.
    """
    access = SURFACES[id]
    if id == "fig5":
        found = [*_best_time(runs), _range_exists(runs), _more_loss(runs)]
    elif id == "fig6":
        found = [_same_optimum(runs, access)]
    else:
        found = [
            _no_optimum(runs),
            *_insensitive(runs),
            _wider(runs),
            _loss_insensitive(runs),
        ]
    return [*found, *_match(runs, id, access)]


def lines(runs: Runs, access: float) -> dict[float, dict[float, Point]]:
    """Sort the points of a surface into lines of one loss rate, by assembly time."""
    found: dict[float, dict[float, Point]] = {}
    for point in grid_of(runs, access):
        found.setdefault(point.p, {})[point.time] = point
    return found


def over_packets(runs: Runs, line: dict[float, Point]) -> dict[float, Interval]:
    """Compare a line with its shortest assembly time, at which a burst is a packet."""
    packet = line[min(line)]
    return {time: runs.ratio(point, packet) for time, point in line.items() if point != packet}


def best(runs: Runs, points: Iterable[Point]) -> Point:
    """Find the point with the highest mean."""
    return max(points, key=lambda point: runs.mean(point).estimate)


def _best_time(runs: Runs) -> list[Claim]:
    decade = [point for point in grid_of(runs, HIGH) if point.p == OPTIMUM_LOSS]
    decade = [point for point in decade if _is_decade(point.time)]
    at, others = Point(HIGH, 1e-3, OPTIMUM_LOSS), [p for p in decade if p.time != 1e-3]
    ratio = runs.ratio(at, best(runs, others)) if others else UNKNOWN
    told = ", ".join(f"{runs.mean(p).estimate:.4g} at {p.time:.0e} s" for p in decade)
    claims = [
        judged(
            "optimum-decade",
            "fig5",
            "125 MB/s, p = 0.01: among whole decades the throughput is highest at T_b = 1 ms "
            "(throughput there over the highest at another decade)",
            1.0,
            ratio,
            at_least(ratio, 1.0),
            "the whole interval is at or above 1",
            f"Segments/s: {told}.",
        )
    ]
    for sender, name in ((SACK, "Sack1 of ns-2"), (RFC_SACK, "RFC 6675")):
        claims += _fine(runs, sender, name)
    return claims


def _fine(runs: Runs, sender: Sender, name: str) -> list[Claim]:
    points = [p for p in optimum_points(quick=False) if p.by(sender) == p and p in runs]
    points = [p for p in points if p.time != EQUATION_32_S]
    if not points:
        return []
    top = best(runs, points)
    # Not to be told from the best: their means are nearer than two means can be told apart.
    alike = [p.time for p in points if runs.mean(p).estimate * VISIBLE >= runs.mean(top).estimate]
    place = Interval(top.time, min(alike), max(alike), len(points))
    near = place.high >= 1e-3 / HALF_DECADE and place.low <= 1e-3 * HALF_DECADE
    at = runs.ratio(Point(HIGH, 1e-3, OPTIMUM_LOSS).by(sender), top)
    late = runs.ratio(Point(HIGH, EQUATION_32_S, OPTIMUM_LOSS).by(sender), top)
    suffix = "" if sender == SACK else "-rfc"
    source = "paper" if sender == SACK else "paper, with the senders of the RFCs"
    peak = f"Highest: {runs.mean(top).estimate:.4g} segments/s at {top.time * 1e3:.3g} ms"
    peak += f", where S is {top.segments_per_burst:.3g}."
    return [
        judged(
            f"optimum-fine{suffix}",
            "fig5",
            f"125 MB/s, p = 0.01, {name}: on a grid of {len(points)} assembly times from 0.1 to "
            "10 ms the throughput is highest near T_b = 1 ms (seconds; in place of an interval, "
            f"where it is within {VISIBLE - 1:.1%} of the highest)",
            1e-3,
            place,
            verdict_of(near),
            "the range meets half a decade to either side of 1 ms, the step of the paper's axis",
            f"{peak} At 1 ms: {at.estimate:.3f} of it.",
            source=source,
        ),
        judged(
            f"optimum-equation-32{suffix}",
            "fig5",
            f"125 MB/s, p = 0.01, {name}: the optimum is at 4 ms, by equation (32) as printed "
            "(throughput there over the highest)",
            1.0,
            late,
            at_least(late, 1 / VISIBLE),
            f"the whole interval is above {1 / VISIBLE:.3f}, which two means can just tell apart",
            f"{peak} From S = W_m on (T_b = 0.39 ms) a longer assembly only delays; the printed "
            "(32) adds seconds to segments and knows no limit of S.",
            source=source,
        ),
    ]


def _range_exists(runs: Runs) -> Claim:
    gains = {
        p: max(over_packets(runs, line).values(), key=lambda ratio: ratio.estimate)
        for p, line in lines(runs, HIGH).items()
        if len(line) > 1
    }
    at = gains.get(OPTIMUM_LOSS, UNKNOWN)
    told = ", ".join(f"{gain.estimate:.3g} at p = {p:.2g}" for p, gain in gains.items())
    return judged(
        "ato-125MB",
        "fig5",
        "125 MB/s, p = 0.01: there is an ATO range, in which bursts carry more than packets "
        "(highest throughput over assembly times, over that without assembly)",
        None,
        at,
        at_least(at, 1 + ABOUT),
        f"the whole interval is above {1 + ABOUT:g}",
        f"By loss rate: {told}.",
    )


def _more_loss(runs: Runs) -> Claim:
    worst, where, usual, all_of = UNKNOWN, "", 0, 0
    table = lines(runs, HIGH)
    for more, less in itertools.pairwise(sorted(table, reverse=True)):
        for time in table[less]:
            if time in table[more]:
                ratio = runs.ratio(table[less][time], table[more][time])
                all_of += 1
                usual += ratio.low >= 1
                if not known(worst) or ratio.estimate < worst.estimate:
                    worst, where = ratio, f"p = {less:.2g} over {more:.2g}, T_b = {time:.2g} s"
    return judged(
        "no-lri-125MB",
        "fig5",
        "125 MB/s: usually, the smaller p, the larger the throughput at a given T_b (smallest "
        "ratio of the throughputs at two neighbouring loss rates)",
        1.0,
        worst,
        at_least(worst, 1 / VISIBLE),
        f"the whole interval is above {1 / VISIBLE:.3f}, which two means can just tell apart",
        f"Smallest at {where}. Certainly larger at {usual} of {all_of} pairs.",
    )


def _same_optimum(runs: Runs, access: float) -> Claim:
    notes, errors = [], []
    for p, line in lines(runs, access).items():
        points = list(line.values())
        formulas = throughput(points)
        ours, theirs = best(runs, points), points[int(np.argmax(formulas))]
        errors.append(math.log10(theirs.time / ours.time))
        notes.append(f"{ours.time:.2g} and {theirs.time:.2g} s at p = {p:.2g}")
    worst = max(errors, key=abs, default=math.nan)
    return judged(
        "same-optimum-500kB",
        "fig6",
        "500 kB/s: simulation and analysis have the same optimal assembly time (largest distance "
        "over loss rates, decades)",
        0.0,
        exact(worst),
        verdict_of(abs(worst) <= 0.5 + 1e-9),
        "at most half a decade, the step of the axis",
        f"Simulation and theory: {'; '.join(notes)}. Where the loss is small, all short assembly "
        "times carry a full window and the highest of them is chance.",
    )


def _no_optimum(runs: Runs) -> Claim:
    gains = [
        (ratio, p, time)
        for p, line in lines(runs, LOW).items()
        for time, ratio in over_packets(runs, line).items()
    ]
    most, p, time = max(gains, key=lambda gain: gain[0].estimate, default=(UNKNOWN, 0.0, 0.0))
    return judged(
        "no-ato-1250B",
        "fig7",
        "1.25 kB/s: there is no obvious ATO range (largest ratio of the throughput with bursts to "
        "that without assembly)",
        1.0,
        most,
        at_most(most, 1 + ABOUT),
        f"the whole interval is below {1 + ABOUT:g}",
        f"Largest at p = {p:.2g}, T_b = {time:.2g} s.",
    )


def insensitive_until(runs: Runs, line: dict[float, Point]) -> float:
    """Find where the ATI range that begins at the shortest assembly time ends.

    Parameters
    ----------
    runs : Runs
        The runs.
    line : dict of float to Point
        Points of one loss rate.

    Returns
    -------
    float
        Seconds: the last assembly time of the grid in the range of section IV.E.
    """
    times = sorted(line)
    means = [runs.mean(line[time]).estimate for time in times]
    inside = assembly_time_insensitive(means, means[0], ABOUT)
    return intervals(times, inside)[0][1]


def _insensitive(runs: Runs) -> list[Claim]:
    table = lines(runs, LOW)
    ends = {p: insensitive_until(runs, line) for p, line in table.items()}
    longest = max(ends.values(), default=math.nan)
    told = ", ".join(f"{end:.3g} s at p = {p:.2g}" for p, end in ends.items())
    # A burst of one segment is no burst: the range must reach bursts of two.
    two = SEGMENT_BYTES / LOW
    claims = [
        judged(
            "ati-1250B",
            "fig7",
            "1.25 kB/s: there is an ATI range, in which the throughput does not depend on T_b (its "
            "end, seconds, at the loss rate where it is longest)",
            None,
            exact(longest),
            verdict_of(longest >= two),
            f"within {ABOUT:.0%} of the throughput without assembly up to bursts of two segments, "
            f"{two:g} s",
            f"It ends at {told}.",
        )
    ]
    for p, time in _OPTIMA:
        at = min(table, key=lambda other, p=p: abs(math.log(other / p)), default=math.nan)  # type: ignore[misc]
        if not 1 / 1.1 < at / p < 1.1:
            continue
        beyond = min((t for t in table[at] if t > ends[at]), default=math.inf)
        near = ends[at] <= time * HALF_DECADE and beyond >= time / HALF_DECADE
        claims.append(
            judged(
                f"ati-edge-1250B-p{p:g}",
                "fig7",
                f"1.25 kB/s, p = {p:g}: the optimum of equation (30), {time:g} s, is at the edge "
                "of the ATI range (its last assembly time on our grid, seconds; in place of an "
                "interval that and the next one)",
                time,
                Interval(ends[at], ends[at], beyond, len(table[at])),
                verdict_of(near),
                f"the two meet half a decade to either side of {time:g} s",
                f"Taken at p = {at:.2g}, with the round trip of the paper; ours is shorter at high "
                "loss.",
            )
        )
    return claims


def _wider(runs: Runs) -> Claim:
    table = lines(runs, LOW)
    ends = [insensitive_until(runs, table[p]) for p in sorted(table)]
    steps = [math.log10(after / before) for before, after in itertools.pairwise(ends)]
    worst = max(steps, default=math.nan)
    return judged(
        "ati-wider-1250B",
        "fig7",
        "1.25 kB/s: the lower the loss rate, the larger the ATI range (largest growth of its end "
        "from one loss rate to the next higher one, decades)",
        0.0,
        exact(worst),
        verdict_of(worst <= 1e-9),
        "the end never moves up with p on our grid of half decades",
        "From the lowest loss rate on: " + ", ".join(f"{end:.3g} s" for end in ends) + ".",
    )


def _loss_insensitive(runs: Runs) -> Claim:
    table = lines(runs, LOW)
    low, high = min(table, default=math.nan), max(table, default=math.nan)
    found = {
        time: runs.ratio(table[high][time], table[low][time])
        for time in table.get(low, {})
        if time < _LRI_TIME_S * 0.99 and time in table[high]
    }
    worst = min(found.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
    reach = {}
    for time in found:
        means = [runs.mean(table[p][time]).estimate for p in sorted(table)]
        inside = loss_rate_insensitive(means, means[0], ABOUT)
        reach[time] = intervals(sorted(table), inside)[0][1]
    told = ", ".join(f"{p:.2g} at T_b = {time:.2g} s" for time, p in reach.items())
    return judged(
        "lri-1250B",
        "fig7",
        "1.25 kB/s: there is an LRI range for T_b below 10^0.5 s: the throughput does not depend "
        f"on p (smallest ratio of the throughput at p = {high:.2g} to that at {low:.2g})",
        1.0,
        worst,
        at_least(worst, 1 - ABOUT),
        f"the whole interval is above {1 - ABOUT:g} at each of these T_b",
        f"Within {ABOUT:.0%} of the throughput at the lowest loss up to p = {told}."
        f"{_idle(runs, table, found)}",
    )


def _idle(runs: Runs, table: dict[float, dict[float, Point]], found: dict[float, Interval]) -> str:
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


def _match(runs: Runs, id: str, access: float) -> list[Claim]:
    points = grid_of(runs, access)
    if not points:
        return []
    measured = np.array([runs.mean(point).estimate for point in points])
    errors = np.abs(np.log2(throughput(points) / measured))
    place = points[int(np.argmax(errors))]
    name = rate_name(access)
    worst, middle = float(errors.max()), float(np.median(errors))
    note = (
        f"Farthest at p = {place.p:.2g}, T_b = {place.time:.2g} s, a factor of {2**worst:.2f}; "
        f"within {MATCH:.0%} at {np.mean(errors <= math.log2(1 + MATCH)):.0%} of {len(points)} "
        "points. The closed forms leave out slow start after a timeout, bursts lost in the "
        "recovery, and the access bandwidth as a limit."
    )
    return [
        judged(
            f"match-{id}",
            id,
            f"{name}: analysis and simulation approximately match (median over the points of the "
            "factor between them)",
            1.0,
            exact(2**middle),
            at_most(exact(2**middle), 1 + MATCH),
            f"at most {1 + MATCH:g}, what two surfaces side by side are seen to differ by",
            note,
        ),
        judged(
            f"match-worst-{id}",
            id,
            f"{name}: analysis and simulation approximately match everywhere (largest factor "
            "between them)",
            1.0,
            exact(2**worst),
            agrees(exact(2**worst), 1.0, 1 + MATCH_WORST),
            f"at most {1 + MATCH_WORST:g}",
            note,
        ),
    ]


def _is_decade(time: float) -> bool:
    power = math.log10(time)
    return abs(power - round(power)) < 1e-9
