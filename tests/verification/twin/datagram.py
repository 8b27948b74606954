"""Open-loop datagrams, of hosts and of edges."""

from collections.abc import Callable
from typing import Any

from twin.endpoint import Endpoint
from twin.events import Moment
from twin.network import ENTRY, SENDER, TIMER
from twin.units import Packet


class DatagramSender(Endpoint):
    """Hands datagrams to the interface at given times."""

    #: Its timer.
    kind = SENDER
    #: The number of datagrams sent.
    sent = 0

    def wait(self) -> None:
        """Arm the timer of the next departure."""
        if self.sent < len(self.flow.departures):
            time = self.flow.departures[self.sent]
            moment = Moment(TIMER, self.here, self.flow.index, self.kind)
            self.network.events.add(time, moment, self.depart)

    def depart(self) -> None:
        """Send one datagram."""
        self.flow.started = True
        first = self.sent * self.most
        self.sent += 1
        self.send("datagram", first, min(self.most, self.flow.size - first))
        self.wait()

    def send(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> int | None:
        """Count it."""
        self.flow.transmissions += 1
        return super().send(kind, number, payload, **rest)

    def receive(self, packet: Packet) -> None:
        raise AssertionError("a datagram sender receives nothing")


class BurstSender(DatagramSender):
    """Hands them to its edge, each as a burst."""

    kind = ENTRY
    #: The edge's `twin.edge.Edge.enter`.
    enter: Callable[[list[Packet]], None]

    def depart(self) -> None:
        """Send one; the timer of its flow is armed again before the burst is handled."""
        super().depart()
        self.enter(self.packets)

    def send(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> int | None:
        """Make the packets of a new burst."""
        size = payload + self.header
        step = self.transport.get("packet_bytes", size)
        self.packets = []
        for begin in range(0, size, step):
            end = min(size, begin + step)
            first, last = max(0, begin - self.header), end - self.header
            padding = max(0, self.control - size) if end == size else 0
            packet = self.make(kind, number + first, last - first, end - begin + padding)
            self.packets.append(packet)
            self.flow.transmissions += 1
        return self.now

    def make(self, kind: str, number: int, payload: int, size: int) -> Packet:
        """Bring one packet into the network."""
        return self.network.create(
            lambda serial: Packet(
                serial, self.flow.index, kind, number, payload, size, self.here, self.there
            )
        )


class DatagramReceiver(Endpoint):
    """Counts arrivals."""

    def receive(self, packet: Packet) -> None:
        self.flow.deliver(packet.payload, self.now)
        self.flow.acknowledged = self.flow.received
