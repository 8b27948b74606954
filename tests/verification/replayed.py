"""Exact cases by hand of the sender of today: acknowledgements at times, without a network.

Segments have numbers from 0, and times are in milliseconds since the handshake, which took 200 ms.
Timers have no ticks, so that each time is exact to the microsecond.
"""

from __future__ import annotations

from typing import Any

from lightburst.trace import Acknowledgement, Replay, Write, replay

M = 1448
ROUND_TRIP_MS = 200

Event = Write | Acknowledgement


def write(at_ms: float, segments: int) -> Write:
    """The application writes segments."""
    return Write(at_ms / 1000, segments * M)


def ack(at_ms: float, next_one: int, *blocks: tuple[int, int], echo: bool = False) -> Event:
    """An acknowledgement of the segments before `next_one`, with SACK blocks."""
    inside = [(first * M, end * M) for first, end in blocks]
    return Acknowledgement(at_ms / 1000, next_one * M, inside, echo=echo)


def play(
    events: list[Event],
    until_ms: float = 0,
    recovery: dict[str, Any] | None = None,
    handshake_ms: float = ROUND_TRIP_MS,
    **settings: Any,
) -> Replay:
    """Replay events to the sender of the preset `linux`, with Reno."""
    transport = {
        "kind": "tcp",
        "preset": "linux",
        "congestion_control": "linux-reno",
        "recovery": {"kind": "rack-tlp", **(recovery or {})},
        "timer_tick": "1 us",
        **settings,
    }
    return replay(transport, events, handshake_s=handshake_ms / 1000, until_s=until_ms / 1000)


def sent(log: Replay, after_ms: float = 0) -> list[tuple[int, float]]:
    """Segments sent after a time, with their times in milliseconds."""
    rows = log.transmissions.to_dict("records")
    found = [(int(row["sequence"]) // M, round(float(row["at_s"]) * 1000, 6)) for row in rows]
    return [one for one in found if one[1] > after_ms]


def threshold(log: Replay) -> float:
    """ssthresh after the last acknowledgement, in segments."""
    return float(log.states.ssthresh_bytes.iloc[-1]) / M


def window(log: Replay) -> float:
    """Window after the last acknowledgement, in segments."""
    return float(log.states.cwnd_bytes.iloc[-1]) / M


def last(log: Replay, name: str) -> Any:
    """State after the last acknowledgement."""
    return log.states[name].iloc[-1]
