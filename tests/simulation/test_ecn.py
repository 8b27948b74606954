"""Explicit congestion notification: marks instead of losses, and the talk of both endpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace
from lightburst.trace.flow import ACK, ARRIVED, CWR, ECE, FORWARD, SENT

SCENARIO: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue_size": "300 kB", "ecn_threshold": "60 kB"},
    "transport": {"kind": "tcp", "preset": "wide-area", "advertised_window": 400},
    "workload": {
        "kind": "incast",
        "senders": 2,
        "rounds": 1,
        "interval": "1 s",
        "spread": "1 us",
        "size": {"kind": "constant", "value": "6 MB"},
    },
    "measurement": {"trace": [0]},
}


def result(**changes: Any) -> lb.Result:
    scenario = {**SCENARIO, "transport": SCENARIO["transport"] | changes}
    return lb.run(lb.Scenario.from_dict(scenario), seed=1)


def traced(**changes: Any) -> FlowTrace:
    return FlowTrace.of(result(**changes), 0)


RECOVERIES = ("reno", "new-reno", "sack", "rack-tlp")


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_marks_replace_losses(recovery: str) -> None:
    lossy, marked = result(recovery=recovery), result(recovery=recovery, ecn=True)
    assert lossy.flows.drops.sum() > 0
    assert marked.flows.drops.sum() == marked.flows.retransmissions.sum() == 0
    # The window falls all the same: it stays far below that of the receiver.
    windows = FlowTrace.of(marked, 0).windows
    assert windows["congestion_window"].max() < 400 * 1448
    assert windows["slow_start_threshold"].min() < 200 * 1448


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_an_echo_lasts_until_the_window_is_reduced(recovery: str) -> None:
    """RFC 3168, section 6.1: ECE from the first mark to the segment with CWR, and again."""
    rows = traced(recovery=recovery, ecn=True).segments
    flags, time = rows["flags"], rows["time_ps"]
    forward = (flags & FORWARD) > 0
    told = time[forward & ((flags & CWR) > 0) & (rows["event"] == ARRIVED)]
    answers = ~forward & (rows["event"] == SENT) & ((flags & ACK) > 0)
    echoes = (flags[answers] & ECE) > 0
    ends = time[answers][1:][echoes[:-1] & ~echoes[1:]]
    # An echo ends after the arrival of a segment with CWR, and each such segment ends at most one.
    assert ends.size > 1
    causes = np.searchsorted(told, ends, side="right")
    assert causes[0] > 0
    assert (np.diff(causes) > 0).all()


def test_the_window_is_reduced_once_per_window_of_data() -> None:
    windows = traced(recovery="sack", ecn=True).windows
    ssthresh = windows["slow_start_threshold"]
    falls = windows["time_ps"][1:][ssthresh[1:] < ssthresh[:-1]]
    # A round trip over the marked queue takes more than the 48 us of 60 kB at 10 Gb/s.
    assert falls.size > 1
    assert np.diff(falls).min() > 48e6


def test_dctcp_answers_marks_by_its_own_rule() -> None:
    with pytest.raises(lb.InputError) as refused:
        result(congestion_control="dctcp", ecn=True)
    assert refused.value.path == "transport.ecn"
    # The same law under another recovery reduces as much: the echo reduces nothing twice.
    plain, timed = (
        traced(congestion_control="dctcp", recovery=recovery).windows["congestion_window"].mean()
        for recovery in ("sack", "rack-tlp")
    )
    assert timed == pytest.approx(plain, rel=0.2)


ONE: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "40 kB"}},
    "measurement": {"trace": [0]},
}


def threshold(law: dict[str, Any], recovery: str, **script: Any) -> float:
    """The first ssthresh in segments, of a flow that begins with ten."""
    transport = {
        "kind": "tcp",
        "segment_size": "1 kB",
        "acknowledge_every": 1,
        "initial_window": 10,
        "ecn": True,
        "congestion_control": law,
        "recovery": recovery,
    }
    scenario = {**ONE, "transport": transport, "loss": script}
    found = lb.run(lb.Scenario.from_dict(scenario), seed=1)
    ssthresh = FlowTrace.of(found, 0).windows["slow_start_threshold"]
    return float(ssthresh[np.isfinite(ssthresh)][0] / 1000)


MARK = {"marks": [{"segments": [1, 1]}]}
DROP = {"drops": [{"segments": [1, 1]}]}


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize(
    ("law", "loss", "echo"),
    [
        ({"kind": "reno"}, 0.5, 0.5),
        ({"kind": "reno", "abe": True}, 0.5, 0.8),
        ({"kind": "reno", "abe": True, "beta_ecn": 0.75}, 0.5, 0.75),
        ({"kind": "cubic"}, 0.7, 0.7),
        ({"kind": "cubic", "abe": True}, 0.7, 0.85),
        ({"kind": "cubic", "abe": True, "beta_ecn": 0.95}, 0.7, 0.95),
    ],
)
@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
def test_an_echo_reduces_the_window_as_rfc_8511_has_it(
    law: dict[str, Any], loss: float, echo: float, recovery: str
) -> None:
    """ABE: ssthresh is a share of the data in flight, larger after an echo than after a loss."""
    # Nine of ten segments are in flight when the first is acknowledged.
    assert threshold(law, recovery, **MARK) == pytest.approx(echo * 9)
    assert threshold(law, recovery, **DROP) == pytest.approx(loss * outstanding(recovery))


def outstanding(recovery: str) -> int:
    """Segments outstanding at a loss: `rack-tlp` counts the two of limited transmit, too."""
    return 12 if recovery == "rack-tlp" else 10


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_a_loss_in_the_same_acknowledgement_counts_more_than_an_echo(recovery: str) -> None:
    law = {"kind": "reno", "abe": True}
    # The third duplicate, of the fourth segment, carries the echo.
    script = DROP | {"marks": [{"segments": [4, 4]}]}
    assert threshold(law, recovery, **script) == pytest.approx(outstanding(recovery) / 2)


def test_abe_leaves_two_segments() -> None:
    """RFC 8511, 3: "with a lower bound of 2 * SMSS applied to the result"."""
    law = {"kind": "reno", "abe": True, "beta_ecn": 0.1}
    assert threshold(law, "sack", **MARK) == 2
