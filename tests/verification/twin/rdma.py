"""The transport `rdma`: a queue pair with go-back-N, and its rate laws."""

import math
from typing import Any

from twin.audit import FAST
from twin.endpoint import AVOIDANCE, Flow, Receiver, Sender, Timer
from twin.events import Moment
from twin.network import DELAY, PACING, TIMER, Network
from twin.rate_laws import RATE_LAWS
from twin.units import Packet

#: The window in a header that is not limited.
UNLIMITED = 65_535


class RdmaSender(Sender):
    """The requester: `una` and `next` as of TCP, all before `highest` was sent once."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.una = self.next = self.highest = 0
        self.sent_at: dict[int, int] = {}
        self.most_in_flight: int | None = transport.get("max_inflight_bytes")
        own = transport["congestion_control"]
        self.law = RATE_LAWS[own["kind"]](own, self.interface.rate)
        self.release = 0
        moment = Moment(TIMER, here, flow.index, PACING)
        self.pacing = Timer(network.events, moment, self.send_allowed)

    def established(self) -> None:
        self.send_allowed()
        self.note_window()

    def unacknowledged(self) -> int:
        return self.una

    def paces_at(self) -> int:
        return self.law.rate // 8

    def note_window(self) -> None:
        """Write the state into the trace: no window, but a rate."""
        self.note(math.inf, 0.0, 0.0, self.next - self.una, AVOIDANCE)

    def fits(self, payload: int) -> bool:
        """Whether the next packet may be in flight."""
        if self.most_in_flight is None or self.next == self.una:
            return True
        return self.next + payload - self.una <= self.most_in_flight

    def send_allowed(self) -> None:
        """Send what inflight, rate and interface allow."""
        while self.state == "established" and self.next < self.flow.size:
            payload = min(self.most, self.flow.size - self.next)
            if not self.fits(payload):
                return
            if self.release > self.now:
                self.pacing.set(self.release)
                return
            queue = self.interface.interface
            if queue is not None and not queue.has_room(self.flow.index, self.send_allowed):
                return
            self.send_packet(payload)

    def send_packet(self, payload: int) -> None:
        """Send the next packet, and wait before the one after it."""
        begin, self.next = self.next, self.next + payload
        self.highest = max(self.highest, self.next)
        transmission = self.flow.audit.send("data", begin, payload)
        self.flow.transmissions += 1
        self.flow.retransmissions += transmission.nth > 1
        kind = "data+fin" if self.next == self.flow.size else "data"
        begins = self.send(kind, begin, payload, window=UNLIMITED, transmission=transmission)
        self.sent_at[begin] = self.now
        self.law.sent(self.now, payload)
        wire = max(payload + self.header, self.control)
        self.release = (self.now if begins is None else begins) - -8 * 10**12 * wire // self.law.rate
        if self.timer.deadline is None:
            self.timer.set(self.now + self.timeout.wait())

    def departs(self, kind: str, number: int) -> None:
        """Nothing counts from the transmission."""

    def receive(self, packet: Packet) -> None:
        if self.state != "established":
            return
        if packet.kind == "cnp":
            self.law.notified(self.now)
            self.note_window()
            return
        if packet.number > self.una:
            self.advance(packet.number)
        elif packet.number < self.una or self.una == self.highest:
            return
        if packet.kind == "nak":
            self.next = self.una
            self.flow.audit.decide(FAST, "data", self.una)
            self.timer.set(self.now + self.timeout.wait())
        self.send_allowed()
        self.note_window()

    def advance(self, number: int) -> None:
        """Take all data before `number` for acknowledged."""
        covered = range(self.una, number, self.most)
        for begin in covered:
            self.flow.audit.acknowledge(self.now, "data", begin)
        if all(self.flow.audit.sent["data", begin] == 1 for begin in covered):
            self.timeout.sample(self.now - self.sent_at[covered[-1]])
        self.una, self.next = number, max(self.next, number)
        self.timer.clear()
        if self.una == self.flow.size:
            self.flow.acknowledged = self.now
            self.state = "closed"
        elif self.una < self.highest:
            self.timer.set(self.now + self.timeout.wait())

    def data_timeout(self) -> None:
        self.next = self.una
        self.send_allowed()
        self.note_window()


class RdmaReceiver(Receiver):
    """The responder: it takes packets in order only, and refuses the first out of order."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.waiting = 0
        self.refused = False
        self.interval = transport["congestion_control"].get("notification_interval_ps")
        self.notified_until = 0
        self.delay = Timer(network.events, Moment(TIMER, here, flow.index, DELAY), self.notify)

    def receive(self, packet: Packet) -> None:
        if packet.marked and self.interval is not None:
            self.take_mark()
        if packet.number == self.flow.delivered:
            assert packet.transmission is not None
            self.flow.audit.arrivals.append(packet.transmission)
            self.flow.deliver(packet.payload, self.now)
            self.refused = False
            self.waiting += 1
            if packet.kind == "data+fin" or self.waiting >= self.transport["acknowledge_every"]:
                self.respond("ack")
        elif packet.number < self.flow.delivered:
            self.flow.duplicates += 1
            self.respond("ack")
        elif not self.refused:
            self.refused = True
            self.respond("nak")

    def respond(self, kind: str) -> None:
        """Tell what has arrived in order."""
        self.waiting = 0
        self.send(kind, self.flow.delivered)

    def take_mark(self) -> None:
        """Notify of a mark now, or at the end of the interval."""
        if self.now >= self.notified_until:
            self.notify()
        elif self.delay.deadline is None:
            self.delay.set(self.notified_until)

    def notify(self) -> None:
        """Send a CNP."""
        self.delay.clear()
        self.notified_until = self.now + self.interval
        self.send("cnp")
