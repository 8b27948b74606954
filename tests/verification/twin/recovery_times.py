"""Stops of flows by outages, and the data that arrives in bins, from the trace of all units."""

from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.network import Network
from twin.units import Packet

NEVER = 2**64 - 1
Tables = dict[str, dict[str, npt.NDArray[Any]]]


class Stops:
    """The losses of one flow: the first that nothing has followed yet, and the longest stop."""

    def __init__(self) -> None:
        self.packets = 0
        self.longest = 0
        self.since: int | None = None
        self.serial = 0

    def lose(self, since: int, serial: int) -> None:
        """A packet is lost by an outage that took it at `since`."""
        self.packets += 1
        if self.since is None:
            self.since, self.serial = since, serial
        self.since, self.serial = min(self.since, since), min(self.serial, serial)

    def come(self, now: int, serial: int) -> None:
        """A packet arrives; one that was made after the lost one ends the stop."""
        if self.since is not None and serial > self.serial and now > self.since:
            self.longest = max(self.longest, now - self.since)
            self.since = None


def taken_at(network: Network, link: int, begins: int) -> int:
    """When an outage takes what begins then: at its own begin, or at once."""
    ends = [span for span in network.outages.spans.get(link, []) if span[1] > begins]
    return max(begins, min(ends)[0]) if ends else begins


def recovery(network: Network, length: int | None, flows: int) -> Tables:
    """``recovery_flows``, a row for each flow, and ``recovery``, one for each bin."""
    if length is None:
        return {}
    stops = [Stops() for _ in range(flows)]
    bins: dict[int, int] = {}
    # By name and label: a packet may travel in two copies.
    begins: dict[tuple[str, int], int] = {}
    for entry in network.trace:
        unit, what = entry.unit, entry.what.replace("_", "-")
        if what == "send" and isinstance(unit, Packet):
            assert entry.begins is not None
            begins[unit.name, unit.label] = entry.begins
        if what == "drop link-down":
            on_link = entry.link is not None and isinstance(unit, Packet)
            begin = entry.time
            if on_link and isinstance(unit, Packet):
                begin = entry.begins or begins[unit.name, unit.label]
            wanted = entry.wanted if entry.link is None else entry.link
            assert wanted is not None
            since = taken_at(network, wanted, begin)
            for packet in unit.packets:
                if packet.payload:
                    stops[packet.flow].lose(since, packet.serial)
        if what == "deliver" and isinstance(unit, Packet) and unit.payload:
            place = entry.time // length
            bins[place] = bins.get(place, 0) + unit.payload
            stops[unit.flow].come(entry.time, unit.serial)
    rows = [(one.packets, one.longest, NEVER if one.since is None else one.since) for one in stops]
    columns = dict(
        zip_longest(("cut_packets", "longest_ps", "stopped_ps"), zip(*rows, strict=True))
    )
    last = max(bins, default=-1)
    return {
        "recovery_flows": {name: np.array(each or (), "u8") for name, each in columns.items()},
        "recovery": {"bytes": np.array([bins.get(i, 0) for i in range(last + 1)], "u8")},
    }
