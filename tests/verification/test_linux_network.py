"""Recorded cases of the kernel as scenarios: the network in the loop."""

from __future__ import annotations

import pytest
from linux.network import timed_transmissions, transmissions
from linux.recorded import cases, rungs

from blocks import in_blocks

# Cases with another order, and the reason. HyStart compares round trips: those of the recorder
# include its own delay of some 10 us, which decides whether slow start ends with one
# acknowledgement or the next.
ORDER = {"cubic/long-loss-60-1500": "HyStart", "cubic/loss-30-rtt20": "HyStart"}
# Cases with other retransmissions. Segments of one acknowledgement leave the recorder's sender some
# microseconds apart; at a queue that is full to the byte this decides whose segment is lost.
RETRANSMISSIONS = {"cubic/none-queue30-1000": "queue", "reno/none-queue30-1000": "queue"}

NAMES = sorted(cases())
PARTS = [name for name in NAMES if cases()[name]["case"]["writes"]]


@in_blocks("name", NAMES, size=36)
def test_a_scenario_has_the_segments_of_the_kernel(name: str) -> None:
    theirs, ours = rungs(cases()[name]["log"]), transmissions(cases()[name])
    again = sorted(one for one in ours if one[1] > 1)
    assert (again == theirs["retransmissions"]) == (name not in RETRANSMISSIONS)
    assert (ours == theirs["order"]) == (name not in {**ORDER, **RETRANSMISSIONS})


def test_applications_that_write_in_parts_are_among_the_cases() -> None:
    assert (len(NAMES), len(PARTS)) == (148, 6)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_written_in_parts_leaves_when_the_kernel_sends_it(name: str) -> None:
    """Within the recorder's lateness of up to 0.5 ms; segments on the path are 1 ms apart."""
    recorded = cases()[name]
    theirs = [row["t"] for row in recorded["log"] if row["ev"] == "tx"]
    ours = [time for time, _ in timed_transmissions(recorded)]
    assert ours == pytest.approx(theirs, rel=0, abs=550)


@pytest.mark.parametrize("name", sorted(ORDER))
def test_hystart_changes_one_place_in_the_order(name: str) -> None:
    """One new segment and one retransmission are exchanged; all else is the kernel's."""
    theirs, ours = rungs(cases()[name]["log"])["order"], transmissions(cases()[name])
    places = [i for i, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    assert len(places) == 2
    assert places[1] == places[0] + 1
