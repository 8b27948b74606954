"""Division of a flow's time by the event that its receiver was waiting for at each instant."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.trace.flow import ARRIVED, FORWARD, LOSS, LOST, NONE, RECOVERY, RETURNED, SYN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

APPLICATION: Final = "application"
SENDER: Final = "sender"
INTERFACE: Final = "interface"
TIMEOUT: Final = "timeout"
FAST: Final = "fast retransmission"
PROBE: Final = "tail loss probe"
REORDERING_TIMER: Final = "reordering timer"
LOST_FOR_GOOD: Final = "not sent again"
ASSEMBLY: Final = "assembly"
BUFFER: Final = "buffer"
CIRCUIT: Final = "circuit"
QUEUE: Final = "queue"
PAUSE: Final = "pause"
WAY: Final = "way"


def set_up(part: str) -> str:
    """Return the name of a part of the connection set-up, as in ``set-up: queue``."""
    return f"set-up: {part}"


#: Reasons for which a sender holds data back.
CONGESTION: Final = "congestion window"
RECEIVER: Final = "advertised window"
NEITHER: Final = "neither window"

#: Description of each part, in the order in which a flow passes through them.
PARTS: Final = {
    set_up(TIMEOUT): "a SYN or SYN+ACK was lost or late; a timeout sent the one that got through",
    set_up(INTERFACE): "the SYN or SYN+ACK waits in its host's interface, behind other packets",
    set_up(LOST_FOR_GOOD): "SYNs or SYN+ACKs were lost; at the end of the run none is on its way",
    set_up(ASSEMBLY): "the SYN or SYN+ACK waits until its burst is closed",
    set_up(BUFFER): "the SYN or SYN+ACK waits in the buffer of a hybrid switch",
    set_up(CIRCUIT): "the SYN or SYN+ACK waits at a rack until a circuit is open for it",
    set_up(QUEUE): "the SYN or SYN+ACK waits for an output, behind other packets",
    set_up(PAUSE): "the SYN or SYN+ACK waits for an output that pauses (pfc)",
    set_up(WAY): "the SYN or SYN+ACK is on its way: transmission, propagation, switching",
    APPLICATION: "the application has not yet written the data",
    SENDER: "the sender holds the data back: its window, its pacing, or the flow's own times",
    INTERFACE: "the data waits in its host's interface, behind other packets",
    TIMEOUT: "data was lost or late; a timeout sent the copy that got through",
    FAST: "data was lost or late; acknowledgements had the copy sent that got through",
    PROBE: "data was lost or late; a probe of the tail was the copy that got through",
    REORDERING_TIMER: (
        "data was lost or late; the copy that got through was sent when the time for reordered "
        "segments was over"
    ),
    LOST_FOR_GOOD: "data was lost; at the end of the run no copy of it is on its way",
    ASSEMBLY: "the data waits until its burst is closed, and may leave",
    BUFFER: (
        "the data waits in the buffer of a hybrid switch, at its egress for earlier bursts, or for "
        "later data that a script lets overtake (loss.holds)"
    ),
    CIRCUIT: "the data waits at a rack until a circuit is open for it",
    QUEUE: "the data waits for an output, behind other packets",
    PAUSE: "the data waits for an output that pauses (priority flow control, pfc)",
    WAY: "the data is on its way: transmission, propagation, switching",
}


class Span(NamedTuple):
    """An interval of time from `begin` up to `end` (ps, exclusive) with a single cause of waiting.

    `part` is a key of `PARTS`; `node` is the node of the wait, None if there is none.
    """

    begin: int
    end: int
    part: str
    node: int | None = None


@dataclass(frozen=True)
class Copy:
    """A packet of a flow; times in picoseconds, `NONE` for events that did not occur.

    Attributes
    ----------
    packet : int
        Number of the packet.
    sequence : int
        Sequence number of its first data byte.
    made_ps, start_ps : int
        Time of its creation, when it was handed to the host's interface, and start of its
        transmission (or its drop by a full interface).
    arrival_ps, lost_ps : int
        Time of its arrival and of its loss.
    cause : str or None
        Cause of a retransmission, `TIMEOUT`, `FAST`, `PROBE` or `REORDERING_TIMER`; None for the
        first transmission.
    """

    packet: int
    sequence: int
    made_ps: int
    start_ps: int
    arrival_ps: int
    lost_ps: int
    cause: str | None


def copies(trace: FlowTrace) -> list[Copy]:
    """Return all data packets of a flow, in order of creation.

    A packet that was trimmed counts as lost when its header arrives, is lost, or turns back.
    """
    table = trace.segments
    forward, data = table["flags"] & FORWARD > 0, table["payload"] > 0
    ended = np.isin(table["event"], (ARRIVED, LOST, RETURNED))
    headers = _times(table, forward & ~data & ended)
    return [
        replace(copy, lost_ps=headers[copy.packet])
        if copy.packet in headers and copy.lost_ps == NONE
        else copy
        for copy in packets(trace, forward & data)
    ]


def packets(trace: FlowTrace, chosen: NDArray[np.bool_]) -> list[Copy]:
    """Return the packets of the chosen rows of the segments table, in order of creation."""
    table = trace.segments
    arrival, lost = (_times(table, chosen & (table["event"] == event)) for event in (ARRIVED, LOST))
    # The first hop of a packet starts at its host, except where edges create the bursts themselves:
    # there the hops cover all of its time.
    hops, rows = np.unique(trace.hops["packet"], return_index=True)
    came, begins = (trace.hops[name][rows] for name in ("came_ps", "start_ps"))
    at_host = np.isin(trace.hops["node"][rows], (trace.source, trace.destination))
    made: dict[int, int] = dict(zip(hops, came.tolist(), strict=True))
    start: dict[int, int] = dict(zip(hops, np.where(at_host, begins, came).tolist(), strict=True))
    causes = _Causes(trace)
    numbers, rows = np.unique(np.where(chosen, table["packet"], NONE), return_index=True)
    found = []
    for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
        if number == NONE:
            break
        # A packet that a full interface dropped was created and lost at the same time.
        begin = made.get(number, lost.get(number, NONE))
        found.append(
            Copy(
                packet=number,
                sequence=int(table["sequence"][row]),
                made_ps=begin,
                start_ps=start.get(number, begin),
                arrival_ps=arrival.get(number, NONE),
                lost_ps=lost.get(number, NONE),
                cause=causes.of(begin) if table["retransmission"][row] else None,
            )
        )
    return found


def divide(trace: FlowTrace, start_ps: int, end_ps: int) -> list[Span]:
    """Divide the time of a flow, from its start to the arrival of its last byte.

    At each instant the first byte that the receiver lacks determines the part, one of `PARTS`.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    start_ps, end_ps : int
        Start of the flow, and end of the run, which ends the time of an unfinished flow.

    Returns
    -------
    list of Span
        Contiguous spans sorted by time, none of them empty.
    """
    hops = _hops(trace)
    spans = list(_set_up(trace, start_ps, end_ps, hops)) if trace.connected else []
    established = spans[-1].end if spans else start_ps
    made = copies(trace)
    by_byte: dict[int, list[Copy]] = defaultdict(list)
    for copy in made:
        by_byte[copy.sequence].append(copy)
    now, byte = start_ps, 0
    for time, arrived, following in _advances(made, trace):
        ready = max(established, trace.written_ps(byte))
        spans += _wait(Period(now, time, arrived), by_byte[byte], (established, ready), hops)
        now, byte = time, following
    if byte < trace.size_bytes:
        last = _under_way(by_byte[byte])
        ready = max(established, trace.written_ps(byte))
        spans += _wait(Period(now, end_ps, last), by_byte[byte], (established, ready), hops)
    parts = (part for span in spans for part in _at_interface(span, trace))
    return [span for span in parts if span.begin < span.end]


def holding(trace: FlowTrace, spans: list[Span], advertised: int | None) -> dict[str, int]:
    """Attribute the time in which a sender held data back to the window that was full.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    spans : list of Span
        The flow's spans from `divide`.
    advertised : int or None
        Window that the receiver advertises, in bytes; None if it advertises none.

    Returns
    -------
    dict of str to int
        Picoseconds by cause: `CONGESTION`, `RECEIVER` or `NEITHER`.
    """
    found = {CONGESTION: 0, RECEIVER: 0, NEITHER: 0}
    table = trace.windows
    times = table["time_ps"].astype(np.int64)
    # A row is valid until the next one; its bytes in flight are those after the sender has acted.
    own = table["congestion_window"] + table["inflation"]
    window = own if advertised is None else np.minimum(own, advertised)
    full = table["in_flight"] + trace.payload_bytes > window
    for span in spans:
        if span.part != SENDER:
            continue
        first, last = np.searchsorted(times, [span.begin, span.end], side="right")
        ends = [span.begin, *times[first:last].tolist(), span.end]
        for row, (begin, end) in enumerate(itertools.pairwise(ends), int(first) - 1):
            # Before the first row, the sender's whole initial window is in flight.
            held = NEITHER
            if times.size and (row < 0 or full[row]):
                other = advertised is not None and own[max(row, 0)] >= advertised
                held = RECEIVER if other else CONGESTION
            found[held] += end - begin
    return found


class Period(NamedTuple):
    """A wait from `begin` to `end` for one byte, and the packet that ended it, if any."""

    begin: int
    end: int
    copy: Copy | None

    def cut(self, begin: int, end: int, part: str, node: int | None = None) -> Span:
        """Return a span clipped to the period; it may be empty."""
        return Span(max(begin, self.begin), min(end, self.end), part, node)


def _wait(
    period: Period,
    sent: list[Copy],
    possible: tuple[int, int],
    hops: Mapping[int, list[Span]],
) -> Iterator[Span]:
    """Divide the wait for one byte, given all packets that carried the byte.

    `possible`: times from which the application may write, and from which the sender may send.
    """
    established, ready = possible
    handed = min((copy.made_ps for copy in sent), default=period.end)
    first = min((copy.start_ps for copy in sent), default=period.end)
    copy = period.copy
    yield period.cut(established, min(ready, handed), APPLICATION)
    yield period.cut(ready, handed, SENDER)
    yield period.cut(handed, first, INTERFACE)
    if copy is None:
        yield period.cut(first, period.end, LOST_FOR_GOOD)
        return
    yield period.cut(first, copy.start_ps, copy.cause or FAST)
    yield from _way(period, copy, hops)


def _way(period: Period, copy: Copy, hops: Mapping[int, list[Span]]) -> Iterator[Span]:
    """Divide the time of a packet from the start of its transmission to its arrival."""
    way = copy.start_ps
    for stay in hops.get(copy.packet, ()):
        yield period.cut(way, stay.begin, WAY)
        yield period.cut(*stay)
        way = stay.end
    yield period.cut(way, period.end, WAY)


def _set_up(
    trace: FlowTrace, start: int, end: int, hops: Mapping[int, list[Span]]
) -> Iterator[Span]:
    """Divide the set-up of the connection; the last span ends when it is established."""
    for span in _handshake(trace, start, end, hops):
        yield span._replace(part=set_up(span.part))


def _handshake(
    trace: FlowTrace, start: int, end: int, hops: Mapping[int, list[Span]]
) -> Iterator[Span]:
    """Follow the SYN and the SYN+ACK that established the connection."""
    flags = trace.segments["flags"] & (SYN | FORWARD)
    requests, answers = (packets(trace, flags == kind) for kind in (SYN | FORWARD, SYN))
    came = [copy for copy in answers if copy.arrival_ps != NONE]
    answer = min(came, key=lambda c: c.arrival_ps) if came else _under_way(answers)
    if answer is None:
        request = _under_way(requests)
    else:
        # The SYN+ACK answers the latest SYN that had arrived.
        before = [copy for copy in requests if copy.arrival_ps <= answer.made_ps]
        request = max(before, key=lambda c: c.arrival_ps)
    if request is None:
        first = min((copy.start_ps for copy in requests), default=end)
        nothing = Period(start, end, None)
        yield nothing.cut(start, first, INTERFACE, trace.source)
        yield nothing.cut(first, end, LOST_FOR_GOOD)
        return
    yield from _leg(start, request, end, trace.source, hops)
    if answer is not None:
        yield from _leg(request.arrival_ps, answer, end, trace.destination, hops)


def _leg(
    begin: int, copy: Copy, end: int, host: int, hops: Mapping[int, list[Span]]
) -> Iterator[Span]:
    """Divide the time until a handshake packet of `host` arrives or the run ends."""
    period = Period(begin, min(copy.arrival_ps, end), copy)
    yield period.cut(begin, copy.made_ps, TIMEOUT)
    yield period.cut(copy.made_ps, copy.start_ps, INTERFACE, host)
    yield from _way(period, copy, hops)


def _under_way(sent: list[Copy]) -> Copy | None:
    """Return the earliest packet that neither arrived nor was lost; None if there is none."""
    under_way = [copy for copy in sent if copy.arrival_ps == copy.lost_ps == NONE]
    return min(under_way, key=lambda copy: copy.start_ps, default=None)


def _advances(made: list[Copy], trace: FlowTrace) -> Iterator[tuple[int, Copy, int]]:
    """Yield each advance of the receiver: time, arriving packet, and the next missing byte."""
    by_packet = {copy.packet: copy for copy in made}
    table = trace.segments
    rows = np.flatnonzero(
        (table["event"] == ARRIVED) & (table["flags"] & FORWARD > 0) & (table["payload"] > 0)
    )
    held: dict[int, int] = {}
    expected = 0
    for row in rows.tolist():
        begin, payload = int(table["sequence"][row]), int(table["payload"][row])
        held[begin] = begin + payload
        if begin != expected:
            continue
        while expected in held:
            expected = held.pop(expected)
        yield int(table["time_ps"][row]), by_packet[int(table["packet"][row])], expected


def _hops(trace: FlowTrace) -> Mapping[int, list[Span]]:
    """Return the waits of each packet at nodes after its host, sorted by time."""
    found: dict[int, list[Span]] = defaultdict(list)
    # The last link of each packet, and its arrival from there.
    last: dict[int, tuple[int, int]] = {}
    table = {name: column.tolist() for name, column in trace.hops.items()}
    for i, (packet, node) in enumerate(zip(table["packet"], table["node"], strict=True)):
        # A further hop, if there is one, begins where this one is over.
        last[packet] = table["link"][i], table["arrival_ps"][i]
        if node in (trace.source, trace.destination):
            continue
        came, start = table["came_ps"][i], table["start_ps"][i]
        kept = BUFFER if table["burst"][i] == NONE else ASSEMBLY
        queue = CIRCUIT if table["link"][i] in trace.circuits else QUEUE
        wait = Span(start - table["queued_ps"][i], start, queue, node)
        found[packet].append(Span(came, came + table["held_ps"][i], kept, node))
        found[packet] += _with_pauses(wait, trace.pauses.get(table["link"][i], ()), PAUSE)
    for packet, (link, arrival) in last.items():
        if link in trace.locked:
            found[packet].append(Span(arrival, NONE, PAUSE, int(trace.places.link_to[link])))
    return found


def _with_pauses(wait: Span, pauses: Iterable[tuple[int, int]], part: str) -> Iterator[Span]:
    """Divide a wait for a link by the pauses of the link."""
    now = wait.begin
    for begin, end in pauses:
        if now < end and begin < wait.end:
            yield wait._replace(end=max(now, begin), begin=now)
            yield wait._replace(begin=max(now, begin), end=min(end, wait.end), part=part)
            now = min(end, wait.end)
    yield wait._replace(begin=now)


def _at_interface(span: Span, trace: FlowTrace) -> Iterator[Span]:
    """Divide a wait in the interface of a host by the pauses of its link."""
    names = {INTERFACE: PAUSE, set_up(INTERFACE): set_up(PAUSE)}
    if not trace.pauses or span.part not in names:
        yield span
        return
    host = trace.source if span.node is None else span.node
    (link,) = np.flatnonzero(trace.places.link_from == host)
    for one in _with_pauses(span, trace.pauses.get(int(link), ()), names[span.part]):
        yield one if one.part == span.part else one._replace(node=host)


class _Causes:
    """Causes of the retransmissions of a flow, by the time at which they were made."""

    def __init__(self, trace: FlowTrace) -> None:
        self.windows = trace.windows
        self.expired = frozenset(trace.timeouts_ps().tolist())
        self.looks = frozenset(trace.looks_ps().tolist())

    def of(self, made_ps: int) -> str:
        """Return the cause: a timeout (and the recovery after it), another timer, or else fast."""
        time = self.windows["time_ps"]
        row = int(np.searchsorted(time, np.uint64(made_ps), side="right")) - 1
        state = self.windows["state"][row] if row >= 0 else None
        if state == LOSS or made_ps in self.expired:
            return TIMEOUT
        if made_ps in self.looks:
            # A probe takes nothing for lost: the sender does not enter a recovery.
            return REORDERING_TIMER if state == RECOVERY else PROBE
        return FAST


def _times(table: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[int, int]:
    """Return the times of the given rows, by packet number."""
    return dict(zip(table["packet"][rows].tolist(), table["time_ps"][rows].tolist(), strict=True))
