"""Paths by congestion: docs/model.md, "Paths by congestion"."""

from dataclasses import dataclass
from typing import Any

from twin.entropies import Sprays
from twin.units import Packet


@dataclass
class Way:
    """The path of a flow, and its present round trip."""

    number: int = 0
    notified: bool = False
    count: int = 5
    congested: int = 0
    until: int = 0
    acknowledged: int = 0
    marked: int = 0

    def change(self) -> None:
        """Take another path."""
        self.number = (self.number + 1) % 256
        self.congested = 0


class Repaths:
    """The paths of all flows; None of them changes without settings."""

    def __init__(self, choice: str | dict[str, Any]) -> None:
        self.settings: dict[str, Any] | None = None
        if isinstance(choice, dict) and choice["kind"] == "adaptive":
            self.settings = choice
        self.ways: dict[int, Way] = {}
        self.sprays: Sprays | None = None
        if isinstance(choice, dict) and choice["kind"] == "entropy-spray":
            self.sprays = Sprays(choice)

    def number(self, flow: int, begin: int, *, forward: bool) -> int:
        """The path number of a new packet, which begins at a byte if it has data."""
        if self.sprays is not None:
            spray = self.sprays.of(flow)
            return spray.take(begin) if forward else spray.answered
        return self.of(flow).number if forward else 0

    def came(self, packet: Packet, *, answer: bool) -> None:
        """A packet has come to a host."""
        if self.sprays is not None:
            self.sprays.came(packet, answer=answer)

    def of(self, flow: int) -> Way:
        """The path of a flow."""
        return self.ways.setdefault(flow, Way())

    def expired(self, flow: int) -> None:
        """A timer of the sender has expired."""
        if self.settings is not None:
            self.of(flow).change()

    def returned(self, header: Packet) -> None:
        """The header of a trimmed packet has come back."""
        if self.sprays is not None:
            self.sprays.of(header.flow).miss(header.number)

    def answered(self, packet: Packet, una: int, sent: int, *, counts: bool) -> None:
        """An acknowledgement has come, when all before `una` was acknowledged."""
        if self.sprays is not None:
            self.sprays.of(packet.flow).hear(packet)
        if self.settings is None:
            return
        way, new = self.of(packet.flow), max(packet.number - una, 0)
        marked = packet.echoes_mark
        if counts:
            marked, way.count = packet.ace != way.count, packet.ace
        way.acknowledged += new
        way.marked += new * marked
        if new == 0 or packet.number < way.until:
            return
        share = self.settings["threshold"] * float(way.acknowledged)
        congested = way.notified or (way.marked > 0 and way.marked >= share)
        way.congested = way.congested + 1 if congested else 0
        idle = packet.number == sent and way.congested >= self.settings["idle_rounds"]
        if way.congested >= self.settings["rounds"] or idle:
            way.change()
        way.acknowledged = way.marked = 0
        way.notified, way.until = False, sent
