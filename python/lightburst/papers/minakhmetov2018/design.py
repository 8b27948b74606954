"""Plan of the runs for the paper's figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst.papers.design import Effort, blocks_of, grid
from lightburst.papers.minakhmetov2018.points import (
    HYBRID_PORTS,
    POINT_COLUMNS,
    PORTS,
    WAITS,
    Point,
    hybrid,
)
from lightburst.papers.paper import packaged
from lightburst.study import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.scenario import Scenario

# Two points a decade; the paper's axis goes from 1e4 to 1e9 requests a second.
RATES: Final = (1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9)
QUICK_RATES: Final = (1e4, 1e5, 1e6, 1e7, 3e7, 1e8, 1e9)
# Long links reach their maximum from 1e6 on; the point at 1e4 shows the rise.
QUICK_LONG_LINK_RATES: Final = (1e4, 1e6, 1e8)
# Rates of the runs with p = 8 and 16: below, at and above the load of the claims.
LONG_WAIT_RATES: Final = (1e6, 1e7, 1e8)
QUICK_LONG_WAIT_RATES: Final = (1e7,)
LONG_WAITS: Final = (8.0, 16.0)

# Section 3: a hundred seeds for 10 m and 100 m, ten for 1 km and 10 km.
FULL: Final = Effort(100)
TEN_SEEDS: Final = Effort(10)

LENGTHS: Final = {
    "fig2a": (10.0,), "fig2b": (100.0,), "maxima": (1000.0, 10000.0), "beyond": (10.0, 100.0),
}  # fmt: skip
BEYOND_PORTS: Final = tuple(range(9))


def base() -> Scenario:
    """Load the paper's scenario: hybrid switches with two buffer ports, SAWL with p = 4, 10 m."""
    return packaged(__package__)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs for some parts of the paper; quick plans have fewer seeds and rates."""
    ordered = sorted(parts, key=lambda part: part == "maxima")
    wanted = (
        (point, TEN_SEEDS if quick or part == "maxima" else FULL)
        for part in ordered
        for point in _points(part, quick)
    )
    return blocks_of(base(), wanted, POINT_COLUMNS)


def _points(part: str, quick: bool) -> Iterator[Point]:
    rates: Sequence[float] = QUICK_RATES if quick else RATES
    if part == "maxima" and quick:
        rates = QUICK_LONG_LINK_RATES
    long = QUICK_LONG_WAIT_RATES if quick else LONG_WAIT_RATES
    for length in LENGTHS[part]:
        yield from grid(hybrid, length=[length], ports=PORTS, p=WAITS, rate=rates)
        if part in ("fig2a", "fig2b"):
            yield from grid(hybrid, length=[length], ports=HYBRID_PORTS, p=LONG_WAITS, rate=long)
        if part == "beyond":
            baseline = partial(Point, length, "electronic", 0)
            yield from grid(baseline, p=WAITS, rate=rates)
    if part == "beyond":
        yield from grid(hybrid, length=[10.0], ports=BEYOND_PORTS, p=[4.0], rate=rates)
