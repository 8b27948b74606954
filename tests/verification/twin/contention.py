"""The resolvers that a node with reservations tries for a burst without a channel, in order."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from twin.units import Burst, Kept, Reservation

if TYPE_CHECKING:
    from twin.obs import ObsNode

Members = tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """A burst that is to leave at `head`; it came on the channel `came`, if it was not made here.

    `handled` is when the node has handled its header, and can send it on; `passed` is the number of
    fibres crossed, and `delayed` the time in a delay line before it leaves.
    """

    burst: Burst
    handled: int
    head: int
    came: int | None = None
    passed: int = 0
    delayed: int = 0

    def later(self, by: int) -> "Request":
        """The same, postponed."""
        return replace(self, handled=self.handled + by, head=self.head + by)

    def behind_a_line(self, delay: int) -> "Request":
        """The same, delayed in fibre; its header does not wait."""
        return replace(self, head=self.head + delay, delayed=delay)


@dataclass(frozen=True)
class Found:
    """The port, channel and time with which a burst leaves."""

    request: Request
    port: int
    channel: int
    #: The bytes cut off its head, and the reservation made instead.
    cut: tuple[Burst, Reservation] | None = None
    #: The earlier reservation that loses its tail, and the bytes of it that go on.
    shortens: tuple[Reservation, int] | None = None


class Resolver(Protocol):
    """A resolver of contention."""

    def resolve(self, request: Request, wanted: Members) -> Found | str | None:
        """The alternative for a burst without a channel on its ports.

        Else the reason of its loss, if it is more specific than `no-channel`.
        """


class DelayLines:
    """Lines of some delays at each output."""

    def __init__(self, node: "ObsNode", own: dict[str, Any]) -> None:
        self.node = node
        self.granularity: int = own["granularity_ps"]
        self.delays: int = own["delays"]
        self.lines: int | None = own["lines"]
        self.inside: bool = own["occupied"] == "inside"
        # All uses of lines so far, by port and delay.
        self.kept: dict[tuple[int, int], list[Kept]] = defaultdict(list)

    def resolve(self, request: Request, wanted: Members) -> Found | str | None:
        """The shortest delay with a line and a channel."""
        start, end = self.node.interval(request)
        for number in range(1, self.delays + 1):
            delayed = request.behind_a_line(number * self.granularity)
            if self.inside:
                _, end = self.node.interval(delayed)
            ports = {
                port: line
                for port in wanted
                if (line := self.line(port, number, start, end)) is not None
            }
            found = self.node.offer(delayed, tuple(ports), wanted)
            if found:
                kept = Kept(number, ports[found.port], start, end)
                self.kept[found.port, number].append(kept)
                link = self.node.ports[found.port]
                self.node.network.note("delay", self.node.node, request.burst, link, kept=kept)
                self.node.counters["bursts_delayed"] += 1
                self.node.delay_line_time += delayed.delayed
                return found
        return "delay_lines_full"

    def line(self, port: int, number: int, start: int, end: int) -> int | None:
        """The first line of a delay that is free then."""
        if self.lines is None:
            return 0
        kept = self.kept[port, number]
        in_use = {other.line for other in kept if other.start < end and other.end > start}
        return next((line for line in range(self.lines) if line not in in_use), None)


class Deflection:
    """Other ports that lead to the egress."""

    def __init__(self, node: "ObsNode", own: dict[str, Any]) -> None:
        self.node = node
        self.hop_limit: int = own["hop_limit"]
        self.loops: bool = own["loops"]

    def resolve(self, request: Request, wanted: Members) -> Found | str | None:
        """The shortest other path that has a channel, within the limit and the offset."""
        ways = sorted(self.ways(request.burst, wanted))
        near = [way for way in ways if request.passed + way[1] <= self.hop_limit]
        ahead = request.head - request.handled - self.node.switching_time
        in_time = [way for way in near if way[1] * self.node.per_hop <= ahead]
        for _, _, port in in_time:
            channel = self.node.channel(request, port)
            if channel is not None:
                self.node.counters["bursts_deflected"] += 1
                deflected = replace(request.burst, deflected=True)
                link = self.node.ports[port]
                self.node.network.note("deflect", self.node.node, deflected, link)
                return Found(replace(request, burst=deflected), port, channel)
        if near and not in_time:
            return "offset_used_up"
        return "hop_limit" if ways and not near else None

    def ways(self, burst: Burst, wanted: Members) -> Iterator[tuple[int, int, int]]:
        """Length, number of fibres and port of each path, also of those that come back here."""
        network, here = self.node.network, self.node.node
        for port, link in enumerate(self.node.ports):
            if port in wanted or link.target < network.hosts:
                continue
            way, passes = [link], [link.target]
            while passes[-1] != burst.destination:
                first, *_ = network.shortest(passes[-1], burst.destination)
                way.append(network.ports[passes[-1]][first])
                passes.append(way[-1].target)
            length = sum(network.length(link) for link in way)
            if self.loops or here not in passes:
                yield length, len(passes) - 1, port


class HeadDropping:
    """Head dropping: the burst without its first packets."""

    def __init__(self, node: "ObsNode", own: dict[str, Any]) -> None:
        self.node = node

    def resolve(self, request: Request, wanted: Members) -> Found | str | None:
        """Without as few packets as needed to find a channel; at least one packet is left."""
        start, end = self.node.interval(request)
        for number in range(1, len(request.burst.packets)):
            piece, rest = request.burst.split(number)
            head = request.head + self.node.fibre.tx(piece.size)
            found = self.node.offer(replace(request, burst=rest, head=head), wanted, wanted)
            if found:
                reservations = self.node.channels(request, found.port)[found.channel]
                in_the_way = [
                    reservation for reservation in reservations if reservation.overlaps(start, end)
                ]
                holder = max(in_the_way, key=lambda reservation: reservation.start)
                self.node.counters["bursts_cut"] += 1
                self.node.counters["packets_cut"] += number
                return replace(found, cut=(piece, holder))
        return None


class TailDropping:
    """Tail dropping: an earlier burst loses the bytes that have not left at the new one's begin."""

    def __init__(self, node: "ObsNode", own: dict[str, Any]) -> None:
        self.node = node

    def resolve(self, request: Request, wanted: Members) -> Found | str | None:
        """The channel on which the earlier burst would end first, if before the new one."""
        options = [
            Found(request, port, channel, shortens=(reservation, self.kept(reservation, request)))
            for port in wanted
            if not self.node.is_down(port)
            for channel, reservation in self.alone(request, port)
            if self.gives_way(reservation, request)
        ]

        def end(found: Found) -> int:
            assert found.shortens
            return found.shortens[0].end

        return min(options, key=end, default=None)

    def alone(self, request: Request, port: int) -> Iterator[tuple[int, Reservation]]:
        """The channels on which only one burst overlaps."""
        start, end = self.node.interval(request)
        for channel, reservations in self.node.channels(request, port).items():
            if self.node.is_channel_down(port, channel):
                continue
            if self.node.fills_voids:
                in_the_way = [
                    reservation for reservation in reservations if reservation.overlaps(start, end)
                ]
            else:
                in_the_way = [
                    reservation for reservation in reservations if reservation.end > start
                ]
            if len(in_the_way) == 1:
                yield channel, in_the_way[0]

    def kept(self, reservation: Reservation, request: Request) -> int:
        """The whole bytes of a burst that have left when another one needs its channel."""
        start, _ = self.node.interval(request)
        return max(0, start - reservation.head) * self.node.fibre.rate // (8 * 10**12)

    def gives_way(self, reservation: Reservation, request: Request) -> bool:
        """Whether a burst has been sent off, and its first packet ends before the cut."""
        _, end = self.node.interval(request)
        first, *_ = reservation.burst.packets
        sent = (reservation.link, reservation.channel, reservation.head) in self.node.sent
        return sent and reservation.end < end and self.kept(reservation, request) >= first.size


def segmentation(node: "ObsNode", own: dict[str, Any]) -> Resolver:
    """The resolver that cuts heads or tails."""
    return HeadDropping(node, own) if own["drop"] == "head" else TailDropping(node, own)


RESOLVERS: dict[str, Callable[["ObsNode", dict[str, Any]], Resolver]] = {
    "delay-line": DelayLines,
    "deflection": Deflection,
    "segmentation": segmentation,
}
