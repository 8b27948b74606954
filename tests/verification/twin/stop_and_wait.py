"""Stop-and-wait: `saw` and `sawl`."""

from twin.endpoint import AVOIDANCE, Receiver, Sender
from twin.units import Packet


class SawSender(Sender):
    """Sends one segment at a time."""

    def established(self) -> None:
        self.acknowledged = 0
        self.send_next()
        self.note_window()

    def unacknowledged(self) -> int:
        return self.acknowledged

    def all_sent(self) -> int:
        return min(self.acknowledged + self.most, self.flow.size)

    def note_window(self) -> None:
        """Write a window of one segment into the trace."""
        in_flight = min(self.most, self.flow.size - self.acknowledged) if self.times_sent else 0
        self.note(float(self.most), 0.0, 0.0, in_flight, AVOIDANCE)

    def send_next(self) -> None:
        """Send the segment after the acknowledged data for the first time."""
        self.times_sent = 0
        self.send_on()

    def send_on(self) -> None:
        """Send it as soon as the interface has room: a copy of the one before may wait there."""
        queue = self.interface.interface
        if queue is None or queue.has_room(self.flow.index, self.send_on):
            self.send_data()

    def send_data(self) -> None:
        """Send the segment after the acknowledged data."""
        self.flow.transmissions += 1
        self.flow.retransmissions += self.times_sent > 0
        payload = min(self.most, self.flow.size - self.acknowledged)
        transmission = self.flow.audit.send("data", self.acknowledged, payload)
        self.times_sent += 1
        self.send_timed("data", self.acknowledged, payload, window=1, transmission=transmission)

    def count_from(self, time: int) -> None:
        self.sent_at = time
        super().count_from(time)

    def awaits_answer(self, kind: str, number: int) -> bool:
        if kind == "data":
            return self.state == "established" and number == self.acknowledged
        return super().awaits_answer(kind, number)

    def data_timeout(self) -> None:
        self.send_data()
        self.note_window()

    def acknowledge(self, packet: Packet) -> None:
        if packet.number > self.acknowledged:
            if self.times_sent == 1:
                self.timeout.sample(self.now - self.sent_at)
            self.flow.audit.acknowledge(self.now, "data", self.acknowledged)
            self.acknowledged = packet.number
            if self.acknowledged < self.flow.size:
                self.send_next()
            else:
                self.finish()
        if packet.number == self.acknowledged:
            self.note_window()


class SawReceiver(Receiver):
    """Acknowledges each segment."""

    def acknowledge(self) -> None:
        self.send("ack", self.flow.delivered)

    def take(self, packet: Packet) -> None:
        if packet.number == self.flow.delivered:
            self.flow.deliver(packet.payload, self.now)
        else:
            self.flow.duplicates += 1
        self.acknowledge()
