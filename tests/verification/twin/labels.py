"""Paths with labels: the paths of each pair, and the label of a unit."""

from typing import Any

from twin.link import Link
from twin.rng import Xoshiro256PlusPlus, mix, stream
from twin.units import Burst, Unit

Pair = tuple[int, int]
#: Ports of each node of a path.
Hops = dict[int, tuple[int, ...]]


class Labels:
    """The paths of a plan by their pair of switches, and the choice among those of a pair."""

    def __init__(self, settings: dict[str, Any], nodes: dict[str, Any], links: list[Link]) -> None:
        self.hosts: int = settings["hosts"]
        #: The number of flows: the subflow `j` of a flow has its number + `j` times that.
        self.flows = 1
        self.seed: int = settings["seed"]
        self.label: str | None = settings.get("label")
        # A host has one link, and hosts come first.
        self.edge = [link.target for link in links[: self.hosts]]
        self.streams: dict[int, Xoshiro256PlusPlus] = {}
        self.paths: dict[Pair, list[Hops]] = {}
        protection = settings.get("protection")
        self.protects = protection is not None
        self.duplicates = bool(protection and protection.get("duplicates"))
        # Ingress, egress, time and label of the path that is selected from then on.
        self.turns: list[tuple[int, int, int, int]] = protection["turns"] if protection else []
        if self.label is None and not self.protects:
            return
        port = {
            link.index: link.index - next(x.index for x in links if x.source == link.source)
            for link in links
        }
        offsets = nodes["path_offsets"].tolist()
        pairs = zip(nodes["path_source"].tolist(), nodes["path_destination"].tolist(), strict=True)
        for i, pair in enumerate(pairs):
            hops: Hops = {}
            for index in nodes["path_links"][offsets[i] : offsets[i + 1]].tolist():
                node = links[index].source
                hops[node] = (*hops.get(node, ()), port[index])
            self.paths.setdefault(pair, []).append(hops)
        self.ports = {(link.source, port[link.index]): link for link in links}

    def pair(self, unit: Unit) -> Pair:
        """The switches of the source and the destination of a unit."""
        if isinstance(unit, Burst):
            return unit.ends
        # A unit that enters at an edge has no host before it.
        source = self.edge[unit.source] if unit.source < self.hosts else unit.source
        return source, self.edge[unit.destination]

    def number(self, unit: Unit) -> int:
        """The number of labels that a unit can have; 0 if no path is given."""
        return len(self.paths.get(self.pair(unit), ()))

    def choose(self, unit: Unit) -> int:
        """The label of a new unit."""
        choices = self.number(unit)
        # A packet that enters at an edge travels only in its burst.
        enters = not isinstance(unit, Burst) and unit.source >= self.hosts
        if choices < 2 or enters:
            return 0
        source = unit.ends[0] if isinstance(unit, Burst) else unit.source
        if self.label == "random":
            if source not in self.streams:
                self.streams[source] = stream(self.seed, f"label/{source}")
            return self.streams[source].below(choices)
        if self.label == "hash":
            return mix(mix(mix(self.seed)) ^ (unit.hashed << 32 | source)) * choices >> 64
        if self.label == "subflow":
            return self.subflow(unit) % choices
        return 0

    def subflow(self, unit: Unit) -> int:
        """The number of the subflow of a packet, or of those of a burst."""
        packet = unit.packets[0] if isinstance(unit, Burst) else unit
        return packet.flow // self.flows

    def selected(self, unit: Unit, now: int) -> int:
        """The label of the path that protection has selected for a unit."""
        label = 0
        for *pair, time, turned in self.turns:
            if tuple(pair) == self.pair(unit) and time <= now:
                label = turned
        return label

    def between(self, pair: Pair) -> list[list[list[Link]]]:
        """The paths of a pair, each as the links from one node to the next."""
        return [
            [[self.ports[node, port] for port in ports] for node, ports in hops.items()]
            for hops in self.paths.get(pair, ())
        ]

    def hops(self, node: int, unit: Unit) -> tuple[int, ...] | None:
        """The ports at `node` along the path of a unit; None off the path, and without one."""
        if unit.deflected if isinstance(unit, Burst) else unit.shortest:
            return None
        paths = self.paths.get(self.pair(unit))
        return paths[unit.label].get(node) if paths else None
