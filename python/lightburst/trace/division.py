"""How the time of one flow divides: what its receiver waited for, at each instant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.trace.flow import ARRIVED, FORWARD, LOSS, LOST, NONE, SYN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

SET_UP: Final = "set-up"
SENDER: Final = "sender"
INTERFACE: Final = "interface"
TIMEOUT: Final = "timeout"
FAST: Final = "fast retransmission"
LOST_FOR_GOOD: Final = "not sent again"
ASSEMBLY: Final = "assembly"
BUFFER: Final = "buffer"
QUEUE: Final = "queue"
WAY: Final = "way"

#: What each part is, in the order in which a byte meets them.
PARTS: Final = {
    SET_UP: "the connection is being established",
    SENDER: "the byte was never handed to the interface: window, pacing, or the flow's own times",
    INTERFACE: "it waits for the first time in the interface of its host",
    TIMEOUT: "it was lost; a timeout sends the copy that arrives",
    FAST: "it was lost; a fast retransmission, or what follows it, sends the copy that arrives",
    LOST_FOR_GOOD: "it was lost, and by the end of the run nothing has sent it again",
    ASSEMBLY: "its copy waits until its burst is closed",
    BUFFER: "its copy waits in the buffer of a hybrid switch",
    QUEUE: "its copy waits for an output",
    WAY: "its copy is on its way: transmission, propagation, switching",
}


class Span(NamedTuple):
    """A stretch of time, from `begin` to before `end` (ps), in which the flow waited for one thing.

    `part` is a key of `PARTS`; `node` is where, for what waits at one.
    """

    begin: int
    end: int
    part: str
    node: int | None = None


@dataclass(frozen=True)
class Copy:
    """A data packet of a flow; times in picoseconds, `NONE` where there is none.

    Attributes
    ----------
    packet : int
        Its number.
    sequence : int
        Its first byte.
    made_ps, start_ps : int
        When it was handed to its host's interface, and when its transmission began, or when there
        was no room for it.
    arrival_ps, lost_ps : int
        When it arrived, or was lost.
    cause : str or None
        What sent it, if its data was sent before: `TIMEOUT` or `FAST`.
    """

    packet: int
    sequence: int
    made_ps: int
    start_ps: int
    arrival_ps: int
    lost_ps: int
    cause: str | None


def copies(trace: FlowTrace) -> list[Copy]:
    """Give all data packets of a flow, in the order in which they were made.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    list of Copy
    """
    table = trace.segments
    data = (table["flags"] & FORWARD > 0) & (table["payload"] > 0)
    arrival, lost = (_times(table, data & (table["event"] == event)) for event in (ARRIVED, LOST))
    # A packet's first hop is the one from its host.
    hops, rows = np.unique(trace.hops["packet"], return_index=True)
    made: dict[int, int] = dict(zip(hops, trace.hops["came_ps"][rows].tolist(), strict=True))
    start: dict[int, int] = dict(zip(hops, trace.hops["start_ps"][rows].tolist(), strict=True))
    expired = frozenset(trace.timeouts_ps().tolist())
    numbers, rows = np.unique(np.where(data, table["packet"], NONE), return_index=True)
    found = []
    for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
        if number == NONE:
            break
        # What the interface had no room for was made and lost at once.
        begin = made.get(number, lost.get(number, NONE))
        found.append(
            Copy(
                packet=number,
                sequence=int(table["sequence"][row]),
                made_ps=begin,
                start_ps=start.get(number, begin),
                arrival_ps=arrival.get(number, NONE),
                lost_ps=lost.get(number, NONE),
                cause=_cause(trace, begin, expired) if table["retransmission"][row] else None,
            )
        )
    return found


def divide(trace: FlowTrace, start_ps: int, end_ps: int) -> list[Span]:
    """Divide the time of a flow, from its start until its last byte arrived.

    At each instant it looks at the first byte that the receiver does not have, and says what that
    byte waits for, as `PARTS` tells.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.
    start_ps, end_ps : int
        When it started, and when the run ended, which ends the time of an unfinished flow.

    Returns
    -------
    list of Span
        Without a gap, in order of time; none of them empty.
    """
    made = copies(trace)
    established = min(_established(trace), end_ps) if trace.connected else start_ps
    by_byte: dict[int, list[Copy]] = defaultdict(list)
    for copy in made:
        by_byte[copy.sequence].append(copy)
    hops = _hops(trace)
    spans, now, byte = [Span(start_ps, established, SET_UP)], start_ps, 0
    for time, arrived, following in _advances(made, trace):
        spans += _wait(Period(now, time, arrived), by_byte[byte], established, hops)
        now, byte = time, following
    if byte < trace.size_bytes:
        under_way = [c for c in by_byte[byte] if c.arrival_ps == c.lost_ps == NONE]
        last = min(under_way, key=lambda c: c.start_ps, default=None)
        spans += _wait(Period(now, end_ps, last), by_byte[byte], established, hops)
    return [span for span in spans if span.begin < span.end]


class Period(NamedTuple):
    """The time from `begin` to `end` in which one byte was awaited, and the copy that ended it."""

    begin: int
    end: int
    copy: Copy | None

    def cut(self, begin: int, end: int, part: str, node: int | None = None) -> Span:
        """Give the part of a span that lies in the period; it may be empty."""
        return Span(max(begin, self.begin), min(end, self.end), part, node)


def _wait(
    period: Period,
    sent: list[Copy],
    established: int,
    hops: Mapping[int, list[_Stay]],
) -> Iterator[Span]:
    """Divide the time in which one byte was awaited, of which these copies were sent."""
    handed = min((copy.made_ps for copy in sent), default=period.end)
    first = min((copy.start_ps for copy in sent), default=period.end)
    copy = period.copy
    again = period.end if copy is None else copy.start_ps
    yield period.cut(established, handed, SENDER)
    yield period.cut(handed, first, INTERFACE)
    repair = LOST_FOR_GOOD if copy is None else copy.cause or FAST
    yield period.cut(first, again, repair)
    if copy is None:
        return
    way = again
    for stay in hops.get(copy.packet, ()):
        yield period.cut(way, stay.begin, WAY)
        yield period.cut(stay.begin, stay.end, stay.part, stay.node)
        way = stay.end
    yield period.cut(way, period.end, WAY)


def _advances(made: list[Copy], trace: FlowTrace) -> Iterator[tuple[int, Copy, int]]:
    """Give when the receiver's first missing byte came, with what, and which is missing then."""
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


class _Stay(NamedTuple):
    """A time in which a packet waits at a node."""

    begin: int
    end: int
    part: str
    node: int


def _hops(trace: FlowTrace) -> Mapping[int, list[_Stay]]:
    """Give where each packet waited behind its host, in order of time."""
    found: dict[int, list[_Stay]] = defaultdict(list)
    table = {name: column.tolist() for name, column in trace.hops.items()}
    for i, (packet, node) in enumerate(zip(table["packet"], table["node"], strict=True)):
        if node in (trace.source, trace.destination):
            continue
        came, start = table["came_ps"][i], table["start_ps"][i]
        kept = BUFFER if table["burst"][i] == NONE else ASSEMBLY
        found[packet] += [
            _Stay(came, came + table["held_ps"][i], kept, node),
            _Stay(start - table["queued_ps"][i], start, QUEUE, node),
        ]
    return found


def _established(trace: FlowTrace) -> int:
    """When the first SYN+ACK came to the source; `NONE` if none did."""
    table = trace.segments
    answers = (table["flags"] & (SYN | FORWARD)) == SYN
    times = table["time_ps"][answers & (table["event"] == ARRIVED)]
    return int(times.min()) if times.size else NONE


def _cause(trace: FlowTrace, made_ps: int, expired: frozenset[int]) -> str:
    """Tell what sent a packet again: a timeout, until all is acknowledged that was lost then."""
    time = trace.windows["time_ps"]
    row = int(np.searchsorted(time, np.uint64(made_ps), side="right")) - 1
    after = row >= 0 and trace.windows["state"][row] == LOSS
    return TIMEOUT if after or made_ps in expired else FAST


def _times(table: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[int, int]:
    """Give the times of some rows, by the packet."""
    return dict(zip(table["packet"][rows].tolist(), table["time_ps"][rows].tolist(), strict=True))
