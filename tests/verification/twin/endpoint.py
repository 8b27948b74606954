"""Endpoints of flows: interface, timer, opening and closing of a connection."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from twin import accurate
from twin.audit import TIMEOUT, RetransmissionAudit, Transmission
from twin.events import EventQueue, Moment
from twin.network import RECEIVER, SENDER, TIMER, Network
from twin.timeout import UNKNOWN, FixedTimeout, LinuxTimeout, SawTimeout, TcpTimeout, Timeout
from twin.units import Block, Packet
from twin.windows import WindowRow

#: The state of a sender, in the trace.
SLOW_START, AVOIDANCE, RECOVERING, LOSS = range(4)


@dataclass
class Flow:
    """A row of the table of flows and its counts."""

    index: int
    source: int
    destination: int
    start: int
    size: int
    group: int
    departures: list[int]
    #: Bytes and interval of the application's writes; None if it writes all at once.
    writes: dict[str, int] | None = None
    started: bool = False
    #: Start of the flow, if it waited for others or could have.
    began: int | None = None
    #: Called when all data has arrived.
    arrived: Callable[[int], None] = lambda now: None
    received: int | None = None
    acknowledged: int | None = None
    delivered: int = 0
    transmissions: int = 0
    retransmissions: int = 0
    timeouts: int = 0
    duplicates: int = 0
    reinjections: int = 0
    gave_up: bool = False
    audit: RetransmissionAudit = field(default_factory=RetransmissionAudit)

    def deliver(self, payload: int, now: int) -> None:
        """Note `payload` bytes more that the receiver has."""
        self.delivered += payload
        if self.delivered == self.size:
            self.received = now
            self.arrived(now)


class Timer:
    """A deadline that moves, and one valid event; `expire` is called at the deadline."""

    def __init__(self, events: EventQueue, moment: Moment, expire: Callable[[], None]) -> None:
        self.events = events
        self.moment = moment
        self.expire = expire
        self.deadline: int | None = None
        self.armed: int | None = None

    def set(self, deadline: int) -> None:
        """Set the deadline."""
        self.deadline = deadline
        if self.armed is None or self.armed > deadline:
            self.arm(deadline)

    def clear(self) -> None:
        """Stop the timer."""
        self.deadline = None

    def arm(self, time: int) -> None:
        """Put an event into the event queue."""
        self.armed = time
        self.events.add(time, self.moment, lambda: self.fire(time))

    def fire(self, time: int) -> None:
        """Handle the event: stale, too early for the deadline, or in time."""
        if self.armed != time:
            return
        self.armed = None
        if self.deadline is None:
            return
        if self.deadline > time:
            self.arm(self.deadline)
            return
        self.deadline = None
        self.expire()


class Endpoint:
    """One endpoint of a flow at its host's interface."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        self.network = network
        self.flow = flow
        self.transport = transport
        self.here = here
        self.there = there
        self.interface = network.ports[here][0]
        self.room: int | None = transport.get("access_buffer_bytes")
        self.control: int = transport["control_bytes"]
        self.header: int = transport["header_bytes"]
        self.most: int = transport["segment_bytes"] - self.header
        self.newest_stamp: int | None = None
        #: Whether the last segment was marked, for an endpoint that echoes marks.
        self.marked = False
        #: Whether marked segments are counted (RFC 9768), and their number.
        self.counts: bool = transport.get("ecn") == "accurate"
        self.marks = 0
        #: Whether its data packets ask for telemetry, and that of the packet that has just arrived.
        self.asks: bool = transport.get("congestion_control", {}).get("kind") == "hpcc"
        self.readings: tuple[Any, ...] = ()

    @property
    def now(self) -> int:
        """The present, in ps."""
        return self.network.events.now

    @property
    def is_scalable(self) -> bool:
        """Whether it answers marks by their share."""
        kind: str | None = self.transport.get("congestion_control", {}).get("kind")
        return kind in ("dctcp", "dcqcn") or self.echoes_each

    @property
    def echoes_each(self) -> bool:
        """Whether a queue pair tells of each mark."""
        return bool(self.transport.get("echo_marks"))

    @property
    def is_trimmable(self) -> bool:
        """Whether it repairs packets whose payload was cut off."""
        recovery = self.transport.get("recovery", {}).get("kind")
        return bool(self.transport["kind"] == "rdma" and recovery == "selective-repeat")

    def capable(self, transmission: Transmission | None) -> bool:
        """Whether a data segment is capable of ECN: RFC 3168, 6.1.5, and RFC 8257."""
        if self.is_scalable:
            return True
        first = transmission is None or transmission.nth == 1
        return first and bool(self.transport.get("ecn"))

    def send(
        self,
        kind: str,
        number: int = 0,
        payload: int = 0,
        *,
        window: int = 0,
        blocks: tuple[Block, ...] = (),
        transmission: Transmission | None = None,
        reduced: bool = False,
        data: int = 0,
    ) -> int | None:
        """Hand a packet to the interface; returns when its transmission begins, unless it waits."""
        size = max(payload + self.header, self.control) if payload else self.control
        forward = self.here == self.flow.source
        packet = self.network.create(
            lambda serial: Packet(
                serial,
                self.flow.index,
                kind,
                number,
                payload,
                size,
                self.here,
                self.there,
                window,
                self.now if self.transport.get("timestamps") else None,
                self.newest_stamp,
                blocks,
                transmission is not None and transmission.what == "data" and transmission.nth > 1,
                echoes_mark=self.marked and not self.counts,
                ecn_capable=bool(payload) and self.capable(transmission),
                scalable=bool(payload) and self.is_scalable,
                transmission=transmission,
                reduced=reduced and not self.counts,
                ace=accurate.field(kind, number, self.marks, forward) if self.counts else 0,
                path=self.network.repaths.number(self.flow.index, number, forward=forward),
                asks=bool(payload) and self.asks,
                readings=() if payload else self.readings,
                trimmable=bool(payload) and self.is_trimmable,
                data=data,
            )
        )
        if self.room is not None and self.interface.backlog(self.now) + size > self.room:
            self.network.drop(self.here, packet, "access-buffer-full", self.interface)
            return self.now
        queue = self.interface.interface
        if queue is None:
            return self.network.transmit(self.interface, packet, self.now)
        return queue.hand_over(packet, lambda: self.departs(kind, number))

    def departs(self, kind: str, number: int) -> None:
        """Handle the beginning of the transmission of a packet that waited."""

    def receive(self, packet: Packet) -> None:
        """Handle a packet that arrives here."""
        raise NotImplementedError


class TimedEndpoint(Endpoint):
    """An endpoint of a connection, with its one timer."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.is_tcp = transport["kind"] == "tcp"
        self.state = "listen"
        self.repeats = 0
        self.repeated: object = None
        kind = SENDER if here == flow.source else RECEIVER
        self.timer = Timer(network.events, Moment(TIMER, here, flow.index, kind), self.expire)
        tau = network.ports[flow.source][0].tx(transport["segment_bytes"])
        self.timeout: Timeout
        if transport["kind"] == "rdma":
            self.timeout = FixedTimeout(transport)
        elif not self.is_tcp:
            self.timeout = SawTimeout(transport, tau)
        elif transport.get("timeout") == "linux":
            self.timeout = LinuxTimeout(transport)
        else:
            self.timeout = TcpTimeout(transport)

    def send_timed(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> None:
        """Send; the timer and the round trip count from now on, or from the transmission."""
        self.timer.clear()
        begins = self.send(kind, number, payload, **rest)
        if self.is_tcp or begins is not None:
            self.count_from(self.now if begins is None or self.is_tcp else begins)

    def count_from(self, time: int) -> None:
        """Let the timer and the round trip of the packet sent count from `time`."""
        raise NotImplementedError

    def awaits_answer(self, kind: str, number: int) -> bool:
        """Whether the answer to the departing packet is still awaited."""
        raise NotImplementedError

    def departs(self, kind: str, number: int) -> None:
        if not self.is_tcp and self.awaits_answer(kind, number):
            self.count_from(self.now)

    def expire(self) -> None:
        """Handle the expiry of the timer."""
        raise NotImplementedError

    def gives_up(self, what: object) -> bool:
        """Whether `what` has reached its limit of repetitions; then the endpoint gives up."""
        self.repeats = self.repeats + 1 if what == self.repeated else 1
        self.repeated = what
        most = self.transport.get("max_retransmissions")
        if most is None or self.repeats <= most:
            return False
        self.state = "gave-up"
        self.flow.gave_up = True
        return True


class Sender(TimedEndpoint):
    """Opens and closes a connection; the transport sends the data in between."""

    #: Reductions of the window undone so far.
    undone = 0
    #: Time from which the round trip of the handshake counts, if it gave a sample.
    opened_at: int | None = None

    def start(self) -> None:
        """Begin with a SYN, or with the data."""
        if self.transport.get("handshake", True):
            self.open_or_close("syn-sent")
        else:
            self.state = "established"
            self.times_sent = 0
            self.established()

    def open_or_close(self, state: str) -> None:
        """Enter `state` and send its SYN or FIN."""
        self.state = state
        self.times_sent = 0
        self.send_control()

    def send_control(self) -> None:
        """Send the SYN or FIN."""
        kind = "syn" if self.state == "syn-sent" else "fin"
        self.times_sent += 1
        self.send_timed(kind, transmission=self.flow.audit.send(kind))

    def count_from(self, time: int) -> None:
        self.control_sent_at = time
        self.timer.set(time + self.timeout.wait())

    def awaits_answer(self, kind: str, number: int) -> bool:
        return self.state == f"{kind}-sent"

    def finish(self) -> None:
        """All data is acknowledged."""
        self.flow.acknowledged = self.now
        self.open_or_close("fin-sent")

    def expire(self) -> None:
        self.flow.timeouts += 1
        self.network.repaths.expired(self.flow.index)
        data = self.state == "established"
        if data:
            self.flow.audit.decide(TIMEOUT, "data", self.unacknowledged())
        else:
            self.flow.audit.decide(TIMEOUT, self.state.removesuffix("-sent"))
        if self.gives_up((self.state, self.unacknowledged() if data else None)):
            return
        self.timeout.back_off()
        if self.state == "established":
            self.data_timeout()
        else:
            self.send_control()

    def receive(self, packet: Packet) -> None:
        if self.state == "gave-up":
            return
        if packet.kind == "syn+ack":
            self.flow.audit.acknowledge(self.now, "syn")
            opens = self.state == "syn-sent"
            if opens:
                self.state = "established"
                self.timer.clear()
                self.opened_at = self.control_sent_at
                if self.times_sent > 1:
                    # The SYN that is answered, by its time stamp.
                    self.opened_at = packet.echo if self.timeout.samples_repeated else None
                if self.opened_at is None:
                    self.timeout.syn_was_repeated()
                else:
                    self.timeout.sample(self.now - self.opened_at)
            self.send("ack", 0)
            if opens:
                self.established()
        elif packet.kind == "fin+ack":
            if self.state == "established":
                # The FIN went with the data, and is acknowledged with it.
                self.judge_path(packet)
                self.acknowledge(packet)
            self.flow.audit.acknowledge(self.now, "fin")
            self.state = "closed"
            self.timer.clear()
            self.send("ack", 1)
        elif self.state == "established":
            self.judge_path(packet)
            self.acknowledge(packet)

    def judge_path(self, packet: Packet) -> None:
        """Let an acknowledgement decide on the path."""
        una, sent = self.unacknowledged(), self.all_sent()
        self.network.repaths.answered(packet, una, sent, counts=self.counts)

    def all_sent(self) -> int:
        """The end of the data sent."""
        raise NotImplementedError

    def note(
        self, cwnd: float, inflation: float, ssthresh: float, in_flight: int, state: int
    ) -> None:
        """Write the sender's state into the trace."""
        newest, rto = self.timeout.newest, self.timeout.wait()
        today = self.paces_at(), self.reordering_window(), self.undone
        row = (cwnd, inflation, ssthresh, in_flight, newest, rto, state, *today)
        self.network.windows.append(WindowRow(self.now, self.flow.index, *row))

    def paces_at(self) -> int:
        """Bytes per second at which segments leave; 0 without pacing."""
        return 0

    def reordering_window(self) -> int:
        """Picoseconds that a segment may be late; `UNKNOWN` if losses are not found by time."""
        return UNKNOWN

    def established(self) -> None:
        """Begin to send data."""
        raise NotImplementedError

    def unacknowledged(self) -> int:
        """The first byte that is not acknowledged."""
        raise NotImplementedError

    def acknowledge(self, packet: Packet) -> None:
        """Handle an acknowledgement of data."""
        raise NotImplementedError

    def data_timeout(self) -> None:
        """Send data again that was not acknowledged in time."""
        raise NotImplementedError


class Receiver(TimedEndpoint):
    """Answers; `ack` numbers from the sender are 0 for a SYN+ACK and 1 for a FIN+ACK."""

    def answer(self, kind: str, blocks: tuple[Block, ...] = ()) -> None:
        """Send a SYN+ACK or FIN+ACK; with a timer, to be repeated until it is acknowledged."""
        self.last_acknowledgement = self.flow.delivered
        self.send_timed(kind, self.flow.delivered, blocks=blocks)

    def count_from(self, time: int) -> None:
        if self.transport["receiver_timers"]:
            self.timer.set(time + self.timeout.wait())

    def awaits_answer(self, kind: str, number: int) -> bool:
        states = {"syn+ack": "syn-received", "fin+ack": "last-ack"}
        return states.get(kind) == self.state

    def expire(self) -> None:
        if self.gives_up(self.state):
            return
        self.timeout.back_off()
        self.answer("syn+ack" if self.state == "syn-received" else "fin+ack")

    def receive(self, packet: Packet) -> None:
        if self.state in ("closed", "gave-up"):
            return
        if packet.kind == "syn":
            if self.state in ("listen", "syn-received"):
                self.state = "syn-received"
                self.answer("syn+ack")
            else:
                self.acknowledge()
            return
        if self.state in ("listen", "syn-received"):
            self.state = "established"
            self.timer.clear()
        if packet.payload:
            assert packet.transmission is not None
            self.flow.audit.arrivals.append(packet.transmission)
            self.take(packet)
        elif packet.kind == "fin":
            self.state = "last-ack"
            self.answer("fin+ack")
        elif packet.kind == "ack" and packet.number == 1 and self.state == "last-ack":
            self.state = "closed"
            self.timer.clear()

    def acknowledge(self) -> None:
        """Acknowledge with the next byte expected."""
        raise NotImplementedError

    def take(self, packet: Packet) -> None:
        """Handle a data segment."""
        raise NotImplementedError
