"""Directed links, and the units that wait beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twin.interface import FairInterface
    from twin.units import Unit


@dataclass
class Held:
    """A unit that waits until `left` later ones with data of `flow` have overtaken it.

    Its node let the transmission begin at `ready`.
    """

    unit: Unit
    ready: int
    flow: int
    left: int

    def counts(self, unit: Unit) -> bool:
        """Whether a unit has data of the flow behind all of its own."""
        own = max(packet.number for packet in self.unit.packets if packet.flow == self.flow)
        return any(
            packet.flow == self.flow and packet.payload and packet.number > own
            for packet in unit.packets
        )


@dataclass
class Waiting:
    """A unit that waits in the queue of its output since the time `since`."""

    unit: Unit
    since: int


@dataclass
class Link:
    """A directed link; `rate` in bit/s, `delay` in ps; `heads`: its target is cut-through."""

    index: int
    source: int
    target: int
    rate: int
    delay: int
    heads: bool
    # Whether it can lose units, and whether scripts test these.
    lossy: bool
    scripted: bool
    # Data channels of a fibre with reservations.
    channels: int = 1
    # The end of its last transmission; for a fibre with headers that of its control channel.
    free_at: int = 0
    lost: int = 0
    dropped: int = 0
    # The packets that wait for it at a host with a fair interface.
    interface: FairInterface | None = None
    # Beginning and end of each transmission, and its bytes.
    transmissions: list[tuple[int, int, int]] = field(default_factory=list)
    # Idle times before transmissions that were handed over in advance.
    pauses: list[tuple[int, int]] = field(default_factory=list)
    # Units that wait beside it for later ones.
    held: list[Held] = field(default_factory=list)
    # Times from which on transmissions begin with other rates, in order.
    rates: list[tuple[int, int]] = field(default_factory=list)
    # Units that wait in an explicit queue of its output.
    queue: list[Waiting] = field(default_factory=list)
    # Beginning, end and bytes of each pause frame; these are no units.
    frames: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def all(self) -> list[tuple[int, int, int]]:
        """Transmissions of units and of frames."""
        return self.transmissions + self.frames

    def rate_at(self, time: int) -> int:
        """The rate of a transmission that begins at `time`."""
        for since, rate in reversed(self.rates):
            if since <= time:
                return rate
        return self.rate

    def tx(self, size: int, begin: int = 0) -> int:
        """Transmission time of `size` bytes in ps, rounded up, if it begins at `begin`."""
        return -(-8 * 10**12 * size // self.rate_at(begin))

    def left(self, now: int) -> int:
        """Bytes of its transmissions that it sends after `now`, rounded up."""
        left = sum(
            (stop - max(start, now)) * self.rate_at(start)
            for start, stop, _ in self.all
            if stop > now
        )
        return -(-left // (8 * 10**12))

    def backlog(self, now: int) -> int:
        """Bytes still to be sent, rounded up."""
        if self.rates:
            return self.left(now) + self.at_interface
        idle = sum(max(0, end - max(begin, now)) for begin, end in self.pauses)
        busy = max(0, self.free_at - now) - idle
        return -(-busy * self.rate // (8 * 10**12)) + self.at_interface

    @property
    def at_interface(self) -> int:
        """Bytes that wait for it."""
        waiting = [] if self.interface is None else self.interface.waiting
        return sum(packet.size for packet in waiting) + sum(w.unit.size for w in self.queue)

    def busy(self, end: int) -> int:
        """Time until `end` in which it transmitted, in ps."""
        return sum(max(0, min(stop, end) - start) for start, stop, _ in self.all)

    @property
    def transmitted_until(self) -> int:
        """The end of its last transmission, of a header too; 0 if there was none."""
        return max([self.free_at, *(stop for _, stop, _ in self.all)])

    def given(self) -> int:
        """Bytes handed to it."""
        return sum(size for _, _, size in self.all)

    def waiting(self, end: int) -> int:
        """Bytes that it has still to transmit at `end`, rounded up."""
        return min(self.left(end), self.given())
