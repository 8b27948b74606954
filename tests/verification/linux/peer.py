"""The path and the receiver of a recorded case, in segments from 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Case = dict[str, Any]
NS_PER_MS = 1_000_000
_FRAME = 1500
"""Bytes of a full packet, in which the queue of the path is counted."""


@dataclass(frozen=True)
class Data:
    """A data segment on its way."""

    segment: int
    marked: bool
    reduced: bool
    """CWR: the sender has reduced its window."""
    stamp: int


@dataclass
class Receiver:
    """Cumulative and selective acknowledgements (RFC 5681, RFC 2018, RFC 2883)."""

    case: Case
    arrived: set[int] = field(default_factory=set)
    expected: int = 0
    blocks: list[tuple[int, int]] = field(default_factory=list)
    """Beyond `expected`; that of the newest segment comes first."""
    unacknowledged: int = 0
    echo: bool = False
    stamp: int = 0

    def take(self, data: Data) -> tuple[bool, tuple[int, int] | None]:
        """Take a segment; returns whether to acknowledge at once, and the duplicate to report."""
        number, hole = data.segment, bool(self.blocks)
        if number <= self.expected:
            self.stamp = data.stamp
        self.echo = data.marked or (self.echo and not data.reduced)
        self.unacknowledged += 1
        if number in self.arrived:
            reports = self.case["dsack"] and self.case["sack"]
            return True, (number, number + 1) if reports else None
        self.arrived.add(number)
        while self.expected in self.arrived:
            self.expected += 1
        if number >= self.expected:
            self.blocks.insert(0, self.around(number))
        first = self.blocks[:1]
        later = [one for one in self.blocks[1:] if not first or one[0] not in range(*first[0])]
        self.blocks = [one for one in first + later if one[0] >= self.expected]
        in_order = not hole and number < self.expected
        enough = self.unacknowledged >= self.case["ack_every"]
        return not in_order or data.marked or enough, None

    def around(self, number: int) -> tuple[int, int]:
        """The block of a segment that arrived: its first segment, and the end."""
        first = end = number
        while first - 1 in self.arrived:
            first -= 1
        while end in self.arrived:
            end += 1
        return first, end


@dataclass
class Path:
    """One way of a link with a rate, a delay and a queue; scripts lose, mark, hold and stall."""

    case: Case
    free_ns: float = 0.0
    held: list[list[Any]] = field(default_factory=list)
    """For each held segment: how many later ones it awaits, and the segment."""

    def __post_init__(self) -> None:
        case = self.case
        self.drops = {tuple(one) for one in case["drops"]}
        self.marks = {tuple(one) for one in case["marks"]}
        self.holds = dict(case["holds"])
        self.stalls = {(number, nth): ms for number, nth, ms in case["spikes"]}
        self.delay_ns = case["rtt_ms"] * NS_PER_MS / 2
        rate = case["rate_mbps"]
        self.byte_ns = 8_000 / rate if rate else 0.0

    def is_full(self, now: int) -> bool:
        limit = self.case["buffer"]
        waiting = max(self.free_ns - now, 0.0)
        return bool(limit and self.byte_ns) and waiting >= limit * self.byte_ns * _FRAME

    def send(self, now: int, size: int, key: tuple[int, int], *, ect: bool) -> tuple[float, str]:
        """Send a transmission, (segment from 1, nth); returns its arrival, and its fate."""
        if self.is_full(now):
            return 0.0, "queue"
        self.free_ns = max(self.free_ns, now) + size * self.byte_ns
        self.free_ns += self.stalls.get(key, 0) * NS_PER_MS
        arrival = self.free_ns + self.delay_ns
        if key in self.drops:
            return arrival, "script"
        if key[1] == 1 and key[0] in self.holds:
            return arrival, "held"
        return arrival, "marked" if ect and key in self.marks else ""

    def hold(self, data: Data) -> None:
        self.held.append([self.holds[data.segment + 1], data])

    def released(self, by: int) -> list[Data]:
        """Count the arrival of segment `by`; returns the segments that it releases."""
        for one in self.held:
            one[0] -= by > one[1].segment
        free = [data for left, data in self.held if left == 0]
        self.held = [one for one in self.held if one[0] > 0]
        return free
