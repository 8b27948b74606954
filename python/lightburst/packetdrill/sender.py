"""The sender of the core that a script drives."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lightburst import _core
from lightburst.compile.settings import transport_settings
from lightburst.foundation.units import PICOSECONDS_PER_SECOND
from lightburst.packetdrill.cutting import Cuts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.scenario.transport import Tcp

MICROSECOND: Final = PICOSECONDS_PER_SECOND // 10**6
"""Picoseconds."""
# A segment is noted a moment after it was sent.
_MOMENT: Final = MICROSECOND
_MOST_BLOCKS: Final = 4


@dataclass(frozen=True)
class Sent:
    """A segment with data that the sender sent.

    Attributes
    ----------
    at_ps : int
        Time since the start of the script.
    start, end : int
        Its data, counted from 0.
    again : bool
        Whether it was sent before.
    by_timer : bool
        Whether a timer released it.
    reduced : bool
        Whether it has CWR.
    """

    at_ps: int
    start: int
    end: int
    again: bool
    by_timer: bool
    reduced: bool


class Sender:
    """A sender after its handshake.

    Each event is told in the order of the script. What the sender does until the next one is
    found by a replay of all events so far: it depends on no later event.

    Parameters
    ----------
    transport : Tcp
        Its settings.
    established_us : int
        End of the handshake since the start of the script.
    handshake_us : int
        Round trip of the handshake.
    window : int
        Receive window of the handshake in bytes.
    accepted : bool
        Whether the peer began the connection.
    """

    def __init__(
        self,
        transport: Tcp,
        established_us: int,
        handshake_us: int,
        window: int,
        *,
        accepted: bool,
    ) -> None:
        self.mss = transport.payload
        self.cuts = Cuts(self.mss)
        # When the segment that is held back leaves, if nothing else releases it.
        self.release_us: int | None = None
        self._told = 0
        # Acknowledgements within a segment, with their times.
        self._cut_short: list[tuple[int, int]] = []
        self.clock_ps = self.origin_ps = established_us * MICROSECOND
        # A handshake within a microsecond takes one, as in the kernel.
        self._fixed = {
            "transport": transport_settings(transport),
            "handshake_ps": max(handshake_us, 1) * MICROSECOND,
            "window": window,
            "accepted": accepted,
        }
        self._events: list[dict[str, Any]] = []
        self._by_timer: set[int | None] = {None}
        self._found: tuple[int, dict[str, list[dict[str, Any]]]] | None = None

    @property
    def written(self) -> int:
        """Bytes that the application wrote."""
        return self.cuts.written

    def write(self, size: int, *, end_of_record: bool) -> None:
        """Have the application write `size` bytes; the sender knows of them after `offer`."""
        sent = max((one.end for one in self.sent(self.clock_ps)), default=0)
        self.cuts.write(size, bisect_left(self.cuts.ends, sent), end_of_record=end_of_record)

    @property
    def holds(self) -> bool:
        """Whether the last segment is held back."""
        return self._told < self.cuts.count

    def offer(self, at_us: int, *, hold: bool) -> None:
        """Let the sender have the segments written, but the last if it is short and to be held."""
        short = self.cuts.last() < self.mss
        count = self.cuts.count - (hold and short)
        if count > self._told:
            self._told = count
            self._add(at_us, written=count * self.mss)
        if not self.holds:
            self.release_us = None

    def settle(self, at_us: int) -> None:
        """Release the segment that is held back, if its time comes up to `at_us`."""
        if self.release_us is not None and self.release_us <= at_us:
            self._by_timer.add(len(self._events))
            self.offer(self.release_us, hold=False)

    def hear(
        self,
        at_us: int,
        acknowledgement: int,
        *,
        window: int | None,
        blocks: Sequence[tuple[int, int]],
        echo: bool,
        ace: int,
        own_stamp: int | None,
        stamp_ps: int | None,
    ) -> None:
        """Let an acknowledgement arrive, of data counted from 0.

        A segment that is SACKed in part is not SACKed, as in the kernel.
        """
        cuts = self.cuts
        if cuts.down(acknowledgement) != cuts.up(acknowledgement):
            self._cut_short.append((at_us * MICROSECOND, acknowledgement))
        whole = [(cuts.up(start), cuts.down(end)) for start, end in blocks]
        event: dict[str, Any] = {
            "acknowledgement": cuts.down(acknowledgement),
            "blocks": [block for block in whole if block[0] < block[1]][:_MOST_BLOCKS],
            "echo": echo,
            "ace": ace,
        }
        if own_stamp is not None:
            event["stamp"] = max(own_stamp, 0)
        if window is not None:
            event["window"] = cuts.window(acknowledgement, window)
        if stamp_ps is not None and stamp_ps >= self.origin_ps:
            # The kernel stamps in milliseconds.
            since = stamp_ps - self.origin_ps
            event["timestamp_ps"] = since - since % (1000 * MICROSECOND)
        self._add(at_us, **event)

    def look(self, at_us: int) -> dict[str, Any]:
        """Return the state at a time, after all that happens then."""
        self._add(at_us, look_ps=None)
        last = len(self._events) - 1
        rows = self._replay(self.clock_ps)["states"]
        return next(row for row in reversed(rows) if row["event"] == last)

    def sent(self, until_ps: int) -> list[Sent]:
        """Return the segments sent up to a time, if nothing else happens until then."""
        counts: dict[int, int] = {}
        found = []
        for row in self._replay(until_ps)["transmissions"]:
            start = row["sequence"]
            counts[start] = counts.get(start, 0) + 1
            at_ps = row["at_ps"] + self.origin_ps
            if at_ps > until_ps:
                break
            begin, end = self.cuts.bounds(start)
            for since_ps, number in self._cut_short:
                if since_ps <= at_ps and number < end:
                    # What was acknowledged of a segment is not sent again.
                    begin = max(begin, number)
            # An event after all that were told is the release.
            again, cause = counts[start] > 1, row["event"]
            by_timer = cause in self._by_timer or cause == len(self._events)
            found.append(Sent(at_ps, begin, end, again, by_timer, row["reduced"]))
        return found

    def pass_to(self, at_ps: int) -> None:
        """Let no later event come before a time."""
        self.clock_ps = max(self.clock_ps, at_ps)

    def _add(self, at_us: int, **event: Any) -> None:
        # Events at one time keep their order, a picosecond apart; the sender counts microseconds.
        self.clock_ps = max(at_us * MICROSECOND, self.clock_ps + 1)
        name = "look_ps" if "look_ps" in event else "at_ps"
        self._events.append({**event, name: self.clock_ps - self.origin_ps})
        self._found = None

    def _replay(self, until_ps: int) -> dict[str, list[dict[str, Any]]]:
        if self._found is None or self._found[0] < until_ps:
            events = self._events
            if self.release_us is not None and self.release_us * MICROSECOND <= until_ps:
                at_ps = self.release_us * MICROSECOND - self.origin_ps
                events = [*events, {"written": self.cuts.count * self.mss, "at_ps": at_ps}]
            capture = {
                **self._fixed,
                "end_ps": max(until_ps, self.clock_ps) - self.origin_ps + _MOMENT,
                "events": events,
            }
            self._found = (until_ps, _core.replay(json.dumps(capture)))
        return self._found[1]
