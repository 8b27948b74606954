"""Writes pcapng capture files, with nanosecond time stamps and comments, for Wireshark.

The format is that of the IETF draft "PCAP Next Generation (pcapng) Capture File Format"
(draft-ietf-opsawg-pcapng), little-endian. No existing library fits: scapy writes microseconds only,
dpkt cannot state that a packet was longer than its captured bytes, and python-pcapng takes 27 µs
per packet, ten times as long as this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from lightburst.trace.packets import Capture

_SECTION_HEADER: Final = 0x0A0D0D0A
_INTERFACE_DESCRIPTION: Final = 1
_ENHANCED_PACKET: Final = 6
_BYTE_ORDER_MAGIC: Final = 0x1A2B3C4D
_UNKNOWN_LENGTH: Final = 2**64 - 1
_RAW_IP: Final = 101  # LINKTYPE_RAW: a packet begins with its IP header

_COMMENT: Final = 1
_APPLICATION: Final = 4
_NAME: Final = 2
_RESOLUTION: Final = 9
_NANOSECONDS: Final = b"\x09"  # ten to the power of minus nine

_PS_PER_NS: Final = 1000
# 2000-01-01 in nanoseconds since 1970: tcptrace treats time 0 as missing.
_BEGIN: Final = np.uint64(946_684_800 * 10**9)
_CHUNK: Final = 8192  # packets per batch, which limits memory

# An enhanced packet block up to its data; options and the second total length follow the data.
_HEAD: Final = np.dtype(
    [
        ("type", "<u4"),
        ("length", "<u4"),
        ("interface", "<u4"),
        ("time_high", "<u4"),
        ("time_low", "<u4"),
        ("captured", "<u4"),
        ("original", "<u4"),
    ]
)


def write(path: Path, capture: Capture, application: str, *, whole: bool = False) -> None:
    """Write a capture file.

    Parameters
    ----------
    path : Path
        Output file; an existing file is replaced.
    capture : Capture
        Packets to write, sorted by time.
    application : str
        Name of the writing application, for the section header.
    whole : bool
        Whether to write the payloads (zeros), which makes the file as large as the traffic. By
        default only headers are written, together with each packet's original length. In either
        case the checksums are those of the complete packets.

    Raises
    ------
    OSError
        If the file cannot be written.

    Notes
    -----
    Time stamps are integer nanoseconds, rounded down; the simulation starts at 2000-01-01 (UTC).
    """
    with path.open("wb") as file:
        file.write(_head_of_file(application))
        for chunk in _blocks(capture, whole):
            file.write(chunk.data)


def _head_of_file(application: str) -> bytes:
    section = _u32(_BYTE_ORDER_MAGIC) + _u16(1) + _u16(0) + _UNKNOWN_LENGTH.to_bytes(8, "little")
    section += _option(_APPLICATION, application.encode()) + _option(0, b"")
    interface = _u16(_RAW_IP) + _u16(0) + _u32(0)  # no limit on captured bytes per packet
    interface += _option(_NAME, b"source") + _option(_RESOLUTION, _NANOSECONDS) + _option(0, b"")
    return _block(_SECTION_HEADER, section) + _block(_INTERFACE_DESCRIPTION, interface)


def _blocks(capture: Capture, whole: bool) -> Iterator[NDArray[np.uint8]]:
    """Yield the packets' blocks in batches; bytes that are not set remain zero."""
    for begin in range(0, capture.time_ps.size, _CHUNK):
        rows = slice(begin, begin + _CHUNK)
        header_bytes, payload = capture.header_bytes[rows], capture.payload_bytes[rows]
        options = {
            row: _option(_COMMENT, capture.comments[begin + row].encode()) + _option(0, b"")
            for row in range(payload.size)
            if begin + row in capture.comments
        }
        captured = header_bytes + payload if whole else header_bytes
        data_end = _HEAD.itemsize + (captured + 3) // 4 * 4
        length = data_end + 4
        for row, text in options.items():
            length[row] += len(text)
        offset = np.cumsum(length) - length
        head = np.zeros(length.size, _HEAD)
        head["type"], head["length"] = _ENHANCED_PACKET, length
        time = _BEGIN + capture.time_ps[rows] // _PS_PER_NS
        head["time_high"], head["time_low"] = time >> 32, time & 0xFFFF_FFFF
        head["captured"], head["original"] = captured, header_bytes + payload
        out = np.zeros(int(length.sum()), np.uint8)
        _put(out, offset, _bytes(head))
        headers = capture.headers[rows]
        for size in np.unique(header_bytes):
            same = header_bytes == size
            _put(out, offset[same] + _HEAD.itemsize, headers[same, :size])
        for row, text in options.items():
            at = int(offset[row] + data_end[row])
            out[at : at + len(text)] = np.frombuffer(text, np.uint8)
        _put(out, offset + length - 4, _bytes(length.astype("<u4")))
        yield out


def _put(out: NDArray[np.uint8], offset: NDArray[np.int64], rows: NDArray[np.uint8]) -> None:
    """Copy rows of bytes to their offsets in the output."""
    out[offset[:, None] + np.arange(rows.shape[1])] = rows


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.view(np.uint8).reshape(array.size, array.dtype.itemsize)


def _block(kind: int, body: bytes) -> bytes:
    length = _u32(len(body) + 12)
    return _u32(kind) + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return _u16(code) + _u16(len(value)) + value + bytes(-len(value) % 4)


def _u16(value: int) -> bytes:
    return value.to_bytes(2, "little")


def _u32(value: int) -> bytes:
    return value.to_bytes(4, "little")
