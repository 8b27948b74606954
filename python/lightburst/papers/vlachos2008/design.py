"""Which runs the paper's figures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.design import Effort, Need, blocks_of, needed
from lightburst.papers.vlachos2008.points import (
    A_POSTERIORI,
    LONG,
    PER_FLOW,
    Point,
    base,
    window_based,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.study import Block

#: What `scenario.toml` says.
PLAIN: Final = Point()
#: The assembly times of the slides, in seconds, and those of the axis between and beside them.
TIMES: Final = (1e-3, 5e-3, 10e-3)
AXIS: Final = (1e-3, 2e-3, 5e-3, 10e-3, 20e-3)
#: (B, C) of the slides' best case, and others; which ones the slides have, their text does not say.
BEST: Final = (16, 64)
PAIRS: Final = ((4, 16), (8, 32), BEST, (32, 128))
RECOVERIES: Final = ("sack", "new-reno", "reno", "tahoe")
#: Queues for an egress.
QUEUES: Final = (1, 2, 4, PER_FLOW)
#: The same where flows are kept apart once they have lost data together.
APART: Final = (2, 4)

#: Long flows through one burstifier. The prototype looked at 25 to 50, and at losses of 0.003 to
#: 0.01 of the bursts with data: the larger one gives the most cycles, and it ends the first slow
#: start, which nothing else does where nobody limits the window.
BURSTIFIER: Final = Point(long_flows=25, p=1e-2, measured=LONG)
MORE_FLOWS: Final = 50

#: Beyond the slides: assembly times and windows that are searched.
SEARCHED_TIMES: Final = (0.25e-3, 0.5e-3, *AXIS)
SLOW: Final = (2, 4, 8, 16, 32, 64)
FAST: Final = (16, 32, 64, 128, 256)

# Runs of the same seed have the same flows, so that few tell two ways of assembly apart. The long
# ones of S4 are three, since they take a quarter of all the time as it is.
FULL: Final = Effort(most=5)
SETTLED: Final = Effort(most=3)
QUICK: Final = Effort(most=2)
# Few losses are all that a preview of long flows has.
QUICK_LONG: Final = Effort(most=4)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs that some parts of the paper need; quick means shorter runs, fewer points."""
    points = (point for part in parts for point in points_of(part, quick))
    return blocks_of(base(), ((point, effort(point, quick)) for point in points), Point._fields)


def effort(point: Point, quick: bool) -> Effort:
    """Say how often a point is run."""
    if quick:
        return QUICK_LONG if point.long_flows else QUICK
    return _MORE.get(point, SETTLED if point.sizes == "S4" else FULL)


def points_of(part: str, quick: bool) -> list[Point]:
    """List the points of a part of the paper; a preview has fewer, and shorter ones."""
    return [point.shortened() for point in _preview(part)] if quick else list(_PARTS[part])


def along(times: Sequence[float], point: Point = PLAIN) -> dict[float, Point]:
    """Give points with fixed timers, by the assembly time."""
    return {time: point._replace(time=time) for time in times}


def queued(point: Point) -> dict[int, Point]:
    """Give points with several queues for an egress, by their number."""
    return {queues: point._replace(queues=queues) for queues in QUEUES}


def kept_apart(point: Point) -> dict[int, Point]:
    """Give points with several queues for flows that lost data together, by their number."""
    return {n: point._replace(queues=n, allocation=A_POSTERIORI) for n in APART}


def searched() -> list[tuple[int, int]]:
    """List the (B, C) that are searched."""
    return [(slow, fast) for slow in SLOW for fast in FAST if slow < fast]


_FIXED: Final = tuple(along(AXIS).values())
#: The operating point: also the law of which the mean is what is printed.
LOADS: Final = (*along(TIMES).values(), Point(sizes="S4").in_full())
# The check values: where a burst that collides at its own ingress is lost.
_LOST: Final = tuple(along((1e-3, 10e-3), Point(ingress="lose")).values())
_WINDOWS: Final = tuple(window_based(*pair) for pair in PAIRS)
_SYNCHRONISED: Final = (
    *queued(BURSTIFIER).values(),
    *kept_apart(BURSTIFIER).values(),
    *queued(BURSTIFIER._replace(long_flows=MORE_FLOWS)).values(),
    *along(TIMES, BURSTIFIER).values(),
    *(Point(queues=queues) for queues in QUEUES[:3]),
)
_PARTS: Final[dict[str, tuple[Point, ...]]] = {
    "segments": LOADS,
    "bursts": (*LOADS, *_LOST),
    "throughput": (*_FIXED, *_LOST),
    "traces": tuple(along(TIMES).values()),
    "window-based": (*along(TIMES).values(), *_WINDOWS),
    "senders": tuple(Point(recovery=name) for name in RECOVERIES),
    "synchronisation": _SYNCHRONISED,
    "beyond": (
        *along(SEARCHED_TIMES).values(),
        *(window_based(*pair) for pair in searched()),
    ),
}


# So many that the interval is about as wide as the distance to the nearest bound, if the runs go on
# as the first five did. Not here, because each would take more than ten minutes of processor time:
# active-S4 (27 runs of a minute), beats-fixed-elephants (115 of four points), queues-4-throughput
# (300), best-pair-elephants (700), and those of the search, of which each hangs on all its points.
NEEDS: Final = (
    Need(41, tuple(along(TIMES).values()), "fixed-alike, averages-hide, bound 10 %: 8 % of pairs"),
    Need(21, tuple(Point(recovery=name) for name in RECOVERIES), "sack-better-elephants: 9 %"),
    Need(12, _WINDOWS, "best-pair-pooled, beats-fixed-pooled, bound 0: 3 % and 5 % of pairs"),
    Need(10, _LOST, "check-elephants-1-lose, bound 10 %: 28 %"),
    Need(13, tuple(along(TIMES, BURSTIFIER).values()), "fewer-short, bound 10 %: 23 % of pairs"),
    Need(8, (BURSTIFIER._replace(queues=2), *kept_apart(BURSTIFIER).values()), "queues-2-window"),
)
_MORE: Final = needed(NEEDS)


def _preview(part: str) -> list[Point]:
    """Leave out what costs most: the larger files, more flows, and all but some of a search."""
    if part == "beyond":
        some = [(slow, fast) for slow, fast in searched() if fast == 4 * slow]
        return [*along(TIMES).values(), *(window_based(*pair) for pair in some)]
    return [
        point for point in _PARTS[part] if point.sizes == "S2" and point.long_flows != MORE_FLOWS
    ]
