"""The reordering window of RACK (RFC 8985, section 6.2, step 4), seen by the times of losses.

A round trip of 200 ms: the window is 50 ms, a quarter of it, and the timer has 2 ms more. What is
sent comes 50 ms sooner or later with one step of the window, four times the tolerance.
"""

from __future__ import annotations

import pytest
from dialogue import Dialogue

ROUND_TRIP_MS = 200
QUARTER_MS = ROUND_TRIP_MS // 4
MARGIN_MS = 2


def reordered() -> Dialogue:
    """A connection that has seen two segments in the other order."""
    dialogue = Dialogue(ROUND_TRIP_MS)
    first = dialogue.write(2)
    dialogue.ack(first, (first + 1, first + 2), after_ms=ROUND_TRIP_MS)
    dialogue.ack(first + 2, after_ms=1)
    dialogue.holds("tcpi_reord_seen == 1")
    return dialogue


def spurious(dialogue: Dialogue, width_ms: int) -> None:
    """The first of three is late by more than the window: the peer gets it twice (DSACK)."""
    first = dialogue.write(3)
    dialogue.ack(first, (first + 1, first + 2), after_ms=ROUND_TRIP_MS)
    dialogue.sent(first, width_ms + MARGIN_MS)
    dialogue.ack(first + 2, after_ms=1)
    dialogue.ack(first + 3, (first, first + 1), after_ms=1)


def loss(dialogue: Dialogue, width_ms: int) -> None:
    """The first of two is lost, and sent again when the window is over."""
    first = dialogue.write(2)
    dialogue.ack(first, (first + 1, first + 2), after_ms=ROUND_TRIP_MS)
    dialogue.sent(first, width_ms + MARGIN_MS)
    dialogue.ack(first + 2, after_ms=ROUND_TRIP_MS)


def test_a_duplicate_widens_the_window_by_a_quarter_of_the_round_trip() -> None:
    dialogue = reordered()
    spurious(dialogue, QUARTER_MS)
    loss(dialogue, 2 * QUARTER_MS)
    dialogue.passes()


def test_the_window_stays_wide_for_sixteen_recoveries() -> None:
    """RACK.reo_wnd_persist = 16; then it is a quarter again."""
    dialogue = reordered()
    spurious(dialogue, QUARTER_MS)
    for _ in range(16):
        loss(dialogue, 2 * QUARTER_MS)
    loss(dialogue, QUARTER_MS)
    dialogue.passes()


def test_the_window_is_widened_once_in_a_round_trip() -> None:
    """Two of one flight come twice: one step. One of the next flight: another one."""
    dialogue = reordered()
    first = dialogue.write(5)
    dialogue.ack(first, (first + 1, first + 2), after_ms=ROUND_TRIP_MS)
    dialogue.ack(first, (first + 3, first + 4), (first + 1, first + 2), after_ms=1)
    dialogue.sent(first, QUARTER_MS + MARGIN_MS - 1)
    dialogue.ack(first + 2, (first + 3, first + 4), after_ms=1)
    dialogue.sent(first + 2, 0)
    dialogue.ack(first + 4, (first, first + 1), after_ms=1)
    dialogue.ack(first + 5, (first + 2, first + 3), after_ms=1)
    dialogue.holds("tcpi_dsack_dups == 2")
    loss(dialogue, 2 * QUARTER_MS)
    spurious(dialogue, 2 * QUARTER_MS)
    loss(dialogue, 3 * QUARTER_MS)
    dialogue.passes()


def test_the_window_is_at_most_the_smoothed_round_trip() -> None:
    dialogue = reordered()
    for quarters in (1, 2, 3, 4):
        spurious(dialogue, quarters * QUARTER_MS)
    # Late acknowledgements have raised the smoothed round trip: it falls to the least one.
    for _ in range(30):
        dialogue.ack(dialogue.write(1) + 1, after_ms=ROUND_TRIP_MS)
    loss(dialogue, ROUND_TRIP_MS)
    dialogue.passes()


def test_a_duplicate_counts_only_where_reordering_was_seen() -> None:
    """Without it the peer's duplicate has another cause (step 4: RACK.reordering_seen)."""
    dialogue = Dialogue(ROUND_TRIP_MS)
    first = dialogue.write(4)
    dialogue.ack(first, (first + 1, first + 2), after_ms=ROUND_TRIP_MS)
    dialogue.sent(first, QUARTER_MS + MARGIN_MS)
    # The acknowledgement of the original was lost: only the duplicate tells of it.
    dialogue.ack(first + 4, (first, first + 1), after_ms=ROUND_TRIP_MS)
    dialogue.holds("tcpi_reord_seen == 0")
    loss(dialogue, QUARTER_MS)
    dialogue.passes()


def test_the_timer_waits_for_the_last_of_the_segments_that_may_be_lost() -> None:
    """Step 5: the largest rest, 60 ms, not that of the first segment, 10 ms."""
    dialogue = Dialogue(400)
    dialogue.write(1)
    dialogue.write(1, after_ms=50)
    dialogue.write(1, after_ms=40)
    dialogue.ack(0, (2, 3), after_ms=400)
    dialogue.sent(0, 60 + MARGIN_MS)
    dialogue.passes()


@pytest.mark.parametrize(("option", "width_ms"), [("", 2 * QUARTER_MS), ("3", QUARTER_MS)])
def test_a_static_window_stays_at_a_quarter(option: str, width_ms: int) -> None:
    """`tcp_recovery` with the second bit."""
    dialogue = reordered()
    if option:
        dialogue.lines.insert(0, f"`sysctl -q net.ipv4.tcp_recovery={option}`")
    spurious(dialogue, QUARTER_MS)
    loss(dialogue, width_ms)
    dialogue.passes()
