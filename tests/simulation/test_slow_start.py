"""HyStart++ and byte counting: the window of one flow over a slow link with a queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace

M = 1000
#: 100 Mb/s and 100 ms: 1250 segments fit on the path.
SCENARIO: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "1 Gb/s", "fibre_rate": "100 Mb/s"},
    "switching": {"kind": "electronic", "queue_size": "14 MB"},
    "transport": {
        "kind": "tcp",
        "segment_size": "1 kB",
        "control_size": "40 B",
        "acknowledge_every": 1,
        "advertised_window": 100_000,
        "initial_window": 10,
    },
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "60 MB"}},
    "measurement": {"trace": [0]},
}
LAWS = ("reno", "cubic", "highspeed", "scalable", "dctcp")
RECOVERIES = ("sack", "rack-tlp")


def result(law: dict[str, Any], **changes: Any) -> lb.Result:
    transport = SCENARIO["transport"] | {"congestion_control": law} | changes
    return lb.run(lb.Scenario.from_dict({**SCENARIO, "transport": transport}), seed=1)


def is_lossy(law: dict[str, Any], **changes: Any) -> bool:
    """Whether slow start overflows the queue; less data, of which nothing is recorded."""
    less = {"workload.size.value": "45 MB", "measurement.trace": []}
    transport = SCENARIO["transport"] | {"congestion_control": law} | changes
    scenario = lb.Scenario.from_dict({**SCENARIO, "transport": transport}).with_(less)
    return bool(lb.run(scenario, seed=1).flows.drops.sum() > 100)


def windows(found: lb.Result) -> tuple[Any, Any]:
    """Window and ssthresh, in bytes."""
    rows = FlowTrace.of(found, 0).windows
    return rows["congestion_window"], rows["slow_start_threshold"]


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
def test_slow_start_ends_by_the_delay_and_without_a_loss(law: str, recovery: str) -> None:
    """RFC 9406, 4.2: by whole segments, then by quarters for five rounds, then the law."""
    assert is_lossy({"kind": law}, recovery=recovery)
    found = result({"kind": law, "slow_start": "hystart++"}, recovery=recovery)
    cwnd, ssthresh = windows(found)
    growth = np.diff(cwnd)
    first, last = np.flatnonzero(growth == M / 4)[[0, -1]]
    end = np.flatnonzero(np.isfinite(ssthresh))[0]
    assert set(growth[:first]) == {M}
    assert set(growth[first : last + 1]) == {M / 4}
    # Nine rounds double ten segments: 1250 fit on the path, so the acknowledgements of the round of
    # 2560 show a queue at its end, and those of the round of 5120 from the first on, of which the
    # eighth decides.
    assert cwnd[first] == 5128 * M
    # Its rest is the first of five rounds; each has as many acknowledgements as whole segments at
    # its begin. With the first acknowledgement of the sixth round the fifth is over.
    w, acknowledgements = 5128.0, 5120 - 8
    for _ in range(5):
        w += acknowledgements / 4
        acknowledgements = int(w)
    w += 1 / 4
    assert ssthresh[end] == cwnd[end] == w * M
    assert end == last + 1
    assert found.flows.drops.sum() == 0


def test_the_constants_are_those_of_the_scenario() -> None:
    rule = {"kind": "hystart++", "css_rounds": 1, "css_growth_divisor": 2, "n_rtt_sample": 20}
    _, ssthresh = windows(result({"kind": "reno", "slow_start": rule}))
    end = np.flatnonzero(np.isfinite(ssthresh))[0]
    # The rest of one round, by halves, and the first acknowledgement of the next.
    assert ssthresh[end] == (5140 + (5120 - 20) / 2 + 1 / 2) * M
    patient = {"kind": "hystart++", "min_rtt_thresh": "5 s", "max_rtt_thresh": "5 s"}
    assert is_lossy({"kind": "reno", "slow_start": patient})


def test_an_acknowledgement_counts_for_eight_segments_without_pacing() -> None:
    """RFC 9406, 4.3; RFC 5681 and RFC 3465 have one and two, with every second acknowledged."""
    for law, most in (
        ({"kind": "cubic"}, M),
        ({"kind": "cubic", "byte_counting": 1}, M),
        ({"kind": "cubic", "byte_counting": 2}, 2 * M),
        ({"kind": "cubic", "slow_start": "hystart++"}, 2 * M),
        ({"kind": "cubic", "slow_start": {"kind": "hystart++", "limit": 1}}, M),
    ):
        cwnd, _ = windows(result(law, acknowledge_every=2))
        assert np.diff(cwnd)[:100].max() == most, law


def test_the_slow_start_after_a_timeout_counts_one_segment_for_cubic() -> None:
    """RFC 3465, 2.3: L = 1 after a timeout, also if it was 2 before."""
    law = {"kind": "cubic", "byte_counting": 2}
    transport = SCENARIO["transport"] | {
        "congestion_control": law,
        "acknowledge_every": 2,
        "initial_window": 64,
    }
    # The first window is lost whole.
    loss = {"drops": [{"segments": [1, 64]}]}
    scenario = {**SCENARIO, "transport": transport, "loss": loss}
    scenario["workload"] = {"kind": "pairs", "size": {"kind": "constant", "value": "200 kB"}}
    found = lb.run(lb.Scenario.from_dict(scenario), seed=1)
    assert found.flows.timeouts[0] == 1
    cwnd, ssthresh = windows(found)
    restart = np.flatnonzero(cwnd == M)[0]
    assert ssthresh[restart] == pytest.approx(0.7 * 64 * M)
    slow = cwnd[restart:] < ssthresh[restart:]
    # Every second segment is acknowledged, and each acknowledgement counts for one.
    assert set(np.diff(cwnd[restart:][slow])) == {M}
    assert slow.sum() == 44
