"""Open-loop datagrams, of hosts and of edges."""

from collections.abc import Callable
from typing import Any

from twin.endpoint import Endpoint
from twin.events import Moment
from twin.network import ENTRY, SENDER, TIMER, Packet


class DatagramSender(Endpoint):
    """Hands datagrams to the interface at given times."""

    #: Its timer.
    kind = SENDER

    def wait(self) -> None:
        """Arm the timer of the next departure."""
        if self.flow.transmissions < len(self.flow.departures):
            time = self.flow.departures[self.flow.transmissions]
            moment = Moment(TIMER, self.here, self.flow.index, self.kind)
            self.network.events.add(time, moment, self.depart)

    def depart(self) -> None:
        """Send one datagram."""
        self.flow.started = True
        first = self.flow.transmissions * self.most
        self.flow.transmissions += 1
        self.send("datagram", first, min(self.most, self.flow.size - first))
        self.wait()

    def receive(self, packet: Packet) -> None:
        raise AssertionError("a datagram sender receives nothing")


class BurstSender(DatagramSender):
    """Hands them to the edge where it is, each to be a burst."""

    kind = ENTRY
    #: The edge's `twin.edge.Edge.enter`.
    enter: Callable[[Packet], None]

    def depart(self) -> None:
        """Send one; its flow is armed again before anything becomes of it."""
        super().depart()
        self.enter(self.packet)

    def send(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> int | None:
        """Make a packet, to enter."""
        size = max(payload + self.header, self.control)
        self.packet = self.network.create(
            lambda serial: Packet(
                serial, self.flow.index, kind, number, payload, size, self.here, self.there
            )
        )
        return self.now


class DatagramReceiver(Endpoint):
    """Counts what arrives."""

    def receive(self, packet: Packet) -> None:
        self.flow.deliver(packet.payload, self.now)
        self.flow.acknowledged = self.flow.received
