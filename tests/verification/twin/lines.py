"""The disciplines with a line for each class: docs/model.md, "Explicit queues"."""

from typing import TYPE_CHECKING, Any

from twin.link import Waiting
from twin.units import Unit

if TYPE_CHECKING:
    from twin.queued import Output


class Prio:
    """Strict priorities."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.output = output
        self.settings = settings
        #: The line of each group.
        self.places: list[int] = settings["bands"]
        self.lines: list[list[Waiting]] = [[] for _ in range(max(self.places) + 1)]
        #: The line that was the last to send.
        self.sent = 0

    def bytes(self, place: int) -> int:
        """The bytes that wait in a line."""
        return sum(waiting.unit.size for waiting in self.lines[place])

    def own(self, place: int) -> int:
        """The bytes of a line that are not sent, those of the link included if it sent last."""
        waiting = sum(self.bytes(other) for other in range(len(self.lines)))
        rest = self.output.backlog() - waiting if place == self.sent else 0
        return max(0, self.bytes(place) + rest)

    def enqueue(self, unit: Unit) -> None:
        """Let a unit wait, or drop it."""
        self.join(self.places[self.output.group(unit)], unit)

    def join(self, place: int, unit: Unit) -> bool:
        """Let a unit wait in a line, or drop it; whether it waits."""
        output, own = self.output, self.own(place)
        shared = self.settings["buffer"] == "shared"
        if not output.admit(unit, None if shared else own):
            return False
        if output.marked_on_arrival(own):
            unit = output.mark(unit)
        output.push(self.lines[place], unit)
        return True

    def dequeue(self) -> Waiting | None:
        """The first unit of the first band in which one waits."""
        for place, line in enumerate(self.lines):
            if line and not self.output.is_paused(place):
                return self.send(place)
        return None

    def send(self, place: int) -> Waiting | None:
        """The first unit of a line, to be sent."""
        self.sent = place
        first = self.output.pop(self.lines[place])
        return self.output.departing(first, self.bytes(place))

    def flush(self) -> list[Unit]:
        """The units of each line, in the order of the lines."""
        found = []
        for line in self.lines:
            while (waiting := self.output.pop(line)) is not None:
                found.append(waiting.unit)
        return found


class Drr(Prio):
    """Deficit round robin: Shreedhar and Varghese 1995."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.quanta: list[int] = settings["quanta_bytes"]
        super().__init__(output, settings | {"bands": list(range(len(self.quanta)))})
        self.deficit = [0] * len(self.quanta)
        self.active: list[int] = []
        #: Whether the first active line has its quantum.
        self.begun = False

    def enqueue(self, unit: Unit) -> None:
        output = self.output
        place = output.group(unit)
        while self.settings["buffer"] == "shared" and not output.fits(unit):
            sizes = [self.bytes(other) for other in range(len(self.lines))]
            sizes[place] += unit.size
            longest = sizes.index(max(sizes))
            first = output.pop(self.lines[longest])
            if first is None:
                output.drop(unit, "queue_full")
                return
            output.drop_for_room(first.unit)
            if not self.lines[longest]:
                self.idle(longest)
        was_empty = not self.lines[place]
        if self.join(place, unit) and was_empty:
            self.active.append(place)

    def idle(self, place: int) -> None:
        """An empty line loses its deficit and its turn."""
        if self.active[0] == place:
            self.begun = False
        self.active.remove(place)
        self.deficit[place] = 0

    def dequeue(self) -> Waiting | None:
        while not all(self.output.is_paused(place) for place in self.active):
            place = self.active[0]
            if self.output.is_paused(place):
                if self.begun:
                    self.deficit[place] = max(0, self.deficit[place] - self.quanta[place])
                self.active.append(self.active.pop(0))
                self.begun = False
                continue
            if not self.begun:
                self.deficit[place] += self.quanta[place]
                self.begun = True
            line = self.lines[place]
            if line[0].unit.size <= self.deficit[place]:
                self.deficit[place] -= line[0].unit.size
                sent = self.send(place)
                if not line:
                    self.idle(place)
                return sent
            self.active.append(self.active.pop(0))
            self.begun = False
        return None

    def flush(self) -> list[Unit]:
        self.active, self.begun = [], False
        self.deficit = [0] * len(self.quanta)
        return super().flush()
