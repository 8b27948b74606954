"""Which runs the paper's figures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.papers.minakhmetov2018.gather import HYBRID_PORTS, PORTS, WAITS, rate_text
from lightburst.papers.minakhmetov2018.sweep import POINT_COLUMNS, Point
from lightburst.papers.paper import Block, packaged
from lightburst.scenario import Scenario
from lightburst.study.sweep import Study

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Two points a decade; the paper's axis goes from 1e4 to 1e9 requests a second.
RATES: Final = (1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9)
QUICK_RATES: Final = (1e4, 1e5, 1e6, 1e7, 3e7, 1e8, 1e9)
# Long links carry their maximum from 1e6 on; 1e4 shows the rise.
QUICK_LONG_LINK_RATES: Final = (1e4, 1e6, 1e8)
# Where p = 8 and 16 are run beside 4: below, at and above the load of the claims.
LONG_WAIT_RATES: Final = (1e6, 1e7, 1e8)
QUICK_LONG_WAIT_RATES: Final = (1e7,)
LONG_WAITS: Final = (8.0, 16.0)

# Section 3: a hundred seeds for 10 m and 100 m, ten for 1 km and 10 km.
SEEDS: Final = range(1, 101)
TEN_SEEDS: Final = range(1, 11)

LENGTHS: Final = {"fig2a": (10.0,), "fig2b": (100.0,), "beyond": (10.0, 100.0)}
LONG_LENGTHS: Final = (1000.0, 10000.0)
BEYOND_PORTS: Final = tuple(range(9))


def base() -> Scenario:
    """Read the paper's scenario: hybrid switches with two buffer ports, SAWL with p = 4, 10 m."""
    return packaged(__package__)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs that some parts of the paper need; quick means fewer seeds and rates."""
    short = {point: None for part in parts for point in _short_links(part, quick)}
    planned = []
    if short:
        planned.append(_block(short, TEN_SEEDS if quick else SEEDS))
    if "maxima" in parts:
        rates = QUICK_LONG_LINK_RATES if quick else RATES
        long = [point for length in LONG_LENGTHS for point in _figure_2(length, rates)]
        planned.append(_block(long, TEN_SEEDS))
    return planned


def _short_links(part: str, quick: bool) -> list[Point]:
    rates = QUICK_RATES if quick else RATES
    points = []
    for length in LENGTHS.get(part, ()):
        points += _figure_2(length, rates)
        if part == "beyond":
            points += [Point(length, "electronic", 0, p, rate) for p in WAITS for rate in rates]
        else:
            points += [
                Point(length, "hybrid", ports, p, rate)
                for ports in HYBRID_PORTS
                for p in LONG_WAITS
                for rate in (QUICK_LONG_WAIT_RATES if quick else LONG_WAIT_RATES)
            ]
    if part == "beyond":
        points += [
            Point(10.0, "hybrid", ports, 4.0, rate) for ports in BEYOND_PORTS for rate in rates
        ]
    return points


def _figure_2(length: float, rates: Sequence[float]) -> list[Point]:
    return [
        Point(length, "hybrid", ports, p, rate) for ports in PORTS for p in WAITS for rate in rates
    ]


def _block(points: Iterable[Point], seeds: Sequence[int]) -> Block:
    ordered = list(points)
    study = Study(base(), [_settings(point) for point in ordered], seeds)
    return Block(study, pd.DataFrame(ordered, columns=list(POINT_COLUMNS)))


def _settings(point: Point) -> dict[str, object]:
    """Say in the scenario's words what a point is; p = 0 of SAWL is SAW."""
    settings: dict[str, object] = {
        "topology.link_length": f"{point.length:g} m",
        "switching.kind": point.switch,
        "transport.p": point.p,
        "workload.arrival_rate": f"{rate_text(point.rate)} /s",
    }
    if point.switch == "hybrid":
        settings["switching.buffer_ports"] = point.ports
    return settings
