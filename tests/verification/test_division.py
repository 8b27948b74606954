"""Where the time of a flow goes: each part to the picosecond, and a slow second opinion."""

from bisect import bisect_right as bisect
from random import Random
from typing import Any

import pytest
from followed import spans_of, totals
from plans import (
    MICROSECOND,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    burst,
    datagram,
    electronic,
    flow_table,
    hybrid,
    loss,
    lossy,
    one_datagram_each,
    one_flow,
    saw,
    settings,
    star_edges,
    table,
    tcp,
)
from random_plans import random_plan

from lightburst.trace import FlowTrace
from lightburst.trace.division import (
    ASSEMBLY,
    BUFFER,
    FAST,
    INTERFACE,
    LOST_FOR_GOOD,
    PARTS,
    QUEUE,
    SENDER,
    SET_UP,
    TIMEOUT,
    WAY,
    Span,
)
from lightburst.trace.flow import ARRIVED, FORWARD, LOST, NONE, SENT, SYN
from lightburst.traced import STATES

DELAY = 50_000
DATA, CONTROL = 7_200_000, 51_200  # 9,000 and 64 bytes at 10 Gb/s
# Over three links with two electronic switches.
DATA_WAY, CONTROL_WAY = 3 * (DATA + DELAY), 3 * (CONTROL + DELAY)
SET_UP_TIME = 2 * CONTROL_WAY
NINE: dict[str, Any] = {
    "segment_bytes": 9000,
    "advertised_window_bytes": 9_000_000,
    "initial_window_bytes": 90_000,
    "acknowledge_every": 1,
}


def without(segments: int, transport: dict[str, Any], *drops: dict[str, Any], **more: Any) -> Plan:
    """A flow of full segments over three links, of which some are lost in the middle."""
    scripted = [{"transmission": 1, **drop} if "segments" in drop else drop for drop in drops]
    plan = one_flow(3, electronic(), transport, 9_000 * segments, loss=loss(*scripted), **more)
    return plan._replace(links=lossy(plan.links, 2))


def divided(plan: Plan, flow: int = 0) -> dict[Any, int]:
    """The parts of a flow's time that are not empty."""
    return totals(spans_of(plan, flow)[0])


def test_nothing_happens() -> None:
    """The ACK of the set-up goes before the first segment; the others come without a gap."""
    assert divided(without(5, tcp(**NINE))) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        WAY: DATA_WAY + 4 * DATA,
    }


def test_the_window_lets_nothing_out() -> None:
    """With a window of one segment each waits for the acknowledgement of the one before."""
    alone = NINE | {"initial_window_bytes": 9_000, "advertised_window_bytes": 9_000}
    assert divided(without(3, tcp(**alone))) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        SENDER: 2 * CONTROL_WAY,
        WAY: 3 * DATA_WAY,
    }


def test_a_lost_syn_is_in_the_set_up() -> None:
    """A second of timeout before the SYN+ACK comes; then a window of one segment (RFC 5681)."""
    plan = without(1, tcp(**NINE), {"acknowledgements": [1, 1]})
    (first, *_), trace, _ = spans_of(plan, 0)
    # The receiver's own timer sends the SYN+ACK again, a second after it was handed over.
    assert first == Span(START, START + SET_UP_TIME + SECOND, SET_UP)
    assert trace.timeouts_ps().size == 0


def test_a_lost_last_segment_waits_for_the_timer() -> None:
    """It starts anew with the acknowledgement of the first segment."""
    assert divided(without(2, tcp(**NINE), {"segments": [2, 2]})) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        WAY: 2 * DATA_WAY,
        TIMEOUT: CONTROL_WAY + SECOND,
    }


def test_stop_and_wait_waits_for_its_timer() -> None:
    """T is a millisecond at first, and with each sample the mean of itself and the sample."""
    after_set_up = (MILLISECOND + SET_UP_TIME) // 2
    assert divided(without(2, saw(), {"segments": [2, 2]})) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        SENDER: CONTROL_WAY,
        WAY: 2 * DATA_WAY,
        TIMEOUT: (after_set_up + DATA_WAY + CONTROL_WAY) // 2,
    }


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "new-reno", "sack", "sack1"])
def test_three_duplicates_send_the_first_segment_again(recovery: str) -> None:
    """The fourth segment's acknowledgement is the third duplicate; nothing is in the interface."""
    third = 3 * DATA + DATA_WAY + CONTROL_WAY
    assert divided(without(4, tcp(recovery, **NINE), {"segments": [1, 1]})) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        FAST: third,
        WAY: DATA_WAY,
    }


def test_a_fast_retransmission_that_is_lost_waits_for_the_timer() -> None:
    """The timer starts anew with the retransmission."""
    drops: list[dict[str, Any]] = [{"segments": [1, 1]}, {"segments": [1, 1], "transmission": 2}]
    third = 3 * DATA + DATA_WAY + CONTROL_WAY
    assert divided(without(4, tcp("sack", **NINE), *drops)) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        TIMEOUT: third + SECOND,
        WAY: DATA_WAY,
    }


def test_what_is_lost_to_the_end_is_not_sent_again() -> None:
    plan = without(2, tcp(**NINE), {"segments": [2, 2]}, time_limit_ps=SECOND // 2)
    spans, _, columns = spans_of(plan, 0)
    end = int(columns["totals"]["end_ps"])
    assert totals(spans) == {
        SET_UP: SET_UP_TIME,
        INTERFACE: CONTROL,
        WAY: DATA_WAY,
        LOST_FOR_GOOD: end - START - SET_UP_TIME - CONTROL - DATA_WAY,
    }


def meeting(switch: dict[str, Any]) -> Plan:
    """Two hosts send a datagram to a third at once."""
    edges, hosts, nodes = star_edges(3)
    flows = one_datagram_each(flow_table((0, 2, 0, 9_000), (1, 2, 0, 9_000)))
    return Plan(settings(hosts, nodes, switch, datagram()), table(edges, hosts), flows)


def test_a_datagram_that_waits_for_another() -> None:
    assert divided(meeting(electronic())) == {WAY: 2 * (DATA + DELAY)}
    assert divided(meeting(electronic()), 1) == {WAY: 2 * (DATA + DELAY), (QUEUE, 3): DATA}
    # The buffer receives it while the other one passes.
    assert divided(meeting(hybrid(1))) == {WAY: DATA + 2 * DELAY}
    assert divided(meeting(hybrid(1)), 1) == {WAY: DATA + 2 * DELAY, (BUFFER, 3): DATA}


def test_a_datagram_that_waits_for_its_burst() -> None:
    """20 us at the edge; received whole there, and at the other edge."""
    switch = burst("timer", time=20 * MICROSECOND)
    plan = one_flow(4, switch, datagram(), 9_000)
    assert divided(plan) == {WAY: 3 * DATA + 4 * DELAY, (ASSEMBLY, 2): 20 * MICROSECOND}


def test_switching_is_on_the_way() -> None:
    plan = one_flow(3, hybrid(2, switching_time=700), datagram(), 9_000)
    assert divided(plan) == {WAY: DATA + 3 * DELAY + 2 * 700}


def test_a_lost_datagram_is_never_repaired() -> None:
    plan = without(1, datagram(), {"burst": 1})
    assert divided(plan) == {LOST_FOR_GOOD: DATA + DELAY}


@pytest.mark.parametrize("bursts", [False, True])
def test_the_parts_are_the_whole_and_what_the_definition_says(bursts: bool) -> None:
    met: set[str] = set()
    for seed in range(250):
        plan = random_plan(seed, bursts=bursts)
        flow = seed % len(plan.flows["source"])
        spans, trace, columns = spans_of(plan, flow)
        begin = int(plan.flows["start_ps"][flow])
        for span in spans:
            assert span.begin == begin
            assert span.end > begin
            begin = span.end
        opinion = Opinion(trace)
        end = max(int(plan.flows["start_ps"][flow]), int(columns["totals"]["end_ps"]))
        complete = opinion.complete()
        assert begin == (end if complete is None else complete)
        assert columns["flows"]["received_ps"][flow] == (NONE if complete is None else complete)
        for span in Random(seed).sample(spans, min(len(spans), 10)):
            for instant in (span.begin, (span.begin + span.end) // 2, span.end - 1):
                assert opinion.waits_for(instant) == (span.part, span.node), (seed, span)
        met |= {span.part for span in spans}
    assert met == set(PARTS) - ({BUFFER} if bursts else {ASSEMBLY})


class Opinion:
    """The definition, word for word: what the first missing byte waits for at an instant."""

    def __init__(self, trace: FlowTrace) -> None:
        self.trace = trace
        table = trace.segments
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        self.data = [row for row in rows if row["flags"] & FORWARD and row["payload"]]
        answers = [
            int(row["time_ps"])
            for row in rows
            if row["event"] == ARRIVED and row["flags"] & SYN and not row["flags"] & FORWARD
        ]
        self.established = min(answers, default=NONE) if trace.connected else 0
        hops = trace.hops
        self.hops = [dict(zip(hops, row, strict=True)) for row in zip(*hops.values(), strict=True)]

    def missing(self, instant: int) -> int:
        """The first byte that the receiver does not have when all of this instant has come."""
        come = [r for r in self.data if r["event"] == ARRIVED and r["time_ps"] <= instant]
        have = {int(row["sequence"]): int(row["payload"]) for row in come}
        byte = 0
        while byte in have:
            byte += have[byte]
        return byte

    def complete(self) -> int | None:
        """When the last byte came, if it did."""
        times = sorted({int(row["time_ps"]) for row in self.data if row["event"] == ARRIVED})
        place = bisect(times, False, key=lambda at: self.missing(at) == self.trace.size_bytes)
        return times[place] if place < len(times) else None

    def times(self, packet: int, event: int) -> list[int]:
        """When this happened to a packet: once, or never."""
        return [
            int(r["time_ps"]) for r in self.data if r["packet"] == packet and r["event"] == event
        ]

    def waits_for(self, instant: int) -> tuple[str, int | None]:
        """The part and its node."""
        if instant < self.established:
            return SET_UP, None
        byte = self.missing(instant)
        packets = {int(row["packet"]) for row in self.data if row["sequence"] == byte}
        made = {
            packet: [int(hop["came_ps"]) for hop in self.hops if hop["packet"] == packet][:1]
            or self.times(packet, LOST)
            for packet in packets
        }
        begun = {packet: self.times(packet, SENT) or made[packet] for packet in packets}
        if not any(at <= instant for (at,) in made.values()):
            return SENDER, None
        if not any(at <= instant for (at,) in begun.values()):
            return INTERFACE, None
        come = [(self.times(p, ARRIVED)[0], i) for i, p in self.by_arrival(packets)]
        waiting = [p for p in packets if not self.times(p, ARRIVED) and not self.times(p, LOST)]
        if come:
            packet = dict(self.by_arrival(packets))[min(come)[1]]
        elif waiting:
            packet = min(waiting, key=lambda p: begun[p])
        else:
            return LOST_FOR_GOOD, None
        if instant < begun[packet][0]:
            return self.cause(made[packet][0]), None
        return self.under_way(packet, instant)

    def by_arrival(self, packets: set[int]) -> list[tuple[int, int]]:
        """Those that arrived, in the order of the table, with their places in it."""
        rows = enumerate(self.data)
        return [
            (i, int(r["packet"]))
            for i, r in rows
            if r["event"] == ARRIVED and r["packet"] in packets
        ]

    def cause(self, made: int) -> str:
        """A timeout if the sender was in its wake, or at the very instant; otherwise duplicates."""
        rows = zip(*(self.trace.windows[name] for name in ("time_ps", "state")), strict=True)
        states = [int(state) for time, state in rows if time <= made]
        after = states[-1:] == [STATES.index("loss")]
        return TIMEOUT if after or made in self.trace.timeouts_ps() else FAST

    def under_way(self, packet: int, instant: int) -> tuple[str, int | None]:
        """Where it waits at an instant, if it does."""
        for hop in self.hops:
            if hop["packet"] != packet or hop["node"] == self.trace.source:
                continue
            node, came, start = (int(hop[name]) for name in ("node", "came_ps", "start_ps"))
            if came <= instant < came + int(hop["held_ps"]):
                return (BUFFER if hop["burst"] == NONE else ASSEMBLY), node
            if start - int(hop["queued_ps"]) <= instant < start:
                return QUEUE, node
        return WAY, None
