"""The edge of a burst network: assembly, disassembly, and bursts in transit."""

from typing import Any

from twin.assembly import AT_ONCE, RULES, Queue, Rule
from twin.events import Moment
from twin.link import Link
from twin.network import ASSEMBLY, ASSEMBLY_OF_OTHERS, TAIL, TIMER, Network
from twin.ordering import Destination, Source
from twin.rng import stream
from twin.switches import AllOptical, Switch
from twin.units import Burst, Header, Packet, Unit

#: An egress, a class and the number of a queue for them.
Place = tuple[int, int, int]


class Edge(Switch):
    """A node with hosts: ingress and egress. The next class in the resolution order handles
    transit.
    """

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.assemble_acknowledgements: bool = own["assemble_acknowledgements"]
        # None if no host sends packets.
        assembly = own.get("assembly") or {}
        self.assembly: dict[str, Any] = assembly
        self.most: int | None = assembly.get("max_bytes")
        self.least: int = assembly.get("min_bytes") or 0
        # By group of flows, if there are classes.
        self.extra: list[int] = own.get("extra_offset_ps", [])
        self.queues: dict[Place, Queue] = {}
        # By egress and class.
        self.rules: dict[tuple[int, int], Rule] = {}
        self.draw = stream(self.seed, f"assembly/{node}")
        # The free places of other queues, and the number of places.
        self.free: list[int] = []
        self.others = 0
        ordering = own.get("ordering", {"kind": "none"})
        self.source = Source(self) if ordering["kind"] == "source" else None
        self.destination = None
        if ordering["kind"] == "destination":
            self.destination = Destination(self, ordering["hold_back_ps"])

    def arrive(self, unit: Any, link: Link) -> None:
        """Assemble a packet, disassemble a burst, or pass a burst on."""
        if isinstance(unit, Packet):
            self.counters["arrived"] += 1
            self.take_in(unit)
        elif self.egress(unit.burst if isinstance(unit, Header) else unit) == self.node:
            self.receive(unit, link)
        else:
            super().arrive(unit, link)

    def receive(self, unit: Any, link: Link) -> None:
        """Handle a burst that ends here, or its header."""
        raise NotImplementedError

    def offset(self, burst: Burst) -> int:
        """The time from the sending off of a burst to the departure of its head, without
        contention.
        """
        raise NotImplementedError

    def launch(self, burst: Burst) -> int | None:
        """Send off a burst made here; returns when its head leaves, None if it is lost now."""
        raise NotImplementedError

    def take_apart_at(self, tail: int, burst: Burst, link: Link) -> None:
        """Disassemble a burst from `link` when its tail is here."""
        moment = Moment(TIMER, self.node, link.index, TAIL)
        ends = self.destination.come if self.destination else self.take_apart
        settle = self.network.cuts.settle
        self.network.events.add(tail, moment, lambda: ends(settle(self.node, burst)))

    def egress(self, unit: Unit) -> int:
        """The switch of the host to which `unit` goes."""
        return self.network.ports[unit.destination][0].target

    def take_in(self, packet: Packet) -> None:
        """Send a packet to a host of this edge, or let it join a burst."""
        if self.egress(packet) == self.node:
            self.hand_over(packet)
        elif not packet.payload and not self.assemble_acknowledgements:
            self.close(Queue(packets=[packet], arrivals=[self.now]))
        else:
            self.join(packet, self.egress(packet), self.network.line_class(packet))

    def enter(self, packets: list[Packet]) -> None:
        """Make a burst of packets that no host has sent."""
        for packet in packets:
            self.network.note("enter", self.node, packet)
        self.close(Queue(packets=packets, arrivals=[self.now] * len(packets)))

    def join(self, packet: Packet, egress: int, group: int) -> None:
        """Queue a packet, and close the queues that are due."""
        make = RULES[self.assembly["kind"]]
        losses = self.network.cuts.losses[self.node, egress, group]
        rule = self.rules.setdefault((egress, group), make(self.assembly, self.draw, losses))
        place = egress, group, rule.queue(packet, self.now)
        queue = self.queues.get(place)
        if queue and self.most is not None and queue.bytes + packet.size > self.most:
            self.close_queue(place)
        queue = self.queues.get(place) or self.open_queue(place)
        queue.packets.append(packet)
        queue.arrivals.append(self.now)
        self.network.note("wait", self.node, packet)
        end = rule.end(queue)
        if end == AT_ONCE:
            self.close_queue(place)
        elif end is not None:
            queue.closes = end
            first = Moment(TIMER, self.node, self.subject(egress, group), ASSEMBLY)
            other = Moment(TIMER, self.node, queue.other or 0, ASSEMBLY_OF_OTHERS)
            moment = first if queue.other is None else other
            self.network.events.add(end, moment, lambda: self.expire(place, queue, end))

    def open_queue(self, place: Place) -> Queue:
        """Make an empty queue; of the places for others it has the one given back last."""
        *_, number = place
        other = None
        if number:
            other = self.free.pop() if self.free else self.others
            self.others = max(self.others, other + 1)
        self.queues[place] = Queue(number=number, other=other)
        return self.queues[place]

    def close_queue(self, place: Place) -> None:
        """Make a burst of the packets in a queue."""
        queue = self.queues.pop(place)
        if queue.other is not None:
            self.free.append(queue.other)
        self.close(queue)

    def line(self, burst: Burst) -> tuple[int, ...]:
        """The key of the bursts that are kept in one order."""
        return self.network.line(burst.packets, burst.ends)

    def subject(self, edge: int, group: int) -> int:
        """The subject of a timer for another edge and a class."""
        edges = [ports[0].target for ports in self.network.ports[: self.network.hosts]]
        return edge + group * (max(edges) + 1)

    def expire(self, place: Place, queue: Queue, end: int) -> None:
        """Close a queue when its timer expires, unless the queue is gone or has another timer."""
        if self.queues.get(place) is queue and queue.closes == end:
            self.close_queue(place)

    def close(self, queue: Queue) -> None:
        """Make one burst of the packets that waited."""
        packets = tuple(queue.packets)
        ends = self.node, self.egress(packets[0])
        before = self.switches_of_path
        burst = self.network.create_burst(packets, max(queue.bytes, self.least), ends)
        for packet in queue.packets:
            self.network.note("assemble", self.node, packet)
        self.counters["bursts"] += 1
        self.counters["burst_packets"] += len(queue.packets)
        self.counters["burst_bytes"] += burst.size
        self.counters["eo_bytes"] += burst.size
        self.counters["path_switches"] += self.switches_of_path - before
        self.assembly_wait += sum(self.now - arrival for arrival in queue.arrivals)
        if self.source:
            self.source.send(burst)
        else:
            self.launch(burst)

    @property
    def switches_of_path(self) -> int:
        """The number of changes of path of all pairs of edges."""
        return 0 if self.network.balance is None else len(self.network.balance.switches)

    def take_apart(self, burst: Burst) -> None:
        """Hand the packets of a burst to their hosts."""
        self.counters["oe_bytes"] += burst.size
        self.network.note("take apart", self.node, burst)
        self.network.totals["bursts_delivered"] += 1
        self.network.bursts_delivered[self.network.group(burst)] += 1
        for packet in burst.packets:
            self.network.note("leave burst", self.node, packet)
            if packet.source < self.network.hosts:
                self.hand_over(packet)
            else:
                # The packet has arrived here; its flow is found by its destination host.
                self.network.deliver(self.node, packet)
                host = packet.destination
                self.network.receive(host, packet, self.network.ports[host][0])

    def held(self, now: int) -> int:
        """The packets whose bursts are not closed, and bursts that are held."""
        held = sum(queue.bytes for queue in self.queues.values())
        for order in (self.source, self.destination):
            held += sum(burst.size for burst in order.held()) if order else 0
        return held

    def hand_over(self, packet: Packet) -> None:
        """Send a packet to its host."""
        self.counters["forwarded"] += 1
        (port,) = self.network.shortest(self.node, packet.destination)
        self.network.transmit(self.ports[port], packet, self.now)


class BurstEdge(Edge, AllOptical):
    """An edge that sends its bursts when the output is free; transit bursts are cut through."""

    def offset(self, burst: Burst) -> int:
        """None."""
        return 0

    def launch(self, burst: Burst) -> int | None:
        """Send a burst over an output that an electronic switch would take."""
        self.counters["forwarded"] += 1
        return self.network.transmit(self.ports[self.choose_queue(burst)], burst, self.now)

    def receive(self, unit: Any, link: Link) -> None:
        """The head of a burst for this node comes."""
        self.counters["arrived"] += 1
        self.take_apart_at(self.now + link.tx(unit.size), unit, link)


def burst_switch(
    network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
) -> Switch:
    """An edge at a switch with hosts, a core at one without."""
    hosts = any(link.target < network.hosts for link in network.ports[node])
    return (BurstEdge if hosts else AllOptical)(network, node, settings, own)
