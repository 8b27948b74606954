"""Units, links, the agenda of pending events and the shortest paths."""

import heapq
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

ARRIVAL, TIMER = 0, 1


@dataclass(frozen=True)
class Unit:
    """A packet. `number` is the first byte of data, or what an acknowledgement acknowledges."""

    serial: int
    flow: int
    kind: str
    number: int
    payload: int
    size: int
    destination: int


class TraceEntry(NamedTuple):
    """`what` happened at `time` (ps) at `node` to a unit, on the link of that number."""

    time: int
    what: str
    node: int
    unit: Unit
    link: int | None = None


Trace = list[TraceEntry]


@dataclass
class Link:
    """A directed link; `rate` in bit/s, `delay` in ps."""

    index: int
    source: int
    target: int
    rate: int
    delay: int
    free_at: int = 0
    units: int = 0
    bytes: int = 0
    busy: int = 0

    def tx(self, size: int) -> int:
        """Transmission time of `size` bytes in ps, rounded up."""
        return -(-8 * 10**12 * size // self.rate)


class Agenda:
    """Pending events in the order of (time, arrivals before timers, sequence)."""

    def __init__(self, time_limit: int) -> None:
        self.now = 0
        self.time_limit = time_limit
        self.events = 0
        self.sequence = 0
        self.pending: list[tuple[int, int, int, Callable[[], None]]] = []

    def add(self, time: int, event_class: int, handler: Callable[[], None]) -> None:
        """Let `handler` be called at `time`."""
        assert time >= self.now, "an event in the past"
        heapq.heappush(self.pending, (time, event_class, self.sequence, handler))
        self.sequence += 1

    def run(self) -> None:
        """Handle all events up to and including those at the time limit."""
        while self.pending and self.pending[0][0] <= self.time_limit:
            time, _, _, handler = heapq.heappop(self.pending)
            assert time >= self.now, "time went back"
            self.now = time
            self.events += 1
            handler()


@dataclass
class Network:
    """Nodes joined by links, and every unit between its creation and its end."""

    hosts: int
    links: list[Link]
    cut_through: bool
    agenda: Agenda
    trace: Trace
    receive: Callable[[int, Unit, Link], None]
    ports: list[list[Link]] = field(init=False)
    into: list[list[Link]] = field(init=False)
    totals: Counter[str] = field(default_factory=Counter)
    alive: set[int] = field(default_factory=set)
    dropped_by_flow: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        nodes = 1 + max(link.source for link in self.links)
        self.ports = [[] for _ in range(nodes)]
        self.into = [[] for _ in range(nodes)]
        for link in self.links:
            self.ports[link.source].append(link)
            self.into[link.target].append(link)
        self.next_hops = cache(self._next_hops)
        self.distances = cache(self._distances)

    def create(
        self, flow: int, kind: str, number: int, payload: int, size: int, destination: int
    ) -> Unit:
        """Bring a new unit into the network."""
        unit = Unit(self.totals["units_created"], flow, kind, number, payload, size, destination)
        self.totals["units_created"] += 1
        self.alive.add(unit.serial)
        return unit

    def transmit(self, link: Link, unit: Unit, earliest: int) -> int:
        """Hand `unit` to `link`; returns the time at which its transmission begins."""
        tx = link.tx(unit.size)
        start = max(earliest, link.free_at)
        link.free_at = start + tx
        link.units += 1
        link.bytes += unit.size
        link.busy += tx
        head_only = self.cut_through and link.target >= self.hosts
        arrival = start + link.delay + (0 if head_only else tx)
        self.note("send", link.source, unit, link)
        self.agenda.add(arrival, ARRIVAL, lambda: self._arrive(unit, link))
        return start

    def _arrive(self, unit: Unit, link: Link) -> None:
        self.note("arrive", link.target, unit, link)
        if link.target == unit.destination:
            self.alive.remove(unit.serial)
            self.totals["units_delivered"] += 1
            self.note("deliver", link.target, unit)
        self.receive(link.target, unit, link)

    def drop(self, node: int, unit: Unit, reason: str) -> None:
        """End `unit` here."""
        self.alive.remove(unit.serial)
        self.totals["units_dropped"] += 1
        self.dropped_by_flow[unit.flow] += 1
        self.note(f"drop {reason}", node, unit)

    def note(self, what: str, node: int, unit: Unit, link: Link | None = None) -> None:
        """Write a line of the trace."""
        index = None if link is None else link.index
        self.trace.append(TraceEntry(self.agenda.now, what, node, unit, index))

    def _distances(self, destination: int) -> dict[int, int]:
        distance = {destination: 0}
        waiting = deque([destination])
        while waiting:
            node = waiting.popleft()
            for link in self.into[node]:
                if link.source not in distance:
                    distance[link.source] = distance[node] + 1
                    waiting.append(link.source)
        return distance

    def _next_hops(self, node: int, destination: int) -> tuple[int, ...]:
        """Ports of `node` on a shortest path to `destination`, in order."""
        distance = self.distances(destination)
        return tuple(
            port
            for port, link in enumerate(self.ports[node])
            if distance[link.target] == distance[node] - 1
        )
