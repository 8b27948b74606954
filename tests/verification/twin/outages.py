"""Links that are down for a time, and the delay after which the routes know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from twin.link import Link
    from twin.network import Network
    from twin.units import Unit


class Notice(NamedTuple):
    """At `time` the routes learn that the link of number `link` is down, or up again."""

    time: int
    link: int
    down: bool


def notices(link: int, spans: list[tuple[int, int]], delay: int) -> list[Notice]:
    """What the routes learn of a link that is down in `spans`: changes that last over `delay`."""
    edges = sorted([(down, True) for down, _ in spans] + [(up, False) for _, up in spans])
    found: list[Notice] = []
    known = False
    for i, (time, down) in enumerate(edges):
        lasts = i + 1 == len(edges) or edges[i + 1][0] > time + delay
        if lasts and down != known and time + delay < 2**64 - 1:
            found.append(Notice(time + delay, link, down))
            known = down
    return found


class Outages:
    """The outages of one run; `queues` says whether units waiting for a link were handed to it."""

    def __init__(
        self,
        given: dict[str, Any] | None,
        network: Network,
        queues: Callable[[Link], bool],
        flush: Callable[[Link], list[Unit]],
        strand: Callable[[Link, Unit, bool], None],
        change: Callable[[bool, set[int]], None],
    ) -> None:
        self.network = network
        self.queues = queues
        self.flush = flush
        self.strand = strand
        self.change = change
        self.spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for link, down, up in given["links"] if given else ():
            self.spans[link].append((down, up))
        self.of_channels: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for link, channel, down, up in given.get("channels", ()) if given else ():
            self.of_channels[link, channel].append((down, up))
        self.reroute = bool(given and given.get("reroute"))
        self.pending: list[Notice] = []
        delay = given.get("restoration_ps") if given else None
        if delay is not None:
            each = (notices(link, spans, delay) for link, spans in self.spans.items())
            self.pending = sorted(notice for of_link in each for notice in of_link)
        # Units at each output that will be taken back, and the end of the transmissions before.
        self.aside: defaultdict[int, list[Unit]] = defaultdict(list)
        self.free_at: dict[int, int] = {}

    def taken_back(self, link: Link, begin: int) -> int | None:
        """When a unit whose transmission is to begin at `begin` is taken back; None if never."""
        if not self.queues(link):
            return None
        times = [one.time for one in self.pending if one.link == link.index and one.down]
        return times[0] if times and times[0] <= begin else None

    def keep(self, link: Link, unit: Unit) -> None:
        """Keep a unit aside that is not transmitted."""
        self.free_at.setdefault(link.index, link.free_at)
        self.aside[link.index].append(unit)

    def cut(self, link: Link, begin: int, end: int) -> bool:
        """Whether a link is down at any time from `begin` to before `end`."""
        return any(down < end and up > begin for down, up in self.spans.get(link.index, ()))

    def cut_channel(self, link: Link, channel: int, begin: int, end: int) -> bool:
        """Whether a channel of a link is down at any time from `begin` to before `end`."""
        spans = self.of_channels.get((link.index, channel), ())
        return any(down < end and up > begin for down, up in spans)

    def is_channel_down(self, link: Link, channel: int) -> bool:
        """Whether a channel of a link is down now."""
        now = self.network.events.now
        return self.cut_channel(link, channel, now, now + 1)

    def is_down(self, link: Link) -> bool:
        """Whether a link is down now."""
        now = self.network.events.now
        return self.cut(link, now, now + 1)

    def due(self, event: int | None) -> int | None:
        """The time of the next notices, if that is before the next event, at `event`."""
        if not self.pending:
            return None
        time = self.pending[0].time
        first = bool(self.aside) if event is None else time < event
        return time if first else None

    def make(self) -> None:
        """Change the routes, and deal with the units that were kept aside."""
        now = self.network.events.now
        stranded = []
        while self.pending and self.pending[0].time == now:
            notice = self.pending.pop(0)
            link = self.network.links[notice.link]
            if not notice.down:
                self.network.down.discard(link.index)
                continue
            self.network.down.add(link.index)
            units = self.aside.pop(link.index, [])
            if units:
                link.free_at = self.free_at.pop(link.index)
                link.transmissions = link.transmissions[: -len(units)]
                stranded += [(link, unit) for unit in units]
            stranded += [(link, unit) for unit in self.flush(link)]
        self.network.new_routes()
        self.change(self.reroute, self.network.down)
        for link, unit in stranded:
            self.strand(link, unit, self.reroute)
