"""The rules of burst assembly: in which queue a packet waits, and when a queue becomes a burst."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from twin.cuts import BurstLoss
from twin.rng import Xoshiro256PlusPlus
from twin.units import Packet

#: Instead of a time: the queue is closed by the packet that has just arrived.
AT_ONCE = -1


@dataclass
class Queue:
    """Packets of one class for one egress that wait together, with the times of their arrival.

    `other` is its place among the queues that are not the first of their egress and class, `closes`
    the time of the valid timer.
    """

    number: int = 0
    other: int | None = None
    packets: list[Packet] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    closes: int | None = None

    @property
    def bytes(self) -> int:
        """Their bytes together."""
        return sum(packet.size for packet in self.packets)


class Dealt(NamedTuple):
    """The queue of a flow, and the beginning of the last cycle in which it was dealt a queue or
    sent.
    """

    queue: int
    seen: int


class Rule:
    """The rule of the queues for one egress and class.

    `draw` is the stream of the edge, `losses` the losses of its bursts that are not yet read.
    """

    def __init__(
        self, settings: dict[str, Any], draw: Xoshiro256PlusPlus, losses: list[BurstLoss]
    ) -> None:
        self.settings = settings
        self.draw = draw
        self.losses = losses

    def queue(self, packet: Packet, now: int) -> int:
        """The queue in which a packet waits."""
        return 0

    def end(self, queue: Queue) -> int | None:
        """When to close a queue that a packet has just joined; None: no change."""
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
    """By size or by time, whichever comes first."""

    def end(self, queue: Queue) -> int | None:
        return Size.end(self, queue) or Timer.end(self, queue)


class WindowBased(Timer):
    """A time and a queue for each pace of flows."""

    PACES = ("slow", "medium", "fast")

    def queue(self, packet: Packet, now: int) -> int:
        if not packet.payload:
            return self.PACES.index(self.settings["acknowledgements"])
        bounds = (self.settings["medium_window"], self.settings["fast_window"])
        return sum(packet.window >= bound for bound in bounds)

    def end(self, queue: Queue) -> int | None:
        return self.after(queue, self.settings[f"{self.PACES[queue.number]}_time_ps"])


class MultiQueue(Timer):
    """Several queues: one for each flow, or some to which flows are allocated for a cycle."""

    def __init__(
        self, settings: dict[str, Any], draw: Xoshiro256PlusPlus, losses: list[BurstLoss]
    ) -> None:
        super().__init__(settings, draw, losses)
        self.allocation: dict[str, Any] = settings["allocation"]
        self.kind: str = self.allocation["kind"]
        # The beginning and the end of the present cycle.
        self.cycle = (0, -1)
        self.flows: dict[int, Dealt] = {}
        self.left: list[int] = []

    def queue(self, packet: Packet, now: int) -> int:
        if self.kind == "per-flow":
            return packet.flow
        if now > self.cycle[1]:
            self.cycle = now, now + self.settings["time_ps"]
            self.left = []
            if self.kind == "a-posteriori":
                self.keep_apart(now)
            else:
                self.flows = {}
        start, _ = self.cycle
        dealt = self.flows.get(packet.flow)
        if self.kind == "a-posteriori":
            if dealt is None or start - dealt.seen > self.allocation["forget_after_ps"]:
                return 0
        elif dealt is None:
            dealt = Dealt(self.allocate(), start)
        self.flows[packet.flow] = Dealt(dealt.queue, start)
        return dealt.queue

    def keep_apart(self, now: int) -> None:
        """Deal the flows that lost data together, as far as that is known."""
        known = [loss for loss in self.losses if self.due(loss) < now]
        self.losses[:] = [loss for loss in self.losses if self.due(loss) >= now]
        for loss in sorted(known, key=lambda loss: (self.due(loss), loss.identity)):
            if len(loss.flows) > 1:
                self.left = []
                for flow in loss.flows:
                    self.flows[flow] = Dealt(self.allocate(), now)

    def due(self, loss: BurstLoss) -> int:
        """When the notice of a loss reaches the ingress."""
        delay = self.allocation["notice_delay_ps"]
        made, _ = loss.identity
        return loss.time + (loss.time - made if delay is None else delay)

    def allocate(self) -> int:
        """The queue of a flow that is new in the cycle."""
        queues = self.allocation["queues"]
        if self.kind == "printed":
            return self.draw.below(queues)
        if not self.left:
            self.left = list(range(queues))
        place = self.draw.below(len(self.left))
        # The last element takes its place.
        chosen, last = self.left[place], self.left.pop()
        if place < len(self.left):
            self.left[place] = last
        return chosen

    def end(self, queue: Queue) -> int | None:
        if self.kind == "per-flow":
            return super().end(queue)
        return self.cycle[1] if len(queue.packets) == 1 else None


class AverageDelay(Rule):
    """With a given mean delay of the packets."""

    def end(self, queue: Queue) -> int | None:
        arrivals = queue.arrivals
        return -(-sum(arrivals) // len(arrivals)) + int(self.settings["time_ps"])


RULES: dict[str, type[Rule]] = {
    "average-delay": AverageDelay,
    "mixed": Mixed,
    "multi-queue": MultiQueue,
    "size": Size,
    "timer": Timer,
    "window-based": WindowBased,
}
