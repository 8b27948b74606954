"""Growth of the window while it is not used, after idling, and by HyStart and CUBIC of Linux.

The rules are those of `tcp_cwnd_validate`, `tcp_cwnd_restart` and `net/ipv4/tcp_cubic.c`.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from replayed import Event, ack, play, sent, threshold, window, write

CUBIC: dict[str, Any] = {"congestion_control": "linux-cubic"}
# Without HyStart a loss alone ends slow start.
CURVE: dict[str, Any] = {"congestion_control": {"kind": "linux-cubic", "hystart": False}}


def acks(at_ms: float, first: int, count: int, spacing_ms: float = 3) -> list[Event]:
    """Acknowledgements of one segment each."""
    return [ack(at_ms + k * spacing_ms, first + k + 1) for k in range(count)]


def test_slow_start_grows_to_twice_what_was_outstanding() -> None:
    """RFC 7661 as in `tcp_is_cwnd_limited`: six of ten are used, and 12 is the end."""
    assert window(play([write(0, 6), *acks(200, 0, 6)])) == 12


def avoiding(cwnd: int) -> tuple[list[Event], int, float]:
    """Congestion avoidance from five segments on, after a loss, up to a window.

    Returns the events, the next segment and the time.
    """
    events: list[Event] = [write(0, 15), ack(200, 0, (1, 4)), ack(400, 10), ack(600, 15)]
    at, first, present = 600.0, 15, 6
    while present < cwnd:
        events += [write(at + 50, present), *acks(at + 250, first, present, 1)]
        first, at, present = first + present, at + 250, present + 1
    return events, first, at + 100


def test_after_an_idle_time_the_window_halves_for_each_timeout() -> None:
    """RFC 5681, section 4.1: from 16 segments after three timeouts, but to no less than ten.

    ssthresh is at least three quarters of the window before (`tcp_current_ssthresh`).
    """
    events, first, at = avoiding(16)
    assert (window(play(events)), threshold(play(events))) == (16, 5)
    # RTO has fallen to about 400 ms: SRTT and the least margin.
    idle = [*events, write(at + 2000, 30), ack(at + 2200, first + 1)]
    log = play(idle)
    assert len(sent(log, at + 1999)) - len(sent(log, at + 2001)) == 10
    assert threshold(log) == 12


def test_no_timeout_long_the_window_stays() -> None:
    """Less than an RTO after the last transmission."""
    events, _, at = avoiding(16)
    log = play([*events, write(at + 50, 30)])
    assert len(sent(log, at + 49)) == 16


def jump(handshake_ms: float, later_ms: float, initial: int, spacing_ms: float = 3) -> float:
    """ssthresh after a round of acknowledgements with the handshake's delay, and a later one."""
    first = acks(handshake_ms, 0, initial, spacing_ms)
    second = acks(handshake_ms + later_ms, initial, 2 * initial, spacing_ms)
    log = play(
        [write(0, 200), *first, *second], 0, None, handshake_ms, initial_window=initial, **CUBIC
    )
    return threshold(log)


def test_hystart_ends_slow_start_with_the_ninth_sample_of_a_round() -> None:
    """Eight samples (HYSTART_MIN_SAMPLES) tell the delay of a round: at 32 + 8 segments."""
    assert jump(200, 260, 16) == 40


def test_hystart_does_not_look_below_sixteen_segments() -> None:
    """Of twelve samples of the second round four are at 12 to 15 segments; eight are too few."""
    assert jump(200, 260, 6) == math.inf


@pytest.mark.parametrize(
    ("handshake_ms", "later_ms", "ends"),
    [
        # An eighth of 20 ms is 2.5 ms, but 4 ms are the least; of 400 ms 50 ms, but 16 the most.
        *((20, 23, False), (20, 25, True), (400, 415, False), (400, 420, True)),
        # Between, an eighth: 80 ms and 10.
        *((80, 89, False), (80, 91, True)),
    ],
)
def test_hystart_answers_an_eighth_of_the_delay_within_bounds(
    handshake_ms: float, later_ms: float, ends: bool
) -> None:
    assert (jump(handshake_ms, later_ms, 16, 0.01) < math.inf) == ends


def of_cubic(idle_ms: float) -> list[int]:
    """Windows of CUBIC in 24 round trips after a loss, with an idle time after twelve.

    Otherwise a segment stays outstanding, since each one sent into an empty network ends an idle
    time.
    """
    events: list[Event] = [write(0, 60), ack(200, 0, (1, 4)), ack(400, 60)]
    at, una, end, windows = 400.0, 60, 60, []
    for number in range(24):
        at += idle_ms if number == 12 else 0
        log = play(events, 0, {"restart_after_idle": False}, **CURVE, initial_window=60)
        windows.append(int(window(log)))
        events.append(write(at + 40, una + windows[-1] - end))
        end = una + windows[-1]
        una = end - (number != 11)
        events.append(ack(at + 240, una))
        at += 240
    return windows


def test_an_idle_time_does_not_belong_to_the_stage_of_cubic() -> None:
    """`cubictcp_cwnd_event`: the epoch moves by it, and the window grows as without."""
    short = of_cubic(0)
    assert short[0] < short[12] < short[-1]
    assert of_cubic(8000) == short


def test_the_threshold_is_two_segments_at_least() -> None:
    """RFC 5681, equation 4."""
    log = play([write(0, 3), ack(200, 0, (1, 3)), ack(460, 3)], initial_window=3)
    assert threshold(log) == 2
