"""Stop-and-wait (`saw`, `sawl`) and open-loop datagrams."""

import math
from dataclasses import dataclass
from typing import Any

from twin.network import TIMER, Network, Unit


def round_half_away(x: float) -> int:
    """Nearest whole number of a positive `x`; halves go up."""
    whole = math.floor(x)
    return whole + 1 if x - whole >= 0.5 else whole


@dataclass
class Flow:
    """A row of the table of flows and what is known of it."""

    index: int
    source: int
    destination: int
    start: int
    size: int
    departures: list[int]
    started: bool = False
    end: int | None = None
    delivered: int = 0
    transmissions: int = 0
    retransmissions: int = 0
    timeouts: int = 0


class Endpoint:
    """One end of a connection: its host's interface, its timer and its timeout `T`."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        self.network = network
        self.flow = flow
        self.transport = transport
        self.there = there
        self.interface = network.ports[here][0]
        self.state = "listen"
        self.deadline: int | None = None
        self.armed: int | None = None
        self.control: int = transport["control_bytes"]
        self.header: int = transport["header_bytes"]
        self.most = transport["segment_bytes"] - self.header
        if transport["kind"] != "datagram":
            tau = network.ports[flow.source][0].tx(transport["segment_bytes"])
            self.longer = round_half_away(transport.get("p", 0.0) * tau)
            self.t: int = transport["initial_timeout_ps"]

    @property
    def now(self) -> int:
        """The present, in ps."""
        return self.network.agenda.now

    def send(self, kind: str, number: int = 0, payload: int = 0) -> int:
        """Hand a unit to the interface; returns when its transmission begins."""
        size = max(payload + self.header, self.control) if payload else self.control
        unit = self.network.create(self.flow.index, kind, number, payload, size, self.there)
        return self.network.transmit(self.interface, unit, self.now)

    def expect_answer(self, sent_at: int) -> None:
        """Wait `T'` from the beginning of the transmission at `sent_at`."""
        # Section 2: T'_i = T_i + p tau.
        self.set_deadline(sent_at + self.t + self.longer)

    def set_deadline(self, time: int) -> None:
        """Want a timeout at `time`."""
        self.deadline = time
        if self.armed is None or self.armed > time:
            self.arm(time)

    def arm(self, time: int) -> None:
        """Put a timer into the agenda."""
        self.armed = time
        self.network.agenda.add(time, TIMER, lambda: self.fire(time))

    def fire(self, time: int) -> None:
        """Handle the timer: stale, too early for the deadline, or a timeout."""
        if self.armed != time:
            return
        self.armed = None
        if self.deadline is None:
            return
        if self.deadline > time:
            self.arm(self.deadline)
            return
        self.deadline = None
        # Section 2: T_i = alpha T_{i-1} up to a maximum.
        longer = round_half_away(self.transport["alpha"] * float(self.t))
        self.t = min(longer, self.transport["max_timeout_ps"])
        self.repeat()

    def repeat(self) -> None:
        """Send again what was not answered in time."""
        raise NotImplementedError


class Sender(Endpoint):
    """Opens, sends one segment at a time, closes."""

    def start(self) -> None:
        """Begin with a SYN."""
        self.acknowledged = 0
        self.enter("syn-sent")

    def enter(self, state: str) -> None:
        """Enter `state` and send its first segment."""
        self.state = state
        self.times_sent = 0
        self.transmit()

    def transmit(self) -> None:
        """Send the one segment that is outstanding in this state."""
        if self.state == "syn-sent":
            self.sent_at = self.send("syn")
        elif self.state == "established":
            payload = min(self.most, self.flow.size - self.acknowledged)
            self.flow.transmissions += 1
            self.flow.retransmissions += self.times_sent > 0
            self.sent_at = self.send("data", self.acknowledged, payload)
        else:
            self.sent_at = self.send("fin")
        self.times_sent += 1
        self.expect_answer(self.sent_at)

    def repeat(self) -> None:
        """Send the outstanding segment again."""
        self.flow.timeouts += 1
        self.transmit()

    def sample(self) -> None:
        """Take the round-trip time of a segment that was sent once."""
        if self.times_sent == 1:
            # Section 2: T_i = beta gamma + (1 - beta) T_{i-1}.
            beta: float = self.transport["beta"]
            gamma = self.now - self.sent_at
            self.t = round_half_away(beta * float(gamma) + (1.0 - beta) * float(self.t))

    def receive(self, unit: Unit) -> None:
        """Handle an answer of the receiver."""
        if unit.kind == "syn+ack":
            if self.state == "syn-sent":
                self.sample()
                self.send("ack", 0)
                self.enter("established")
            else:
                self.send("ack", 0)
        elif unit.kind == "fin+ack":
            self.state = "closed"
            self.deadline = None
            self.send("ack", 1)
        elif self.state == "established" and unit.number > self.acknowledged:
            self.sample()
            self.acknowledged = unit.number
            if self.acknowledged < self.flow.size:
                self.enter("established")
            else:
                self.flow.end = self.now
                self.enter("fin-sent")


class Receiver(Endpoint):
    """Answers; `ack` numbers from the sender are 0 for a SYN+ACK and 1 for a FIN+ACK."""

    def answer(self, kind: str) -> None:
        """Send a SYN+ACK or FIN+ACK; with a timer, to be repeated until it is acknowledged."""
        sent_at = self.send(kind)
        if self.transport["receiver_timers"]:
            self.expect_answer(sent_at)

    def repeat(self) -> None:
        """Send the SYN+ACK or FIN+ACK again."""
        self.answer("syn+ack" if self.state == "syn-received" else "fin+ack")

    def receive(self, unit: Unit) -> None:
        """Handle a segment of the sender."""
        if self.state == "closed":
            return
        if unit.kind == "syn":
            if self.state in ("listen", "syn-received"):
                self.state = "syn-received"
                self.answer("syn+ack")
            else:
                self.send("ack", self.flow.delivered)
            return
        if self.state == "syn-received":
            self.state = "established"
            self.deadline = None
        if unit.kind == "data":
            if unit.number == self.flow.delivered:
                self.flow.delivered += unit.payload
            self.send("ack", self.flow.delivered)
        elif unit.kind == "fin":
            self.state = "last-ack"
            self.answer("fin+ack")
        elif unit.kind == "ack" and unit.number == 1 and self.state == "last-ack":
            self.state = "closed"
            self.deadline = None


class DatagramSender(Endpoint):
    """Hands datagrams to the interface at given times."""

    def wait(self) -> None:
        """Arm the timer of the next departure."""
        if self.flow.transmissions < len(self.flow.departures):
            time = self.flow.departures[self.flow.transmissions]
            self.network.agenda.add(time, TIMER, self.depart)

    def depart(self) -> None:
        """Send one datagram."""
        self.flow.started = True
        first = self.flow.transmissions * self.most
        self.flow.transmissions += 1
        self.send("datagram", first, min(self.most, self.flow.size - first))
        self.wait()

    def receive(self, unit: Unit) -> None:
        """Nothing is acknowledged."""
        raise AssertionError("a datagram sender receives nothing")


class DatagramReceiver(Endpoint):
    """Counts what arrives."""

    def receive(self, unit: Unit) -> None:
        """Take a datagram; the flow ends when it has all of them."""
        self.flow.delivered += unit.payload
        if self.flow.delivered == self.flow.size:
            self.flow.end = self.now
