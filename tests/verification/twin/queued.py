"""The electronic switch whose outputs have explicit queues: docs/model.md, "Explicit queues"."""

from typing import Any

from twin.disciplines import DISCIPLINES
from twin.events import Moment
from twin.link import Link, Waiting
from twin.network import TIMER, Network
from twin.rng import Xoshiro256PlusPlus, stream
from twin.switches import Electronic, marked
from twin.units import Packet, Unit

#: The kind of the timer of a departure.
DEPARTURE = 0


class Output:
    """An output, as its discipline sees it."""

    def __init__(self, switch: "QueuedElectronic", port: int, link: Link) -> None:
        self.switch = switch
        self.port = port
        self.link = link
        self.capacity = switch.capacity
        #: The free bytes of a shared buffer.
        self.room: int | None = None
        self.ecn_threshold = switch.ecn_threshold
        self.marks_at_departure: bool = switch.own.get("marks_at_departure", False)
        self.armed = False
        #: The header that it has just returned to its sender.
        self.returned: Packet | None = None

    @property
    def now(self) -> int:
        """The present, in ps."""
        return self.switch.now

    @property
    def draw(self) -> Xoshiro256PlusPlus:
        """A new random stream of the queue."""
        return stream(self.switch.seed, f"queue/{self.link.index}")

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the units that wait."""
        return sum(waiting.unit.size for waiting in self.link.queue)

    def delay_at(self, at: int) -> int:
        """For how long the link transmits after `at` what it and the queue hold now."""
        link = self.link
        idle = sum(max(0, end - max(begin, at)) for begin, end in link.pauses)
        time = max(0, link.free_at - at) - idle
        if link.rates:
            return time + link.tx(self.waiting_bytes, at)
        return time + sum(link.tx(waiting.unit.size) for waiting in link.queue)

    def backlog(self) -> int:
        """Bytes of the units that wait, and those of the link that are not sent yet."""
        if self.link.rates:
            return self.link.left(self.now) + self.waiting_bytes
        return -(-self.delay_at(self.now) * self.link.rate // (8 * 10**12))

    def fits(self, unit: Unit, ahead: int | None = None) -> bool:
        """Whether there is room for a unit, behind `ahead` bytes or all that are not sent."""
        ahead = self.backlog() if ahead is None else ahead
        fits = self.capacity is None or ahead + unit.size <= self.capacity
        return fits and (self.room is None or unit.size <= self.room)

    def admit(self, unit: Unit, ahead: int | None = None) -> bool:
        """Whether there is room for a unit; it is dropped if not."""
        if self.fits(unit, ahead):
            return True
        self.drop(unit, "queue_full")
        return False

    def push(self, queue: list[Waiting], unit: Unit) -> None:
        """Let a unit wait at the end of a list."""
        switch = self.switch
        if not self.is_idle_for(unit):
            switch.counters["buffered"] += 1
            switch.levels.append((self.now, self.backlog() + unit.size))
        self.push_again(queue, unit)

    def push_again(self, queue: list[Waiting], unit: Unit) -> None:
        """Let a unit that waited do so at the end of another list."""
        waiting = Waiting(unit, self.now)
        queue.append(waiting)
        self.link.queue.append(waiting)

    def is_idle_for(self, unit: Unit) -> bool:
        """Whether a unit leaves at once."""
        if not self.switch.network.pauses.active:
            return self.switch.is_free(self.port)
        is_open = self.switch.network.pauses.is_open(self.link, unit)
        return is_open and not self.armed and self.link.free_at <= self.now

    def is_paused(self, line: int) -> bool:
        """Whether the class of a line pauses."""
        return self.switch.network.pauses.is_paused(self.link, line)

    def pop(self, queue: list[Waiting]) -> Waiting | None:
        """Take the first unit out of a list."""
        if not queue:
            return None
        waiting = queue.pop(0)
        self.link.queue = [other for other in self.link.queue if other is not waiting]
        self.switch.waits.append((waiting.unit.size, waiting.since, self.now))
        return waiting

    def drop_for_room(self, unit: Unit) -> None:
        """Lose a unit that waited, in favour of another one."""
        if self.room is not None:
            self.room += unit.size
        self.drop(unit, "queue_full")

    def marked_on_arrival(self, ahead: int) -> bool:
        """Whether a unit that finds so many bytes is above the threshold."""
        threshold = None if self.marks_at_departure else self.ecn_threshold
        return threshold is not None and ahead >= threshold

    def departing(self, waiting: Waiting | None, behind: int) -> Waiting | None:
        """A unit that leaves so many bytes behind, marked if it is to be."""
        threshold = self.ecn_threshold if self.marks_at_departure else None
        if waiting is None or threshold is None or behind < threshold:
            return waiting
        return Waiting(self.mark(waiting.unit), waiting.since)

    def drop(self, unit: Unit, reason: str) -> None:
        """Lose a unit that is in no list."""
        self.switch.network.pauses.leave(unit)
        self.switch.drop(unit, reason, self.port)

    def group(self, unit: Unit) -> int:
        """The group of the flow of a packet, or of the first packet of a burst."""
        return self.switch.network.group(unit)

    def is_capable(self, unit: Unit) -> bool:
        """Whether a unit is a packet of a transport capable of ECN."""
        return isinstance(unit, Packet) and unit.ecn_capable

    def pop_last(self, queue: list[Waiting]) -> Unit:
        """Take the last unit out of a list."""
        *rest, last = queue
        queue[:] = [last]
        self.pop(queue)
        queue[:] = rest
        return last.unit

    def trim(self, unit: Unit, size: int) -> Unit:
        """The header of a packet that is in no list."""
        assert isinstance(unit, Packet)
        self.switch.counters["trimmed"] += 1
        self.switch.network.note("trim", self.link.source, unit, self.link)
        return self.switch.network.trim(unit, size)

    def turn_back(self, header: Packet) -> None:
        """Return the header of a trimmed packet to its sender."""
        self.switch.counters["returned"] += 1
        self.switch.network.note("return", self.link.source, header, self.link)
        self.returned = self.switch.network.turn_back(header)

    def mark(self, unit: Unit) -> Unit:
        """Mark a packet that is capable of ECN; any other unit is only counted."""
        self.switch.counters["marked"] += 1
        return marked(unit)


class QueuedElectronic(Electronic):
    """Store-and-forward; a discipline decides at each departure."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.own = own
        table = own["queue"]
        self.outputs = [Output(self, port, link) for port, link in enumerate(self.ports)]
        self.queues = [DISCIPLINES[table["kind"]](output, table) for output in self.outputs]

    def arrive(self, unit: Unit, link: Link) -> None:
        """Queue the whole unit or lose it."""
        self.counters["arrived"] += 1
        self.counters["oe_bytes"] += unit.size
        port = self.choose_queue(unit)
        pauses = self.network.pauses
        if not pauses.enter(unit, link, self.ports[port]):
            self.drop(unit, "headroom_full", port)
            return
        self.queue_at(port, unit)
        pauses.came(unit, link)

    def queue(self, unit: Unit) -> None:
        """Queue a unit that is in the switch at one of its outputs or lose it."""
        port = self.choose_queue(unit)
        self.network.pauses.turn(unit, self.ports[port])
        self.queue_at(port, unit)

    def queue_at(self, port: int, unit: Unit) -> None:
        """Queue a unit at an output or lose it."""
        self.bound(self.outputs[port])
        self.queues[port].enqueue(unit)
        self.serve(port)
        returned, self.outputs[port].returned = self.outputs[port].returned, None
        if returned is not None:
            self.queue(returned)

    def to_send(self, port: int) -> int:
        """Bytes that an output and its queue have still to send, rounded up."""
        return self.outputs[port].backlog()

    def bound(self, output: Output) -> None:
        """The threshold of an output, if the switch has a shared buffer."""
        shared = self.own.get("shared_buffer")
        if shared is None:
            return
        used = sum(other.backlog() for other in self.outputs)
        output.room = max(0, shared["size_bytes"] - used)
        output.capacity = int(shared["alpha"] * float(output.room))
        if self.capacity is not None:
            output.capacity = min(output.capacity, self.capacity)

    def serve(self, port: int) -> None:
        """Send while the link is free, then wait for it."""
        output, link = self.outputs[port], self.ports[port]
        pauses = self.network.pauses
        while link.queue and not output.armed and not pauses.all_pause(link):
            if link.free_at > self.now:
                output.armed = True
                moment = Moment(TIMER, self.node, port, DEPARTURE)
                self.network.events.add(link.free_at, moment, lambda: self.depart(port))
                return
            waiting = self.queues[port].dequeue()
            if waiting is None:
                return
            self.counters["eo_bytes"] += waiting.unit.size
            self.counters["forwarded"] += 1
            pauses.leave(waiting.unit)
            unit = self.network.telemetry.leaves(waiting.unit, link, self.now)
            self.network.transmit(link, unit, self.now, waiting.since)

    def depart(self, port: int) -> None:
        """The link is free."""
        self.outputs[port].armed = False
        self.serve(port)

    def flush(self, link: Link) -> list[Unit]:
        """Take out what waits for a link."""
        return self.queues[self.ports.index(link)].flush()

    def strand(self, link: Link, unit: Unit, reroute: bool) -> None:
        """A unit that waited for `link` takes another way or is lost."""
        if reroute:
            self.queue(unit)
        else:
            self.outputs[self.ports.index(link)].drop(unit, "queue_flushed")

    def area(self, until: int | None) -> int:
        """With the units that wait."""
        end = self.now if until is None else until
        units = [waiting for link in self.ports for waiting in link.queue]
        return super().area(end) + sum(one.unit.size * (end - one.since) for one in units)

    def held(self, now: int) -> int:
        """The bytes that its outputs have still to send."""
        return super().held(now) + sum(output.waiting_bytes for output in self.outputs)


def electronic_switch(
    network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
) -> Electronic:
    """An electronic switch with explicit queues, if it has a discipline for them."""
    kind = Electronic if own.get("queue") is None else QueuedElectronic
    return kind(network, node, settings, own)
