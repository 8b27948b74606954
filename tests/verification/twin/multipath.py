"""Connections with several subflows: docs/model.md, "Subflows"."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from twin.coupled import Coupled, Subflow
from twin.endpoint import Flow
from twin.tcp import TcpSender
from twin.timeout import LinuxTimeout, TcpTimeout
from twin.units import Packet


@dataclass
class Part(Flow):
    """A subflow; what arrives over it arrives for the `whole` flow."""

    whole: Flow | None = None

    def deliver(self, payload: int, now: int) -> None:
        assert self.whole is not None
        self.delivered += payload
        self.whole.deliver(payload, now)


@dataclass
class Connection:
    """A flow, its subflows by number, and the data that none of them has taken."""

    whole: Flow
    left: int
    opened: bool = False
    senders: list["SubflowSender"] = field(default_factory=list)
    states: list[Subflow | None] = field(default_factory=list)

    @property
    def parts(self) -> list[Flow]:
        """Its subflows that have begun."""
        return [one.flow for one in self.senders if one.state != "listen"]

    def settle(self) -> None:
        """Sum the counts of the subflows up."""
        whole, parts = self.whole, self.parts
        for name in ("transmissions", "retransmissions", "timeouts", "duplicates"):
            setattr(whole, name, sum(getattr(part, name) for part in parts))
        whole.gave_up = any(part.gave_up for part in parts)
        ends = [part.acknowledged for part in parts if part.transmissions]
        if whole.received is not None and None not in ends:
            whole.acknowledged = max(end for end in ends if end is not None)


class SubflowSender(TcpSender):
    """The sender of one subflow: in each of its events it sees all data that nobody has taken."""

    closes_apart = True

    def join(self, connection: Connection) -> None:
        """Become the next subflow of a connection."""
        self.connection, self.number = connection, len(connection.senders)
        connection.senders.append(self)
        connection.states.append(None)
        self.losses = self.loss_at = self.distance = 0

    def send_offered(self) -> None:
        """Send what the event of another subflow left or allowed."""

    def see(self) -> None:
        """See the data that is left."""
        self.flow.size = self.application.end = self.highest + self.connection.left

    def event(self, act: Callable[[], Any]) -> None:
        """Handle an event, and what follows for the connection."""
        connection = self.connection
        self.see()
        if isinstance(self.law, Coupled):
            self.law.own, self.law.subflows = self.number, list(connection.states)
        before = self.highest
        act()
        connection.left -= self.highest - before
        connection.states[self.number] = self.present()
        if connection.left and not connection.opened and self.is_open():
            connection.opened = True
            for other in connection.senders[1:]:
                other.start()
        elif not connection.left:
            for other in connection.senders:
                other.close_if_done()

    def is_open(self) -> bool:
        """Whether the handshake is over."""
        return self.state in ("established", "fin-sent", "closed")

    def present(self) -> Subflow | None:
        """Its state for the others; also count the bytes between losses."""
        losses = sum(what == "data" for _, (what, _), _ in self.flow.audit.decisions)
        if losses > self.losses and self.una > self.loss_at:
            self.distance, self.loss_at = self.una - self.loss_at, self.una
        self.losses = losses
        assert isinstance(self.timeout, TcpTimeout | LinuxTimeout)
        smoothed = self.timeout.smoothed()
        if self.state != "established" or smoothed is None:
            return None
        return Subflow(self.law.cwnd, smoothed, max(self.distance, self.una - self.loss_at))

    def close_if_done(self) -> None:
        """Close, if nothing is left and all its data is acknowledged."""
        if self.state == "listen":
            return
        self.see()
        if self.state == "established" and self.una == self.highest:
            self.timer.clear()
            self.finish()
            self.note_window()
        if self.state != "established":
            self.connection.states[self.number] = None

    def start(self) -> None:
        self.flow.started = True
        self.event(super().start)

    def receive(self, packet: Packet) -> None:
        self.event(lambda: super(SubflowSender, self).receive(packet))

    def expire(self) -> None:
        self.event(super().expire)

    def send_on(self) -> None:
        self.event(super().send_on)
