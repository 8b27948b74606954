"""Our senders against those of ns-2: same losses on the same path, segment by segment.

Where they differ, and why, is in ``ns2/README.md``; the same list is here, and a difference that is
gone is as wrong as a new one.
"""

import dataclasses
from typing import Any

import pytest
from ns2.golden import Case, cases, load
from ns2.ours import differences, play

CASES = list(cases())

# ns-2's New-Reno sends two new segments at the most on an acknowledgement in a recovery.
_TWO_AT_A_TIME = (
    "ack 46 comes at 0.70 s, ns-2's at 0.80 s",
    "segment 92 is sent at 0.60 s, ns-2's at 0.70 s, and 0 more",
)
_WHOLE = "cwnd 21.5 at ack 41 (43), ns-2's 21"

DIFFERENCES: dict[str, tuple[str, ...]] = {
    # Rule 5: at most two at a time.
    "spread.Newreno": _TWO_AT_A_TIME,
    "spread.Newreno.no-bugfix": _TWO_AT_A_TIME,
    "spread.Newreno.slow-but-steady": _TWO_AT_A_TIME,
    # Rule 8: limited transmit sends old segments, too, after a timeout or Tahoe's retransmission.
    "five.Newreno.limited-transmit": (
        "send 100 is segment 93, ns-2's 46",
        "ack 94, ns-2's ack 93",
    ),
    "spread.Tahoe.limited-transmit": (
        "send 98 is segment 84, ns-2's 57",
        "ack 52 comes at 0.90 s, ns-2's at 0.80 s",
        "ack 85, ns-2's ack 84",
    ),
    "spread.Reno.limited-transmit": (
        "send 101 is segment 90, ns-2's 56",
        "ack 90 comes at 1.23 s, ns-2's at 1.13 s",
        "ack 91, ns-2's ack 90",
    ),
    # Rule 5 at the acknowledgement 46, then rule 8.
    "spread.Newreno.limited-transmit": (
        "send 106 is segment 99, ns-2's 54",
        "ack 46 comes at 0.70 s, ns-2's at 0.80 s",
        "ack 100, ns-2's ack 99",
    ),
    "five-window-20.Newreno.limited-transmit": (
        "send 130 is segment 123, ns-2's 106",
        "ack 124, ns-2's ack 123",
    ),
    "twenty-five-window-40.Newreno.limited-transmit": (
        "ack 207 comes at 1.60 s, ns-2's at 1.53 s",
        "segment 206 is sent at 1.50 s, ns-2's at 1.43 s, and 10 more",
    ),
    # ns-2 until May 2003 gave up all inflation at a partial acknowledgement; no option of ours.
    "five.Newreno.no-deflation": (
        "send 92 is segment 90, ns-2's 42",
        "duplicate 42, ns-2's ack 43",
    ),
    "spread.Newreno.no-deflation": (
        "send 92 is segment 90, ns-2's 46",
        "duplicate 46, ns-2's ack 49",
    ),
    # ns-2 until January 2006 cut half a window to whole segments; no option of ours.
    "one-odd.Reno.whole-segments": (
        "ack 174 comes at 1.00 s, ns-2's at 1.10 s",
        _WHOLE,
        "segment 173 is sent at 0.90 s, ns-2's at 1.00 s, and 14 more",
    ),
    "one-odd.Newreno.whole-segments": (
        "ack 174 comes at 1.00 s, ns-2's at 1.10 s",
        _WHOLE,
        "segment 173 is sent at 0.90 s, ns-2's at 1.00 s, and 14 more",
    ),
    "one-odd.Sack1.whole-segments": (
        "ack 127 comes at 0.80 s, ns-2's at 0.90 s",
        _WHOLE,
        "segment 126 is sent at 0.70 s, ns-2's at 0.80 s, and 27 more",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_sender_does_what_that_of_ns2_does(case: Case) -> None:
    assert differences(play(case), load(case)) == list(DIFFERENCES.get(case.name, ()))


def test_differences_are_of_cases() -> None:
    assert set(DIFFERENCES) <= {case.name for case in CASES}


@pytest.mark.parametrize(
    ("agent", "scenario", "changes"),
    [
        ("Reno", "two", {"bug_fix": False}),
        ("Reno", "one", {"window_growth_on_exit": False}),
        ("Reno", "five", {"halving": "flight-size"}),
        ("Newreno", "two", {"full_acknowledgement": "flight-size"}),
        ("Newreno", "five-window-200", {"partial_acknowledgement": "slow-but-steady"}),
        ("Sack1", "twenty-five-window-40", {"recovery": "sack"}),
        ("Tahoe", "five", {"limited_transmit": True}),
        ("Tahoe", "one", {"recovery": "reno"}),
        ("Reno", "none", {"initial_window": 3}),
        ("Newreno", "whole-window", {"min_timeout": "0.3 s"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else value,
)
def test_another_sender_differs(agent: str, scenario: str, changes: dict[str, Any]) -> None:
    """The comparison detects each of the settings."""
    case = Case(agent, scenario)
    assert differences(play(case, **changes), load(case))


def test_a_time_that_differs_is_told() -> None:
    case = Case("Reno", "one")
    ours = play(case)
    late = tuple(dataclasses.replace(h, time_s=h.time_s + 0.001) for h in ours.heard)
    assert differences(dataclasses.replace(ours, heard=late), load(case)) == [
        "ack 1 comes at 0.10 s, ns-2's at 0.10 s"
    ]
