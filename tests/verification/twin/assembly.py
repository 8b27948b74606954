"""The rules of burst assembly: in which queue a packet waits, and when a queue becomes a burst."""

from dataclasses import dataclass, field
from typing import Any

from twin.network import Packet

#: In place of a time: not at a timer's, but with the packet that has just come.
AT_ONCE = -1


@dataclass
class Queue:
    """Packets of one class for one egress that wait together, with the times of their arrival.

    `other` is its place among the queues that are not the first of their egress and class, `closes`
    the time of the timer that counts.
    """

    number: int = 0
    other: int | None = None
    packets: list[Packet] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    closes: int | None = None

    @property
    def bytes(self) -> int:
        """What they have together."""
        return sum(packet.size for packet in self.packets)


class Rule:
    """The rule of the queues for one egress and class."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings

    def queue(self, packet: Packet) -> int:
        """In which queue a packet waits."""
        return 0

    def end(self, queue: Queue) -> int | None:
        """When a queue is closed that a packet has just joined; None: nothing changes."""
        raise NotImplementedError


class Timer(Rule):
    """So long after the first packet."""

    def end(self, queue: Queue) -> int | None:
        return self.after(queue, self.settings["time_ps"])

    def after(self, queue: Queue, time: int) -> int | None:
        """So long after the first packet."""
        return queue.arrivals[0] + time if len(queue.packets) == 1 else None


class Size(Rule):
    """With enough bytes."""

    def end(self, queue: Queue) -> int | None:
        return AT_ONCE if queue.bytes >= self.settings["size_bytes"] else None


class Mixed(Timer, Size):
    """What comes first."""

    def end(self, queue: Queue) -> int | None:
        return Size.end(self, queue) or Timer.end(self, queue)


class WindowBased(Timer):
    """A time and a queue for each pace of flows."""

    PACES = ("slow", "medium", "fast")

    def queue(self, packet: Packet) -> int:
        if not packet.payload:
            return self.PACES.index(self.settings["acknowledgements"])
        bounds = (self.settings["medium_window"], self.settings["fast_window"])
        return sum(packet.window >= bound for bound in bounds)

    def end(self, queue: Queue) -> int | None:
        return self.after(queue, self.settings[f"{self.PACES[queue.number]}_time_ps"])


RULES: dict[str, type[Rule]] = {
    "mixed": Mixed,
    "size": Size,
    "timer": Timer,
    "window-based": WindowBased,
}
