"""The queue disciplines: docs/model.md, "Explicit queues"."""

from typing import TYPE_CHECKING, Any

from twin.link import Waiting
from twin.network import Unit

if TYPE_CHECKING:
    from twin.queued import Output


class Discipline:
    """One queue, first in, first out, with room for `capacity` bytes: drop-tail."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.output = output
        self.settings = settings
        self.queue: list[Waiting] = []

    def enqueue(self, unit: Unit) -> None:
        """Let a unit wait, or drop it."""
        output = self.output
        if not output.admit(unit):
            return
        if output.ecn_threshold is not None and output.backlog() >= output.ecn_threshold:
            unit = output.mark(unit)
        output.push(self.queue, unit)

    def dequeue(self) -> Waiting | None:
        """The unit to be sent now; None if all were dropped."""
        return self.output.pop(self.queue)


DISCIPLINES: dict[str, type[Discipline]] = {
    "drop-tail": Discipline,
}
