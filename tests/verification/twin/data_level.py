"""The data level of connections with several subflows: docs/model.md, "Data level"."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from twin.coupled import Coupled
from twin.endpoint import Flow
from twin.multipath import Connection, Part, SubflowSender
from twin.receiver import TcpReceiver
from twin.units import Packet


class DataLevel:
    """Data is named by its first byte; a slot of a subflow by its number and its first byte there.

    `next` is the first byte that nobody has taken, `una` that which is not acknowledged, and
    `expected` that which the receiver has not in order.
    """

    def __init__(self, whole: Flow, transport: dict[str, Any]) -> None:
        self.whole = whole
        self.m: int = transport["segment_bytes"] - transport["header_bytes"]
        self.reinjects = bool(transport.get("reinjection"))
        shared = bool(transport.get("shared_window"))
        self.window: int | None = transport["advertised_window_bytes"] if shared else None
        self.number: int = transport["subflows"]
        self.next = self.una = self.expected = 0
        #: The data in each slot, as the sender and as the receiver know it.
        self.sent: dict[tuple[int, int], int] = {}
        self.came: dict[tuple[int, int], int] = {}
        #: The subflows that have carried data.
        self.carriers: defaultdict[int, set[int]] = defaultdict(set)
        #: Data that is to be sent again, and data that has arrived.
        self.again: set[int] = set()
        self.arrived: set[int] = set()
        self.reinjections = self.duplicates = 0
        self.acknowledged: int | None = None

    @property
    def done(self) -> bool:
        """Whether the source knows that all data has arrived."""
        return self.una == self.whole.size

    def payload(self, data: int) -> int:
        """The bytes of a segment."""
        return min(self.m, self.whole.size - data)

    def fits(self, data: int) -> bool:
        """Whether new data is within the window of the connection."""
        window = self.window
        return window is None or data + self.payload(data) <= self.una + window

    def offers(self, subflow: int) -> list[int]:
        """The data that a subflow may send for the first time, in order."""
        again = [data for data in sorted(self.again) if subflow not in self.carriers[data]]
        return again + list(takewhile(self.fits, range(self.next, self.whole.size, self.m)))

    def offered(self, subflow: int) -> int:
        """Their number."""
        if self.window is not None:
            return len(self.offers(subflow))
        again = [data for data in self.again if subflow not in self.carriers[data]]
        return len(again) + len(range(self.next, self.whole.size, self.m))

    def slot(self, subflow: int, begin: int) -> int:
        """The data in a slot, which takes data if it has none."""
        if (subflow, begin) not in self.sent:
            again = [data for data in sorted(self.again) if subflow not in self.carriers[data]]
            data = again[0] if again else self.next
            if data in self.again:
                self.again.remove(data)
                self.reinjections += 1
            else:
                self.next = data + self.payload(data)
            self.sent[subflow, begin] = data
            self.carriers[data].add(subflow)
        return self.sent[subflow, begin]

    def acknowledge(self, until: int, now: int) -> bool:
        """Hear that all data before a byte has arrived; returns whether that is new."""
        if until <= self.una:
            return False
        self.una = until
        self.again = {data for data in self.again if data >= until}
        if self.done:
            self.acknowledged = now
        return True

    def hand_over(self, subflow: int, una: int, highest: int) -> bool:
        """Let others send again what a subflow holds; returns whether that is anything."""
        held = [self.sent[subflow, begin] for begin in range(una, highest, self.m)]
        missing = [
            data for data in held if data >= self.una and len(self.carriers[data]) < self.number
        ]
        if self.reinjects:
            self.again.update(missing)
        return self.reinjects and bool(missing)

    def take(self, data: int, now: int) -> None:
        """Receive data, in order in its subflow."""
        if data in self.arrived:
            self.duplicates += 1
        self.arrived.add(data)
        while self.expected in self.arrived:
            payload = self.payload(self.expected)
            self.expected += payload
            self.whole.deliver(payload, now)


@dataclass
class LevelPart(Part):
    """A subflow whose data has numbers of its own."""

    level: DataLevel | None = None
    number: int = 0

    def deliver(self, payload: int, now: int) -> None:
        assert self.level is not None
        begin = self.delivered
        self.delivered += payload
        for slot in range(begin, self.delivered, self.level.m):
            self.level.take(self.level.came[self.number, slot], now)


@dataclass
class LevelConnection(Connection):
    """A connection with a data level."""

    level: DataLevel | None = None

    def settle(self) -> None:
        assert self.level is not None
        super().settle()
        self.whole.acknowledged = self.level.acknowledged
        self.whole.duplicates += self.level.duplicates
        self.whole.reinjections = self.level.reinjections


class LevelSender(SubflowSender):
    """The sender of a subflow with a data level."""

    @property
    def level(self) -> DataLevel:
        """The data level of the connection."""
        assert isinstance(self.connection, LevelConnection)
        assert self.connection.level is not None
        return self.connection.level

    def see(self) -> None:
        offered = self.level.offered(self.number) * self.most
        self.application.end = self.highest + offered
        # Its transfer is not over before that of the connection.
        self.flow.size = self.application.end + (0 if self.level.done else self.most)

    def send(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> int | None:
        if payload:
            data = self.level.slot(self.number, number)
            return super().send(kind, number, self.level.payload(data), data=data, **rest)
        return super().send(kind, number, payload, **rest)

    def event(self, act: Callable[[], Any], advanced: bool = False) -> None:
        connection, level = self.connection, self.level
        self.see()
        if isinstance(self.law, Coupled):
            self.law.own, self.law.subflows = self.number, list(connection.states)
        timeouts = self.flow.timeouts
        act()
        expired = self.flow.timeouts > timeouts
        handed = expired and level.hand_over(self.number, self.una, self.highest)
        connection.states[self.number] = self.present()
        left, done = level.next < connection.whole.size, level.done
        opens = left and not connection.opened and self.is_open()
        connection.opened = connection.opened or opens
        if handed or (advanced and left and level.window is not None):
            for other in connection.senders:
                if other is not self and other.state != "listen":
                    other.event(other.send_offered)
        if opens:
            for other in connection.senders[1:]:
                other.start()
        elif done:
            for other in connection.senders:
                other.close_if_done()

    def send_offered(self) -> None:
        """Send what the event of another subflow left or allowed."""
        if self.state == "established":
            self.send_allowed()
            self.note_window()

    def receive(self, packet: Packet) -> None:
        advanced = packet.kind != "syn+ack" and self.level.acknowledge(packet.data, self.now)
        self.event(lambda: super(SubflowSender, self).receive(packet), advanced)

    def expire(self) -> None:
        if self.level.done and self.state in ("syn-sent", "established"):
            self.state = "closed"
        super().expire() if self.state != "closed" else self.event(lambda: None)


class LevelReceiver(TcpReceiver):
    """The receiver of a subflow with a data level."""

    def join(self, level: DataLevel, number: int) -> None:
        """Become a subflow of a connection."""
        self.level, self.number = level, number

    def take(self, packet: Packet) -> None:
        if packet.number >= self.flow.delivered:
            self.level.came[self.number, packet.number] = packet.data
        super().take(packet)

    def length(self, packet: Packet) -> int:
        return self.level.m

    def send(self, kind: str, number: int = 0, payload: int = 0, **rest: Any) -> int | None:
        return super().send(kind, number, payload, data=self.level.expected, **rest)
