"""Spraying over entropy values: docs/model.md, "Spraying over entropy values"."""

from typing import Any

from twin.units import Packet


class Spray:
    """The entropy values of one flow."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.most: int = settings["loss_penalty"]
        self.order = list(range(settings["entropies"]))
        self.penalty = dict.fromkeys(self.order, 0)
        self.recycled: list[int] = []
        #: The value of the last transmission of each packet; None if that was trimmed.
        self.used: dict[int, int | None] = {}
        self.answered = 0
        self.echoed = 0

    def take(self, begin: int) -> int:
        """The value of the packet that begins at a byte."""
        before = self.used.get(begin)
        if before is not None:
            self.blame(before, self.settings["loss_penalty"])
        self.used[begin] = value = self.choose()
        return value

    def choose(self) -> int:
        """A recycled value, or the first of those in turn without a penalty."""
        if self.recycled:
            return self.recycled.pop(0)
        usable = [value for value in self.order if not self.penalty[value]]
        first = self.order[0]
        chosen = usable[0] if usable else first
        self.penalty[first] -= self.penalty[first] > 0
        behind = self.order.index(chosen) + 1
        self.order = self.order[behind:] + self.order[:behind]
        return chosen

    def blame(self, value: int, penalty: int) -> None:
        """Add to the penalty of a value."""
        self.penalty[value] = min(self.penalty[value] + penalty, self.most)

    def hear(self, packet: Packet) -> None:
        """Judge the value of the packet that an ACK or NAK answers."""
        trimmed = [begin for begin, end in packet.blocks if begin == end]
        if trimmed:
            self.miss(trimmed[0])
        elif packet.echoes_mark:
            self.blame(self.echoed, self.settings["mark_penalty"])
        else:
            self.recycled.append(self.echoed)
            del self.recycled[: -self.settings["recycled"] or None]

    def miss(self, begin: int) -> None:
        """Judge the value of the packet that begins at a byte, and was trimmed."""
        self.blame(self.echoed, self.settings["trim_penalty"])
        if self.used.get(begin) == self.echoed:
            self.used[begin] = None


class Sprays:
    """The entropy values of all flows."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.flows: dict[int, Spray] = {}

    def of(self, flow: int) -> Spray:
        """The values of a flow."""
        return self.flows.setdefault(flow, Spray(self.settings))

    def came(self, packet: Packet, *, answer: bool) -> None:
        """A packet has come to the end of its way."""
        spray = self.of(packet.flow)
        if answer:
            spray.echoed = packet.path
        else:
            spray.answered = packet.path
