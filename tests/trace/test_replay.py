"""Recorded acknowledgements replayed to a sender: exact cases by hand, and bad input."""

from __future__ import annotations

import math
from typing import Any

import pytest

import lightburst as lb
from lightburst.trace import Acknowledgement, Replay, Write, replay

M = 1448
RENO = {"kind": "tcp", "preset": "linux", "congestion_control": "linux-reno"}


def segments(log: Replay, event: int) -> list[int]:
    """Numbers of the segments, from 0, that an event released."""
    sent = log.transmissions
    return [int(sequence) // M for sequence in sent.sequence[sent.event == event]]


def twenty(reduction: str) -> Replay:
    """A window of 20 segments, of which the first is lost; the others are SACKed one by one."""
    sacked = [Acknowledgement(0.1 + k * 0.001, 0, [(M, (k + 1) * M)]) for k in range(1, 20)]
    recovery = {"kind": "rack-tlp", "reduction": reduction}
    transport = RENO | {"initial_window": 20, "recovery": recovery}
    return replay(transport, [Write(0.0, 100 * M), *sacked], handshake_s=0.1)


@pytest.mark.parametrize("reduction", ["linux", "rfc6937", "rfc9937"])
def test_a_recovery_sends_every_second_time_as_in_the_example_of_rfc_6937(reduction: str) -> None:
    """RFC 6937, section 4: two new segments, the retransmission, then one for each two.

    With three segments SACKed of 20, ssthresh = 10, and the window of 20 as RecoverFS:
    ceil(k / 2) - prr_out segments after k deliveries.
    """
    log = twenty(reduction)
    sent = [segments(log, event) for event in range(1, 20)]
    assert sent[:3] == [[20], [21], [0]]
    # RFC 9937 leaves out the two segments SACKed before: 20 + 2 - 3 + 1 are outstanding. RFC 6937
    # counts all 22.
    base = {"linux": 20, "rfc6937": 22, "rfc9937": 20}[reduction]
    out, expected, new = 1, [], 22
    # Later the segments in the network are as few as ssthresh.
    for delivered in range(2, 14):
        due = max(math.ceil(delivered * 10 / base) - out, 0)
        expected.append(list(range(new, new + due)))
        out, new = out + due, new + due
    assert sent[3:15] == expected


def test_a_tail_is_probed_after_two_round_trips() -> None:
    """RFC 8985, section 7.2: PTO = 2 SRTT, here with 2 ms, and a tick of 4 ms after the next."""
    log = replay(RENO, [Write(0.0, 3 * M)], handshake_s=0.05, until_s=0.2)
    *_, probe = log.transmissions.to_dict("records")[:4]
    assert (probe["sequence"], probe["transmission"], probe["event"]) == (2 * M, 2, -1)
    assert probe["at_s"] == pytest.approx(0.108)


def test_a_lost_tail_is_repaired_without_a_timeout() -> None:
    """The probe's SACK block shows the two segments before it to be lost."""
    events: list[Write | Acknowledgement] = [
        Write(0.0, 4 * M),
        Acknowledgement(0.05, M),
        Acknowledgement(0.21, M, [(3 * M, 4 * M)]),
    ]
    log = replay(RENO, events, handshake_s=0.05)
    # PRR permits one segment for each one delivered.
    assert segments(log, 2) == [1]
    assert log.states.lost.iloc[1] == 2
    assert list(log.states.state) == ["Open", "Recovery"]


def test_a_spurious_timeout_is_undone_by_f_rto() -> None:
    """RFC 5682: the acknowledgement of what was not sent again restores window and threshold."""
    recovery = {"kind": "rack-tlp", "tail_loss_probe": False}
    transport = RENO | {"recovery": recovery, "timestamps": False}
    events: list[Write | Acknowledgement] = [
        Write(0.0, 40 * M),
        Acknowledgement(0.5, M),
        Acknowledgement(0.51, 2 * M),
    ]
    log = replay(transport, events, handshake_s=0.05)
    assert log.transmissions.transmission.max() == 2
    before, after = log.states.to_dict("records")
    assert before["state"] == "Loss"
    assert after["state"] == "Open"
    assert after["cwnd_bytes"] >= 10 * M
    assert after["ssthresh_bytes"] == math.inf


@pytest.mark.parametrize(
    ("transport", "events", "path"),
    [
        ({"kind": "tcp"}, [Write(0, M)], "transport.recovery"),
        (RENO, [], "events"),
        (RENO, [Write(1, M), Write(0.5, M)], "events[1].at_s"),
        (RENO, [Write(math.nan, M)], "events[0].at_s"),
        (RENO, [Write(0, 0)], "events[0].size_bytes"),
        (RENO, [Write(0, 100), Write(1, M)], "events[1].size_bytes"),
        (RENO, [Write(0, M), Acknowledgement(1, 2 * M)], "events[1]"),
        (RENO, [Write(0, 2 * M), Acknowledgement(1, 100)], "events[1]"),
        (RENO, [Write(0, 2 * M), Acknowledgement(1, 0, [(M, M)])], "events[1].blocks"),
        (RENO, [Write(0, 9 * M), Acknowledgement(1, 0, [(M, 2 * M)] * 5)], "events[1].blocks"),
    ],
)
def test_an_impossible_event_is_refused(
    transport: dict[str, object], events: list[Write | Acknowledgement], path: str
) -> None:
    with pytest.raises(lb.InputError) as refused:
        replay(transport, events, handshake_s=0.1)
    assert refused.value.path == path


@pytest.mark.parametrize(("name", "value"), [("handshake_s", 0.0), ("until_s", -1.0)])
def test_an_impossible_time_is_refused(name: str, value: float) -> None:
    times: dict[str, Any] = {"handshake_s": 0.1, name: value}
    with pytest.raises(lb.InputError) as refused:
        replay(RENO, [Write(0, M)], **times)
    assert refused.value.path == name


def counted(*heard: tuple[int, int]) -> list[str]:
    """The states after acknowledgements of so many of ten segments, each with its field ACE."""
    told = [
        Acknowledgement(0.1 + n / 100, M * count, ace=ace) for n, (count, ace) in enumerate(heard)
    ]
    log = replay(RENO | {"ecn": "accurate"}, [Write(0.0, 20 * M), *told], handshake_s=0.1)
    return [str(state) for state in log.states.state]


def test_counts_of_marks_are_decoded_as_in_rfc_9768_and_linux() -> None:
    """Without options; Linux's tests tcp_accecn_delivered_* and _noprogress have these fields."""
    # The same field: up to seven segments have no mark, eight may have eight (A.2.1).
    assert counted((1, 5)) == counted((7, 5)) == ["Open"]
    assert counted((8, 5)) == counted((9, 5)) == ["CWR"]
    # After an acknowledgement of one segment, nine more (`2ndlargeack`), and seven more.
    assert counted((1, 5), (10, 5)) == ["Open", "CWR"]
    assert counted((1, 5), (8, 5)) == ["Open", "Open"]
    # One mark, and seven of ten (`maxack`).
    assert counted((1, 6)) == counted((10, 4)) == ["CWR"]
    # A count without progress is ignored; the next one has it.
    assert counted((1, 5), (1, 6), (2, 6)) == ["Open", "Open", "CWR"]


def test_a_count_is_given_where_marks_are_counted_and_nowhere_else() -> None:
    for ecn, ace, allowed in [
        ("accurate", None, "0 to 7 with ecn = 'accurate'"),
        ("accurate", 8, "0 to 7 with ecn = 'accurate'"),
        (True, 5, "None without ecn = 'accurate'"),
    ]:
        events: list[Write | Acknowledgement] = [
            Write(0.0, 2 * M),
            Acknowledgement(0.1, M, ace=ace),
        ]
        with pytest.raises(lb.InputError) as refused:
            replay(RENO | {"ecn": ecn}, events, handshake_s=0.1)
        assert (refused.value.path, refused.value.allowed) == ("events[1].ace", allowed)
