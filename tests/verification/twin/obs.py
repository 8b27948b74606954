"""Nodes of a network in which headers reserve channels for their bursts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from twin.contention import RESOLVERS, Found, Members, Request, Resolver
from twin.cuts import TailCut
from twin.edge import Edge
from twin.events import Moment
from twin.link import Link
from twin.network import SEND, TIMER, Network
from twin.rng import Xoshiro256PlusPlus as Stream
from twin.switches import Switch
from twin.units import Burst, Header, Reservation

T = TypeVar("T")
#: The reservations on each of the channels that a burst could use, by their numbers, in order.
Channels = dict[int, list[Reservation]]


def any_of(choices: Iterable[T], stream: Stream) -> T | None:
    """One of some choices, uniformly, with a draw for each one."""
    chosen = None
    for n, choice in enumerate(choices, 1):
        if stream.below(n) == 0:
            chosen = choice
    return chosen


def last_end(reservations: list[Reservation]) -> int:
    """When the last reservation of a channel ends; 0 if there is none."""
    return max((reservation.end for reservation in reservations), default=0)


def unused(channels: Channels, start: int) -> list[int]:
    """The channels without a reservation that ends after `start`."""
    return [channel for channel in channels if last_end(channels[channel]) <= start]


def free(channels: Channels, start: int, end: int) -> list[int]:
    """The channels without a reservation between `start` and `end`."""
    return [
        channel
        for channel, reservations in channels.items()
        if not any(reservation.overlaps(start, end) for reservation in reservations)
    ]


def first_fit(channels: Channels, start: int, end: int, stream: Stream) -> int | None:
    """The first channel that is not used any more."""
    return next(iter(unused(channels, start)), None)


def lauc(channels: Channels, start: int, end: int, stream: Stream) -> int | None:
    """The channel whose use ended last, among those not used any more; the first of several."""
    choices = unused(channels, start)
    return max(choices, key=lambda channel: (last_end(channels[channel]), -channel), default=None)


def first_fit_vf(channels: Channels, start: int, end: int, stream: Stream) -> int | None:
    """The first channel that is free."""
    return next(iter(free(channels, start, end)), None)


def lauc_vf(channels: Channels, start: int, end: int, stream: Stream) -> int | None:
    """The free channel that was used last before; the first of several."""

    def used(channel: int) -> int:
        return last_end(
            [reservation for reservation in channels[channel] if reservation.end <= start]
        )

    choices = free(channels, start, end)
    return max(choices, key=lambda channel: (used(channel), -channel), default=None)


def random_fit(channels: Channels, start: int, end: int, stream: Stream) -> int | None:
    """Any free channel."""
    return any_of(free(channels, start, end), stream)


class Scheduler(NamedTuple):
    """The choice of a channel, and whether voids between two reservations are used."""

    choose: Callable[[Channels, int, int, Stream], int | None]
    fills_voids: bool


SCHEDULERS = {
    "first-fit": Scheduler(first_fit, fills_voids=False),
    "first-fit-vf": Scheduler(first_fit_vf, fills_voids=True),
    "horizon": Scheduler(lauc, fills_voids=False),
    "lauc": Scheduler(lauc, fills_voids=False),
    "lauc-vf": Scheduler(lauc_vf, fills_voids=True),
    "random-fit": Scheduler(random_fit, fills_voids=True),
}


def convertible(conversion: dict[str, Any], came: int | None, number: int) -> list[int]:
    """The channels, of `number`, on which a burst can leave that came on channel `came`.

    None stands for a burst that was made here.
    """
    if came is None or conversion["kind"] == "full":
        return list(range(number))
    most = conversion["range"] if conversion["kind"] == "limited" else 0
    return [channel for channel in range(number) if abs(channel - came) <= most]


@dataclass(frozen=True)
class Loss:
    """A burst that cannot leave, the ports that it wanted, and why."""

    request: Request
    wanted: Members
    reason: str


class ObsNode(Switch):
    """A node that handles headers one after the other, and reserves channels."""

    def __init__(
        self, network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
    ) -> None:
        super().__init__(network, node, settings, own)
        self.own = own
        self.schedule, self.fills_voids = SCHEDULERS[own["scheduler"]]
        self.processing: int = own["header_processing_time_ps"]
        rate, size = own["control_rate_bps"], own["header_bytes"]
        self.header_time = -(-8 * 10**12 * size // rate) if rate else 0
        # The time of a header for a fibre and the node at its end.
        self.per_hop = self.processing + self.header_time
        self.resolvers: list[Resolver] = [
            RESOLVERS[table["kind"]](self, table) for table in own.get("contention", ())
        ]
        # All reservations, in the order in which they were made.
        self.reserved: dict[int, list[Reservation]] = {port: [] for port in range(len(self.ports))}
        # Link, channel and head of those whose header has been sent.
        self.sent: set[tuple[int, int, int]] = set()
        self.handled = 0

    def arrive(self, unit: Any, link: Link) -> None:
        """Pass a burst on whose header comes, if it is in time and there is a channel."""
        if not self.handle(unit, link):
            return
        request = Request(unit.burst, self.handled, unit.data, unit.channel, unit.passed)
        found = self.find(request)
        if isinstance(found, Loss):
            self.lose(found)
        else:
            self.send(self.reserve(found), found.port, self.handled)

    def handle(self, header: Header, link: Link) -> bool:
        """Handle a header after those before it; returns whether it is in time for its burst."""
        self.counters["arrived"] += 1
        self.handled = max(self.now, self.handled) + self.processing
        if self.handled + self.switching_time <= header.data:
            return True
        self.counters["dropped_late_header"] += 1
        self.network.drop(self.node, header.burst, "late_header", link, came=True)
        return False

    def interval(self, request: Request) -> tuple[int, int]:
        """The interval for which a channel is reserved."""
        end = request.head + self.fibre.tx(request.burst.size)
        if self.own["signalling"] == "jit":
            return request.handled, end
        return max(request.handled, request.head - self.switching_time), end

    @property
    def fibre(self) -> Link:
        """Any fibre of this node: they all have one rate."""
        return next(link for link in self.ports if link.target >= self.network.hosts)

    def channels(self, request: Request, port: int) -> Channels:
        """The reservations on the channels that a burst could use."""
        number = self.ports[port].channels
        found: Channels = {
            channel: [] for channel in convertible(self.own["conversion"], request.came, number)
        }
        for reservation in self.reserved[port]:
            if reservation.channel in found:
                found[reservation.channel].append(reservation)
        return found

    def channel(self, request: Request, port: int) -> int | None:
        """A channel of a port for a burst, if there is one."""
        if self.is_down(port):
            return None
        start, end = self.interval(request)
        channels = self.channels(request, port)
        up = {c: own for c, own in channels.items() if not self.is_channel_down(port, c)}
        return self.schedule(up, start, end, self.stream)

    def is_channel_down(self, port: int, channel: int) -> bool:
        """Whether a channel of a port is down now."""
        return self.network.outages.is_channel_down(self.ports[port], channel)

    def is_down(self, port: int) -> bool:
        """Whether the link of a port is down now, or all its channels are."""
        link = self.ports[port]
        every = all(self.is_channel_down(port, channel) for channel in range(link.channels))
        return self.network.outages.is_down(link) or every

    def wanted(self, burst: Burst) -> Members:
        """The ports by any of which a burst may leave: all next hops with `free`, else one."""
        members = self.network.next_hops(self.node, burst)
        return members if self.choice == "free" else (self.pick_any(burst, members),)

    def offer(self, request: Request, able: Members, wanted: Members) -> Found | None:
        """A choice among the wanted ports of a burst that have a channel for it."""
        offers = (
            Found(request, port, c)
            for port in able
            if (c := self.channel(request, port)) is not None
        )
        return next(offers, None) if len(wanted) == 1 else any_of(offers, self.stream)

    def any_port(self, wanted: Members) -> int:
        """One of several ports, uniformly."""
        return wanted[self.stream.below(len(wanted))] if len(wanted) > 1 else wanted[0]

    def find(self, request: Request) -> Found | Loss:
        """A port and a channel, or the answer of a resolver."""
        wanted = self.wanted(request.burst)
        found = self.offer(request, wanted, wanted)
        if found:
            return found
        up = tuple(port for port in wanted if not self.is_down(port))
        if request.came is None and self.own["ingress"] == "delay" and up:
            return self.postponed(request, self.any_port(up))
        reason = "no_channel"
        for resolver in self.resolvers:
            answer = resolver.resolve(request, wanted)
            if isinstance(answer, Found):
                return answer
            reason = answer or reason
        return Loss(request, wanted, reason if up else "link_down")

    def postponed(self, request: Request, port: int) -> Found:
        """The same burst at the first time at which there is a channel: when a reservation ends."""
        start, _ = self.interval(request)
        ends = sorted(
            reservation.end for reservation in self.reserved[port] if reservation.end >= start
        )
        later = (request.later(end - start) for end in ends)
        offers = (Found(it, port, c) for it in later if (c := self.channel(it, port)) is not None)
        return next(offers)

    def reserve(self, found: Found) -> Reservation:
        """Reserve a channel."""
        request, link = found.request, self.ports[found.port].index
        if found.cut:
            piece, holder = found.cut
            port = self.ports[found.port]
            begins = request.head - port.tx(piece.size)
            self.network.cuts.head(self.node, piece, port, holder, begins)
        start, end = self.interval(request)
        reservation = Reservation(
            link,
            found.channel,
            start,
            request.head,
            end,
            request.burst,
            request.passed,
            request.delayed,
        )
        shortened = self.shorten(found, reservation) if found.shortens else None
        self.reserved[found.port].append(reservation)
        self.network.note(
            "reserve", self.node, request.burst, reservation=reservation, shortened=shortened
        )
        return reservation

    def shorten(self, found: Found, by: Reservation) -> tuple[Reservation, Reservation]:
        """Cut off the tail of an earlier burst; returns its reservation before and after."""
        assert found.shortens
        before, kept = found.shortens
        link = self.ports[found.port]
        cut = TailCut(before.passed, before.head, kept, link, by, self.counters)
        after = self.network.cuts.shorten(before, cut)
        reservations = self.reserved[found.port]
        reservations[reservations.index(before)] = after
        return before, after

    def send(self, reservation: Reservation, port: int, earliest: int) -> None:
        """Send a header on."""
        self.counters["forwarded"] += 1
        self.sent.add((reservation.link, reservation.channel, reservation.head))
        self.network.send_ahead(self.ports[port], reservation, earliest, self.header_time)

    def lose(self, loss: Loss) -> None:
        """Lose a burst for which there is no channel, and record the blocking reservation."""
        self.counters[f"dropped_{loss.reason}"] += 1
        request, port = loss.request, self.any_port(loss.wanted)
        start, end = self.interval(request)
        in_the_way: list[Reservation] = []
        first = (
            [] if loss.reason == "link_down" else list(self.channels(request, port).values())[:1]
        )
        for reservations in first:
            in_the_way = [
                reservation for reservation in reservations if reservation.overlaps(start, end)
            ]
        holder = min(in_the_way, key=lambda reservation: reservation.start, default=None)
        where = self.node, request.burst, loss.reason, self.ports[port]
        self.network.drop(*where, holder=holder)


class ObsEdge(Edge, ObsNode):
    """A node with hosts: it also makes bursts, and disassembles those that end here."""

    def offset(self, burst: Burst) -> int:
        """The offset time between the header of a new burst and the burst."""
        per_hop = self.own["offset_per_hop_ps"]
        if per_hop is None:
            per_hop = self.per_hop
        node, fibres = self.node, 0
        while node != burst.ends[1]:
            port = self.network.next_hops(node, burst)[0]
            node = self.network.ports[node][port].target
            fibres += 1
        extra = self.extra[self.network.group(burst)] if self.extra else 0
        offset: int = self.own["offset_time_ps"] + fibres * per_hop + extra
        return offset

    def launch(self, burst: Burst) -> int | None:
        """Reserve a channel for a burst made here, at once or for later, or lose it."""
        found = self.find(Request(burst, self.now, self.now + self.offset(burst)))
        self.network.note("launch", self.node, burst, begins=found.request.head)
        if isinstance(found, Loss):
            self.lose(found)
            return None
        reservation, due = self.reserve(found), found.request.handled
        if due == self.now:
            self.send(reservation, found.port, self.now)
        else:
            moment = Moment(TIMER, self.node, found.port, SEND)
            self.network.events.add(due, moment, lambda: self.send(reservation, found.port, due))
        return found.request.head

    def receive(self, unit: Any, link: Link) -> None:
        """The header of a burst for this node comes."""
        if self.handle(unit, link):
            self.take_apart_at(unit.data + link.tx(unit.burst.size), unit.burst, link)


def obs_switch(
    network: Network, node: int, settings: dict[str, Any], own: dict[str, Any]
) -> Switch:
    """An edge at a switch with hosts, a core at one without."""
    hosts = any(link.target < network.hosts for link in network.ports[node])
    return (ObsEdge if hosts else ObsNode)(network, node, settings, own)
