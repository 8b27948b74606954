"""Pending events, and their order."""

import heapq
from collections.abc import Callable
from typing import NamedTuple, Protocol

from twin.rng import mix, stream


class Moment(NamedTuple):
    """The order of events of one instant: class, place, subject, kind."""

    event_class: int
    place: int
    subject: int = 0
    kind: int = 0


class Changes(Protocol):
    """What happens between two instants with events."""

    def due(self, event: int | None) -> int | None:
        """The time of the next change, if that is before the next event, at `event`."""

    def make(self) -> None:
        """Make the changes of the present."""


class EventQueue:
    """Pending events in the order of (time, class, rank of place, rank of subject, kind)."""

    def __init__(self, time_limit: int, seed: int) -> None:
        self.now = 0
        self.time_limit = time_limit
        self.salt = stream(seed, "ties").next()
        self.handled = 0
        self.added = 0
        self.pending: list[tuple[tuple[int, ...], Callable[[], None]]] = []

    def add(self, time: int, moment: Moment, handler: Callable[[], None]) -> None:
        """Let `handler` be called at `time`."""
        assert time >= self.now, "an event in the past"
        place = mix(mix(self.salt ^ time) ^ moment.place)
        subject = mix(place ^ moment.subject)
        # Two events equal in all keys have the same effect: the count only keeps handlers from
        # being compared.
        self.added += 1
        key = (time, moment.event_class, place, subject, moment.kind, self.added)
        heapq.heappush(self.pending, (key, handler))

    def run(self, before: Callable[[int], None], changes: Changes) -> None:
        """Handle all events up to and including those at the time limit; returns the end of the
        run.

        `before` is called with the time of each before it is handled. `changes` come after all
        events of their instant.
        """
        while True:
            event = self.pending[0][0][0] if self.pending else None
            change = changes.due(event)
            if change is not None and change <= self.time_limit:
                before(change)
                self.now = change
                changes.make()
                continue
            if event is None or event > self.time_limit:
                break
            (time, *_), handler = heapq.heappop(self.pending)
            assert time >= self.now, "time went back"
            before(time)
            self.now = time
            self.handled += 1
            handler()
        if self.pending:
            self.now = self.time_limit
