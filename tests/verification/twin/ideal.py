"""The earliest arrival of a flow alone in the network: all paths, segment by segment."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from twin.endpoint import Flow
from twin.link import Link
from twin.network import Network
from twin.units import Packet

NEVER = 2**64 - 1


class Ideal:
    """The flows of one plan, each alone on its network."""

    def __init__(
        self, network: Network, settings: dict[str, Any], kinds: list[dict[str, Any]]
    ) -> None:
        self.network = network
        self.kinds = kinds
        self.bursts = any(switch["kind"] in ("burst", "obs") for switch in settings["switches"])
        self.one_way: bool = settings["choice"] == "flow-hash"
        self.label: str | None = settings.get("label")

    def segments(self, size: int, transport: dict[str, Any]) -> list[int]:
        """Bytes on the wire of each segment, in order."""
        header, control = transport["header_bytes"], transport["control_bytes"]
        most = transport["segment_bytes"] - header
        whole, rest = divmod(size, most)
        payloads = whole * [most] + ([rest] if rest else [])
        return [max(payload + header, control) for payload in payloads]

    def ways(self, node: int, unit: Packet) -> Iterator[list[Link]]:
        """All paths that the routing allows to a unit with its label, as links."""
        if node == unit.destination:
            yield []
            return
        for port in self.network.next_hops(node, unit):
            link = self.network.ports[node][port]
            for way in self.ways(link.target, unit):
                yield [link, *way]

    def ways_by_label(self, source: int, destination: int) -> list[list[list[Link]]]:
        """The paths of each label that a unit can have."""
        unit = Packet(0, 0, "", 0, 0, 0, source, destination)
        protects = self.network.labels.protects
        only_one = self.label == "first" or (self.label is None and not protects)
        number = 1 if only_one else self.network.labels.number(unit)
        units = (replace(unit, label=label) for label in range(max(1, number)))
        # From edge to edge: without the link to the host.
        end = None if source < self.network.hosts else -1
        return [[way[:end] for way in self.ways(source, unit)] for unit in units]

    def queue(self, link: Link, size: int) -> int:
        """The time for which a unit lets others wait; a burst is rounded up, but not each packet in
        it.
        """
        fibre = min(link.source, link.target) >= self.network.hosts
        if fibre and link.channels > 1:
            return 0
        return 8 * 10**12 * size // link.rate if self.bursts and fibre else link.tx(size)

    def passing(self, link: Link, destination: int, size: int) -> int:
        """Time from the beginning of a transmission to the beginning of the next one."""
        egress = self.network.ports[destination][0].target
        if not link.heads or (self.bursts and link.target == egress):
            return link.tx(size) + link.delay
        switch = self.kinds[link.target - self.network.hosts]
        # A burst does not wait for a path through the switch if its header went ahead.
        switching_time: int = 0 if switch["kind"] == "obs" else switch.get("switching_time_ps", 0)
        return link.delay + switching_time

    def alone(self, way: list[Link], destination: int, size: int) -> int:
        """The time of a unit that meets no other."""
        return sum(self.passing(link, destination, size) for link in way)

    def time(self, source: int, destination: int, size: int, transport: dict[str, Any]) -> int:
        """The ideal completion time in ps."""
        labels = self.ways_by_label(source, destination)
        segments = self.segments(size, transport)
        if self.label == "random" and len(labels) > 1:
            every_way = [way for ways in labels for way in ways]
            return min(NEVER, self.side_by_side(every_way, destination, segments))
        return min(NEVER, *(self.time_of(ways, destination, segments) for ways in labels))

    def of_flow(self, flow: Flow, origin: int, transport: dict[str, Any]) -> int:
        """The ideal time of all data written at once, or of the last write, whichever is later."""
        at_once = self.time(origin, flow.destination, flow.size, transport)
        if flow.writes is None:
            return at_once
        most, times, written = transport["segment_bytes"] - transport["header_bytes"], 0, 0
        while flow.size - written > flow.writes["bytes"]:
            written += flow.writes["bytes"]
            times += 1
        rest = flow.size - written // most * most
        last = self.time(origin, flow.destination, rest, transport)
        return min(NEVER, max(at_once, times * flow.writes["interval_ps"] + last))

    def time_of(self, ways: list[list[Link]], destination: int, segments: list[int]) -> int:
        """The time of segments that all have one label."""
        if self.one_way or len(ways) == 1:
            return min(self.in_a_row(way, destination, segments) for way in ways)
        return self.side_by_side(ways, destination, segments)

    def in_a_row(self, way: list[Link], destination: int, segments: list[int]) -> int:
        """All segments take one path, first in, first out."""
        # For each size and link: the time for which a segment lets others wait, and its own.
        costs = {
            size: [(self.queue(link, size), self.passing(link, destination, size)) for link in way]
            for size in set(segments)
        }
        free_at = [0] * len(way)
        latest = 0
        for size in segments:
            time = 0
            for i, (others, own) in enumerate(costs[size]):
                begin = max(time, free_at[i])
                free_at[i] = begin + others
                time = begin + own
            latest = max(latest, time)
        return latest

    def side_by_side(self, ways: list[list[Link]], destination: int, segments: list[int]) -> int:
        """Each takes a separate path; they queue on the links that are in all paths."""
        full, rest = segments[0], segments[-1]
        number = len(segments) - (rest < full)

        def soonest(size: int, before: Link | None = None) -> int:
            parts = [way[: way.index(before)] if before else way for way in ways]
            return min(self.alone(part, destination, size) for part in parts)

        shared = [link for link in ways[0] if all(link in way for way in ways)]
        # Between edges there may be none, or none before paths part.
        last_full = [soonest(full) + (number - 1) * self.queue(link, full) for link in shared]
        if rest == full:
            return max(last_full, default=soonest(full))
        first = ways[0][0]
        leaves = number * self.queue(first, full) if first in shared else 0
        last_of_all = [
            min(soonest(full, link), leaves + soonest(rest, link))
            + number * self.queue(link, full)
            + soonest(rest)
            - soonest(rest, link)
            for link in shared
        ]
        return max([*last_full, *last_of_all], default=soonest(full))
