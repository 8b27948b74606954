"""Applications that write their data at once, or in parts."""

from collections.abc import Callable

from twin.endpoint import Flow
from twin.events import EventQueue, Moment
from twin.network import TIMER

#: Kind of the event at which an application writes.
WRITE = 6


class Application:
    """Writes of `payload` bytes and more: a segment may leave when all of it is written.

    `end` is the end of the data that may leave; `again` is called when a write is due.
    """

    def __init__(
        self, events: EventQueue, flow: Flow, payload: int, again: Callable[[], None]
    ) -> None:
        self.events, self.flow, self.payload, self.again = events, flow, payload, again
        self.written = 0
        self.end = flow.size if flow.writes is None else 0

    def write(self) -> None:
        """Write the next part, if there are parts."""
        writes, size = self.flow.writes, self.flow.size
        if writes is None:
            return
        self.written = min(self.written + writes["bytes"], size)
        if self.written == size:
            self.end = size
            return
        self.end = self.written - self.written % self.payload
        place = Moment(TIMER, self.flow.source, self.flow.index, WRITE)
        self.events.add(self.events.now + writes["interval_ps"], place, self.again)
