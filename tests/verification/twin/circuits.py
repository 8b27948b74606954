"""Circuit switches and the racks around them: docs/model.md, "Circuits"."""

from collections.abc import Callable
from typing import Any

from twin.closures import Closures
from twin.events import Moment
from twin.link import Link, Waiting
from twin.network import TIMER, Network
from twin.switches import Switch, marked
from twin.timetables import Demanded, Opening, Scheduled
from twin.units import Packet, Unit

#: The kind of the timer at which a rack looks at the circuits of a switch.
LOOK = 0

#: The circuits after which a short unit waits for one to its own rack.
MOST_CIRCUITS = 8

# The rack for which a queue is, and whether its units are on their second hop; None for all racks.
Name = tuple[int | None, bool]


class Direct:
    """One hop."""

    def name(self, rack: int, relayed: bool) -> Name:
        """The queue of a unit."""
        return rack, False

    def order(self, peer: int, racks: int, nearer: Callable[[int], bool]) -> list[Name]:
        """The queues that a circuit to `peer` serves, in order."""
        return [(peer, False)]

    def reach(self, name: Name) -> str:
        """The circuits that serve a queue: those to "one" rack, "any", or those "nearer" to one."""
        return "one"

    def served(self, peer: int, name: Name, racks: int) -> None:
        """A queue was served."""


class Valiant(Direct):
    """Two hops, over whatever circuit is open."""

    def name(self, rack: int, relayed: bool) -> Name:
        """All own units together."""
        return (rack, True) if relayed else (None, False)

    def order(self, peer: int, racks: int, nearer: Callable[[int], bool]) -> list[Name]:
        """Second hops first."""
        return [(peer, True), (None, False)]

    def reach(self, name: Name) -> str:
        """The second hop leads to the rack."""
        return "one" if name[1] else "any"


class RotorLb(Valiant):
    """Two hops in the time that is left."""

    def __init__(self) -> None:
        self.turn = 0

    def name(self, rack: int, relayed: bool) -> Name:
        """A queue for each rack and hop."""
        return rack, relayed

    def order(self, peer: int, racks: int, nearer: Callable[[int], bool]) -> list[Name]:
        """Second hops, then the own units for the rack, then those for others in turn."""
        others = [(self.turn + i) % racks for i in range(racks)]
        return [(peer, True), (peer, False), *((rack, False) for rack in others)]

    def served(self, peer: int, name: Name, racks: int) -> None:
        """The next rack has its turn."""
        rack, relayed = name
        assert rack is not None
        if not relayed and rack != peer:
            self.turn = (rack + 1) % racks


class Opera(RotorLb):
    """Short flows over the graph of the present, the others over one hop; relayed means short."""

    def order(self, peer: int, racks: int, nearer: Callable[[int], bool]) -> list[Name]:
        """Short flows to whose rack the circuit leads in turn, then the others for the rack."""
        others = [(self.turn + i) % racks for i in range(racks)]
        return [*((rack, True) for rack in others if nearer(rack)), (peer, False)]

    def reach(self, name: Name) -> str:
        """Long flows wait for a circuit to their rack."""
        return "nearer" if name[1] else "one"

    def served(self, peer: int, name: Name, racks: int) -> None:
        """The next rack has its turn."""
        rack, short = name
        assert rack is not None
        if short:
            self.turn = (rack + 1) % racks


POLICIES = {"direct": Direct, "valiant": Valiant, "rotor-lb": RotorLb, "opera": Opera}


class CircuitSwitch(Switch):
    """What racks and circuit switches know of the schedule."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.home = [network.ports[host][0].target for host in range(network.hosts)]
        self.racks = sorted(set(self.home))
        nodes = range(network.hosts, len(network.ports))
        apart = (*self.racks, network.packet_switch)
        self.cores = [node for node in nodes if node not in apart]
        if network.circuits is None:
            network.circuits = (
                Scheduled(own, Closures(network, self.racks, self.cores))
                if own.get("schedule")
                else Demanded(own, network, self.racks, self.cores)
            )
        self.circuits: Scheduled | Demanded = network.circuits

    def open(self, core: int, rack: int, at: int) -> Opening | None:
        """The circuit of a rack that is open at a time."""
        openings = self.circuits.openings(core, rack, at, self.now)
        return next((one for one in openings if one.start == at), None)

    def port_to(self, node: int) -> int:
        """The port that leads to a node."""
        return next(port for port, link in enumerate(self.ports) if link.target == node)


class Core(CircuitSwitch):
    """A circuit switch."""

    def arrive(self, unit: Unit, link: Link) -> None:
        """Pass the light on."""
        self.counters["arrived"] += 1
        opening = self.open(self.cores.index(self.node), self.racks.index(link.source), self.now)
        assert opening is not None, "light in a guard time"
        port = self.port_to(self.racks[opening.peer])
        end = self.now + self.ports[port].tx(unit.size)
        assert self.is_free(port) and end <= opening.end, "light beyond its slot"
        self.forward(unit, port)


class Rack(CircuitSwitch):
    """The switch of a rack."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.limit: int | None = own["queue_bytes"]
        self.short: int | None = own.get("short_bytes")
        self.packet: dict[str, Any] | None = own.get("packet")
        self.known = Closures(network, self.racks, self.cores)
        self.number = self.racks.index(node)
        self.policy = POLICIES[own["forwarding"]]()
        self.queues: dict[Name, list[Waiting]] = {}
        self.armed: list[int | None] = [None] * len(self.cores)
        self.uplinks = [self.ports[self.port_to(core)] for core in self.cores]

    def arrive(self, unit: Unit, link: Link) -> None:
        """Hand a unit to its host, or keep it until a circuit is open."""
        self.counters["arrived"] += 1
        self.counters["oe_bytes"] += unit.size
        rack = self.rack_of(unit)
        if rack == self.number:
            self.deliver(unit)
        elif self.is_for_packets(unit):
            self.hand_over(unit)
        else:
            relayed = link.source >= self.network.hosts
            self.counters["relayed"] += relayed
            joined = self.circuits.joins(self.number, rack, self.now)
            with_short = self.short is not None
            kept_apart = self.is_short(unit, joined) if with_short else relayed and joined
            self.keep(unit, self.policy.name(rack, kept_apart), relayed)

    def is_short(self, unit: Unit, joined: bool) -> bool:
        """Whether a unit is of a short flow or has no data, or no circuit leads to its rack."""
        assert isinstance(unit, Packet)
        size: int = self.network.sizes[unit.flow]
        assert isinstance(self.circuits, Scheduled)
        far = self.circuits.taken[unit.serial] >= MOST_CIRCUITS
        return not far and (size <= (self.short or 0) or unit.payload == 0 or not joined)

    def leads_nearer(self, peer: int, rack: int, at: int) -> bool:
        """Whether the way to a rack over the circuits of a time is shorter from a peer."""
        assert isinstance(self.circuits, Scheduled)
        distance = self.circuits.distances(rack, at)
        far = len(self.racks)
        return distance.get(peer, far) < distance.get(self.number, far)

    def rack_of(self, unit: Unit) -> int:
        """The rack of the destination of a unit."""
        return self.racks.index(self.home[unit.destination])

    def fits(self, waiting: int, unit: Unit) -> bool:
        """Whether a queue with `waiting` bytes has room for a unit."""
        return self.limit is None or waiting + unit.size <= self.limit

    def deliver(self, unit: Unit) -> None:
        """Send a unit to its host behind earlier ones."""
        port = self.port_to(unit.destination)
        backlog = self.ports[port].backlog(self.now)
        if self.fits(backlog, unit):
            self.send(unit, port)
        else:
            self.drop(unit, "queue_full", port)

    def is_for_packets(self, unit: Unit) -> bool:
        """Whether the packet network carries a unit: without data, of a short flow, or early."""
        if self.packet is None:
            return False
        assert isinstance(unit, Packet)
        star = self.network.packet_switch
        assert star is not None
        if self.known.packet_is_shut(star, self.number, self.rack_of(unit), self.now):
            return False
        last = unit.number + unit.payload
        size = self.network.sizes[unit.flow] if self.packet["by"] == "size" else last
        return unit.payload == 0 or size <= self.packet["threshold_bytes"]

    def hand_over(self, unit: Unit) -> None:
        """Send a unit to the packet network behind earlier ones."""
        assert self.packet is not None
        assert self.network.packet_switch is not None
        port = self.port_to(self.network.packet_switch)
        backlog = self.ports[port].backlog(self.now)
        limit, threshold = self.packet["queue_bytes"], self.packet["ecn_threshold_bytes"]
        if limit is not None and backlog + unit.size > limit:
            self.drop(unit, "queue_full", port)
            return
        if threshold is not None and backlog >= threshold:
            self.counters["marked"] += 1
            unit = marked(unit)
        self.counters["packet_bytes"] += unit.size
        self.send(unit, port)

    def send(self, unit: Unit, port: int) -> None:
        """Send a unit behind those that wait for its link."""
        output = self.ports[port]
        backlog = output.backlog(self.now)
        if output.free_at > self.now:
            self.counters["buffered"] += 1
            end = min(output.free_at, self.network.events.time_limit)
            self.waits.append((unit.size, self.now, end))
            self.levels.append((self.now, backlog + unit.size))
        self.counters["eo_bytes"] += unit.size
        self.forward(unit, port)

    def keep(self, unit: Unit, name: Name, relayed: bool) -> None:
        """Queue a unit; the first in its queue is offered to the circuits."""
        queue = self.queues.setdefault(name, [])
        waiting = sum(one.unit.size for one in queue)
        if not self.fits(waiting, unit):
            self.drop(unit, "queue_full", self.port_to(self.cores[0]))
            return
        if self.packet is not None and not relayed:
            self.counters["circuit_bytes"] += unit.size
        queue.append(Waiting(unit, self.now))
        self.circuits.joined(self.number, self.rack_of(unit), unit.size)
        if len(queue) == 1:
            for core in range(len(self.cores)):
                if queue and self.may_serve(core, name, unit):
                    self.look_at(core, self.first_time(core, [name]))
        if queue:
            self.counters["buffered"] += 1
            self.levels.append((self.now, sum(one.unit.size for one in queue)))

    def may_serve(self, core: int, name: Name, unit: Unit) -> bool:
        """Whether a switch ever has a circuit that a queue of units for one rack waits for."""
        to_one = self.policy.reach(name) == "one"
        return not to_one or self.circuits.ever(core, self.number, self.rack_of(unit))

    def first_ready(
        self, core: int, peer: int, start: int, end: int, names: list[Name] | None
    ) -> Name | None:
        """The first queue, of `names` or of all, whose first unit fits into a time of a circuit."""
        for name in self.policy.order(
            peer, len(self.racks), lambda rack: self.leads_nearer(peer, rack, start)
        ):
            queue = self.queues.get(name)
            asked = names is None or name in names
            if queue and not self.leads_on(name, queue[0].unit, peer, start):
                continue
            if asked and queue and start + self.uplinks[core].tx(queue[0].unit.size) <= end:
                return name
        return None

    def leads_on(self, name: Name, unit: Unit, peer: int, at: int) -> bool:
        """Whether circuits lead from a peer on to the rack of a unit that goes over two."""
        rack = self.rack_of(unit)
        free = self.policy.reach(name) != "any" or rack == peer
        return free or self.circuits.joins(peer, rack, at)

    def first_time(self, core: int, names: list[Name] | None = None) -> int | None:
        """When the link to a circuit switch can carry a unit of one of the queues."""
        link = self.uplinks[core]
        at = max(self.now, link.free_at) + link.delay
        for peer, start, end in self.circuits.openings(core, self.number, at, self.now):
            if self.first_ready(core, peer, start, end, names) is not None:
                return start - link.delay
        again = self.circuits.look_again(at) if any(self.queues.values()) else None
        return None if again is None else again - link.delay

    def look_at(self, core: int, time: int | None) -> None:
        """Look at the circuits of a switch: now, or later."""
        if time is None:
            return
        armed = self.armed[core]
        if time == self.now:
            self.serve(core)
        elif armed is None or time < armed:
            self.armed[core] = time
            moment = Moment(TIMER, self.node, core, LOOK)
            self.network.events.add(time, moment, lambda: self.look(core, time))

    def look(self, core: int, time: int) -> None:
        """A timer has expired; another may have taken its place."""
        if self.armed[core] == time:
            self.armed[core] = None
            self.serve(core)

    def serve(self, core: int) -> None:
        """Send a unit if a circuit is open for it, and look again when the next can go."""
        link = self.uplinks[core]
        at = self.now + link.delay
        opening = self.open(core, self.number, at)
        if link.free_at <= self.now and opening is not None:
            peer = opening.peer
            name = self.first_ready(core, peer, at, opening.end, None)
            if name is not None:
                self.policy.served(peer, name, len(self.racks))
                waiting = self.queues[name].pop(0)
                self.waits.append((waiting.unit.size, waiting.since, self.now))
                self.counters["forwarded"] += 1
                self.counters["eo_bytes"] += waiting.unit.size
                if isinstance(self.circuits, Scheduled) and isinstance(waiting.unit, Packet):
                    self.circuits.taken[waiting.unit.serial] += 1
                self.circuits.left(self.number, self.rack_of(waiting.unit), waiting.unit.size)
                self.network.transmit(link, waiting.unit, self.now, waiting.since)
        self.look_at(core, self.first_time(core))

    def area(self, until: int | None) -> int:
        """With the units that wait."""
        end = self.now if until is None else until
        units = [one for queue in self.queues.values() for one in queue]
        return super().area(until) + sum(one.unit.size * (end - one.since) for one in units)

    def held(self, now: int) -> int:
        """The bytes that wait, and those that the outputs have still to send."""
        kept = sum(one.unit.size for queue in self.queues.values() for one in queue)
        return kept + sum(link.waiting(now) for link in self.ports)


def circuit_switch(
    network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
) -> CircuitSwitch:
    """The switch of a rack, or a circuit switch, whichever a node is."""
    with_hosts = any(link.target < network.hosts for link in network.ports[node])
    return (Rack if with_hosts else Core)(network, node, settings, own)
