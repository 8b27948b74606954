"""The sender of the core that a script drives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lightburst import _core
from lightburst.compile.settings import transport_settings
from lightburst.foundation.units import PICOSECONDS_PER_SECOND

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
        self.written = 0
        self.clock_ps = self.origin_ps = established_us * MICROSECOND
        # A handshake within a microsecond takes one, as in the kernel.
        self._fixed = {
            "transport": transport_settings(transport),
            "handshake_ps": max(handshake_us, 1) * MICROSECOND,
            "window": window,
            "accepted": accepted,
        }
        self._events: list[dict[str, Any]] = []
        self._found: tuple[int, dict[str, list[dict[str, Any]]]] | None = None

    def write(self, at_us: int, size: int) -> None:
        """Have the application write `size` bytes."""
        self.written += size
        self._add(at_us, written=self.written)

    def hear(
        self,
        at_us: int,
        acknowledgement: int,
        *,
        window: int | None,
        blocks: Sequence[tuple[int, int]],
        echo: bool,
        stamp_ps: int | None,
    ) -> None:
        """Let an acknowledgement arrive, of data counted from 0.

        A segment that is SACKed in part is not SACKed, as in the kernel.
        """
        whole = [(self._up(start), self._down(end)) for start, end in blocks]
        event: dict[str, Any] = {
            "acknowledgement": self._down(acknowledgement),
            "blocks": [block for block in whole if block[0] < block[1]][:_MOST_BLOCKS],
            "echo": echo,
        }
        if window is not None:
            event["window"] = window
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
            end = min(start + self.mss, self.written)
            again, by_timer = counts[start] > 1, row["event"] is None
            found.append(Sent(at_ps, start, end, again, by_timer, row["reduced"]))
        return found

    def pass_to(self, at_ps: int) -> None:
        """Let no later event come before a time."""
        self.clock_ps = max(self.clock_ps, at_ps)

    def ends_within(self, number: int) -> bool:
        """Return whether a byte number is no border of segments."""
        return number % self.mss != 0 and number != self.written

    def _up(self, number: int) -> int:
        return -(-number // self.mss) * self.mss

    def _down(self, number: int) -> int:
        """Return the border at or before a number; a last, short segment counts as a whole one."""
        return self._up(number) if number == self.written else number // self.mss * self.mss

    def _add(self, at_us: int, **event: Any) -> None:
        # Events at one time keep their order, a picosecond apart; the sender counts microseconds.
        self.clock_ps = max(at_us * MICROSECOND, self.clock_ps + 1)
        name = "look_ps" if "look_ps" in event else "at_ps"
        self._events.append({**event, name: self.clock_ps - self.origin_ps})
        self._found = None

    def _replay(self, until_ps: int) -> dict[str, list[dict[str, Any]]]:
        if self._found is None or self._found[0] < until_ps:
            capture = {
                **self._fixed,
                "end_ps": max(until_ps, self.clock_ps) - self.origin_ps + _MOMENT,
                "events": self._events,
            }
            self._found = (until_ps, _core.replay(json.dumps(capture)))
        return self._found[1]
