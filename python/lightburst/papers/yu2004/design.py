"""Which runs each part of the paper needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd

from lightburst.papers.paper import Block
from lightburst.papers.yu2004.grids import POINTS
from lightburst.papers.yu2004.points import LOW, Point, base, seconds
from lightburst.papers.yu2004.runs import PAPER_TIME_S
from lightburst.study import Stopping, Study

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Up to the paper's 1e6 s a point: a hundred runs of 1e4 s; at 1.25 kB/s, where a round trip is a
# minute, ten of 1e5 s.
PRECISION: Final = 0.01
HORIZON_S: Final = 1e4
LOW_HORIZON_S: Final = 1e5
FIRST: Final = 10
# A preview: a tenth of the time, a hundredth at the most, and five times the interval.
QUICK_PRECISION: Final = 0.05
QUICK_HORIZON_S: Final = 1e3
QUICK_LOW_HORIZON_S: Final = 1e4
QUICK_FIRST: Final = 3
QUICK_MOST: Final = 10
# At p = 10^-0.5 timeouts of up to a minute decide and segments are few: long runs cost little.
_HEAVY: Final = 0.2
_HEAVY_HORIZON_S: Final = 5e4


class Effort(NamedTuple):
    """How long a point is run.

    Parameters
    ----------
    horizon_s : float
        Simulated seconds of one run.
    most : int
        Runs at the most.
    first : int
        Runs before it is asked whether they are enough.
    precision : float
        Half of the 95 % interval, as a fraction of the mean, that is enough.
    """

    horizon_s: float
    most: int
    first: int
    precision: float


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs that some parts of the paper need: one study for each effort."""
    return blocks_of(
        (point, effort(point, quick)) for part in parts for point in POINTS[part](quick)
    )


def blocks_of(wanted: Iterable[tuple[Point, Effort]]) -> list[Block]:
    """Make one block for each effort; a point that comes again keeps its first one."""
    efforts: dict[Point, Effort] = {}
    for point, long in wanted:
        efforts.setdefault(point, long)
    planned: dict[Effort, list[Point]] = {}
    for point, long in efforts.items():
        planned.setdefault(long, []).append(point)
    return [_block(points, long) for long, points in planned.items()]


def effort(point: Point, quick: bool) -> Effort:
    """Say how long a point is run: up to the paper's 1e6 s in full."""
    if not point.p:
        return Effort(QUICK_HORIZON_S, 2, 2, PRECISION)  # without loss all runs are the same
    if quick:
        horizon = QUICK_HORIZON_S
        if point.access <= LOW:
            horizon = QUICK_LOW_HORIZON_S
        elif point.p > _HEAVY:
            horizon = _HEAVY_HORIZON_S
        return Effort(horizon, QUICK_MOST, QUICK_FIRST, QUICK_PRECISION)
    horizon = LOW_HORIZON_S if point.access <= LOW else HORIZON_S
    return Effort(horizon, round(PAPER_TIME_S / horizon), FIRST, PRECISION)


def _block(points: Sequence[Point], effort: Effort) -> Block:
    study = Study(
        base().with_(measurement__time_limit=seconds(effort.horizon_s)),
        [point.settings() for point in points],
        range(1, effort.most + 1),
    )
    stopping = Stopping("throughput_bps", effort.precision, effort.first)
    return Block(study, pd.DataFrame(points, columns=list(Point._fields)), stopping)
