"""The switches without edges, and the choice among equal-cost next hops."""

from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import Any

from twin.choices import choice_of
from twin.events import Moment
from twin.link import Link
from twin.network import TIMER, Network
from twin.rng import mix, stream
from twin.units import Packet, Unit

Members = tuple[int, ...]


class Switch:
    """The base of all switches: ports, stream, choice, counters."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        self.network = network
        self.node = node
        self.ports = network.ports[node]
        self.choice, self.rule = choice_of(settings["choice"])
        self.seed: int = settings["seed"]
        self.stream = stream(self.seed, f"switch/{node - network.hosts}")
        self.switching_time: int = own.get("switching_time_ps", 0)
        self.counters: Counter[str] = Counter()
        # The bytes that waited with their times, and the levels when further bytes came.
        self.waits: list[tuple[int, int, int]] = []
        self.levels: list[tuple[int, int]] = []
        self.assembly_wait = 0
        self.delay_line_time = 0
        self.held_ps = 0

    @property
    def now(self) -> int:
        """The present, in ps."""
        return self.network.events.now

    def is_free(self, port: int) -> bool:
        """Whether the output `port` is idle."""
        link = self.ports[port]
        is_idle = link.free_at <= self.now and not link.queue
        return is_idle and not self.network.pauses.is_paused(link)

    def pick_free(self, members: Members) -> int | None:
        """One free member, uniformly; None if all are busy."""
        if len(members) == 1:
            return members[0] if self.is_free(members[0]) else None
        probe = members[self.stream.below(len(members))]
        if self.is_free(probe):
            return probe
        free = [port for port in members if self.is_free(port)]
        return free[self.stream.below(len(free))] if free else None

    def choose(self, unit: Unit) -> tuple[int | None, Members]:
        """The port that takes `unit` now, or None, and the set for which it would wait."""
        members = self.network.next_hops(self.node, unit)
        if self.choice == "free":
            return self.pick_free(members), members
        port = self.pick_any(unit, members)
        return (port if self.is_free(port) else None), (port,)

    def pick_any(self, unit: Unit, members: Members) -> int:
        """One member, free or not: always the same with `flow-hash`."""
        if self.rule is not None and len(members) > 1:
            return self.rule.pick(unit, members, self.now, self.stream, self.to_send)
        if self.choice == "flow-hash":
            return members[self.hashed(unit) * len(members) >> 64]
        if self.choice == "adaptive":
            path = unit.path if isinstance(unit, Packet) else 0
            hashed = self.hashed(unit)
            i = (mix(hashed ^ path) if path else hashed) * len(members) >> 64
        else:
            i = self.stream.below(len(members)) if len(members) > 1 else 0
        return members[i]

    def hashed(self, unit: Unit) -> int:
        """The hash of a flow at this node."""
        return mix(mix(self.seed) ^ (unit.hashed << 32 | self.node))

    def to_send(self, port: int) -> int:
        """Bytes that an output has still to send, rounded up."""
        return self.ports[port].backlog(self.now)

    def choose_queue(self, unit: Unit) -> int:
        """The port that takes `unit` where a busy output means a queue."""
        port, members = self.choose(unit)
        if port is not None:
            return port
        return members[self.stream.below(len(members))] if len(members) > 1 else members[0]

    def forward(self, unit: Unit, port: int) -> int:
        """Send `unit`, not before the switching time is over; returns when it has been sent."""
        self.counters["forwarded"] += 1
        link = self.ports[port]
        begin = self.network.transmit(link, unit, self.now + self.switching_time)
        return begin + link.tx(unit.size, begin)

    def drop(self, unit: Unit, reason: str, port: int) -> None:
        """Lose `unit`, which wanted the output `port`, and count it under `reason`."""
        self.counters[f"dropped_{reason}"] += 1
        self.network.drop(self.node, unit, reason, self.ports[port])

    def held(self, now: int) -> int:
        """Bytes that it keeps at `now`."""
        return 0

    def arrive(self, unit: Any, link: Link) -> None:
        """Handle the arrival of a unit, or of the header of a burst, over `link`."""
        raise NotImplementedError

    def area(self, until: int | None) -> int:
        """Bytes times the time that they waited up to `until`; without it, in the run."""
        cut = max((end for *_, end in self.waits), default=0) if until is None else until
        return sum(size * max(0, min(end, cut) - begin) for size, begin, end in self.waits)

    def peak(self, begin: int, end: int) -> int:
        """The highest level from `begin` on to before `end`."""
        return max([self.level(begin), *(n for time, n in self.levels if begin <= time < end)])

    def level(self, time: int) -> int:
        """The rest at `time` of the last level before; here it is zero at once."""
        return 0


class AllOptical(Switch):
    """Cut-through without a buffer."""

    def arrive(self, unit: Unit, link: Link) -> None:
        """Forward the head at once or lose the unit."""
        self.counters["arrived"] += 1
        port, members = self.choose(unit)
        if port is None:
            self.drop(unit, "contention", members[0])
        else:
            self.forward(unit, port)


def marked(unit: Unit) -> Unit:
    """The unit with a mark, if it is a packet that is capable of ECN."""
    if isinstance(unit, Packet) and unit.ecn_capable:
        return replace(unit, marked=True)
    return unit


class Electronic(Switch):
    """Store-and-forward with an output queue for each port."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.capacity: int | None = own["queue_bytes"]
        self.ecn_threshold: int | None = own["ecn_threshold_bytes"]

    def arrive(self, unit: Unit, link: Link) -> None:
        """Queue the whole unit or lose it."""
        self.counters["arrived"] += 1
        self.counters["oe_bytes"] += unit.size
        self.queue(unit)

    def queue(self, unit: Unit) -> None:
        """Put a unit into the queue of its output or lose it."""
        port = self.choose_queue(unit)
        output = self.ports[port]
        backlog = output.backlog(self.now)
        if self.capacity is not None and backlog + unit.size > self.capacity:
            self.drop(unit, "queue_full", port)
            return
        if self.ecn_threshold is not None and backlog >= self.ecn_threshold:
            self.counters["marked"] += 1
            unit = marked(unit)
        if output.free_at > self.now:
            self.counters["buffered"] += 1
            taken_back = self.network.outages.taken_back(output, output.free_at)
            leaves = output.free_at if taken_back is None else taken_back
            counted_until = min(leaves, self.network.events.time_limit)
            self.waits.append((unit.size, self.now, counted_until))
            self.levels.append((self.now, backlog + unit.size))
        self.counters["eo_bytes"] += unit.size
        self.forward(unit, port)

    def flush(self, link: Link) -> list[Unit]:
        """What waits for a link in an explicit queue."""
        return []

    def strand(self, link: Link, unit: Unit, reroute: bool) -> None:
        """Take back a unit that waits for `link`: it takes another way or is lost."""
        self.counters["forwarded"] -= 1
        self.counters["eo_bytes"] -= unit.size
        if reroute:
            self.queue(unit)
        else:
            self.drop(unit, "queue_flushed", self.ports.index(link))

    def held(self, now: int) -> int:
        """The bytes that its outputs have still to send."""
        return sum(link.waiting(now) for link in self.ports)


@dataclass
class Waiting:
    """A unit in the buffer: its turn, and when it may leave."""

    turn: int
    ready: int
    unit: Unit


class Hybrid(Switch):
    """Cut-through, with a shared electronic buffer behind `buffer_ports` ports for in and out."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.capacity: int | None = own["buffer_bytes"]
        self.after_reception: bool = own["re_emission"] == "after-reception"
        self.input_free_at = [0] * own["buffer_ports"]
        self.output_free_at = [0] * own["buffer_ports"]
        self.queues: dict[Members, deque[Waiting]] = {}
        self.armed: int | None = None
        self.occupancy = 0
        self.occupied_since = 0

    def arrive(self, unit: Unit, link: Link) -> None:
        """Forward the head at once, or buffer the unit, or lose it."""
        self.counters["arrived"] += 1
        if self.armed is not None and self.armed <= self.now:
            self.look()
        port, members = self.choose(unit)
        if port is not None:
            self.forward(unit, port)
            return
        inputs = [i for i, free_at in enumerate(self.input_free_at) if free_at <= self.now]
        if not inputs:
            # Without a buffer it is an all-optical switch, with its reason.
            self.drop(unit, "no_input_port" if self.input_free_at else "contention", members[0])
        elif self.capacity is not None and self.occupancy + unit.size > self.capacity:
            self.drop(unit, "buffer_full", members[0])
        else:
            self.buffer(unit, members, inputs[0], link)

    def buffer(self, unit: Unit, members: Members, port: int, link: Link) -> None:
        """Receive `unit` into the buffer through the input `port`."""
        received = self.now + self.switching_time + link.tx(unit.size)
        self.input_free_at[port] = received
        ready = received if self.after_reception else self.now
        turn = self.counters["buffered"]
        self.queues.setdefault(members, deque()).append(Waiting(turn, ready, unit))
        self.counters["buffered"] += 1
        self.counters["oe_bytes"] += unit.size
        self.occupy(unit.size)
        self.network.note("buffer", self.node, unit)
        self.arm()

    def look(self) -> None:
        """Re-emit all units that can leave now, and arm the next wake-up."""
        self.armed = None
        while outputs := [
            i for i, free_at in enumerate(self.output_free_at) if free_at <= self.now
        ]:
            candidates = [
                (queue[0].turn, members)
                for members, queue in self.queues.items()
                if queue and queue[0].ready <= self.now and any(map(self.is_free, members))
            ]
            if not candidates:
                break
            _, members = min(candidates)
            unit = self.queues[members].popleft().unit
            port = self.pick_free(members)
            assert port is not None
            self.counters["eo_bytes"] += unit.size
            self.occupy(-unit.size)
            self.network.note("re-emit", self.node, unit)
            self.output_free_at[outputs[0]] = self.forward(unit, port)
        self.arm()

    def arm(self) -> None:
        """Arm the wake-up if it is earlier than the one armed."""
        times = [
            max(
                queue[0].ready,
                min(self.ports[port].free_at for port in members),
                min(self.output_free_at),
            )
            for members, queue in self.queues.items()
            if queue
        ]
        time = max(self.now, min(times, default=0))
        if times and (self.armed is None or time < self.armed):
            self.armed = time
            self.network.events.add(time, Moment(TIMER, self.node), lambda: self.wake_up(time))

    def wake_up(self, time: int) -> None:
        """Handle a wake-up timer, unless another has taken its place."""
        if self.armed == time:
            self.look()

    def new_routes(self, reroute: bool, known: set[int]) -> None:
        """Find the next hops of buffered units anew, or lose those whose links are all `known`."""
        old = [(one, members) for members, queue in self.queues.items() for one in queue]
        self.queues = {}
        for waiting, members in sorted(old, key=lambda row: row[0].turn):
            unit = waiting.unit
            if not reroute and all(self.ports[port].index in known for port in members):
                self.occupy(-unit.size)
                self.drop(unit, "queue_flushed", members[0])
                continue
            members = self.network.next_hops(self.node, unit)
            if self.choice != "free":
                members = (self.pick_any(unit, members),)
            self.queues.setdefault(members, deque()).append(waiting)
        self.arm()

    def occupy(self, size: int) -> None:
        """Change the bytes held by `size`, and keep how many there were until when."""
        self.waits.append((self.occupancy, self.occupied_since, self.now))
        self.occupied_since = self.now
        self.occupancy += size
        self.levels.append((self.now, self.occupancy))

    def area(self, until: int | None) -> int:
        """The rest, starting with the present bytes."""
        end = self.now if until is None else until
        return super().area(end) + self.occupancy * (end - self.occupied_since)

    def level(self, time: int) -> int:
        """The last level before `time`."""
        return next((level for at, level in reversed(self.levels) if at < time), 0)

    def held(self, now: int) -> int:
        """The bytes in the buffer."""
        return self.occupancy


SWITCHES: dict[str, type[Switch]] = {
    "all-optical": AllOptical,
    "hybrid": Hybrid,
    "electronic": Electronic,
}
