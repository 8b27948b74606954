"""Circuits that lead nowhere, over links known to be down: docs/model.md, "circuit"."""

from bisect import bisect_right

from twin.network import Network


class Closures:
    """When the links between racks and circuit switches are known to be down."""

    def __init__(self, network: Network, racks: list[int], cores: list[int]) -> None:
        self.racks, self.cores = racks, cores
        notices = sorted(network.outages.pending)
        self.number = {(link.source, link.target): link.index for link in network.links}
        ours = {
            self.number[ends]
            for rack in racks
            for core in cores
            for ends in ((rack, core), (core, rack))
        }
        self.all_notices = notices
        self.notices = [notice for notice in notices if notice.link in ours]
        self.changes = sorted({notice.time for notice in self.notices})

    def closed(self, core: int, rack: int, peer: int, at: int) -> bool:
        """Whether either link of a circuit is known to be down at a time."""
        a, b, c = self.racks[rack], self.racks[peer], self.cores[core]
        ends = self.number[a, c], self.number[c, b]
        known = {one.link: one.down for one in self.notices if one.time <= at}
        return any(known.get(link, False) for link in ends)

    def packet_is_shut(self, switch: int, rack: int, peer: int, at: int) -> bool:
        """Whether the packet network does not lead from a rack to another."""
        ends = self.number[self.racks[rack], switch], self.number[switch, self.racks[peer]]
        known = {one.link: one.down for one in self.all_notices if one.time <= at}
        return any(known.get(link, False) for link in ends)

    def epoch(self, at: int) -> int:
        """The number of changes up to a time."""
        return bisect_right(self.changes, at)

    def closes(self, core: int, rack: int, peer: int, at: int, end: int) -> int:
        """When a circuit that is open at a time closes, or its end if that is earlier."""
        later = (time for time in self.changes if at < time < end)
        return next((time for time in later if self.closed(core, rack, peer, time)), end)
