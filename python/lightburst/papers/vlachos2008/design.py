"""Plan of the runs for the slides' figures."""

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

#: Assembly times of the slides in seconds; `AXIS` adds times between and beyond them.
TIMES: Final = (1e-3, 5e-3, 10e-3)
FIXED: Final = grid(Point, time=TIMES)
AXIS: Final = grid(Point, time=(1e-3, 2e-3, 5e-3, 10e-3, 20e-3))
#: (B, C) of the slides' best case, a pair that this project adds, and other pairs; the slides' text
#: does not list theirs.
BEST: Final = window_based(16, 64)
ADDED: Final = window_based(32, 128)
PAIRS: Final = (window_based(4, 16), window_based(8, 32), BEST, ADDED)
SENDERS: Final = grid(Point, recovery=("sack", "new-reno", "reno", "tahoe"))
#: Operating points: fixed times, and the size distribution with the printed mean.
LOADS: Final = (*FIXED, Point(sizes="S4").in_full())
# Points of the check values with ``ingress = "lose"``: bursts can be lost at their own ingress.
_LOST: Final = grid(Point, time=(1e-3, 10e-3), ingress=["lose"])

#: Long flows through one burstifier. The prototype had 25 to 50 flows and lost 0.003 to 0.01 of the
#: bursts with data. The larger loss gives the most cycles, and it ends the first slow start, which
#: nothing else does without a limit of the window.
BURSTIFIER: Final = Point(long_flows=25, p=1e-2).in_full()
MORE_FLOWS: Final = BURSTIFIER._replace(long_flows=50)
#: The same flows over the assembly time.
SYNCHRONISED: Final = grid(BURSTIFIER._replace, time=TIMES)
#: Numbers of queues per egress, by allocation; "a-posteriori" needs several.
_QUEUES: Final = {A_PRIORI: (1, 2, 4, PER_FLOW), A_POSTERIORI: (2, 4)}

#: Points of the search beyond the slides.
SEARCHED_TIMES: Final = (*grid(Point, time=(0.25e-3, 0.5e-3)), *AXIS)
SEARCHED_PAIRS: Final = [
    point
    for point in grid(window_based, slow=(2, 4, 8, 16, 32, 64), fast=(16, 32, 64, 128, 256))
    if point.slow < point.fast
]

# Runs of equal seeds have the same flows, so a few suffice to distinguish two assemblies. The long
# runs of S4 are limited to three, because they already take a quarter of the time.
FULL: Final = Effort(most=5)
SETTLED: Final = Effort(most=3)
QUICK: Final = Effort(most=2)
# A preview of long flows contains only few losses, hence more runs.
QUICK_LONG: Final = Effort(most=4)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs for some parts of the paper; quick plans have shorter runs and fewer points."""
    points = (point for part in parts for point in points_of(part, quick))
    return blocks_of(base(), ((point, effort(point, quick)) for point in points), Point._fields)


def effort(point: Point, quick: bool) -> Effort:
    """Return the number of runs of a point."""
    if quick:
        return QUICK_LONG if point.long_flows else QUICK
    return _MORE.get(point, SETTLED if point.sizes == "S4" else FULL)


def points_of(part: str, quick: bool) -> list[Point]:
    """List the points of a part of the paper; a preview has fewer, with shorter runs.

    A preview leaves out the most expensive points: larger files, more flows, and most of the
    search.
    """
    if not quick:
        return list(_PARTS[part])
    searched = (*FIXED, *(pair for pair in SEARCHED_PAIRS if pair.fast == 4 * pair.slow))
    points = searched if part == "beyond" else _PARTS[part]
    cheap = (x for x in points if x.sizes == "S2" and x.long_flows != MORE_FLOWS.long_flows)
    return [point.shortened() for point in cheap]


def queued(point: Point, allocation: str = A_PRIORI) -> dict[int, Point]:
    """Return the points with each number of queues per egress, by that number."""
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


# Numbers of runs for which the interval is about as wide as the distance to the nearest bound, if
# later runs deviate as the first five did. Some claims would take more than ten minutes of
# processor time each and are left out: active-S4 (27 runs of a minute), beats-fixed-elephants (115
# of four points), queues-4-throughput (300), best-pair-elephants (700), and the claims of the
# search, each of which depends on all its points.
NEEDS: Final = (
    Need(41, FIXED, "fixed-alike, averages-hide, bound 10 %: 8 % of pairs"),
    Need(21, SENDERS, "sack-better-elephants: 9 %"),
    Need(12, PAIRS, "best-pair-pooled, beats-fixed-pooled, bound 0: 3 % and 5 % of pairs"),
    Need(10, _LOST, "check-elephants-1-lose, bound 10 %: 28 %"),
    Need(13, SYNCHRONISED, "fewer-short, bound 10 %: 23 % of pairs"),
    Need(8, [queued(BURSTIFIER)[2], *queued(BURSTIFIER, A_POSTERIORI).values()], "queues-2-window"),
)
_MORE: Final = needed(NEEDS)
