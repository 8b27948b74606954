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
