"""Units that lossy links lose, by chance and by scripts of the plan, and those that they hold."""

from collections import Counter
from functools import cache
from typing import Any

from twin.link import Link
from twin.rng import MASK, Xoshiro256PlusPlus, stream
from twin.rules import Fate
from twin.units import Packet, Unit


def packet_number(transport: dict[str, Any], byte: int) -> int:
    """The number, from 1, of the packet of a flow that begins with this useful byte."""
    header: int = transport["header_bytes"]
    full: int = transport["segment_bytes"] - header
    if "packet_bytes" not in transport:
        return byte // full + 1
    begins = range(0, header + full, transport["packet_bytes"])
    first_bytes = [max(0, begin - header) for begin in begins]
    return byte // full * len(first_bytes) + first_bytes.index(byte % full) + 1


class Script:
    """A script of the plan; it counts units from 1."""

    def __init__(self, flow: int, source: int, transport: dict[str, Any]) -> None:
        self.flow = flow
        self.source = source
        self.transport = transport
        self.first: int | None = None
        self.units = 0
        self.seen = 0

    def look(self, unit: Unit, now: int) -> bool:
        """Whether it selects `unit`."""
        mine = [packet for packet in unit.packets if packet.flow == self.flow]
        back = [packet for packet in mine if packet.destination == self.source]
        data = [packet for packet in mine if packet.destination != self.source and packet.payload]
        taken = self.takes(data, back)
        if taken:
            self.units += 1
            self.first = now if self.first is None else self.first
        return taken

    def takes(self, data: list[Packet], back: list[Packet]) -> bool:
        """Whether it selects a unit with this `data`, and these packets `back` to the source."""
        raise NotImplementedError


class BurstScript(Script):
    """The k-th unit that holds data."""

    def __init__(self, k: int, *rest: Any) -> None:
        super().__init__(*rest)
        self.k = k

    def takes(self, data: list[Packet], back: list[Packet]) -> bool:
        self.seen += bool(data)
        return bool(data) and self.seen == self.k


class SegmentScript(Script):
    """The n-th arrival of each of some data segments."""

    def __init__(self, numbers: list[int], transmission: int, *rest: Any) -> None:
        super().__init__(*rest)
        self.lowest, self.highest = numbers
        self.transmission = transmission
        self.came: Counter[int] = Counter()

    def takes(self, data: list[Packet], back: list[Packet]) -> bool:
        taken = False
        for packet in data:
            number = packet_number(self.transport, packet.number)
            self.came[number] += 1
            if self.lowest <= number <= self.highest:
                taken |= self.came[number] == self.transmission
        return taken


class WindowScript(Script):
    """The first unit with data that was sent with at least a given congestion window."""

    def __init__(self, segments: int, *rest: Any) -> None:
        super().__init__(*rest)
        self.segments = segments

    def takes(self, data: list[Packet], back: list[Packet]) -> bool:
        return self.units == 0 and any(packet.window >= self.segments for packet in data)


class AcknowledgementScript(Script):
    """Some of the units that hold packets for the source."""

    def __init__(self, numbers: list[int], *rest: Any) -> None:
        super().__init__(*rest)
        self.lowest, self.highest = numbers

    def takes(self, data: list[Packet], back: list[Packet]) -> bool:
        self.seen += bool(back)
        return bool(back) and self.lowest <= self.seen <= self.highest


def make_script(drop: dict[str, Any], source: int, transport: dict[str, Any]) -> Script:
    """Make one of the plan's scripts."""
    rest = (drop["flow"], source, transport)
    if "burst" in drop:
        return BurstScript(drop["burst"], *rest)
    if "segments" in drop:
        return SegmentScript(drop["segments"], drop["transmission"], *rest)
    if "window" in drop:
        return WindowScript(drop["window"], *rest)
    return AcknowledgementScript(drop["acknowledgements"], *rest)


class Losses:
    """Losses and scripts on the lossy links of a network.

    `scripts` has each script beside its list in the plan (``drops``, ``marks``, ``holds`` or
    ``stalls``) and its row there.
    """

    def __init__(
        self,
        loss: dict[str, Any] | None,
        seed: int,
        scripts: list[tuple[str, dict[str, Any], Script]],
        changes: list[list[Any]],
    ) -> None:
        self.scripts = scripts
        self.changes = changes
        self.probability = loss["probability"] if loss else 0.0
        self.acknowledgement_probability = loss["acknowledgement_probability"] if loss else 0.0
        self.seed = seed
        self.stream = cache(self._stream)

    def _stream(self, link: int) -> Xoshiro256PlusPlus:
        return stream(self.seed, f"loss/{link}")

    def probabilities(self, link: Link, begin: int) -> tuple[float, float]:
        """Of units with data and of others, whose transmission begins at `begin`."""
        for number, time, *both in reversed(self.changes):
            if number == link.index and time <= begin:
                return both[0], both[1]
        if not link.scripted:
            return 0.0, 0.0
        return self.probability, self.acknowledgement_probability

    def fate(self, unit: Unit, link: Link, now: int, begin: int) -> Fate:
        """The fate on `link` of `unit`, whose transmission begins at `begin`."""
        fate = Fate()
        for key, row, script in self.scripts if link.scripted else ():
            if not script.look(unit, now):
                continue
            if key == "drops":
                fate.lost = "scripted"
            elif key == "marks":
                fate.marked = True
            elif key == "stalls":
                fate.stall += row["duration_ps"]
            elif fate.hold is None:
                fate.hold = row["flow"], row["later"]
        data = any(packet.payload for packet in unit.packets)
        p = self.probabilities(link, begin)[0 if data else 1]
        by_chance = p > 0 and self.stream(link.index).next() < min(int(p * 2.0**64), MASK)
        if by_chance and fate.lost is None:
            fate.lost = "random"
        return fate
