"""Packets, bursts and their headers, reservations, and entries of a trace."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from twin.audit import Transmission
from twin.rng import mix

Block = tuple[int, int]


@dataclass(frozen=True)
class Packet:
    """A packet. `number` is the first byte of data, or the number that an acknowledgement carries.

    `window` is the congestion window in whole segments at its transmission; `stamp` and `echo` are
    those of the timestamps option, `blocks` those of the SACK option; `again` is whether its data
    was sent before; `label` selects its path; `marked` is whether the network has marked it, and
    `echoes_mark` whether its sender has seen such a mark, `reduced` whether its sender tells of a
    smaller window; `ace` is its count of marks modulo 8; `transmission` is the number of its
    transmission, where that is counted; `ecn_capable` is whether a queue may mark it in place of
    dropping it, `scalable` whether its sender answers marks by their share; `path`
    goes into the hash of its next hops; `asks` is whether outputs add their readings to it, and
    `readings` are those that it has; `trimmable` is whether its sender repairs it when its payload
    was cut off; `trimmed` is whether it was, and the header has not returned to its sender.
    `shortest` is whether it takes the shortest path whatever its label. `data` is the number of its
    data at the data level of its connection, or the next that is expected there.
    """

    serial: int
    flow: int
    kind: str
    number: int
    payload: int
    size: int
    source: int
    destination: int
    window: int = 0
    stamp: int | None = None
    echo: int | None = None
    blocks: tuple[Block, ...] = ()
    again: bool = False
    label: int = 0
    marked: bool = False
    echoes_mark: bool = False
    reduced: bool = False
    transmission: Transmission | None = None
    ecn_capable: bool = False
    scalable: bool = False
    ace: int = 0
    path: int = 0
    asks: bool = False
    readings: tuple[Any, ...] = ()
    trimmable: bool = False
    trimmed: bool = False
    shortest: bool = False
    data: int = 0

    @property
    def packets(self) -> tuple["Packet", ...]:
        """The packets lost with it."""
        return (self,)

    @property
    def hashed(self) -> int:
        """By which ECMP chooses."""
        return self.flow

    @property
    def name(self) -> str:
        """Its unique name among the units."""
        return f"packet {self.serial}"


@dataclass(frozen=True)
class Burst:
    """Packets that travel together from one edge to another; `ends` are the two edges.

    It is routed to `destination`, the host of the first packet, which may have been cut off since.
    `identity` is the time at which it was made, and its number at its ingress, from 1.
    It is the burst `sequence` of those of its class between its edges, from 0. `label` selects its
    path, unless it was `deflected`: then it takes the shortest.
    """

    number: int
    packets: tuple[Packet, ...]
    size: int
    ends: tuple[int, int]
    destination: int
    identity: tuple[int, int]
    sequence: int
    label: int = 0
    deflected: bool = False

    @property
    def hashed(self) -> int:
        """By which ECMP chooses: the same for all bursts between two edges."""
        ingress, egress = self.ends
        return mix(ingress << 32 | egress) % 2**32

    @property
    def name(self) -> str:
        """Its unique name among the units."""
        return f"burst {self.number}"

    def split(self, number: int) -> tuple["Burst", "Burst"]:
        """Its first packets, and the rest: the other packets, and the padding."""
        first, others = self.packets[:number], self.packets[number:]
        size = sum(packet.size for packet in first)
        return (
            replace(self, packets=first, size=size),
            replace(self, packets=others, size=self.size - size),
        )


Unit = Packet | Burst


def marked(unit: Unit) -> Unit:
    """The same unit with all its packets marked."""
    if isinstance(unit, Packet):
        return replace(unit, marked=True)
    return replace(unit, packets=tuple(replace(packet, marked=True) for packet in unit.packets))


@dataclass(frozen=True)
class Header:
    """The header of `burst`, whose head comes at `data` over a channel of the same fibre.

    `passed` is the number of fibres crossed, including this one.
    """

    burst: Burst
    data: int
    channel: int
    passed: int


@dataclass(frozen=True)
class Reservation:
    """A channel of a fibre from `start` to `end`, for a burst whose head leaves at `head`.

    Before that the burst is `delayed` in a line; it has crossed `passed` fibres. If its tail was
    cut off, only `kept` bytes of it use the channel.
    """

    link: int
    channel: int
    start: int
    head: int
    end: int
    burst: Burst
    passed: int = 0
    delayed: int = 0
    kept: int | None = None

    @property
    def size(self) -> int:
        """Bytes that use the channel."""
        return self.burst.size if self.kept is None else self.kept

    def overlaps(self, start: int, end: int) -> bool:
        """Whether the channel is not free from `start` to `end` because of it."""
        return self.start < end and self.end > start


class Kept(NamedTuple):
    """A line of the delay of this number, kept from others from `start` to `end`."""

    delay: int
    line: int
    start: int
    end: int


class TraceEntry(NamedTuple):
    """`what` happened at `time` (ps) at `node` to a unit, on the link of that number.

    For a unit sent, `ready` is when its node lets the transmission begin, and `begins` when it
    does; for a unit dropped, `wanted` is the number of the link that it was to take, or of that
    over which a late header came. With reservations of channels `reservation` is the one made, or
    the one that blocked a dropped burst; `begins` is when the head of a burst comes whose header
    arrives, or leaves when it is launched, and when a piece that is cut off was to leave. `kept` is
    the delay line that a burst takes, `shortened` a reservation before and after its tail was cut
    off for it. For such a tail `passed` is the number of fibres that its burst had crossed.
    """

    time: int
    what: str
    node: int
    unit: Unit
    link: int | None = None
    ready: int | None = None
    begins: int | None = None
    wanted: int | None = None
    reservation: Reservation | None = None
    kept: Kept | None = None
    shortened: tuple[Reservation, Reservation] | None = None
    passed: int | None = None


Trace = list[TraceEntry]
