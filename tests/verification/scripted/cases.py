"""Scripted losses, and the senders that meet them.

On ``PACKETS`` no packet waits for another: rounds of 0.1 s. The sender begins with four segments
(RFC 3390), each of which is acknowledged. Without a loss it sends

    round 0: 1-4    round 1: 5-12    round 2: 13-28    round 3: 29-60

On ``BURSTS`` segments leave the sender each 0.8 ms, and those of 3.2 ms make a burst: five. On
``ROUTES`` they leave as often, and each goes, with its acknowledgement, by one of two routes drawn
at random; one is longer by 6.5 segments, so that up to six segments overtake.
"""

from __future__ import annotations

import itertools
import re
import warnings
from dataclasses import dataclass
from typing import Any

from senders import sender

from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run
from scripted.history import History, history

Settings = dict[str, Any]

#: Recoveries with their settings; all others are the standard's, the paper's, or below. Tahoe and
#: Reno store, as ns-2's do, the highest segment sent at the last detected loss.
FLAVOURS: dict[str, Settings] = {
    "tahoe": {"recovery": "tahoe", "bug_fix": True},
    "reno": {"recovery": "reno", "bug_fix": True},
    "new-reno": {"recovery": "new-reno"},
    "new-reno-slow": {"recovery": "new-reno", "partial_acknowledgement": "slow-but-steady"},
    "sack": {"recovery": "sack"},
    "sack1": {"recovery": "sack1"},
}

TRANSPORT: Settings = {
    "kind": "tcp",
    "segment_size": "1 kB",
    "control_size": "40 B",
    "initial_window": "rfc3390",
    "acknowledge_every": 1,
}

#: The access links are fast: segments that an acknowledgement permits have left before the next
#: one.
PACKETS: Settings = {
    "topology": {"kind": "obs-path", "access_rate": "100 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
}
BURSTS: Settings = {
    "topology": {"kind": "obs-path", "access_rate": "10 Mb/s"},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "3.2 ms"}},
}


def routes(longer: str) -> Settings:
    """Two routes between two switches; one is `longer` by this length of fibre (5 us a km)."""
    links = [
        {"source": "sender", "target": "in"},
        {"source": "in", "target": "short", "length": "2000 km", "rate": "1 Gb/s"},
        {"source": "in", "target": "long", "length": "2000 km", "rate": "1 Gb/s"},
        {"source": "short", "target": "out", "rate": "1 Gb/s"},
        {"source": "long", "target": "out", "length": longer, "rate": "1 Gb/s"},
        {"source": "out", "target": "receiver"},
    ]
    return {
        "topology": {"kind": "graph", "links": links, "link_length": "1 m", "link_rate": "10 Mb/s"},
        "switching": {"kind": "electronic", "queue_size": "unlimited"},
        "routing": {"choice": "random"},
    }


ROUTES = routes("1040 km")
PATHS = {"packets": PACKETS, "bursts": BURSTS, "routes": ROUTES}


def flow(segments: int) -> Settings:
    """One flow of a given number of segments."""
    return {"kind": "pairs", "size": {"kind": "constant", "value": f"{segments} kB"}}


@dataclass(frozen=True)
class Case:
    """Losses on a path; a flow of a given number of segments."""

    name: str
    drops: tuple[Settings, ...]
    segments: int = 60
    path: str = "packets"

    def scenario(self, flavour: str, **transport: Any) -> Scenario:
        """Give the scenario for one flavour, with more settings of the transport."""
        return Scenario.from_dict(
            {
                **PATHS[self.path],
                "transport": sender(**TRANSPORT | FLAVOURS[flavour] | transport),
                "loss": {"drops": list(self.drops)},
                "workload": flow(self.segments),
                "measurement": {"time_limit": "100 s", "trace": [0]},
            }
        )


def _contiguous(name: str, first: int, last: int) -> Case:
    return Case(name, ({"segments": [first, last]},))


#: One to five losses among the twelve segments from 9, the first not acknowledged; and so on.
CASES: tuple[Case, ...] = (
    Case("none", ()),
    _contiguous("one", 9, 9),
    _contiguous("two", 9, 10),
    _contiguous("three", 9, 11),
    _contiguous("four", 9, 12),
    _contiguous("five", 9, 13),
    _contiguous("fourteen-of-sixteen", 13, 26),
    _contiguous("whole-window", 5, 12),
    Case("retransmission", ({"segments": [9, 9]}, {"segments": [9, 9], "transmission": 2})),
    Case("first-and-last", ({"segments": [9, 9]}, {"segments": [20, 20]}), segments=20),
    # 22 is the last one sent before the recovery, 25 is sent in it, and both are lost.
    Case("inside-a-recovery", tuple({"segments": [k, k]} for k in (9, 22, 25))),
    # The SYN+ACK is the first of them: these acknowledge 5-11, and 5-12.
    Case("acknowledgements-but-the-last", ({"acknowledgements": [6, 12]},)),
    Case("acknowledgements-of-a-window", ({"acknowledgements": [6, 13]},)),
    Case("burst", ({"burst": 4},), segments=120, path="bursts"),
    Case("bursts-of-segments", ({"segments": [20, 24]},), segments=120, path="bursts"),
    Case("burst-of-window", ({"window": 40},), segments=360, path="bursts"),
    Case("reordered", (), path="routes"),
)


#: For the windows round by round: from one segment through slow start and a loss of three, with
#: 40 in flight, to avoidance.
ROUNDS = Case("rounds", ({"segments": [40, 42]},), segments=400)


#: Each case with each flavour.
EVERY: tuple[tuple[Case, str], ...] = tuple(itertools.product(CASES, FLAVOURS))


def play(case: Case, flavour: str, **transport: Any) -> History:
    """Run a case and return the history of its sender.

    Raises
    ------
    AssertionError
        If a scripted loss never happened, or the flow did not end.
    """
    scenario = case.scenario(flavour, **transport)
    overtaken = ".* retransmissions by flows without losses"
    with warnings.catch_warnings():
        # Some of the cases are about packets that overtake each other.
        warnings.filterwarnings("ignore", overtaken)
        result = run(scenario, seed=1)
    assert all(re.match(overtaken, warning) for warning in result.warnings)
    assert result.flows["status"].tolist() == ["finished"]
    return history(result)
