"""Which runs the paper's figures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.design import Effort, Need, blocks_of, grid, needed
from lightburst.papers.vlachos2008.points import (
    A_POSTERIORI,
    A_PRIORI,
    PER_FLOW,
    Point,
    base,
    window_based,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.study import Block

#: The assembly times of the slides, in seconds, and those of the axis between and beside them.
TIMES: Final = (1e-3, 5e-3, 10e-3)
FIXED: Final = grid(Point, time=TIMES)
AXIS: Final = grid(Point, time=(1e-3, 2e-3, 5e-3, 10e-3, 20e-3))
#: (B, C) of the slides' best case, and others; which ones the slides have, their text does not say.
BEST: Final = window_based(16, 64)
PAIRS: Final = (window_based(4, 16), window_based(8, 32), BEST, window_based(32, 128))
SENDERS: Final = grid(Point, recovery=("sack", "new-reno", "reno", "tahoe"))
#: The operating point: also the law of which the mean is what is printed.
LOADS: Final = (*FIXED, Point(sizes="S4").in_full())
# The check values: where a burst that collides at its own ingress is lost.
_LOST: Final = grid(Point, time=(1e-3, 10e-3), ingress=["lose"])

#: Long flows through one burstifier. The prototype looked at 25 to 50, and at losses of 0.003 to
#: 0.01 of the bursts with data: the larger one gives the most cycles, and it ends the first slow
#: start, which nothing else does where nobody limits the window.
BURSTIFIER: Final = Point(long_flows=25, p=1e-2).in_full()
MORE_FLOWS: Final = BURSTIFIER._replace(long_flows=50)
#: The same by the assembly time.
SYNCHRONISED: Final = grid(BURSTIFIER._replace, time=TIMES)
#: Queues for an egress, by how flows come to them: a posteriori needs several.
_QUEUES: Final = {A_PRIORI: (1, 2, 4, PER_FLOW), A_POSTERIORI: (2, 4)}

#: Beyond the slides: what is searched.
SEARCHED_TIMES: Final = (*grid(Point, time=(0.25e-3, 0.5e-3)), *AXIS)
SEARCHED_PAIRS: Final = [
    point
    for point in grid(window_based, slow=(2, 4, 8, 16, 32, 64), fast=(16, 32, 64, 128, 256))
    if point.slow < point.fast
]

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
    """List the points of a part of the paper; a preview has shorter ones, and fewer.

    It leaves out what costs most: the larger files, more flows, and all but some of a search.
    """
    if not quick:
        return list(_PARTS[part])
    searched = (*FIXED, *(pair for pair in SEARCHED_PAIRS if pair.fast == 4 * pair.slow))
    points = searched if part == "beyond" else _PARTS[part]
    cheap = (x for x in points if x.sizes == "S2" and x.long_flows != MORE_FLOWS.long_flows)
    return [point.shortened() for point in cheap]


def queued(point: Point, allocation: str = A_PRIORI) -> dict[int, Point]:
    """Give points with one or several queues for an egress, by their number."""
    numbers = _QUEUES[allocation]
    return {n: point._replace(queues=n, allocation=allocation) for n in numbers}


_PARTS: Final[dict[str, Sequence[Point]]] = {
    "segments": LOADS,
    "bursts": (*LOADS, *_LOST),
    "throughput": (*AXIS, *_LOST),
    "traces": FIXED,
    "window-based": (*FIXED, *PAIRS),
    "senders": SENDERS,
    "synchronisation": (
        *queued(BURSTIFIER).values(),
        *queued(BURSTIFIER, A_POSTERIORI).values(),
        *queued(MORE_FLOWS).values(),
        *SYNCHRONISED,
        *grid(Point, queues=(1, 2, 4)),
    ),
    "beyond": (*SEARCHED_TIMES, *SEARCHED_PAIRS),
}


# So many that the interval is about as wide as the distance to the nearest bound, if the runs go on
# as the first five did. Not here, because each would take more than ten minutes of processor time:
# active-S4 (27 runs of a minute), beats-fixed-elephants (115 of four points), queues-4-throughput
# (300), best-pair-elephants (700), and those of the search, of which each hangs on all its points.
NEEDS: Final = (
    Need(41, FIXED, "fixed-alike, averages-hide, bound 10 %: 8 % of pairs"),
    Need(21, SENDERS, "sack-better-elephants: 9 %"),
    Need(12, PAIRS, "best-pair-pooled, beats-fixed-pooled, bound 0: 3 % and 5 % of pairs"),
    Need(10, _LOST, "check-elephants-1-lose, bound 10 %: 28 %"),
    Need(13, SYNCHRONISED, "fewer-short, bound 10 %: 23 % of pairs"),
    Need(8, [queued(BURSTIFIER)[2], *queued(BURSTIFIER, A_POSTERIORI).values()], "queues-2-window"),
)
_MORE: Final = needed(NEEDS)
