"""AccECN (RFC 9768): acknowledgements that count the marked segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace
from lightburst.trace.flow import ACK, ARRIVED, CWR, FORWARD, SENT, SYN
from lightburst.trace.packets import capture

ONE: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "40 kB"}},
    "measurement": {"trace": [0]},
}
DCTCP = {"kind": "dctcp", "g": 1.0}
ALL_LAWS = ("reno", "cubic", "highspeed", "scalable", "vegas", "fast", "linux-cubic")


def one(
    *marked: int, lost: tuple[int, int] | None = None, drops: int | None = None, **changes: Any
) -> FlowTrace:
    """A flow of 40 segments that begins with ten, some of which are marked.

    `lost` are the numbers of the first and last acknowledgement that is lost, of which the SYN+ACK
    is the first; `drops` that of a segment.
    """
    transport = {
        "kind": "tcp",
        "segment_size": "1 kB",
        "initial_window": 10,
        "recovery": "sack",
        "ecn": "accurate",
        "congestion_control": DCTCP,
    }
    scripts: list[dict[str, Any]] = [] if lost is None else [{"acknowledgements": lost}]
    scripts += [] if drops is None else [{"segments": [drops, drops]}]
    loss = {"marks": [{"segments": [n, n]} for n in marked], "drops": scripts}
    scenario = {**ONE, "transport": transport | changes, "loss": loss}
    return FlowTrace.of(lb.run(lb.Scenario.from_dict(scenario), seed=1), 0)


def told(trace: FlowTrace, event: int = SENT) -> list[tuple[int, int]]:
    """Segments acknowledged and the field ACE, of each segment that the receiver sends."""
    rows = trace.segments
    answers = ((rows["flags"] & (FORWARD | SYN)) == 0) & (rows["event"] == event)
    numbers, fields = rows["acknowledgement"][answers] // 1000, rows["flags"][answers] >> 4
    return list(zip(numbers.tolist(), fields.tolist(), strict=True))


def thresholds(trace: FlowTrace) -> list[float]:
    """The values of ssthresh in segments, in their order, without the first."""
    found = trace.windows["slow_start_threshold"] / 1000
    return [float(x) for x in found[1:][found[1:] != found[:-1]]]


@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
def test_the_handshake_asks_for_counts_which_begin_with_5() -> None:
    """Sections 3.1.1, 3.2.1 and 3.2.2.1: (1, 1, 1), then (0, 1, 0) twice; no CWR on data."""
    rows = one(3).segments
    sent = rows["event"] == SENT
    flags, forward = rows["flags"][sent], (rows["flags"][sent] & FORWARD) > 0
    own = flags[forward] >> 4
    assert own[0] == 0b111
    assert own[1] == 0b010
    assert set(own[2:].tolist()) == {5}
    assert flags[~forward][0] == 0b010 << 4 | ACK | SYN
    assert told(one())[0] == (2, 5)


def test_an_acknowledgement_is_due_at_the_first_of_several_marks_and_at_no_last_one() -> None:
    """Section 3.2.2.5.1: change-triggered acknowledgements, with one for two segments besides.

    The fields are 5 and the marks so far, modulo 8.
    """
    # 3 is marked after 2; 4 and 5 would be acknowledged together anyhow; 9 comes after 8.
    assert told(one(3, 5, 6, 7, 9))[:6] == [(2, 5), (3, 6), (5, 7), (7, 1), (9, 2), (10, 2)]
    # RFC 8257 has an acknowledgement more for each change, with the segments before it.
    echoes = [(2, 0), (3, 1), (4, 0), (5, 1), (7, 1), (8, 0), (9, 1), (10, 0)]
    assert told(one(3, 5, 6, 7, 9, ecn=False))[:8] == echoes


def test_the_share_of_marks_is_exact_within_an_acknowledgement_of_two_segments() -> None:
    """RFC 8257, section 3.3, with g = 1: alpha is the share in the first window of data.

    The window of ten segments does not grow with a mark, and becomes 10 (1 - alpha / 2).
    """
    # One of two segments is marked, the second; both; with the first one alone acknowledged.
    assert thresholds(one(2))[0] == 10 * (1 - 0.5 / 2)
    assert thresholds(one(1, 2))[0] == 10 * (1 - 1 / 2)


@pytest.mark.parametrize("recovery", ["tahoe", "new-reno", "sack", "rack-tlp"])
def test_lost_acknowledgements_do_not_hide_marks(recovery: str) -> None:
    # The first acknowledgement that arrives is of four segments, and tells of one mark.
    assert thresholds(one(2, lost=(2, 2), recovery=recovery))[0] == 10 * (1 - 0.25 / 2)
    # Of eight: the count may have wrapped. Eight segments have one mark: nine would be too many.
    assert thresholds(one(2, lost=(2, 4), recovery=recovery))[0] == 10 * (1 - 0.125 / 2)


@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
def test_a_count_that_may_have_wrapped_is_taken_for_the_most() -> None:
    """Appendix A.2.1: where the field is as before, eight segments may be marked."""
    # Acknowledgements of 1, 3, 5 and 7 segments are lost, with eight marks of nine segments.
    trace = one(*range(1, 9), lost=(2, 5))
    assert told(trace, ARRIVED)[0] == (9, 5)
    assert thresholds(trace)[0] == pytest.approx(10 * (1 - 8 / 9 / 2))
    # Without a mark it is the same; the safest likely case is a false one.
    trace = one(lost=(2, 4))
    assert told(trace, ARRIVED)[0] == (8, 5)
    assert thresholds(trace)[0] == 10 * (1 - 1 / 2)


@pytest.mark.parametrize("recovery", ["sack", "rack-tlp"])
def test_sacked_segments_are_counted_when_they_are_sacked(recovery: str) -> None:
    """The first segment is lost; each duplicate tells of one segment more."""
    trace = one(4, 6, drops=1, recovery=recovery, acknowledge_every=1)
    fields = [field for number, field in told(trace, ARRIVED) if number == 0]
    assert fields[:6] == [5, 5, 6, 6, 7, 7]
    assert told(trace, ARRIVED)[-1] == (40, 7)


@pytest.mark.parametrize("law", ALL_LAWS)
@pytest.mark.parametrize("recovery", ["new-reno", "sack", "rack-tlp"])
def test_other_laws_reduce_as_after_an_echo(law: str, recovery: str) -> None:
    """With an acknowledgement for each segment there is no difference to RFC 3168 in a window."""
    common: dict[str, Any] = {
        "congestion_control": law,
        "recovery": recovery,
        "acknowledge_every": 1,
    }
    counted, echoed = (thresholds(one(1, ecn=ecn, **common)) for ecn in ("accurate", True))
    assert counted == echoed
    assert len(counted) == 1 or law in ("vegas", "fast")


def test_marks_of_a_window_reduce_once_and_no_segment_has_cwr() -> None:
    trace = one(*range(1, 10), congestion_control="reno", acknowledge_every=1)
    assert thresholds(trace) == [4.5]
    rows = trace.segments
    data = ((rows["flags"] & FORWARD) > 0) & (rows["payload"] > 0)
    assert not (rows["flags"][data] & CWR).any()


SWITCH: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue_size": "unlimited", "ecn_threshold": "60 kB"},
    "transport": {"kind": "tcp", "preset": "wide-area", "ecn": "accurate"},
    "workload": {
        "kind": "incast",
        "senders": 2,
        "rounds": 1,
        "interval": "1 s",
        "spread": "1 us",
        "size": {"kind": "constant", "value": "6 MB"},
    },
    "measurement": {"trace": [0, 1]},
}


@pytest.mark.parametrize("law", ["dctcp", "cubic"])
def test_the_acknowledgements_tell_of_each_mark_of_the_switches(law: str) -> None:
    """With b = 2 and no loss; the marks are more than 8, so the field wraps."""
    transport = SWITCH["transport"] | {"congestion_control": law}
    result = lb.run(lb.Scenario.from_dict({**SWITCH, "transport": transport}), seed=1)
    assert result.flows.drops.sum() == result.flows.retransmissions.sum() == 0
    counted = 0
    for flow in (0, 1):
        fields = np.array([5, *(field for _, field in told(FlowTrace.of(result, flow), ARRIVED))])
        steps = np.diff(fields) % 8
        # An acknowledgement is of two segments at the most.
        assert steps.max() == 2
        counted += int(steps.sum())
    assert counted == int(result.switches["marked"].sum()) > 100


def test_dctcp_with_counts_needs_fewer_acknowledgements() -> None:
    """As many marks in the window: a change of marks costs an acknowledgement, not two."""
    law = {"congestion_control": "dctcp"}
    sent = {}
    for ecn in (False, "accurate"):
        transport = SWITCH["transport"] | law | {"ecn": ecn}
        result = lb.run(lb.Scenario.from_dict({**SWITCH, "transport": transport}), seed=1)
        sent[ecn] = len(told(FlowTrace.of(result, 0)))
    assert sent["accurate"] < sent[False]


def test_a_capture_has_the_three_flags() -> None:
    """RFC 9768, figures 1 and 3: AE is the lowest bit of byte 13, CWR and ECE are in byte 14."""
    trace = one(3)
    found = capture(trace)
    offset, flags = found.headers[:, 32], found.headers[:, 33]
    fields = (offset & 1) << 2 | (flags >> 6 & 3)
    assert fields[:3].tolist() == [0b111, 0b010, 0b010]
    assert set(fields[3:].tolist()) == {5, 6}
    assert set((offset >> 4).tolist()) <= {5, 6, 7, 8}


def test_the_word_is_the_only_one() -> None:
    for given in ("precise", 1, "true"):
        with pytest.raises(lb.InputError) as refused:
            one(ecn=given)
        assert refused.value.path == "transport.ecn"
        assert refused.value.allowed == "true, false or 'accurate'"
