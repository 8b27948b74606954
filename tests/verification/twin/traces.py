"""The tables of a trace: packets and bursts out of what happened to them, windows as they were."""

from typing import Any

import numpy as np
import numpy.typing as npt

from twin.network import Burst, Packet, Trace, TraceEntry, WindowRow

NONE = 2**64 - 1
NO_REASON = 255
REASONS = [
    "contention",
    "no-input-port",
    "buffer-full",
    "queue-full",
    "access-buffer-full",
    "random",
    "scripted",
]
SYN, ACK, FIN, FORWARD = 1, 2, 4, 8
FLAGS = {
    "syn": SYN | FORWARD,
    "syn+ack": SYN | ACK,
    "data": ACK | FORWARD,
    "data+fin": ACK | FIN | FORWARD,
    "fin": FIN | FORWARD,
    "fin+ack": FIN | ACK,
    "ack": ACK,
    "datagram": FORWARD,
}
SENT, ARRIVED, LOST = range(3)

BURST_TYPES = {
    "opened_ps": "u8",
    "departure_ps": "u8",
    "number": "u8",
    "node": "u4",
    "packets": "u4",
    "bytes": "u8",
    "data": "u1",
    "lost": "u1",
    "reason": "u1",
}

Table = dict[str, npt.NDArray[Any]]


WINDOW_TYPES = ["u8", "u4", "f8", "f8", "f8", "u8", "u8", "u8", "u1"]


def windows(rows: list[WindowRow], traced: set[int]) -> Table:
    """``trace_windows``."""
    mine = [row for row in rows if row.flow in traced]
    columns = zip(*mine, strict=True) if mine else [[] for _ in WINDOW_TYPES]
    named = zip(WindowRow._fields, columns, WINDOW_TYPES, strict=True)
    return {name: np.array(column, kind) for name, column, kind in named}


def reason_of(entry: TraceEntry) -> int:
    """The number of the reason of a drop."""
    return REASONS.index(entry.what.removeprefix("drop ").replace("_", "-"))


SegmentRow = tuple[int, int, Packet, int, int]


def segment_rows(trace: Trace, traced: set[int], hosts: int) -> list[SegmentRow]:
    """Time, event, packet, burst and reason, in the order of time."""
    rows: list[SegmentRow] = []
    for entry in trace:
        if entry.what == "send" and entry.node < hosts:
            assert isinstance(entry.unit, Packet) and entry.begins is not None
            rows.append((entry.begins, SENT, entry.unit, NONE, NO_REASON))
        elif entry.what == "deliver":
            assert isinstance(entry.unit, Packet)
            rows.append((entry.time, ARRIVED, entry.unit, NONE, NO_REASON))
        elif entry.what.startswith("drop"):
            burst = entry.unit.number if isinstance(entry.unit, Burst) else NONE
            reason = reason_of(entry)
            rows += [(entry.time, LOST, packet, burst, reason) for packet in entry.unit.packets]
    mine = [row for row in rows if row[2].flow in traced]
    return sorted(mine, key=lambda row: row[0])


def segments(trace: Trace, traced: set[int], sources: list[int], hosts: int) -> Table:
    """``trace_segments``."""
    rows = segment_rows(trace, traced, hosts)
    packets = [row[2] for row in rows]

    def column(kind: str, values: list[int]) -> npt.NDArray[Any]:
        return np.array(values, kind)

    def forward(packet: Packet) -> bool:
        return packet.destination != sources[packet.flow]

    def acknowledgement(packet: Packet) -> int:
        if not forward(packet):
            return packet.number
        return packet.number + 1 if packet.kind == "ack" else 0

    def edge(packet: Packet, block: int, side: int) -> int:
        return packet.blocks[block][side] if block < len(packet.blocks) else 0

    return {
        "time_ps": column("u8", [row[0] for row in rows]),
        "flow": column("u4", [packet.flow for packet in packets]),
        "event": column("u1", [row[1] for row in rows]),
        "packet": column("u8", [packet.serial + 1 for packet in packets]),
        "flags": column("u1", [FLAGS[p.kind] | FORWARD * forward(p) for p in packets]),
        "sequence": column("u8", [p.number if p.payload else 0 for p in packets]),
        "acknowledgement": column("u8", [acknowledgement(packet) for packet in packets]),
        "payload": column("u4", [packet.payload for packet in packets]),
        "retransmission": column("u1", [packet.again for packet in packets]),
        "burst": column("u8", [row[3] for row in rows]),
        "reason": column("u1", [row[4] for row in rows]),
        "blocks": column("u1", [len(packet.blocks) for packet in packets]),
        **{
            f"block_{name}_{i}": column("u8", [edge(packet, i, side) for packet in packets])
            for i in range(4)
            for side, name in enumerate(("start", "end"))
        },
        "timestamp_ps": column("u8", [NONE if p.stamp is None else p.stamp for p in packets]),
        "echo_ps": column("u8", [NONE if p.echo is None else p.echo for p in packets]),
    }


def bursts(trace: Trace, traced: set[int]) -> Table:
    """``trace_bursts``: those that carried packets of the traced flows."""
    opened: dict[str, int] = {}
    rows: dict[int, list[int]] = {}
    for entry in trace:
        if entry.what in ("wait", "assemble"):
            opened.setdefault(entry.unit.name, entry.time)
        if not isinstance(entry.unit, Burst):
            continue
        burst = entry.unit
        if not any(packet.flow in traced for packet in burst.packets):
            continue
        if entry.what == "send" and burst.number not in rows:
            assert entry.begins is not None
            data = any(packet.payload for packet in burst.packets)
            first = opened[burst.packets[0].name]
            rows[burst.number] = [
                first,
                entry.begins,
                burst.number,
                entry.node,
                len(burst.packets),
                burst.size,
                data,
                0,
                NO_REASON,
            ]
        elif entry.what.startswith("drop"):
            rows[burst.number][-2:] = [1, reason_of(entry)]
    return {
        name: np.array([row[i] for row in rows.values()], kind)
        for i, (name, kind) in enumerate(BURST_TYPES.items())
    }
