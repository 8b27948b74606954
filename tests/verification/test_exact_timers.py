"""Timers of RACK-TLP to the microsecond, by the rules of RFC 8985 and of Linux (`tcp_timer.c`).

A handshake of 200 ms gives SRTT = 200 ms and, by RFC 6298, (2.2), RTO = 200 + 4 * 100 = 600 ms.
"""

from __future__ import annotations

import math

import pytest
from dialogue import Dialogue
from replayed import Event, ack, last, play, sent, threshold, write


def test_the_reordering_timer_has_a_margin_of_2_ms() -> None:
    """A quarter of the least round trip after the round trip, and TCP_TIMEOUT_MIN_US."""
    log = play([write(0, 2), ack(200, 0, (1, 2))], 300)
    assert sent(log) == [(0, 252)]


def test_new_data_in_disorder_leaves_the_reordering_timer() -> None:
    """RFC 8985, section 7.2: a probe only outside of a recovery, and of its beginning."""
    log = play([write(0, 12), ack(200, 0, (1, 2))], 300)
    assert sent(log) == [(10, 200), (0, 252)]


def test_a_probe_comes_two_round_trips_after_the_last_segment() -> None:
    """With one segment outstanding the least timeout is added, for a delayed acknowledgement."""
    assert sent(play([write(0, 2)], 500)) == [(1, 402)]
    assert sent(play([write(0, 1)], 500, min_timeout="50 ms")) == [(0, 450)]


def test_a_probe_is_no_later_than_the_timeout_of_the_first_segment() -> None:
    """RFC 8985, section 7.2: the first segment's timeout at 600 ms, not 402 ms after the second."""
    log = play([write(0, 1), write(300, 1)], 700)
    assert sent(log) == [(1, 300), (1, 600)]


def test_one_probe_is_outstanding_and_the_timeout_counts_from_the_first_transmission() -> None:
    """RFC 8985, section 7.3: none while TLP.end_seq is set.

    The acknowledgement at 500 ms: SRTT = 200 + 300 / 8 = 237.5 ms, RTTVAR: 4 * 100 + 300 - 100 =
    600 ms, RTO = 837.5 ms, and a probe is due 2 * 237.5 + 2 = 477 ms later. The timeout of the
    second segment, sent at 0, is over by then: it comes at once, a microsecond later.
    """
    log = play([write(0, 3), ack(500, 1)], 1000)
    assert sent(log) == [(2, 402), (1, 977.001)]


def test_after_a_probe_the_timeout_counts_from_the_probe() -> None:
    """`tcp_send_loss_probe` resets the timer: a whole RTO."""
    assert sent(play([write(0, 2)], 1100, {"frto": False})) == [(1, 402), (0, 1002)]


def test_a_fast_retransmit_of_the_first_segment_restarts_its_timeout() -> None:
    """`tcp_xmit_retransmit_queue`: the timeout is a whole RTO after the retransmission."""
    log = play([write(0, 10), ack(200, 0, (1, 4))], 900)
    assert sent(log)[:2] == [(0, 200), (0, 800)]


def test_timers_with_ticks_end_with_the_bucket_of_the_kernels_wheel() -> None:
    """402 ms are 101 ticks of 4 ms, in buckets of eight: the next one ends with tick 104."""
    assert sent(play([write(0, 2)], 500, timer_tick="4 ms")) == [(1, 416)]


def probed(*later: Event) -> list[Event]:
    """Two segments, the second probed at 402 ms; what comes later; a third one, acknowledged."""
    return [write(0, 2), *later, write(650, 1), ack(850, 3)]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # RFC 8985, section 7.4.2: more than TLP.end_seq is acknowledged, and no duplicate was
        # reported: the probe repaired a loss.
        ([ack(602, 2)], 5),
        # A duplicate of the probe was reported: nothing was lost.
        ([ack(602, 2, (1, 2))], math.inf),
        # A duplicate acknowledgement: original and probe have arrived.
        ([ack(602, 2), ack(603, 2)], math.inf),
    ],
)
def test_the_window_is_reduced_if_the_probe_repaired_a_loss(
    events: list[Event], expected: float
) -> None:
    log = play(probed(*events))
    assert threshold(log) == expected


def test_a_duplicate_report_that_ends_the_episode_is_that_of_the_probe() -> None:
    """A report of another segment leaves it open (FLAG_DSACK_TLP)."""
    log = play(probed(ack(602, 2, (0, 1))))
    assert threshold(log) == 5


def test_a_timeout_spares_what_was_sent_within_a_round_trip() -> None:
    """RFC 8985, section 6.3: RACK.rtt = 200 ms.

    The segments sent at 300 ms have their timeout at 900 ms; the one of 750 ms may still arrive.
    The first acknowledgement after it is of a first transmission, so that RACK finds nothing.
    """
    events = [write(0, 1), ack(200, 1), write(300, 2), write(750, 1), ack(940, 2)]
    log = play(events, recovery={"tail_loss_probe": False, "frto": False})
    assert sent(log, 760) == [(1, 900), (2, 940)]
    assert (last(log, "state"), last(log, "lost"), last(log, "retransmitted")) == ("Loss", 1, 1)


def test_the_timeout_itself_has_whole_ticks() -> None:
    """`__tcp_set_rto`: 203 + 4 * 101.5 = 609 ms are 153 ticks of 4 ms."""
    dialogue = Dialogue(203)
    dialogue.holds("tcpi_rto == 612000")
    dialogue.passes()


def test_pacing_is_of_what_is_outstanding_where_that_is_more_than_the_window() -> None:
    """`tcp_update_pacing_rate`: 1.2 * 10 * 1448 bytes in 200 ms, not 8: 1500 bytes take 17.265 ms.

    The first segment is late by more than half of that, which the second one gets back.
    """
    log = play([write(0, 20), ack(200, 0, (1, 4))], 220, {"pacing": True})
    assert sent(log) == [(0, 200), (10, pytest.approx(200 + 17.265193 / 2, abs=1e-5))]
