"""A made-up trace of one flow, written down by hand, in the columns of the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np

from lightburst.measurement.places import Places
from lightburst.trace.flow import (
    ACK,
    ARRIVED,
    FIN,
    FORWARD,
    LOST,
    NONE,
    REASONS,
    SENT,
    SYN,
    FlowTrace,
)

SCRIPTED = REASONS.index("scripted")
SEGMENT = 1000
SIZE = 7_500  # seven full segments and half a one
WINDOW = 200_000
SECOND = 10**12
_TYPES = {
    "time_ps": "u8", "flow": "u4", "event": "u1", "packet": "u8", "flags": "u1", "sequence": "u8",
    "acknowledgement": "u8", "payload": "u4", "retransmission": "u1", "burst": "u8",
    "reason": "u1", "blocks": "u1", "timestamp_ps": "u8", "echo_ps": "u8",
    **{f"block_{edge}_{place}": "u8" for edge in ("start", "end") for place in range(4)},
}  # fmt: skip
_WINDOW_TYPES = {
    "time_ps": "u8", "flow": "u4", "congestion_window": "f8", "inflation": "f8",
    "slow_start_threshold": "f8", "in_flight": "u8", "rtt_ps": "u8", "rto_ps": "u8", "state": "u1",
    "pacing": "u8", "reordering_window_ps": "u8", "undone": "u4",
}  # fmt: skip
_BURST_TYPES = {
    "opened_ps": "u8", "departure_ps": "u8", "number": "u8", "node": "u4", "packets": "u4",
    "bytes": "u8", "data": "u1", "lost": "u1", "reason": "u1",
}  # fmt: skip


def columns(types: dict[str, str], rows: list[dict[str, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    rows = sorted(rows, key=lambda row: next(iter(row.values())))
    return {name: np.array([row[name] for row in rows], kind) for name, kind in types.items()}


class Log:
    """Packets of a flow, each sent at one end and then arrived at the other, or lost."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.sent = 0

    def packet(
        self,
        at: int,
        flags: int,
        *,
        number: int = 0,
        acknowledgement: int = 0,
        payload: int = 0,
        again: bool = False,
        burst: int | None = None,
        blocks: tuple[tuple[int, int], ...] = (),
        clock: tuple[int, int] = (NONE, NONE),
    ) -> None:
        """Send a packet; it takes 10 ms, or is lost after 5 ms where a burst is named."""
        row: dict[str, Any] = {
            "time_ps": at, "flow": 3, "packet": self.sent, "flags": flags, "sequence": number,
            "acknowledgement": acknowledgement, "payload": payload, "retransmission": again,
            "burst": NONE, "reason": 255, "blocks": len(blocks), "timestamp_ps": clock[0],
            "echo_ps": clock[1],
        }  # fmt: skip
        for place in range(4):
            start, end = blocks[place] if place < len(blocks) else (0, 0)
            row |= {f"block_start_{place}": start, f"block_end_{place}": end}
        self.sent += 1
        self.rows.append(row | {"event": SENT})
        if burst is None:
            self.rows.append(row | {"event": ARRIVED, "time_ps": at + SECOND // 100})
        else:
            lost = {
                "event": LOST,
                "time_ps": at + SECOND // 200,
                "burst": burst,
                "reason": SCRIPTED,
            }
            self.rows.append(row | lost)

    def data(self, at: int, segment: int, flags: int = FORWARD, **options: Any) -> None:
        """Send a segment of the flow."""
        start = segment * SEGMENT
        payload = min(SEGMENT, SIZE - start)
        self.packet(at, flags, number=start, acknowledgement=1, payload=payload, **options)


def eventful() -> Log:
    """Record a flow that loses a burst of two segments, then one of them again, and has an
    unnecessary retransmission.
    """
    log, ms = Log(), SECOND // 1000
    log.packet(0, SYN | FORWARD)
    log.packet(10 * ms, SYN | ACK)
    log.packet(20 * ms, ACK | FORWARD, acknowledgement=1)
    for segment in range(7):
        # A picosecond before the next nanosecond: time stamps are rounded down.
        at = 21 * ms + segment * ms // 10 + 999
        log.data(at, segment, burst=2 if segment in {1, 3} else None)
    log.packet(32 * ms, ACK, acknowledgement=1000)
    log.packet(33 * ms, ACK, acknowledgement=1000, blocks=((2000, 3000),))
    log.packet(34 * ms, ACK, acknowledgement=1000, blocks=((4000, 5000), (2000, 3000)))
    log.packet(35 * ms, ACK, acknowledgement=1000, blocks=((4000, 6000), (2000, 3000)))
    log.packet(36 * ms, ACK, acknowledgement=1000, blocks=((4000, 7000), (2000, 3000)))
    log.data(46 * ms, 1, again=True)
    log.data(47 * ms, 3, again=True, burst=5)
    log.data(48 * ms, 7)
    log.packet(57 * ms, ACK, acknowledgement=3000, blocks=((4000, 7000),))
    log.packet(59 * ms, ACK, acknowledgement=3000, blocks=((4000, 7500),))
    log.data(300 * ms, 3, again=True)
    log.data(301 * ms, 4, again=True)
    log.packet(311 * ms, ACK, acknowledgement=SIZE)
    log.packet(312 * ms, ACK, acknowledgement=SIZE, blocks=((4000, 5000),))  # a DSACK
    log.packet(330 * ms, FIN | FORWARD, acknowledgement=1)
    log.packet(340 * ms, FIN | ACK, acknowledgement=SIZE)
    log.packet(350 * ms, ACK | FORWARD, acknowledgement=2)
    return log


def windows() -> list[dict[str, Any]]:
    """Record the state of the sender; the row at 300 ms is that of a timeout."""
    kinds = ((0, 42), (2, 46), (2, 67), (3, 300), (3, 321), (0, 322))
    return [
        {
            "time_ps": at * SECOND // 1000, "flow": 3, "congestion_window": 4000.0 + at,
            "inflation": 3000.0 if state == 2 else 0.0,
            "slow_start_threshold": np.inf if at == 42 else 2000.0, "in_flight": 3000,
            "rtt_ps": 21 * SECOND // 1000, "rto_ps": SECOND // 5, "state": state,
            "pacing": 0, "reordering_window_ps": NONE, "undone": 0,
        }
        for state, at in kinds
    ]  # fmt: skip


def bursts() -> list[dict[str, Any]]:
    """Record the bursts of the edge, each a millisecond long, in which the packets left."""
    opened = [(1, 7, 10), (2, 31, 33), (5, 56, 59), (6, 310, 312)]
    return [
        {
            "opened_ps": begin * SECOND // 1000, "departure_ps": end * SECOND // 1000,
            "number": number, "node": 8, "packets": 3, "bytes": 3000, "data": number > 1,
            "lost": number in {2, 5}, "reason": SCRIPTED if number in {2, 5} else 255,
        }
        for number, begin, end in opened
    ]  # fmt: skip


def trace(log: Log | None = None, **changes: Any) -> FlowTrace:
    """Return the trace of a log, by default that of the eventful flow."""
    segments = columns(_TYPES, (log or eventful()).rows)
    given: dict[str, Any] = {
        "flow": 3, "source": 0, "destination": 300, "size_bytes": SIZE, "payload_bytes": SEGMENT,
        "window_bytes": WINDOW, "connected": True, "sack": True, "segments": segments,
        "windows": columns(_WINDOW_TYPES, windows()), "bursts": columns(_BURST_TYPES, bursts()),
        "hops": {}, "places": Places(*np.zeros((2, 0), np.uint32)),
        "access_ps": (segments["flags"] & FORWARD > 0).astype(np.uint64) * np.uint64(10**10),
    }  # fmt: skip
    return FlowTrace(**(given | changes))
