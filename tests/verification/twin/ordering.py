"""Ordering of the bursts between two edges, at the ingress or the egress."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from twin.events import Moment
from twin.link import Link
from twin.network import HOLD_BACK, RELEASE, TIMER
from twin.units import Burst

if TYPE_CHECKING:
    from twin.edge import Edge

#: Two edges and a class.
Line = tuple[int, ...]


def count_held(edge: "Edge", since: int) -> None:
    """Count a burst held since `since`, if it was held at all."""
    edge.counters["bursts_held"] += edge.now > since
    edge.held_ps += edge.now - since


class Source:
    """The ingress sends a burst so that it does not overtake the burst before."""

    def __init__(self, edge: "Edge") -> None:
        self.edge = edge
        # By the egress and the class.
        self.waiting: dict[Line, deque[tuple[Burst, int]]] = {}
        # The last burst that left, when its last bit comes to the egress, and whether its header
        # had to wait.
        self.last: dict[Line, tuple[Burst, int, bool]] = {}

    def send(self, burst: Burst) -> None:
        """Send a new burst as soon as it may."""
        line = self.edge.line(burst)
        waiting = self.waiting.setdefault(line, deque())
        waiting.append((burst, self.edge.now))
        if len(waiting) == 1:
            self.release(line)

    def release(self, line: Line) -> None:
        """Send the bursts that may leave now."""
        while self.waiting[line]:
            burst, since = self.waiting[line][0]
            due = self.due(burst) - self.edge.offset(burst)
            if due > self.edge.now:
                moment = Moment(
                    TIMER, self.edge.node, self.edge.subject(burst.ends[1], line[-1]), RELEASE
                )
                self.edge.network.events.add(due, moment, lambda: self.release(line))
                return
            self.waiting[line].popleft()
            count_held(self.edge, since)
            head = self.edge.launch(burst)
            if head is not None:
                tail = head + self.flight(burst) + self.tx(burst)
                waited = head > self.edge.now + self.edge.offset(burst)
                self.last[line] = burst, tail, waited

    def due(self, burst: Burst) -> int:
        """When the head of a burst may leave."""
        line = self.edge.line(burst)
        if line not in self.last:
            return 0
        before, last, waited = self.last[line]
        if before.label != burst.label:
            return last - self.flight(burst)
        strictly = waited or any(len(ports) > 1 for _, ports in self.way(burst))
        return last + strictly - self.flight(burst) - self.tx(burst)

    def tx(self, burst: Burst) -> int:
        """The time of a fibre for a burst."""
        hosts = self.edge.network.hosts
        return next(port for port in self.edge.ports if port.target >= hosts).tx(burst.size)

    def way(self, burst: Burst) -> Iterator[tuple[Link, Sequence[int]]]:
        """Each link of the path of a burst, with the set of ports of which it is the first."""
        network, node = self.edge.network, self.edge.node
        while node != burst.ends[1]:
            ports = network.next_hops(node, burst)
            link = network.ports[node][ports[0]]
            yield link, ports
            node = link.target

    def flight(self, burst: Burst) -> int:
        """The time from the departure of the head of a burst to its arrival at the egress."""
        links = [link for link, _ in self.way(burst)]
        stored = sum(not link.heads for link in links) * self.tx(burst)
        passed = sum(self.edge.network.switching_time(link.target) for link in links[:-1])
        return sum(link.delay for link in links) + stored + passed

    def held(self) -> Iterator[Burst]:
        """The bursts that have not left."""
        return (burst for waiting in self.waiting.values() for burst, _ in waiting)


class Destination:
    """The egress keeps a burst until those before it have come, but not for ever."""

    def __init__(self, edge: "Edge", hold_back: int) -> None:
        self.edge = edge
        self.hold_back = hold_back
        # By the ingress and the class.
        self.next: dict[Line, int] = {}
        self.early: dict[Line, dict[int, tuple[Burst, int]]] = {}

    def come(self, burst: Burst) -> None:
        """The tail of a burst is here."""
        line = self.edge.line(burst)
        if burst.sequence > self.next.get(line, 0):
            self.early.setdefault(line, {})[burst.sequence] = burst, self.edge.now
            self.edge.network.note("hold", self.edge.node, burst)
            moment = Moment(
                TIMER, self.edge.node, self.edge.subject(burst.ends[0], line[-1]), HOLD_BACK
            )
            end = self.edge.now + self.hold_back
            self.edge.network.events.add(end, moment, lambda: self.give_up(line))
        else:
            self.take_apart(burst)
            self.go_on(line)

    def give_up(self, line: Line) -> None:
        """Stop waiting for the bursts before one that was held for the whole time."""
        latest = self.edge.now - self.hold_back
        patient = [n for n, (_, since) in self.early[line].items() if since <= latest]
        if patient:
            self.edge.counters["hold_back_timeouts"] += 1
            for sequence in sorted(n for n in self.early[line] if n <= max(patient)):
                self.take_early(line, sequence)
            self.go_on(line)

    def go_on(self, line: Line) -> None:
        """Disassemble the bursts that are now in order."""
        while self.next[line] in self.early.get(line, {}):
            self.take_early(line, self.next[line])

    def take_early(self, line: Line, sequence: int) -> None:
        """Take apart a burst that was held."""
        burst, since = self.early[line].pop(sequence)
        count_held(self.edge, since)
        self.take_apart(burst)

    def take_apart(self, burst: Burst) -> None:
        """Take a burst apart, and expect the next one."""
        line = self.edge.line(burst)
        self.next[line] = max(self.next.get(line, 0), burst.sequence + 1)
        self.edge.take_apart(burst)

    def held(self) -> Iterator[Burst]:
        """The bursts held because they came too early."""
        return (burst for early in self.early.values() for burst, _ in early.values())
