"""Scenarios of the tests of searches, and problems with a known answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario import Scenario
from lightburst.study.runs import Point
from lightburst.study.search.racing import Evaluate

#: The path of yu2004: an assembly timer, losses by chance.
BURSTS = Scenario.from_dict(
    {
        "topology": {"kind": "obs-path", "access_rate": "10 Mb/s"},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "loss": {"probability": 0.005},
        "transport": {
            "kind": "tcp",
            "recovery": "sack",
            "segment_size": "1 kB",
            "advertised_window": 50,
        },
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "2 MB"}},
    }
)

#: A flow over three links, whose time is 7.2 us, and 15 us for each km of a link, and twice the
#: switching time.
ONE_FLOW = Scenario.from_dict(
    {
        "topology": {"kind": "path", "links": 3, "link_length": "10 km"},
        "switching": {"kind": "all-optical"},
        "transport": {"kind": "datagram", "segment_size": "9 kB", "spacing": "constant"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
    }
)

#: An axis of any name that fits the scenario above; the problems below take its value in ms for x.
AXIS = "switching.assembly.time"
MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def x_of(point: Point) -> float:
    """The value of `AXIS`, in milliseconds."""
    number, unit = str(point[AXIS]).split()
    return float(number) * MS[unit]


def noisy(
    mean: Callable[[float], Sequence[float]], common: float, own: float
) -> tuple[Evaluate, list[int]]:
    """Return a problem of known means, with noise of each seed and of each seed at each point.

    A list has the number of runs requested so far.
    """
    runs: list[int] = []

    def evaluate(points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        runs.append(len(points) * len(seeds))
        found = []
        for point in points:
            x = x_of(point)
            for seed in seeds:
                both = np.random.default_rng(seed).normal()
                alone = np.random.default_rng([seed, round(x * 1e6)]).normal()
                found.append([m + common * both + own * alone for m in mean(x)])
        return np.array(found).reshape(len(points), len(seeds), -1)

    return evaluate, runs
