"""Priority flow control: docs/model.md, "Priority flow control"."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.events import Moment

if TYPE_CHECKING:
    from twin.link import Link
    from twin.network import Network
    from twin.units import Unit

#: The class of timers, and the kinds of these.
TIMER, PAUSE, RESUME = 1, 16, 17
#: Bytes of a pause frame.
FRAME = 64


#: The end of a pause that has none.
UNENDED = 2**64 - 1


def named(rows: Sequence[tuple[int, ...]], **types: str) -> dict[str, Any]:
    """Columns of rows, by name."""
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    return {
        name: np.array(column, kind)
        for (name, kind), column in zip(types.items(), columns, strict=True)
    }


@dataclass
class Inside:
    """A packet in a switch, the link and the class by which it came, and the one that it takes."""

    serial: int
    size: int
    lane: tuple[int, int]
    to: int


@dataclass
class Span:
    """A pause, still going on without an end."""

    lane: tuple[int, int]
    begin: int
    end: int | None = None


class Pauses:
    """Who asks whom to pause."""

    def __init__(self, network: "Network", settings: dict[str, Any], kinds: list[Any]) -> None:
        self.network = network
        hosts, links = settings["hosts"], network.links
        self.bounds: list[Any] = [
            kinds[link.target - hosts].get("pfc") if link.target >= hosts else None
            for link in links
        ]
        self.active = any(own.get("pfc") is not None for own in kinds)
        queue: dict[str, Any] = next((own.get("queue", {}) for own in kinds), {})
        #: The class of each group: its line in the queues, which are alike.
        self.lines: list[int] = queue.get("bands", list(range(len(queue.get("quanta_bytes", [])))))
        self.classes = 1 + max(self.lines, default=0)
        self.inside: list[Inside] = []
        #: When each lane was asked to pause, by the last frame.
        self.asked: dict[tuple[int, int], int] = {}
        self.spans: list[Span] = []

    def reverse(self, link: "Link") -> "Link":
        """The link the other way: of several between two nodes that of the same rank."""
        links = self.network.links
        same = [x for x in links if (x.source, x.target) == (link.source, link.target)]
        back = [x for x in links if (x.source, x.target) == (link.target, link.source)]
        return back[same.index(link)]

    def next_break(self, index: int, after: int) -> int | None:
        """When a link, or the one back, next goes down or comes up."""
        link, spans = self.network.links[index], self.network.outages.spans
        of_both = spans.get(index, []) + spans.get(self.reverse(link).index, [])
        times = [time for span in of_both for time in span if after < time < UNENDED]
        return min(times, default=None)

    def breaks(self, index: int, after: int, until: int) -> bool:
        """Whether that is until this time."""
        time = self.next_break(index, after)
        return time is not None and time <= until

    def is_asked(self, lane: tuple[int, int]) -> bool:
        """Whether a lane was asked to pause, and no change of its link has come since."""
        since = self.asked.get(lane)
        return since is not None and not self.breaks(lane[0], since, self.network.events.now)

    def turn(self, unit: "Unit", to: "Link") -> None:
        """A packet in a switch takes another link."""
        for one in self.inside:
            if one.serial == unit.packets[0].serial:
                one.to = to.index

    def class_of(self, unit: "Unit") -> int:
        """The class of a packet."""
        return self.lines[self.network.group(unit)] if self.lines else 0

    def is_open(self, link: "Link", unit: "Unit") -> bool:
        """Whether the class of a packet does not pause."""
        return not self.active or not self.is_paused(link, self.class_of(unit))

    def all_pause(self, link: "Link") -> bool:
        """Whether all classes of a link pause."""
        return all(self.is_paused(link, of) for of in range(self.classes))

    def is_paused(self, link: "Link", of: int | None = None) -> bool:
        """Whether a class of a link pauses, or any."""
        return any(
            span.end is None and span.lane[0] == link.index and of in (None, span.lane[1])
            for span in self.spans
        )

    def bytes_of(self, lane: tuple[int, int]) -> int:
        """Bytes that came that way and are in the switch."""
        return sum(one.size for one in self.inside if one.lane == lane)

    def enter(self, unit: "Unit", link: "Link", to: "Link") -> bool:
        """Count a packet that came by `link`, unless there is no room for it."""
        if not self.active:
            return True
        lane = link.index, self.class_of(unit)
        bounds = self.bounds[link.index]
        if bounds is not None and bounds["headroom_bytes"] is not None:
            most = bounds["xoff_bytes"] + bounds["headroom_bytes"]
            if self.bytes_of(lane) + unit.size > most:
                return False
        self.inside.append(Inside(unit.packets[0].serial, unit.size, lane, to.index))
        return True

    def leave(self, unit: "Unit") -> None:
        """A packet has left the switch."""
        if not self.active:
            return
        (one,) = (one for one in self.inside if one.serial == unit.packets[0].serial)
        self.inside.remove(one)
        bounds = self.bounds[one.lane[0]]
        if self.is_asked(one.lane) and self.bytes_of(one.lane) <= bounds["xon_bytes"]:
            del self.asked[one.lane]
            self.send(one.lane, RESUME)

    def came(self, unit: "Unit", link: "Link") -> None:
        """Ask the other end of a link to pause, if too much came by it."""
        lane = link.index, self.class_of(unit)
        bounds = self.bounds[link.index]
        if bounds is None or self.is_asked(lane):
            return
        if self.bytes_of(lane) > bounds["xoff_bytes"]:
            self.asked[lane] = self.network.events.now
            self.send(lane, PAUSE)

    def send(self, lane: tuple[int, int], kind: int) -> None:
        """Send a frame to the begin of a link."""
        events = self.network.events
        link = self.network.links[lane[0]]
        back = self.reverse(link)
        begin = max(events.now, back.free_at)
        back.free_at = begin + back.tx(FRAME, begin)
        back.frames.append((begin, back.free_at, FRAME))
        arrival = back.free_at + back.delay
        if self.network.outages.is_down(back) or self.breaks(lane[0], events.now, arrival):
            return
        self.act_at(arrival, lane, kind)

    def act_at(self, time: int, lane: tuple[int, int], kind: int) -> None:
        """Pause or go on at a time."""
        begin = self.network.links[lane[0]].source
        moment = Moment(TIMER, begin, lane[0] * self.classes + lane[1], kind)
        self.network.events.add(time, moment, lambda: self.act(lane, kind))

    def act(self, lane: tuple[int, int], kind: int) -> None:
        """Pause or go on."""
        link, now = self.network.links[lane[0]], self.network.events.now
        going = [one for one in self.spans if one.lane == lane and one.end is None]
        if kind == PAUSE:
            assert not going
            self.spans.append(Span(lane, now))
            end = self.next_break(lane[0], now)
            if end is not None:
                self.act_at(end, lane, RESUME)
        for span in going:
            span.end = now
        if link.interface is not None:
            link.interface.after_frame(begins=kind == PAUSE)
        else:
            switch = self.network.switches[link.source - self.network.hosts]
            switch.serve(switch.ports.index(link))

    def locked(self) -> dict[str, Any]:
        """The largest set of pauses that wait for each other."""
        paused = {span.lane for span in self.spans if span.end is None} & set(self.asked)
        waits: Counter[tuple[tuple[int, int], tuple[int, int]]] = Counter()
        for one in self.inside:
            waits[one.lane, (one.to, one.lane[1])] += one.size
        while True:
            held: Counter[tuple[int, int]] = Counter()
            for (lane, behind), size in waits.items():
                held[lane] += size if behind in paused else 0
            free = {at for at in paused if held[at] <= self.bounds[at[0]]["xon_bytes"]}
            if not free:
                break
            paused -= free
        rows = [
            (*lane, behind[0], size)
            for (lane, behind), size in sorted(waits.items())
            if {lane, behind} <= paused
        ]
        return named(rows, link="u4", **{"class": "u4"}, behind="u4", bytes="u8")

    def tables(self, *, traced: bool) -> dict[str, dict[str, Any]]:
        """The tables of the result."""
        if not self.active:
            return {}
        found = {"locked": self.locked()}
        if traced:
            spans = [
                (*one.lane, one.begin, UNENDED if one.end is None else one.end)
                for one in sorted(self.spans, key=lambda one: (one.begin, one.lane))
            ]
            types = {"link": "u4", "class": "u4", "begin_ps": "u8", "end_ps": "u8"}
            found["pauses"] = named(spans, **types)
        return found

    def counts(self, end: int) -> dict[str, list[int]]:
        """Number of pauses of each link, and their time up to `end`."""
        if not self.active:
            return {}
        pauses = [[s for s in self.spans if s.lane[0] == i] for i in range(len(self.bounds))]
        begun = [[one for one in spans if one.begin <= end] for spans in pauses]
        return {
            "pauses": [len(spans) for spans in begun],
            "paused_ps": [
                sum(min(end, end if one.end is None else one.end) - one.begin for one in spans)
                for spans in begun
            ],
        }
