"""The transport `rdma`: a queue pair with go-back-N or selective repeat, and a rate law."""

import math
from typing import Any

from twin.audit import FAST
from twin.endpoint import AVOIDANCE, RECOVERING, Flow, Receiver, Sender, Timer
from twin.events import Moment
from twin.network import DELAY, PACING, TIMER, Network
from twin.pulls import PullQueue
from twin.rate_laws import RATE_LAWS
from twin.units import Block, Packet

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
        packet = self.most, transport["segment_bytes"]
        self.law = RATE_LAWS[own["kind"]](own, self.interface.rate, packet)
        self.release = 0
        self.selective = transport["recovery"]["kind"] == "selective-repeat"
        #: By how many packets one may be overtaken before it is lost.
        self.patience = 1 + transport["recovery"].get("reordering", 0)
        #: Packets known to have arrived, missing ones that were sent again in this recovery, and
        #: the end of the data sent before it; None outside of a recovery.
        self.arrived: set[int] = set()
        self.sent_again: set[int] = set()
        self.until: int | None = None
        #: Trimmed packets to be sent again, and those that were.
        self.trimmed: set[int] = set()
        self.trimmed_again: set[int] = set()
        #: All missing packets that begin before it are taken for lost.
        self.lost_before = 0
        moment = Moment(TIMER, here, flow.index, PACING)
        self.pacing = Timer(network.events, moment, self.send_allowed)

    def established(self) -> None:
        self.law.path(self.switches())
        self.law.begin(-(-self.flow.size // self.most))
        self.send_allowed()
        self.note_window()

    def unacknowledged(self) -> int:
        return self.una

    def all_sent(self) -> int:
        return self.highest

    def paces_at(self) -> int:
        rate = self.law.rate
        return 0 if rate is None else rate // 8

    def switches(self) -> int:
        """The number of switches on a shortest path, by the first of equal ports."""
        node, count = self.here, 0
        while node != self.there:
            node = self.network.ports[node][self.network.shortest(node, self.there)[0]].target
            count += node != self.there
        return count

    def note_window(self) -> None:
        """Write the state into the trace."""
        state = AVOIDANCE if self.until is None else RECOVERING
        self.note(self.law.window, 0.0, 0.0, self.next - self.una, state)

    def fits(self, payload: int) -> bool:
        """Whether the next packet may be in flight."""
        if self.next == self.una:
            return True
        window = self.law.window if math.isinf(self.law.window) else int(self.law.window)
        most = window if self.most_in_flight is None else min(window, self.most_in_flight)
        return self.next + payload - self.una <= most

    def missing(self) -> int | None:
        """The packet to be sent again: a trimmed one, or one taken for lost."""
        return min(self.trimmed) if self.trimmed else self.lost()

    def lost(self) -> int | None:
        """The first packet taken for lost, or before one that came, that was not trimmed."""
        if self.until is None:
            return None
        for begin in range(self.una, self.highest, self.most):
            lost = begin < self.lost_before or any(
                later - begin >= self.patience * self.most for later in self.arrived
            )
            known = self.arrived | self.sent_again | self.trimmed | self.trimmed_again
            if lost and begin not in known:
                return begin
        return None

    def send_allowed(self) -> None:
        """Send what inflight, rate and interface allow."""
        while self.state == "established":
            begin = self.missing()
            if begin is None and self.next == self.flow.size:
                return
            new = self.next if begin is None else begin
            payload = min(self.most, self.flow.size - new)
            if begin is None and not self.fits(payload):
                return
            if self.law.waits:
                # The pull may be lost.
                if self.timer.deadline is None:
                    self.timer.set(self.now + self.timeout.wait())
                return
            if self.release > self.now:
                self.pacing.set(self.release)
                return
            queue = self.interface.interface
            if queue is not None and not queue.has_room(self.flow.index, self.send_allowed):
                return
            if begin in self.trimmed:
                self.trimmed.remove(begin)
                self.trimmed_again.add(begin)
            elif begin is not None:
                self.sent_again.add(begin)
            self.send_packet(new, payload)

    def send_packet(self, begin: int, payload: int) -> None:
        """Send a packet, and wait before the one after it."""
        end = begin + payload
        self.next = max(self.next, end)
        self.highest = max(self.highest, end)
        transmission = self.flow.audit.send("data", begin, payload)
        self.flow.transmissions += 1
        self.flow.retransmissions += transmission.nth > 1
        kind = "data+fin" if end == self.flow.size else "data"
        window = UNLIMITED
        if not math.isinf(self.law.window):
            window = min(int(self.law.window) // self.most, UNLIMITED)
        begins = self.send(kind, begin, payload, window=window, transmission=transmission)
        self.sent_at[begin] = self.now
        self.law.sent(self.now, payload)
        rate = self.law.rate
        if rate is not None:
            wire = max(payload + self.header, self.control)
            took = -(-8 * 10**12 * wire // rate)
            self.release = (self.now if begins is None else begins) + took
        if self.timer.deadline is None:
            self.timer.set(self.now + self.timeout.wait())

    def departs(self, kind: str, number: int) -> None:
        """Nothing counts from the transmission."""

    def receive(self, packet: Packet) -> None:
        if self.state != "established":
            return
        if packet.kind == "cnp":
            self.law.notified(self.now)
            self.network.repaths.of(self.flow.index).notified = True
            self.note_window()
            return
        if packet.kind == "pull":
            self.law.pulled(packet.number)
            self.send_allowed()
            self.note_window()
            return
        if packet.kind == "returned":
            self.take_back(packet)
            return
        self.judge_path(packet)
        if packet.number > self.una:
            self.advance(packet.number)
        elif packet.number < self.una:
            if packet.blocks:
                # A later answer overtook it, but no other one names this packet.
                self.take_blocks(packet)
                self.send_allowed()
                self.note_window()
            return
        elif self.una == self.highest:
            return
        self.law.told(packet.readings, packet.number, self.next)
        if self.take_blocks(packet):
            self.timer.set(self.now + self.timeout.wait())
        elif packet.kind == "nak" and self.until is None:
            self.repair(timeout=False)
            if self.selective and self.lost() is None:
                # What is missing was trimmed, and is no loss.
                self.until = None
            else:
                self.law.lost(self.now, timeout=False)
                self.flow.audit.decide(FAST, "data", self.una)
                self.timer.set(self.now + self.timeout.wait())
        self.send_allowed()
        self.note_window()

    def take_back(self, header: Packet) -> None:
        """Send a packet again whose header returned, now or after a pull."""
        self.network.repaths.returned(header)
        self.law.returned()
        if header.number >= self.una:
            if header.number not in self.arrived:
                self.trimmed.add(header.number)
            self.timer.set(self.now + self.timeout.wait())
        self.send_allowed()
        self.note_window()

    def take_blocks(self, packet: Packet) -> bool:
        """Note the packet that an answer names; returns whether it was trimmed."""
        trimmed = {begin for begin, end in packet.blocks if begin == end}
        self.arrived.update(begin for begin, end in packet.blocks if begin < end)
        self.trimmed = (self.trimmed | trimmed) - self.arrived
        self.trimmed = {begin for begin in self.trimmed if begin >= self.una}
        return bool(trimmed)

    def advance(self, number: int) -> None:
        """Take all data before `number` for acknowledged."""
        covered = range(self.una, number, self.most)
        for begin in covered:
            self.flow.audit.acknowledge(self.now, "data", begin)
        self.law.news()
        if all(self.flow.audit.sent["data", begin] == 1 for begin in covered):
            round_trip = self.now - self.sent_at[covered[-1]]
            self.timeout.sample(round_trip)
            self.law.acknowledged(self.now, round_trip, number - self.una)
        self.una, self.next = number, max(self.next, number)
        if self.until is not None and self.una >= self.until:
            self.until = None
        self.timer.clear()
        if self.una == self.flow.size:
            self.flow.acknowledged = self.now
            self.state = "closed"
        elif self.una < self.highest:
            self.timer.set(self.now + self.timeout.wait())

    def repair(self, *, timeout: bool) -> None:
        """Go back to the first missing packet, or begin to repeat missing ones."""
        if self.selective:
            self.until, self.sent_again = self.highest, set()
            self.lost_before = self.highest if timeout else self.una + (self.patience == 1)
            if timeout:
                self.trimmed, self.trimmed_again = set(), set()
        else:
            self.next = self.una

    def data_timeout(self) -> None:
        self.law.lost(self.now, timeout=True)
        self.repair(timeout=True)
        self.send_allowed()
        self.note_window()


class RdmaReceiver(Receiver):
    """The responder: it takes packets in order only, or keeps them out of order."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.selective = transport["recovery"]["kind"] == "selective-repeat"
        #: Payloads of the packets out of order.
        self.held: dict[int, int] = {}
        self.waiting = 0
        self.refused = False
        self.interval = transport["congestion_control"].get("notification_interval_ps")
        self.notified_until = 0
        self.is_pulled = RATE_LAWS[transport["congestion_control"]["kind"]].pulls
        self.pulls_sent = 0
        self.delay = Timer(network.events, Moment(TIMER, here, flow.index, DELAY), self.notify)

    def receive(self, packet: Packet) -> None:
        self.answer_packet(packet)
        if self.is_pulled:
            queue = self.network.pulls.setdefault(self.here, PullQueue(self.network, self.here))
            if self.flow.delivered == self.flow.size:
                queue.forget(self)
            else:
                queue.add(self)

    def pull(self) -> int:
        """Send a pull; returns after what time the next one of the host may follow."""
        self.pulls_sent += 1
        self.send("pull", self.pulls_sent)
        return self.network.ports[self.here][0].tx(self.transport["segment_bytes"])

    def answer_packet(self, packet: Packet) -> None:
        """Answer a packet, with or without its data."""
        self.readings = packet.readings
        if packet.marked and self.interval is not None:
            self.take_mark()
        self.marked = packet.marked and self.echoes_each
        if not packet.payload:
            self.take_header(packet.number)
            return
        if self.selective or packet.number <= self.flow.delivered:
            assert packet.transmission is not None
            self.flow.audit.arrivals.append(packet.transmission)
        if packet.number == self.flow.delivered:
            self.take(packet)
        elif packet.number < self.flow.delivered:
            self.flow.duplicates += 1
            self.respond("ack")
        elif self.selective:
            self.flow.duplicates += packet.number in self.held
            self.held[packet.number] = packet.payload
            self.respond("nak", ((packet.number, packet.number + packet.payload),))
        elif not self.refused:
            self.refused = True
            self.respond("nak")

    def take_header(self, number: int) -> None:
        """Ask for a packet that was trimmed, or acknowledge it if its data came before."""
        if number < self.flow.delivered or number in self.held:
            self.respond("ack")
        else:
            self.respond("nak", ((number, number),))

    def take(self, packet: Packet) -> None:
        """Take the next packet in order, and those that follow it."""
        fills, self.refused = bool(self.held), False
        self.flow.deliver(packet.payload, self.now)
        while self.flow.delivered in self.held:
            self.flow.deliver(self.held.pop(self.flow.delivered), self.now)
        self.waiting += 1
        enough = self.waiting >= self.transport["acknowledge_every"]
        if fills or enough or packet.kind == "data+fin" or packet.again:
            self.respond("ack")

    def respond(self, kind: str, blocks: tuple[Block, ...] = ()) -> None:
        """Tell what has arrived in order, and which packet out of order."""
        self.waiting = 0
        self.send(kind, self.flow.delivered, blocks=blocks)

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
        # Answers alone echo a mark.
        self.marked = False
        self.send("cnp")
