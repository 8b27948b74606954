"""Recorded acknowledgements, replayed to a sender: what it would have sent."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lightburst import _core
from lightburst.compile.settings import transport_settings
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import PICOSECONDS_PER_SECOND
from lightburst.scenario.transport import Tcp

# Segments leave at once; they are noted a moment later.
_MOMENT = PICOSECONDS_PER_SECOND // 10**6
_MOST_BLOCKS = 4
_LONGEST = 1e6
_SENT = ("at_s", "sequence", "transmission", "event")


@dataclass(frozen=True)
class Write:
    """Data that the application hands to the sender.

    Attributes
    ----------
    at_s : float
        Time since the end of the handshake, in seconds.
    size_bytes : int
        Payload; whole segments, except in the last write.
    """

    at_s: float
    size_bytes: int


@dataclass(frozen=True)
class Acknowledgement:
    """An acknowledgement as it was recorded; data is counted from 0, in bytes.

    Attributes
    ----------
    at_s : float
        Time since the end of the handshake, in seconds.
    acknowledgement : int
        Next byte that the receiver expects.
    blocks : sequence of (int, int)
        SACK blocks, start and end; a duplicate first (RFC 2883).
    echo : bool
        ECE (RFC 3168).
    ace : int or None
        With ``ecn = "accurate"``, the flags AE, CWR and ECE as a number from 0 to 7: the count of
        marks (RFC 9768), which begins with 5.
    timestamp_s : float or None
        Send time that the timestamp echoes (TSecr of RFC 7323), since the handshake.
    """

    at_s: float
    acknowledgement: int
    blocks: Sequence[tuple[int, int]] = ()
    echo: bool = False
    ace: int | None = None
    timestamp_s: float | None = None


@dataclass(frozen=True)
class Replay:
    """What a sender did with recorded events.

    Attributes
    ----------
    transmissions : pandas.DataFrame
        A row for each segment sent, in order: `at_s`, `sequence` (first byte), `transmission` (its
        number, from 1) and `event` (index of the event that released it, -1 for a timer).
    states : pandas.DataFrame
        A row for each acknowledgement, right after it: `event`, `at_s`, `cwnd_bytes`,
        `ssthresh_bytes` (infinite at first), `state` (``Open``, ``Disorder``, ``CWR``,
        ``Recovery`` or ``Loss``), and in segments `sacked`, `lost`, `retransmitted`, `outstanding`,
        `reordering` and `delivered`, as in ``TCP_INFO`` of Linux. A law with a model of the path
        (``bbr1``, ``bbr3``) also has `mode`, `bandwidth_bytes_per_s`, `pacing_rate_bytes_per_s`,
        `min_rtt_s`, `pacing_gain` and `cwnd_gain`.
    """

    transmissions: pd.DataFrame
    states: pd.DataFrame


def replay(
    transport: Tcp | Mapping[str, Any],
    events: Sequence[Write | Acknowledgement],
    *,
    handshake_s: float,
    until_s: float = 0.0,
    seed: int = 0,
    accepted: bool = False,
) -> Replay:
    """Replay recorded acknowledgements to a sender, without a network.

    A sender of another system that heard the same acknowledgements at the same times, in a capture,
    is compared with this one segment by segment.

    Parameters
    ----------
    transport : Tcp or mapping
        The transport of the sender, as in a scenario; its recovery must be ``rack-tlp``, the one
        that goes by times.
    events : sequence of Write and Acknowledgement
        In the order of their times.
    handshake_s : float
        Round-trip time of the handshake, in seconds: the first that the sender knows.
    until_s : float
        End of the replay, in seconds after the handshake: timers may expire until then. The last
        event, if that is later.
    seed : int
        Seed of the draws of a law that has some (``bbr1``, ``bbr3``); at least 0 and below 2^64.
    accepted : bool
        Whether the peer began the connection. If not, its first acknowledgement tells a window and
        never counts as a duplicate.

    Returns
    -------
    Replay
        Segments sent, and the state after each acknowledgement.

    Raises
    ------
    InputError
        If the recovery goes by no times, or an event is out of order or not possible.

    Examples
    --------
    >>> log = replay(
    ...     {"kind": "tcp", "preset": "linux", "initial_window": 2},
    ...     [Write(0.0, 4 * 1448), Acknowledgement(0.1, 1448)],
    ...     handshake_s=0.1,
    ... )
    >>> list(log.transmissions.sequence)
    [0, 1448, 2896, 4344]
    """
    sender = transport if isinstance(transport, Tcp) else Tcp(**transport)
    if sender.recovery.kind != "rack-tlp":
        allowed = "'rack-tlp', the recovery that hears times (preset = 'linux')"
        raise InputError("transport.recovery", repr(sender.recovery.kind), allowed)
    _check(events, handshake_s, until_s, sender.payload)
    _check_counts(events, counts=sender.ecn == "accurate")
    if not 0 <= seed < 2**64:
        raise InputError("seed", f"{seed}", "0 to 18446744073709551615")
    capture = {
        "transport": transport_settings(sender),
        "handshake_ps": _picoseconds(handshake_s),
        "end_ps": _picoseconds(max(until_s, events[-1].at_s)) + _MOMENT,
        "events": _rows(events),
        "seed": seed,
        "accepted": accepted,
    }
    found = _core.replay(json.dumps(capture))
    return Replay(_transmissions(found["transmissions"]), _states(found["states"], events))


def _rows(events: Sequence[Write | Acknowledgement]) -> list[dict[str, Any]]:
    written, rows = 0, []
    for event in events:
        row: dict[str, Any] = {"at_ps": _picoseconds(event.at_s)}
        if isinstance(event, Write):
            written += event.size_bytes
            row["written"] = written
        else:
            row["acknowledgement"] = event.acknowledgement
            row["blocks"] = [list(block) for block in event.blocks]
            row["echo"] = event.echo
            row["ace"] = event.ace or 0
            if event.timestamp_s is not None:
                row["timestamp_ps"] = _picoseconds(event.timestamp_s)
        rows.append(row)
    return rows


def _check(
    events: Sequence[Write | Acknowledgement], handshake_s: float, until_s: float, segment: int
) -> None:
    """Refuse events that no sender could have heard."""
    if not events:
        raise InputError("events", "none", "at least one Write")
    if not 0 < handshake_s <= _LONGEST:
        raise InputError("handshake_s", f"{handshake_s}", f"more than 0 and at most {_LONGEST:g}")
    if not 0 <= until_s <= _LONGEST:
        raise InputError("until_s", f"{until_s}", f"0 to {_LONGEST:g}")
    before, written, ended = 0.0, 0, False
    for index, event in enumerate(events):
        path = f"events[{index}]"
        if not before <= event.at_s <= _LONGEST:
            allowed = f"a time from that of the event before, {before:g}, to {_LONGEST:g}"
            raise InputError(f"{path}.at_s", f"{event.at_s}", allowed)
        before = event.at_s
        if isinstance(event, Write):
            if event.size_bytes < 1 or ended:
                allowed = "at least 1; only the last write may end within a segment"
                raise InputError(f"{path}.size_bytes", f"{event.size_bytes}", allowed)
            written += event.size_bytes
            ended = written % segment != 0
            continue
        edges = [0, event.acknowledgement, *(edge for block in event.blocks for edge in block)]
        whole = all(edge % segment == 0 or edge == written for edge in edges)
        if min(edges) < 0 or max(edges) > written or not whole:
            allowed = f"borders of segments of {segment} bytes, up to the {written} bytes written"
            raise InputError(path, f"{edges[1:]}", allowed)
        ordered = all(start < end for start, end in event.blocks)
        if len(event.blocks) > _MOST_BLOCKS or not ordered:
            allowed = f"at most {_MOST_BLOCKS} blocks, each with its start before its end"
            raise InputError(f"{path}.blocks", f"{list(event.blocks)}", allowed)


def _check_counts(events: Sequence[Write | Acknowledgement], *, counts: bool) -> None:
    """Refuse counts of marks where there are none, and acknowledgements without where there are."""
    for index, event in enumerate(events):
        if isinstance(event, Write):
            continue
        if not counts and event.ace is not None:
            raise InputError(
                f"events[{index}].ace", f"{event.ace}", "None without ecn = 'accurate'"
            )
        if counts and (event.ace is None or not 0 <= event.ace < 8):
            allowed = "0 to 7 with ecn = 'accurate'"
            raise InputError(f"events[{index}].ace", f"{event.ace}", allowed)


def _picoseconds(seconds: float) -> int:
    return round(seconds * PICOSECONDS_PER_SECOND)


def _transmissions(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["at_ps", "sequence", "event"])
    table["at_s"] = table.at_ps / PICOSECONDS_PER_SECOND
    table["transmission"] = table.groupby("sequence").cumcount() + 1
    table["event"] = table.event.astype("Int64").fillna(-1).astype(int)
    return table[list(_SENT)]


def _states(rows: list[dict[str, Any]], events: Sequence[Write | Acknowledgement]) -> pd.DataFrame:
    times = [events[row["event"]].at_s for row in rows]
    named = {
        "cwnd": "cwnd_bytes",
        "ssthresh": "ssthresh_bytes",
        "bandwidth": "bandwidth_bytes_per_s",
        "pacing_rate": "pacing_rate_bytes_per_s",
        "min_rtt_ps": "min_rtt_s",
    }
    table = pd.DataFrame(rows).rename(columns=named)
    if rows:
        table.insert(1, "at_s", times)
        if "min_rtt_s" in table:
            table["min_rtt_s"] = table.min_rtt_s.astype(float) / PICOSECONDS_PER_SECOND
        table["ssthresh_bytes"] = table.ssthresh_bytes.map(lambda x: x if x < 2**62 else math.inf)
    return table
