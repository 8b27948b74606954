"""The queue that trims packets to headers: docs/model.md, "Explicit queues"."""

from typing import TYPE_CHECKING, Any

from twin.link import Waiting
from twin.units import Packet, Unit

if TYPE_CHECKING:
    from twin.queued import Output


class Trim:
    """Data, and packets without data, which overtake it: Handley et al. 2017, section 3.1."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.output = output
        self.settings = settings
        self.draw = output.draw
        self.data: list[Waiting] = []
        self.headers: list[Waiting] = []
        #: Packets without data in a row, while data waited.
        self.in_a_row = 0

    def enqueue(self, unit: Unit) -> None:
        """Let a unit wait, without its payload if need be, or drop it."""
        if isinstance(unit, Packet) and not unit.payload:
            self.enqueue_header(unit)
        elif len(self.data) < self.settings["packets"] and self.output.fits(unit):
            self.output.push(self.data, unit)
        elif not self.may_be_trimmed(unit):
            self.output.drop(unit, "queue_full")
        elif self.output.fits(unit) and self.tail_is_trimmed():
            tail = self.output.pop_last(self.data)
            self.output.push(self.data, unit)
            self.enqueue_tail(self.output.trim(tail, self.settings["header_bytes"]))
        else:
            self.enqueue_header(self.output.trim(unit, self.settings["header_bytes"]))

    def may_be_trimmed(self, unit: Unit) -> bool:
        """Whether a unit is a packet whose sender repairs it when it was trimmed."""
        return isinstance(unit, Packet) and unit.trimmable

    def tail_is_trimmed(self) -> bool:
        """Whether the last packet that waits is trimmed in place of the arriving one."""
        if not self.data or not self.may_be_trimmed(self.data[-1].unit):
            return False
        return bool(self.draw.uniform() < self.settings["tail"])

    def has_room(self, unit: Unit) -> bool:
        """Whether a packet without data finds room among those that wait, and in the queue."""
        waiting = sum(waiting.unit.size for waiting in self.headers)
        room = waiting + unit.size <= self.settings["header_queue_bytes"]
        return bool(room and self.output.fits(unit))

    def enqueue_header(self, unit: Unit) -> None:
        """Let a packet without data wait, return it, or drop it."""
        if self.has_room(unit):
            self.output.push(self.headers, unit)
        else:
            self.overflow(unit)

    def enqueue_tail(self, unit: Unit) -> None:
        """As for one that arrives, but it has waited before."""
        if self.has_room(unit):
            self.output.push_again(self.headers, unit)
        else:
            self.overflow(unit)

    def overflow(self, unit: Unit) -> None:
        """Return a header to the sender of its packet, section 3.2.4, or drop the packet."""
        returns = self.settings.get("return_to_sender", False)
        if returns and isinstance(unit, Packet) and unit.trimmed:
            self.output.turn_back(unit)
        else:
            self.output.drop(unit, "queue_full")

    def dequeue(self) -> Waiting | None:
        """A packet without data, unless so many of them left in a row while data waited."""
        if self.headers and self.data:
            if self.in_a_row < self.settings["weight"]:
                self.in_a_row += 1
                return self.output.pop(self.headers)
            self.in_a_row = 0
            return self.output.pop(self.data)
        return self.output.pop(self.headers or self.data)

    def flush(self) -> list[Unit]:
        """All units, taken out: those without data first."""
        found = []
        while (waiting := self.output.pop(self.headers or self.data)) is not None:
            found.append(waiting.unit)
        return found
