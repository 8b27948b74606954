"""IPv4 and TCP packets that a capture at the flow's source would show, byte by byte.

The simulator's segments have sizes but no headers. This module adds headers of RFC 791 and RFC
9293, with the options of RFC 2018 and RFC 2883 (SACK, DSACK) and RFC 7323 (window scale, time
stamps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_size
from lightburst.measurement.trace_tables import BACK
from lightburst.trace.flow import (
    AE,
    ARRIVED,
    CWR,
    ECE,
    FIN,
    FORWARD,
    LOST,
    NONE,
    REASONS,
    SYN,
    TRIMMED,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

#: Initial sequence number of both endpoints: byte k of the flow has number ISN + 1 + k mod 2^32.
ISN: Final = 0
#: Source port of flow 0 (flow f has `FIRST_PORT` + f, wrapped), and destination port of all flows.
FIRST_PORT: Final = 49_152
PORT: Final = 5001

_LARGEST_PACKET: Final = 65_535  # bytes; the largest value of IPv4's length field
_IP_BYTES: Final = 20
_TCP_BYTES: Final = 20
_TIME_STAMP_BYTES: Final = 12
_MOST_OPTIONS: Final = 40
_LARGEST_SHIFT: Final = 14  # RFC 7323, section 2.3
_NETWORK: Final = 10 << 24  # hosts are 10.0.0.1, 10.0.0.2...
_PS_PER_TICK: Final = 10**9  # one tick of the time stamps' clock is a millisecond
_TTL: Final = 64
_DO_NOT_FRAGMENT: Final = 0x4000
_TCP: Final = 6

_HEADERS: Final = np.dtype(
    [
        ("version", "u1"),
        ("service", "u1"),
        ("length", ">u2"),
        ("identification", ">u2"),
        ("fragment", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("ip_checksum", ">u2"),
        ("source", ">u4"),
        ("destination", ">u4"),
        ("source_port", ">u2"),
        ("destination_port", ">u2"),
        ("sequence", ">u4"),
        ("acknowledgement", ">u4"),
        ("data_offset", "u1"),
        ("flags", "u1"),
        ("window", ">u2"),
        ("checksum", ">u2"),
        ("urgent", ">u2"),
        ("options", "u1", (_MOST_OPTIONS,)),
    ]
)
# Comments for loss reasons whose own name is not clear enough.
_WORDS: Final = {"random": "random loss", "scripted": "scripted drop"}
_FIN, _SYN, _PSH, _ACK, _ECE, _CWR = 1, 2, 8, 16, 64, 128
_NOP, _MSS, _SCALE, _SACK_PERMITTED, _SACK, _TIME_STAMPS = (
    b"\1",
    b"\2",
    b"\3",
    b"\4",
    b"\5",
    b"\x08",
)


@dataclass(frozen=True, eq=False)
class Capture:
    """Packets of a capture, sorted by time.

    Attributes
    ----------
    time_ps : ndarray of uint64, shape (packets,)
        Time at which each packet passed the interface.
    headers : ndarray of uint8, shape (packets, 80)
        IPv4 and TCP headers with options, padded with zeros.
    header_bytes, payload_bytes : ndarray of int64, shape (packets,)
        Lengths of headers and payloads; payloads consist of zeros.
    comments : mapping of int to str
        Comments on lost packets, by index of the packet.
    """

    time_ps: NDArray[np.uint64]
    headers: NDArray[np.uint8]
    header_bytes: NDArray[np.int64]
    payload_bytes: NDArray[np.int64]
    comments: Mapping[int, str]


def check_segment(payload_bytes: int, time_stamps: bool) -> None:
    """Refuse segments that IPv4 cannot carry.

    Parameters
    ----------
    payload_bytes : int
        Useful bytes of a full segment.
    time_stamps : bool
        Whether the packets carry time stamps.

    Raises
    ------
    InputError
        If a packet would be longer than 65,535 bytes.
    """
    most = _LARGEST_PACKET - _IP_BYTES - _TCP_BYTES - time_stamps * _TIME_STAMP_BYTES
    if payload_bytes > most:
        given = f"segments of {format_size(payload_bytes)} of data"
        allowed = f"at most {most:,} B of data in a segment, the most in an IPv4 packet"
        raise InputError("transport.segment_size", given, allowed)


def capture(trace: FlowTrace) -> Capture:
    """Return the packets that the interface of a flow's source sent and received.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    Capture
        Every packet that TCP handed to the source's interface, at the start of its transmission,
        and every packet that arrived there. A lost packet, including one dropped because the
        interface's buffer was full, has a comment with the reason and the burst, and a trimmed one
        says so, as does its header that a switch returned.

    Raises
    ------
    InputError
        If a segment is too long for IPv4, or has more SACK blocks than a TCP header can hold.
    """
    table = trace.segments
    sent, time = trace.own_packets()
    heard = np.flatnonzero(((table["flags"] & FORWARD) == 0) & (table["event"] == ARRIVED))
    seen, time = np.append(sent, heard), np.append(time, table["time_ps"][heard])
    # Ties in order of creation: an acknowledgement precedes the packets that it triggers.
    order = np.lexsort((table["packet"][seen], time))
    rows = {name: values[seen[order]] for name, values in table.items()}
    # TCP has no such packet: an acknowledgement of nothing, with a comment.
    rows["flags"] = np.where(rows["flags"] == BACK, 0, rows["flags"])
    own = (rows["flags"] & FORWARD) > 0
    stamped = bool((rows["timestamp_ps"] != NONE).any())
    check_segment(max(trace.payload_bytes, int(rows["payload"].max(initial=0))), stamped)
    headers = np.zeros(seen.size, _HEADERS)
    _network_layer(headers, trace, own)
    _numbers(headers, rows, own, _first_answer_to_fin(table))
    _flags(headers, rows, own, trace.size_bytes)
    shift = _window_shift(trace.window_bytes)
    syn = (rows["flags"] & SYN) > 0
    field = np.where(syn, trace.window_bytes, -(-trace.window_bytes // 2**shift))
    headers["window"] = np.minimum(field, _LARGEST_PACKET)
    size = _IP_BYTES + _TCP_BYTES + _options(headers, rows, trace, shift)
    payload = rows["payload"].astype(np.int64)
    headers["length"] = size + payload
    # The flag AE is the lowest bit of the byte of the data offset (RFC 9768, figure 1).
    headers["data_offset"] = (size - _IP_BYTES) // 4 << 4 | ((rows["flags"] & AE) > 0)
    _checksums(headers, size + payload - _IP_BYTES)
    return Capture(
        time_ps=time[order],
        headers=headers.view(np.uint8).reshape(seen.size, _HEADERS.itemsize),
        header_bytes=size,
        payload_bytes=payload,
        comments=_comments(trace, rows["packet"]),
    )


def _network_layer(headers: NDArray[Any], trace: FlowTrace, own: NDArray[np.bool_]) -> None:
    """Set addresses, ports and the identification, which counts packets per direction."""
    headers["version"], headers["ttl"], headers["protocol"] = 0x45, _TTL, _TCP
    headers["fragment"] = _DO_NOT_FRAGMENT
    headers["identification"] = np.where(own, np.cumsum(own), np.cumsum(~own)) & 0xFFFF
    here, there = _NETWORK + trace.source + 1, _NETWORK + trace.destination + 1
    headers["source"] = np.where(own, here, there)
    headers["destination"] = np.where(own, there, here)
    port = FIRST_PORT + trace.flow % (2**16 - FIRST_PORT)
    headers["source_port"] = np.where(own, port, PORT)
    headers["destination_port"] = np.where(own, PORT, port)


def _first_answer_to_fin(table: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of the destination's first packet with FIN, even if it was lost."""
    answers = (table["flags"] & (FORWARD | FIN)) == FIN
    return int(table["packet"][answers].min(initial=NONE))


def _numbers(
    headers: NDArray[Any],
    rows: Mapping[str, NDArray[Any]],
    own: NDArray[np.bool_],
    answered: int,
) -> None:
    """Set sequence and acknowledgement numbers; SYN and FIN occupy one each (RFC 9293, 3.4).

    `answered` is the packet number of the destination's first FIN, which acknowledges the source's.
    """
    flags, data = rows["flags"], rows["payload"].astype(np.uint64)
    syn, fin = (flags & SYN) > 0, (flags & FIN) > 0
    end = np.maximum.accumulate(np.where(own, rows["sequence"] + data, 0))
    # A segment without data has the sequence number of the next byte to send.
    finished = np.logical_or.accumulate(own & fin) & ~fin
    number = np.where(data > 0, rows["sequence"], end + finished)
    # Packet numbers show which packets the destination created after its FIN.
    closed = rows["packet"] > answered
    sequence = np.where(own, number, (closed & ~fin).astype(np.uint64))
    headers["sequence"] = (ISN + np.where(syn, 0, 1 + sequence)).astype(np.uint32)
    # Acknowledgements of the source: 1 covers the SYN, 2 the SYN and the FIN.
    answer = np.where(own, np.maximum(rows["acknowledgement"], 1), 1 + rows["acknowledgement"])
    answer = ISN + answer + (~own & (fin | closed))
    headers["acknowledgement"] = np.where(own & syn, 0, answer).astype(np.uint32)


def _flags(
    headers: NDArray[Any],
    rows: Mapping[str, NDArray[Any]],
    own: NDArray[np.bool_],
    size_bytes: int,
) -> None:
    syn, fin = (rows["flags"] & SYN) > 0, (rows["flags"] & FIN) > 0
    last = (rows["payload"] > 0) & (rows["sequence"] + rows["payload"] == size_bytes)
    # All packets except the first acknowledge (RFC 9293, 3.10.7).
    echoes, reduced = (rows["flags"] & ECE) > 0, (rows["flags"] & CWR) > 0
    acknowledges = ~(own & syn)
    headers["flags"] = (
        _SYN * syn + _FIN * fin + _PSH * last + _ACK * acknowledges + _ECE * echoes + _CWR * reduced
    )


def _window_shift(window_bytes: int) -> int:
    """Return the smallest shift at which the window fits 16 bits, or the largest allowed shift."""
    wanted = (shift for shift in range(_LARGEST_SHIFT) if -(-window_bytes // 2**shift) <= 0xFFFF)
    return next(wanted, _LARGEST_SHIFT)


def _options(
    headers: NDArray[Any], rows: Mapping[str, NDArray[Any]], trace: FlowTrace, shift: int
) -> NDArray[np.int64]:
    """Set the options and return their lengths; packets with equal option layouts are batched."""
    syn = (rows["flags"] & SYN) > 0
    stamped = rows["timestamp_ps"] != NONE
    layouts = 4 * rows["blocks"].astype(np.int64) + 2 * stamped + syn
    lengths = np.zeros(syn.size, np.int64)
    for layout in np.unique(layouts).tolist():
        is_syn, is_stamped, blocks = layout & 1, layout >> 1 & 1, layout >> 2
        same = np.flatnonzero(layouts == layout)
        parts: list[bytes | NDArray[np.uint8]] = []
        if is_syn:
            # RFC 6691: the MSS does not subtract the options of later segments.
            largest = trace.payload_bytes + is_stamped * _TIME_STAMP_BYTES
            parts.append(_MSS + b"\4" + int(largest).to_bytes(2, "big"))
            parts.append(_NOP + _SCALE + b"\3" + bytes([shift]))
            if trace.sack:
                parts.append(_NOP + _NOP + _SACK_PERMITTED + b"\2")
        if is_stamped:
            clock, echo = rows["timestamp_ps"][same], rows["echo_ps"][same]
            echo = np.where(echo == NONE, 0, echo)
            parts.append(_NOP + _NOP + _TIME_STAMPS + b"\x0a")
            parts += [_u32(clock // _PS_PER_TICK), _u32(echo // _PS_PER_TICK)]
        if blocks:
            parts.append(_NOP + _NOP + _SACK + bytes([2 + 8 * blocks]))
            for block in range(blocks):
                for edge in ("start", "end"):
                    parts.append(_u32(ISN + 1 + rows[f"block_{edge}_{block}"][same]))
        at = 0
        for part in parts:
            values = np.frombuffer(part, np.uint8) if isinstance(part, bytes) else part
            width = values.shape[-1]
            if at + width > _MOST_OPTIONS:
                most = "at most 3 with time stamps: a TCP header has no room for more"
                raise InputError("transport.recovery.sack_blocks", str(blocks), most)
            headers["options"][same, at : at + width] = values
            at += width
        lengths[same] = at
    return lengths


def _u32(values: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the low 32 bits of numbers as big-endian bytes."""
    low = values.astype(np.uint32).astype(">u4")
    return low.view(np.uint8).reshape(values.size, 4)


def _checksums(headers: NDArray[Any], segment_bytes: NDArray[np.int64]) -> None:
    """Set the checksums of IPv4 (RFC 1071) and TCP; the payload of zeros adds nothing to TCP's."""
    words = headers.view(">u2").reshape(headers.size, _HEADERS.itemsize // 2)
    ip, tcp = words[:, : _IP_BYTES // 2], words[:, _IP_BYTES // 2 :]
    headers["ip_checksum"] = _complement(ip.sum(axis=1, dtype=np.int64))
    addresses = words[:, 6:10].sum(axis=1, dtype=np.int64)  # part of TCP's pseudo-header
    total = tcp.sum(axis=1, dtype=np.int64) + addresses + _TCP + segment_bytes
    headers["checksum"] = _complement(total)


def _complement(total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fold sums to 16 bits with end-around carry and return their complements."""
    for _ in range(2):
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _comments(trace: FlowTrace, packets: NDArray[np.uint64]) -> dict[int, str]:
    """Return a comment for each lost, trimmed or returned packet of the capture, by index.

    That of a lost one has its burst and the reason.
    """
    table = trace.segments
    lost = table["event"] == LOST
    cut = np.isin(packets, table["packet"][table["event"] == TRIMMED])
    comments = dict.fromkeys(np.flatnonzero(cut).tolist(), "trimmed to its header by a queue")
    back = table["packet"][(table["event"] == ARRIVED) & (table["flags"] == BACK)]
    # Its header comes after the packet.
    _, again = np.unique(packets[::-1], return_index=True)
    again = packets.size - 1 - again
    again = again[np.isin(packets[again], back)].tolist()
    comments |= dict.fromkeys(again, "header of a trimmed packet, returned by a switch")
    # A packet is lost at most once, and one that is lost is captured at most once.
    _, of_lost, places = np.intersect1d(table["packet"][lost], packets, return_indices=True)
    for row, place in zip(np.flatnonzero(lost)[of_lost].tolist(), places.tolist(), strict=True):
        burst, reason = int(table["burst"][row]), REASONS[table["reason"][row]]
        where = "lost" if burst == NONE else f"lost in burst {burst}"
        comments[place] = f"{where}: {_WORDS.get(reason, reason.replace('-', ' '))}"
    return comments
