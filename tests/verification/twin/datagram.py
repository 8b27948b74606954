"""Open-loop datagrams."""

from twin.endpoint import Endpoint
from twin.network import SENDER, TIMER, Moment, Packet


class DatagramSender(Endpoint):
    """Hands datagrams to the interface at given times."""

    def wait(self) -> None:
        """Arm the timer of the next departure."""
        if self.flow.transmissions < len(self.flow.departures):
            time = self.flow.departures[self.flow.transmissions]
            moment = Moment(TIMER, self.here, self.flow.index, SENDER)
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


class DatagramReceiver(Endpoint):
    """Counts what arrives."""

    def receive(self, packet: Packet) -> None:
        self.flow.deliver(packet.payload, self.now)
        self.flow.acknowledged = self.flow.received
