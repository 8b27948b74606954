"""Timeouts in the trace of a sender whose timer also probes and looks for late segments."""

from __future__ import annotations

from typing import Any

import pytest

import lightburst as lb
from lightburst.trace import FlowTrace

SCENARIO: dict[str, Any] = {
    "topology": {"kind": "path", "links": 3},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp", "preset": "linux", "initial_window": 10},
    "workload": {"kind": "poisson", "flows": 1, "arrival_rate": 1, "size": "80 kB"},
    "measurement": {"trace": [0]},
}


@pytest.mark.parametrize(
    ("size", "lost", "timeouts"),
    [
        # A lost tail is repaired after a probe, a lost retransmission by time.
        ("80 kB", [(54, 56, 1), (1, 1, 1), (1, 1, 2)], 0),
        # If the probe is lost, too, only the timer helps.
        ("1 kB", [(1, 1, 1), (1, 1, 2)], 1),
    ],
)
def test_probes_are_no_timeouts(size: str, lost: list[tuple[int, int, int]], timeouts: int) -> None:
    drops = [{"segments": [a, b], "transmission": n} for a, b, n in lost]
    workload = SCENARIO["workload"] | {"size": size}
    changes = {"workload": workload, "loss": {"drops": drops}}
    result = lb.run(lb.Scenario.from_dict(SCENARIO | changes), seed=1)
    trace = FlowTrace.of(result, 0)
    (flow,) = result.flows.to_dict("records")
    assert flow["drops"] == sum(b - a + 1 for a, b, _ in lost)
    assert flow["timeouts"] == timeouts
    assert trace.timeouts_ps().size == timeouts
    assert flow["completion_time_s"] < 0.02 + timeouts


# Twenty segments at once, over a round trip of 2 ms.
PATH: dict[str, Any] = {
    "topology": {"kind": "obs-path", "core_nodes": 0, "access_delay": "0 s", "fibre_delay": "1 ms"},
    "switching": {"kind": "electronic"},
    "transport": SCENARIO["transport"] | {"initial_window": 20},
    "workload": {"kind": "pairs", "size": "28960 B"},
}
FAST, PROBE, TIMER = "fast retransmission", "tail loss probe", "reordering timer"


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
@pytest.mark.parametrize("pacing", [False, True])
@pytest.mark.parametrize(
    ("script", "causes", "awaited"),
    [
        # A lost tail: a probe has its last segment acknowledged, and so shows those before.
        ({"drops": [{"segments": [18, 20]}]}, {20: PROBE, 18: TIMER, 19: FAST}, {TIMER, FAST}),
        # A probe that was not needed, since its segment was late.
        ({"stalls": [{"burst": 18, "duration": "30 ms"}]}, {20: PROBE}, set()),
        ({"holds": [{"segments": [20, 20], "later": 1}]}, {20: PROBE}, {PROBE}),
        # Two segments behind a hole do not end the wait for reordered ones at once.
        ({"drops": [{"segments": [17, 18]}]}, {17: TIMER, 18: FAST}, {TIMER, FAST}),
        ({"drops": [{"segments": [5, 6]}]}, {5: FAST, 6: FAST}, {FAST}),
    ],
)
def test_a_retransmission_is_named_after_the_timer_that_caused_it(
    script: dict[str, Any], causes: dict[int, str], awaited: set[str], pacing: bool
) -> None:
    recovery = {"recovery": {"kind": "rack-tlp", "pacing": pacing}}
    changes = {"transport": PATH["transport"] | recovery, "loss": script}
    found = lb.explain(lb.Scenario.from_dict(PATH | changes), flow=0)
    again = found.retransmissions
    assert dict(zip(again["segment"], again["cause"], strict=True)) == causes
    assert set(found.parts["part"]) & {FAST, PROBE, TIMER} == awaited
    assert all(cause in str(found) for cause in causes.values())
