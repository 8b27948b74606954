"""F-RTO, undone reductions and evidence of deliveries, by the rules of RFCs and of Linux.

A window of ten segments and a handshake of 200 ms: RTO = 600 ms.
"""

from __future__ import annotations

import math

import pytest
from replayed import Event, ack, last, play, sent, threshold, window, write

NO_PROBE = {"tail_loss_probe": False}
FAST = (1, 4)
"""Three segments SACKed: the first one counts as lost."""


def test_f_rto_is_not_for_a_timeout_within_a_recovery() -> None:
    """RFC 5682, section 2.1, step 1: the acknowledgement repairs, and sends nothing new."""
    log = play([write(0, 20), ack(200, 0, FAST), ack(1000, 4)], recovery=NO_PROBE)
    assert next(number for number, _ in sent(log, 999)) == 4


def after_f_rto(*later: Event) -> tuple[str, float]:
    """State and ssthresh after a timeout at 600 ms and what is acknowledged then."""
    log = play([write(0, 20), ack(800, 1), *later], recovery=NO_PROBE)
    # Step 2b: two new segments.
    assert sent(log, 700)[:2] == [(10, 800), (11, 800)]
    return last(log, "state"), threshold(log)


def test_f_rto_undoes_at_an_acknowledgement_of_what_was_sent_once() -> None:
    """Step 3b; and step 3a: a duplicate before it ends F-RTO."""
    assert after_f_rto(ack(1000, 6)) == ("Open", math.inf)
    assert after_f_rto(ack(1000, 1, (10, 11)), ack(1001, 1, (10, 11), (5, 6)))[1] == 5


def test_a_duplicate_of_a_segment_sent_before_the_reduction_undoes_nothing() -> None:
    """RFC 3708: the retransmission of the present recovery was needed, that of the last was not."""
    first = [write(0, 15), ack(200, 0, FAST), ack(400, 10), ack(600, 10, (11, 14))]
    old, present = ack(601, 15, (0, 1)), ack(601, 15, (10, 11))
    assert [threshold(play([*first, one])) for one in (old, present)] == [3, 5]


def test_the_probe_counts_among_the_retransmissions_that_must_come_twice() -> None:
    """`tcp_init_undo`: the duplicate of the probe alone undoes nothing."""
    log = play([write(0, 4), ack(450, 0, FAST), ack(451, 0, (3, 4), (1, 4))])
    assert sent(log) == [(3, 402), (0, 450)]
    # PRR goes on: four delivered, one sent, and one in the network: 1 + min (4 - 1, 5 - 1).
    assert (threshold(log), window(log)) == (5, 4)


def test_an_echo_within_a_recovery_forbids_to_undo_it() -> None:
    """RFC 3168: there is congestion, whatever became of the segment."""
    for echo, expected in ((False, math.inf), (True, 5)):
        events = [write(0, 10), ack(200, 0, FAST), ack(201, 0, (1, 5), echo=echo)]
        log = play([*events, ack(202, 10, (0, 1))], ecn=True)
        assert threshold(log) == expected


def test_a_recovery_that_sent_nothing_again_is_undone_by_progress() -> None:
    """Pacing holds the retransmission back, and the original arrives meanwhile."""
    events = [write(0, 40), ack(200, 10), ack(400, 11), ack(401, 11, (12, 15)), ack(402, 15)]
    log = play(events, recovery={"pacing": True})
    assert all(number != 11 or at < 400 for number, at in sent(log))
    assert threshold(log) == math.inf


def avoided(rounds: int) -> tuple[list[Event], int, float]:
    """A loss at ten segments, and rounds of congestion avoidance from five segments on; the events,
    the first segment not acknowledged and the time.
    """
    events = [write(0, 500), ack(200, 0, FAST), ack(400, 10)]
    # Two to five were SACKed: what was sent in the recovery is acknowledged first.
    at, first, cwnd = 600.0, 10, 5
    for _ in range(rounds):
        events += [ack(at + number, first + number + 1) for number in range(cwnd)]
        first, at, cwnd = first + cwnd, at + 200, cwnd + 1
    return events, first, at


def test_the_threshold_comes_back_as_three_quarters_of_the_window_at_least() -> None:
    """`tcp_current_ssthresh`: 3/4 of 8 is 6, more than the old 5."""
    events, first, at = avoided(3)
    log = play(events)
    assert (threshold(log), window(log)) == (5, 8)
    undone = play(
        [
            *events,
            ack(at, first, (first + 1, first + 4)),
            ack(at + 1, first + 8, (first, first + 1)),
        ]
    )
    assert threshold(undone) == 6


def test_sacked_segments_give_round_trips_and_retransmitted_ones_give_none() -> None:
    """RFC 6298, section 3 (Karn): the timeout tells of the samples."""
    # The second segment is probed after SRTT = 200 ms and one more round trip.
    events = [write(0, 2), ack(300, 0, (1, 2))]
    log = play(events, 700)
    # min_rtt = 200 ms; RACK.rtt = 300 ms, so that the first one is due at 300 + 50 + 2 ms.
    assert sent(log) == [(0, 352)]
    # SRTT = 200 + 100 / 8 after the SACK, with 4 * 100 ms of deviation: RTO = 612.5 ms from 352 ms.
    later = play(events, 1200)
    assert sent(later)[1] == (0, 964.5)
    # The third one, sent once, is acknowledged together with a retransmission: no sample of 452 ms.
    repaired = [write(0, 3), ack(200, 0, (1, 2)), ack(452, 3), write(500, 1)]
    assert sent(play(repaired, 1200, NO_PROBE), 501) == [(3, 1100)]


def test_an_old_acknowledgement_is_read_for_its_blocks() -> None:
    """`tcp_ack`, old_ack."""
    log = play([write(0, 10), ack(200, 2), ack(201, 1, (5, 6))])
    assert last(log, "sacked") == 1


def test_a_duplicate_that_no_retransmission_explains_is_no_delivery() -> None:
    """`tcp_dsack_seen`: the network doubled it."""
    log = play([write(0, 10), ack(200, 2), ack(201, 2, (0, 1))])
    # The SYN and two segments.
    assert last(log, "delivered") == 3


def test_sacks_grow_the_window_once_reordering_is_usual() -> None:
    """`tcp_may_raise_cwnd`: with a metric above three, not only cumulative acknowledgements do."""
    usual = [write(0, 60), ack(200, 0, (5, 6)), ack(201, 6), ack(202, 10)]
    log = play([*usual, ack(400, 10, (11, 12))])
    assert (last(log, "reordering"), last(log, "state")) == (6, "Disorder")
    assert window(log) == window(play(usual)) + 1


@pytest.mark.parametrize(("reduction", "cwnd"), [("linux", 4), ("rfc9937", 4), ("rfc6937", 5)])
def test_below_the_threshold_a_segment_more_is_sent(reduction: str, cwnd: int) -> None:
    """RFC 6937, section 3, PRR-SSRB: always; RFC 9937: only if SND.UNA advances.

    Six are lost and four delivered: nothing is in the network, and ssthresh is 5.
    """
    assert (
        window(play([write(0, 10), ack(200, 0, (6, 10))], recovery={"reduction": reduction}))
        == cwnd
    )


def test_a_recovery_sends_a_segment_again_at_once_though_the_window_is_full() -> None:
    """RFC 9937, section 6: SndCnt = MSS if prr_out is 0; ssthresh holds the five in the network."""
    assert sent(play([write(0, 10), ack(200, 0, (1, 5))])) == [(0, 200)]


def test_a_receiver_that_discards_sacked_data_has_half_a_round_trip() -> None:
    """RFC 2018, section 8, as in `tcp_check_sack_reneging`: then nothing counts as SACKed.

    The acknowledgement at 210 ms ends at a segment that is SACKed; it is sent again half of SRTT =
    200 + 10 / 8 ms later.
    """
    events = [write(0, 5), ack(200, 0, (1, 3)), ack(210, 1), ack(400, 1)]
    log = play(events)
    assert sent(log)[:1] == [(1, 310.625)]
    assert list(log.states.sacked) == [2, 2, 0]
    # The next one takes it back: the segment was there, and only its acknowledgement came late.
    recovered = play([*events[:3], ack(250, 3), ack(255, 5)], 500)
    assert sent(recovered) == []
    # At least 10 ms.
    soon = [write(0, 5), ack(10, 0, (1, 3)), ack(11, 1)]
    assert sent(play(soon, 30, handshake_ms=10))[0] == (1, 21)
