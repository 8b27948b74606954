"""The division of the time of a flow: each part to the picosecond, and a slow second
implementation.
"""

from bisect import bisect_right as bisect
from random import Random
from typing import Any

import numpy as np
import pytest
from followed import spans_of, totals
from plans import (
    MICROSECOND,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    all_optical,
    burst,
    datagram,
    electronic,
    flow_table,
    hybrid,
    loss,
    lossy,
    one_datagram_each,
    one_flow,
    path_edges,
    saw,
    settings,
    star_edges,
    table,
    tcp,
)
from random_plans import KINDS, random_plan

from lightburst.measurement.trace_tables import STATES
from lightburst.trace import FlowTrace
from lightburst.trace.division import (
    APPLICATION,
    ASSEMBLY,
    BUFFER,
    CIRCUIT,
    FAST,
    INTERFACE,
    LOST_FOR_GOOD,
    PARTS,
    PAUSE,
    PROBE,
    QUEUE,
    REORDERING_TIMER,
    SENDER,
    TIMEOUT,
    WAY,
    Span,
    set_up,
)
from lightburst.trace.flow import ARRIVED, FORWARD, LOST, NONE, SENT, SYN

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
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        WAY: DATA_WAY + 4 * DATA,
    }


def test_the_window_lets_nothing_out() -> None:
    """With a window of one segment each waits for the acknowledgement of the one before."""
    alone = NINE | {"initial_window_bytes": 9_000, "advertised_window_bytes": 9_000}
    assert divided(without(3, tcp(**alone))) == {
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        SENDER: 2 * CONTROL_WAY,
        WAY: 3 * DATA_WAY,
    }


def set_up_of(plan: Plan, flow: int = 0) -> dict[Any, int]:
    """The parts of a flow's set-up, by their names without the word; those at a node with it."""
    spans = [span for span in spans_of(plan, flow)[0] if span.part.startswith("set-up: ")]
    return totals([span._replace(part=span.part.removeprefix("set-up: ")) for span in spans])


BEGIN = 20 * MICROSECOND
STAR = star_edges(3)


def beside(
    network: tuple[list[tuple[int, int]], int, int],
    switch: dict[str, Any],
    flow: tuple[int, int],
    other: tuple[int, int, int],
    **changes: Any,
) -> Plan:
    """A connection that begins at `BEGIN`, and a datagram: source, destination, how much later."""
    edges, hosts, nodes = network
    source, destination, late = other
    rows = [(*flow, BEGIN, 9_000), (source, destination, BEGIN + late, 9_000)]
    order = [0, 1] if late > 0 else [1, 0]
    flows = flow_table(*(rows[i] for i in order))
    flows["group"] = np.array(order, np.uint16)
    flows["departures_ps"] = np.array([BEGIN + late], np.uint64)
    flows["departure_offsets"] = np.array([0, *np.cumsum(order)], np.uint64)
    more = changes | {"loss": loss(*changes.pop("drops", ()))}
    transports = [tcp(**NINE, receiver_timers=more.pop("receiver_timers", True)), datagram()]
    links = lossy(table(edges, hosts), hosts)
    return Plan(settings(hosts, nodes, switch, transports, **more), links, flows)


def test_a_syn_waits_in_the_interface_for_the_window_of_another_flow() -> None:
    """The small unit arrives at each switch after the large one, and waits there once more."""
    early = 7 * MICROSECOND
    rows = flow_table((0, 1, START, 90_000), (0, 1, START + SET_UP_TIME + early, 9_000))
    assert set_up_of(without(10, tcp(**NINE))._replace(flows=rows), 1) == {
        # The ACK of the other's set-up is before it, too.
        (INTERFACE, 0): CONTROL + 10 * DATA - early,
        (QUEUE, 2): DATA - CONTROL,
        (QUEUE, 3): DATA - CONTROL,
        WAY: SET_UP_TIME,
    }


def test_a_lost_syn_waits_for_the_timer() -> None:
    """A datagram has the output when its head comes."""
    plan = beside(STAR, all_optical(), (0, 2), (1, 2, -1_000))
    assert set_up_of(plan, 1) == {TIMEOUT: SECOND, WAY: 2 * (CONTROL + 2 * DELAY)}
    assert spans_of(plan, 1)[0][0] == Span(BEGIN, BEGIN + SECOND, set_up(TIMEOUT))
    # At half a second none of its packets is in flight.
    cut = plan._replace(settings=plan.settings | {"time_limit_ps": SECOND // 2})
    assert totals(spans_of(cut, 1)[0]) == {set_up(LOST_FOR_GOOD): SECOND // 2 - BEGIN}


def test_a_set_up_that_the_end_of_the_run_finds_under_way() -> None:
    for late in (CONTROL_WAY // 2, CONTROL_WAY + CONTROL // 2):
        plan = without(1, tcp(**NINE), time_limit_ps=START + late)
        assert divided(plan) == {set_up(WAY): late}


@pytest.mark.parametrize("receiver_timers", [True, False])
def test_a_lost_syn_ack_waits_for_the_timer_that_replaces_it(receiver_timers: bool) -> None:
    """A second after the first SYN comes the second one, held up by a datagram before it."""
    early = MICROSECOND
    plan = beside(
        path_edges(3),
        electronic(),
        (0, 1),
        (0, 1, SECOND - early),
        drops=[{"acknowledgements": [1, 1]}],
        receiver_timers=receiver_timers,
    )
    spans = spans_of(plan, 0)[0]
    if receiver_timers:
        # The receiver's timer is faster than the second SYN.
        came = BEGIN + CONTROL_WAY
        assert Span(came, came + SECOND, set_up(TIMEOUT)) in spans
        assert set_up_of(plan) == {TIMEOUT: SECOND, WAY: SET_UP_TIME}
    else:
        assert spans[0] == Span(BEGIN, BEGIN + SECOND, set_up(TIMEOUT))
        assert set_up_of(plan) == {
            TIMEOUT: SECOND,
            (INTERFACE, 0): DATA - early,
            (QUEUE, 2): DATA - CONTROL,
            (QUEUE, 3): DATA - CONTROL,
            WAY: SET_UP_TIME,
        }


def test_a_syn_ack_in_a_queue() -> None:
    """It is at the switch three links after the beginning; a datagram began there earlier."""
    plan = beside(STAR, electronic(), (0, 1), (2, 0, -DATA))
    three = 3 * (CONTROL + DELAY)
    assert set_up_of(plan, 1) == {
        (QUEUE, 3): DELAY + DATA - three,
        WAY: 4 * (CONTROL + DELAY),
    }


def test_a_syn_ack_in_the_interface_of_the_destination() -> None:
    plan = beside(STAR, electronic(), (0, 1), (1, 2, 2 * (CONTROL + DELAY) - 1_000))
    assert set_up_of(plan) == {(INTERFACE, 1): DATA - 1_000, WAY: 4 * (CONTROL + DELAY)}


def test_two_syns_in_one_burst() -> None:
    """The first of them is answered first, so that no timeout counts; the bursts are of two."""
    time = 1_500 * MICROSECOND
    assert set_up_of(one_flow(4, burst("timer", time=time), saw(), 9_000)) == {
        (ASSEMBLY, 2): time,
        (ASSEMBLY, 4): time,
        WAY: 2 * (4 * CONTROL + 4 * DELAY),
    }


def test_a_lost_last_segment_waits_for_the_timer() -> None:
    """It starts anew with the acknowledgement of the first segment."""
    assert divided(without(2, tcp(**NINE), {"segments": [2, 2]})) == {
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        WAY: 2 * DATA_WAY,
        TIMEOUT: CONTROL_WAY + SECOND,
    }


def test_stop_and_wait_waits_for_its_timer() -> None:
    """T is a millisecond at first, and with each sample the mean of itself and the sample."""
    after_set_up = (MILLISECOND + SET_UP_TIME) // 2
    assert divided(without(2, saw(), {"segments": [2, 2]})) == {
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        SENDER: CONTROL_WAY,
        WAY: 2 * DATA_WAY,
        TIMEOUT: (after_set_up + DATA_WAY + CONTROL_WAY) // 2,
    }


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "new-reno", "sack", "sack1"])
def test_three_duplicates_send_the_first_segment_again(recovery: str) -> None:
    """The fourth segment's acknowledgement is the third duplicate; the interface is empty."""
    third = 3 * DATA + DATA_WAY + CONTROL_WAY
    assert divided(without(4, tcp(recovery, **NINE), {"segments": [1, 1]})) == {
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        FAST: third,
        WAY: DATA_WAY,
    }


def test_a_fast_retransmission_that_is_lost_waits_for_the_timer() -> None:
    """The timer starts anew with the retransmission."""
    drops: list[dict[str, Any]] = [{"segments": [1, 1]}, {"segments": [1, 1], "transmission": 2}]
    third = 3 * DATA + DATA_WAY + CONTROL_WAY
    assert divided(without(4, tcp("sack", **NINE), *drops)) == {
        set_up(WAY): SET_UP_TIME,
        INTERFACE: CONTROL,
        TIMEOUT: third + SECOND,
        WAY: DATA_WAY,
    }


def test_what_is_lost_to_the_end_is_not_sent_again() -> None:
    plan = without(2, tcp(**NINE), {"segments": [2, 2]}, time_limit_ps=SECOND // 2)
    spans, _, columns = spans_of(plan, 0)
    end = int(columns["totals"]["end_ps"])
    assert totals(spans) == {
        set_up(WAY): SET_UP_TIME,
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
    # The order is drawn; the one that waits has one part more.
    first, second = sorted((divided(meeting(electronic()), flow) for flow in (0, 1)), key=len)
    assert first == {WAY: 2 * (DATA + DELAY)}
    assert second == {WAY: 2 * (DATA + DELAY), (QUEUE, 3): DATA}
    # The buffer receives it while the other one passes.
    first, second = sorted((divided(meeting(hybrid(1)), flow) for flow in (0, 1)), key=len)
    assert first == {WAY: DATA + 2 * DELAY}
    assert second == {WAY: DATA + 2 * DELAY, (BUFFER, 3): DATA}


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_are_the_whole_and_what_the_definition_says(kind: str) -> None:
    met: set[str] = set()
    for seed in range(250):
        plan = random_plan(seed, kind)
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
    if kind == "crowds":  # nearly all of them are datagrams
        return
    # Without bursts no packet waits for one; with them a buffer is that of an egress, mostly none.
    part = ASSEMBLY if kind == "packets" else BUFFER
    parts = {part, set_up(part)}
    # Few of the plans have senders with these timers; `test_trace_looks` is about them.
    rare = {PROBE, REORDERING_TIMER}
    # No random plan has circuits, or links that pause.
    others = {CIRCUIT, set_up(CIRCUIT), PAUSE, set_up(PAUSE)}
    assert met - rare - (parts if kind != "packets" else set()) == (
        set(PARTS) - parts - rare - others
    )


class Opinion:
    """The definition, word for word: the cause for which the first missing byte waits at an
    instant.
    """

    def __init__(self, trace: FlowTrace) -> None:
        self.trace = trace
        table = trace.segments
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        self.data = [row for row in rows if row["flags"] & FORWARD and row["payload"]]
        self.ends = trace.source, trace.destination
        self.control = [row for row in rows if row["flags"] & SYN]
        names = ("packet", "event", "time_ps")
        self.events = [tuple(int(r[name]) for name in names) for r in self.data + self.control]
        hops = trace.hops
        self.hops = [dict(zip(hops, row, strict=True)) for row in zip(*hops.values(), strict=True)]

    def missing(self, instant: int) -> int:
        """The first byte that the receiver does not have after all arrivals of this instant."""
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
        """When an event of a packet happened: once, or never."""
        return [at for number, what, at in self.events if (number, what) == (packet, event)]

    def made(self, packet: int) -> int:
        """When a packet was handed to the interface of its host, or found no room there."""
        hops = [int(hop["came_ps"]) for hop in self.hops if hop["packet"] == packet]
        # A burst of the edges themselves may still be held by its ingress.
        return (hops[:1] or self.times(packet, LOST) or [NONE])[0]

    def begun(self, packet: int) -> int:
        """When its transmission began, or when it found no room; no interface has a burst."""
        first = next((hop["node"] for hop in self.hops if hop["packet"] == packet), None)
        begins = self.times(packet, SENT) if first in self.ends else []
        return (begins or [self.made(packet)])[0]

    def missing_yet(self, packets: list[int]) -> list[int]:
        """Those that neither came nor were lost by the end of the run, by their beginning."""
        open_ = [p for p in packets if not self.times(p, ARRIVED) and not self.times(p, LOST)]
        return sorted(open_, key=self.begun)

    def waits_for(self, instant: int) -> tuple[str, int | None]:
        """The part and its node."""
        answers = self.syns(0)
        come = min((at for p in answers for at in self.times(p, ARRIVED)), default=NONE)
        if self.trace.connected and instant < come:
            part, node = self.set_up(instant)
            return f"set-up: {part}", node
        byte = self.missing(instant)
        packets = {int(row["packet"]) for row in self.data if row["sequence"] == byte}
        if not any(self.made(packet) <= instant for packet in packets):
            return (SENDER if self.written(instant) > byte else APPLICATION), None
        if not any(self.begun(packet) <= instant for packet in packets):
            return INTERFACE, None
        arrived = [(self.times(p, ARRIVED)[0], i) for i, p in self.by_arrival(packets)]
        if arrived:
            packet = dict(self.by_arrival(packets))[min(arrived)[1]]
        elif waiting := self.missing_yet(list(packets)):
            packet = waiting[0]
        else:
            return LOST_FOR_GOOD, None
        if instant < self.begun(packet):
            return self.cause(self.made(packet)), None
        return self.under_way(packet, instant)

    def written(self, instant: int) -> int:
        """The end of the whole segments that the application has written: all, unless in parts."""
        size = self.trace.size_bytes
        if self.trace.writes is None:
            return size
        part, interval = self.trace.writes
        opened = int(self.trace.windows["time_ps"][0])
        done = min(size, part * ((instant - opened) // interval + 1))
        return done if done == size else done // self.trace.payload_bytes * self.trace.payload_bytes

    def syns(self, direction: int) -> list[int]:
        """All SYNs (`FORWARD`), or all SYN+ACKs (0)."""
        return sorted({int(r["packet"]) for r in self.control if r["flags"] & FORWARD == direction})

    def set_up(self, instant: int) -> tuple[str, int | None]:
        """The packet of the handshake that is awaited, if any, and the cause of its own wait."""
        syns, answers = self.syns(FORWARD), self.syns(0)
        got = [p for p in answers if self.times(p, ARRIVED)]
        got.sort(key=lambda p: self.times(p, ARRIVED))
        chain: list[int] = (got or self.missing_yet(answers))[:1]
        if chain:
            # The newest SYN that the destination had when it made this answer.
            here = [p for p in syns if self.times(p, ARRIVED) and self.had(p, chain[0])]
            chain = [max(here, key=lambda p: self.times(p, ARRIVED)), *chain]
        else:
            chain = self.missing_yet(syns)[:1]
        if not chain:
            waits = instant < min(self.begun(p) for p in syns)
            return (INTERFACE, self.trace.source) if waits else (LOST_FOR_GOOD, None)
        packet = next(p for p in chain if instant < (self.times(p, ARRIVED) or [NONE])[0])
        if instant < self.made(packet):
            return TIMEOUT, None
        if instant < self.begun(packet):
            return INTERFACE, self.ends[packet in answers]
        return self.under_way(packet, instant)

    def had(self, syn: int, answer: int) -> bool:
        """Whether a SYN had come when an answer was made."""
        return self.times(syn, ARRIVED)[0] <= self.made(answer)

    def by_arrival(self, packets: set[int]) -> list[tuple[int, int]]:
        """Those that arrived, in the order of the table, with their places in it."""
        rows = enumerate(self.data)
        return [
            (i, int(r["packet"]))
            for i, r in rows
            if r["event"] == ARRIVED and r["packet"] in packets
        ]

    def cause(self, made: int) -> str:
        """A timeout if the sender was recovering from one, or at that instant; another timer if
        nothing was heard at that instant; otherwise duplicates.
        """
        rows = zip(*(self.trace.windows[name] for name in ("time_ps", "state")), strict=True)
        known = [(int(time), int(state)) for time, state in rows if time <= made]
        times, states = [time for time, _ in known], [state for _, state in known]
        after = states[-1:] == [STATES.index("loss")]
        if after or made in self.trace.timeouts_ps():
            return TIMEOUT
        table = self.trace.segments
        back = (table["event"] == ARRIVED) & (table["flags"] & FORWARD == 0)
        if not self.trace.looks or made in table["time_ps"][back] or made not in times:
            return FAST
        return REORDERING_TIMER if states[-1:] == [STATES.index("fast recovery")] else PROBE

    def under_way(self, packet: int, instant: int) -> tuple[str, int | None]:
        """The place where it waits at an instant, if it does."""
        for hop in self.hops:
            if hop["packet"] != packet or hop["node"] in self.ends:
                continue
            node, came, start = (int(hop[name]) for name in ("node", "came_ps", "start_ps"))
            if came <= instant < came + int(hop["held_ps"]):
                return (BUFFER if hop["burst"] == NONE else ASSEMBLY), node
            if start - int(hop["queued_ps"]) <= instant < start:
                return QUEUE, node
        return WAY, None
