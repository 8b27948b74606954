"""Units, the event queue and the shortest paths."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from twin.audit import Lost
from twin.balance import Balance
from twin.cuts import Cuts
from twin.events import EventQueue, Moment
from twin.link import Held, Link
from twin.outages import Outages
from twin.pauses import Pauses
from twin.repaths import Repaths
from twin.rules import CopyRule, Fate, LossRule, PathRule
from twin.telemetry import Telemetry
from twin.units import Burst, Header, Packet, Reservation, Trace, TraceEntry, Unit, marked
from twin.windows import WindowRow

ARRIVAL, TIMER = 0, 1
#: The timers of a flow.
START, SENDER, RECEIVER, PACING, DELAY = range(5)
#: The timer of a host's pull queue.
PULL = 10
#: The timers of an edge.
TAIL, ASSEMBLY, SEND, RELEASE, HOLD_BACK, ENTRY, ASSEMBLY_OF_OTHERS = range(7)


@dataclass
class Network:
    """Nodes joined by links, and every packet between its creation and its end."""

    hosts: int
    links: list[Link]
    events: EventQueue
    metric: str
    labels: PathRule
    balance: Balance | None
    loss: LossRule
    trace: Trace
    receive: Callable[[int, Unit | Header, Link], None]
    switching_time: Callable[[int], int]
    ports: list[list[Link]] = field(init=False)
    outages: Outages = field(init=False)
    cuts: Cuts = field(init=False)
    copies: CopyRule = field(init=False)
    pauses: Pauses = field(init=False)
    repaths: Repaths = field(default_factory=lambda: Repaths("flow-hash"))
    telemetry: Telemetry = field(default_factory=Telemetry)
    #: The pull queues of hosts.
    pulls: dict[int, Any] = field(default_factory=dict)
    totals: Counter[str] = field(default_factory=Counter)
    alive: set[int] = field(default_factory=set)
    dropped_by_flow: Counter[int] = field(default_factory=Counter)
    #: Bytes that reached their host, by flow.
    came: defaultdict[int, list[Packet]] = field(default_factory=lambda: defaultdict(list))
    lost: defaultdict[int, Lost] = field(default_factory=lambda: defaultdict(dict))
    windows: list[WindowRow] = field(default_factory=list)
    # When and where each unit was made, by its identity; units of one node in their order.
    identities: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    # The number of bursts made by each node, and for each other edge and class.
    made: Counter[int] = field(default_factory=Counter)
    made_bursts: list[Burst] = field(default_factory=list)
    sequences: Counter[tuple[int, ...]] = field(default_factory=Counter)
    # Whether the group of its packets is the class of a burst.
    classes: bool = False
    # The group of each flow, and the bursts of each group, by their first packet.
    groups: list[int] = field(default_factory=list)
    bursts: Counter[int] = field(default_factory=Counter)
    bursts_lost: Counter[int] = field(default_factory=Counter)
    bursts_delivered: Counter[int] = field(default_factory=Counter)

    # When circuits are open, and the switches.
    circuits: Any = None
    # The switch of the packet network beside circuits.
    packet_switch: int | None = None
    sizes: list[int] = field(default_factory=list)
    switches: list[Any] = field(default_factory=list)

    # Links that the routes avoid.
    down: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        nodes = 1 + max(link.source for link in self.links)
        self.ports = [[] for _ in range(nodes)]
        for link in self.links:
            self.ports[link.source].append(link)
        self.cuts = Cuts(self)
        self.over_all = cache(self._over_all)
        self.new_routes()

    def new_routes(self) -> None:
        """Calculate the routes anew."""
        self.shortest = cache(self._shortest)
        self.distances = cache(self._distances)

    def create(self, make: Callable[[int], Packet]) -> Packet:
        """Bring the packet that `make` makes of a serial number into the network."""
        packet = make(self.totals["units_created"])
        if (label := self.labels.choose(packet)) != packet.label:
            packet = replace(packet, label=label)
        self.totals["units_created"] += 1
        self.alive.add(packet.serial)
        self.identities[packet.name] = (self.events.now, packet.source, packet.serial)
        return packet

    def create_burst(self, packets: tuple[Packet, ...], size: int, ends: tuple[int, int]) -> Burst:
        """Put `packets` together into the next burst."""
        number, now, line = self.totals["bursts_created"], self.events.now, self.line(packets, ends)
        self.made[ends[0]] += 1
        identity = now, self.made[ends[0]]
        host = packets[0].destination
        burst = Burst(number, packets, size, ends, host, identity, self.sequences[line])
        self.sequences[line] += 1
        if self.labels.protects:
            label = self.labels.selected(burst, now)
        elif self.balance is None:
            label = self.labels.choose(burst)
        else:
            label = self.balance.choose(ends, self.labels.between(ends), now)
        if label != burst.label:
            burst = replace(burst, label=label)
        self.totals["bursts_created"] += 1
        self.made_bursts.append(burst)
        self.bursts[self.group(burst)] += 1
        self.identities[burst.name] = (self.events.now, ends[0], burst.number)
        return burst

    def line(self, packets: tuple[Packet, ...], ends: tuple[int, int]) -> tuple[int, ...]:
        """The bursts that are kept in one order: those of two edges, and of one class."""
        return *ends, self.line_class(packets[0])

    def line_class(self, packet: Packet) -> int:
        """The class of the bursts in which a packet travels: its group or its subflow."""
        if self.labels.label == "subflow":
            return self.labels.subflow(packet)
        return self.groups[packet.flow] if self.classes else 0

    def group(self, unit: Unit) -> int:
        """The group of the flow of a packet, or of the first packet of a burst."""
        return self.groups[unit.packets[0].flow]

    def transmit(
        self, link: Link, unit: Unit, earliest: int, waited_since: int | None = None
    ) -> int:
        """Hand `unit` to `link`; returns the time at which its transmission begins.

        `waited_since` is the time at which its wait in a queue of the output began.
        """
        begin = max(earliest, link.free_at)
        if self.outages.taken_back(link, begin) is not None:
            self.outages.keep(link, unit)
            link.free_at = begin + link.tx(unit.size, begin)
            link.transmissions.append((begin, link.free_at, unit.size))
            return max(earliest, self.events.now)
        earliest = earliest if waited_since is None else waited_since
        fate = self.loss.fate(unit, link, self.events.now, begin) if link.lossy else Fate()
        if fate.marked:
            unit = marked(unit)
        if fate.hold is not None and fate.lost is None:
            link.held.append(Held(unit, earliest, *fate.hold))
            self.note("beside", link.source, unit, link, begins=begin)
            return begin
        begin += fate.stall
        arrival = begin + link.tx(unit.size, begin) + link.delay
        if fate.lost is None and self.outages.cut(link, begin, arrival):
            fate.lost = "link-down"
        self.put_on(link, unit, earliest, begin, fate.lost)
        behind = [unit] if fate.lost is None else []
        while behind:
            first = behind.pop(0)
            for held in link.held:
                held.left -= held.counts(first)
            free = [held for held in link.held if held.left == 0]
            link.held = [held for held in link.held if held.left > 0]
            behind += [held.unit for held in free]
            for held in free:
                ready = max(held.ready, self.events.now)
                self.put_on(link, held.unit, ready, max(ready, link.free_at), None)
        return begin

    def put_on(self, link: Link, unit: Unit, earliest: int, start: int, reason: str | None) -> None:
        """Transmit `unit` on `link` from `start` on; it is lost for `reason`, if there is one."""
        tx = link.tx(unit.size, start)
        if start > max(link.free_at, self.events.now):
            link.pauses.append((link.free_at, start))
        link.free_at = start + tx
        link.transmissions.append((start, start + tx, unit.size))
        self.offer(link, unit)
        self.note("send", link.source, unit, link, ready=earliest, begins=start)
        if not self._lost(link, unit, reason):
            arrival = start + link.delay + (0 if link.heads else tx)
            self.events.add(arrival, Moment(ARRIVAL, link.index), lambda: self._arrive(unit, link))

    def send_ahead(
        self, link: Link, reservation: Reservation, earliest: int, duration: int
    ) -> None:
        """Hand a header to the control channel of `link`, which it takes for `duration`."""
        burst, head = reservation.burst, reservation.head
        begin = max(earliest, link.free_at)
        link.free_at = begin + duration
        link.transmissions.append((head, head + link.tx(burst.size), burst.size))
        self.offer(link, burst)
        self.note("send", link.source, burst, link, ready=head - reservation.delayed, begins=head)
        fate = self.loss.fate(burst, link, self.events.now, head) if link.lossy else Fate()
        behind = head + link.tx(burst.size) + link.delay
        times = (begin, link.free_at + link.delay), (head, behind)
        channel = self.outages.cut_channel(link, reservation.channel, head, behind)
        if fate.lost is None and (channel or any(self.outages.cut(link, *time) for time in times)):
            fate.lost = "link-down"
        if not self._lost(link, burst, fate.lost):
            header = Header(burst, head + link.delay, reservation.channel, reservation.passed + 1)
            arrival = link.free_at + link.delay
            moment = Moment(ARRIVAL, link.index)
            self.events.add(arrival, moment, lambda: self._arrive_ahead(header, link))

    def offer(self, link: Link, unit: Unit) -> None:
        """Count a burst for the load of the link that it takes or wants."""
        if self.balance is not None and isinstance(unit, Burst):
            self.balance.offer(link.index, link.tx(unit.size), self.events.now)

    def _lost(self, link: Link, unit: Unit, reason: str | None) -> bool:
        if reason is not None:
            link.lost += 1
            self.drop(link.source, unit, reason, link, on_link=True)
        return reason is not None

    def _arrive_ahead(self, header: Header, link: Link) -> None:
        self.note("arrive", link.target, header.burst, link, begins=header.data)
        self.receive(link.target, header, link)

    def _arrive(self, unit: Unit, link: Link) -> None:
        self.note("arrive", link.target, unit, link)
        if link.target == unit.destination:
            assert isinstance(unit, Packet)
            self.deliver(link.target, unit)
        for one in self.copies.at_switch(unit, link) if link.target >= self.hosts else [unit]:
            self.receive(link.target, one, link)

    def deliver(self, node: int, packet: Packet) -> None:
        """Remove a packet that has reached its destination."""
        self.alive.remove(packet.serial)
        self.totals["units_delivered"] += 1
        self.note("deliver", node, packet)
        self.came[packet.flow].append(packet)

    def drop(
        self,
        node: int,
        unit: Unit,
        reason: str,
        wanted: Link,
        *,
        on_link: bool = False,
        came: bool = False,
        holder: Reservation | None = None,
    ) -> None:
        """End `unit` and all in it: before the link it wanted, on it, or behind it (`came`)."""
        wanted.dropped += not on_link
        link = wanted if on_link else None
        begins = self.trace[-1].begins if on_link else None
        if self.copies.goes_on(unit, (reason, node, wanted.index, link, begins)):
            return
        self.end(unit)
        if isinstance(unit, Burst):
            self.cuts.forget(unit)
            self.totals["bursts_lost"] += 1
            self.bursts_lost[self.group(unit)] += 1
        if not (on_link or came):
            self.offer(wanted, unit)
        self.note(f"drop {reason}", node, unit, link, wanted=wanted.index, reservation=holder)

    def end(self, unit: Unit) -> None:
        """Remove all packets of a unit."""
        for packet in unit.packets:
            self.alive.remove(packet.serial)
            self.totals["units_dropped"] += 1
            self.dropped_by_flow[packet.flow] += 1
            if packet.transmission is not None:
                self.lost[packet.flow][packet.transmission] = self.events.now

    def trim(self, packet: Packet, size: int) -> Packet:
        """The header of a packet, of at most so many bytes: its transmission is lost."""
        assert packet.transmission is not None
        self.lost[packet.flow][packet.transmission] = self.events.now
        size = min(packet.size, size)
        header = replace(packet, payload=0, size=size, transmission=None)
        return replace(header, trimmable=False, trimmed=True)

    def turn_back(self, header: Packet) -> Packet:
        """The header of a trimmed packet on its way to the sender of the packet."""
        turned = replace(header, source=header.destination, destination=header.source)
        return replace(turned, kind="returned", trimmed=False, shortest=True)

    def note(
        self,
        what: str,
        node: int,
        unit: Unit,
        link: Link | None = None,
        **more: Any,
    ) -> None:
        """Write a line of the trace."""
        index = None if link is None else link.index
        self.trace.append(TraceEntry(self.events.now, what, node, unit, index, **more))

    def length(self, link: Link) -> int:
        """The length that a link adds to a path."""
        return link.delay if self.metric == "delay" else 1

    def _distances(self, destination: int) -> dict[int, int]:
        """Length of the shortest path from each node, over links that are up."""
        return self._lengths(destination, frozenset(self.down))

    def _lengths(self, destination: int, down: frozenset[int]) -> dict[int, int]:
        """Length of the shortest path from each node without links (Bellman and Ford)."""
        distance = {destination: 0}
        changed = True
        while changed:
            changed = False
            for link in self.links:
                if link.target in distance and link.index not in down:
                    length = distance[link.target] + self.length(link)
                    if length < distance.get(link.source, length + 1):
                        distance[link.source] = length
                        changed = True
        return distance

    def next_hops(self, node: int, unit: Unit) -> tuple[int, ...]:
        """Ports of `node` by which a unit may go on, in order."""
        hops = self.labels.hops(node, unit)
        return self.shortest(node, unit.destination) if hops is None else hops

    def _shortest(self, node: int, destination: int) -> tuple[int, ...]:
        """Ports of `node` on a shortest path to `destination`, in order.

        Where no path is left, those of a path over all links.
        """
        distance = self.distances(destination)
        down = self.down
        if node not in distance:
            distance, down = self.over_all(destination), set()
        return tuple(
            port
            for port, link in enumerate(self.ports[node])
            if link.index not in down
            and link.target in distance
            and distance[link.target] + self.length(link) == distance[node]
        )

    def _over_all(self, destination: int) -> dict[int, int]:
        return self._lengths(destination, frozenset())
