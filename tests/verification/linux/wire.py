"""Segments of TCP over IPv4 as bytes, for the recorder."""

from __future__ import annotations

import struct
from dataclasses import dataclass

FIN, SYN, ACK, ECE, CWR = 0x01, 0x02, 0x10, 0x40, 0x80
_TCP = 6
_LINE = 4
"""Bytes in a word of a header."""
_END, _NOP, _MSS, _SCALE, _SACK_PERMITTED, _SACK, _STAMPS = 0, 1, 2, 3, 4, 5, 8


@dataclass(frozen=True)
class Received:
    """A segment that the kernel put on the wire."""

    port: int
    sequence: int
    flags: int
    length: int
    """Bytes of payload."""
    size: int
    """Bytes of the packet."""
    ect: bool
    stamp: int
    """TSval; 0 without timestamps."""


def parse(packet: bytes) -> Received | None:
    """Read a packet; None if it is no segment of TCP over IPv4."""
    if packet[0] >> 4 != 4 or packet[9] != _TCP:
        return None
    (total,) = struct.unpack_from("!H", packet, 2)
    tcp = (packet[0] & 15) * _LINE
    port, _, sequence, _, offset, flags = struct.unpack_from("!HHIIBB", packet, tcp)
    data = tcp + (offset >> 4) * _LINE
    stamp, at = 0, tcp + 20
    while at < data and packet[at] != _END:
        if packet[at] == _STAMPS:
            (stamp,) = struct.unpack_from("!I", packet, at + 2)
        at += 1 if packet[at] == _NOP else packet[at + 1]
    return Received(port, sequence, flags, total - data, total, bool(packet[1] & 3), stamp)


def synack_options(
    mss: int, *, sack: bool, scale: int | None, stamps: tuple[int, int] | None
) -> bytes:
    """Options of the answer to a SYN."""
    found = struct.pack("!BBH", _MSS, 4, mss)
    if sack:
        found += bytes((_SACK_PERMITTED, 2))
    if scale is not None:
        found += bytes((_SCALE, 3, scale))
    return found + stamps_option(stamps)


def stamps_option(stamps: tuple[int, int] | None) -> bytes:
    """TSval and TSecr (RFC 7323); nothing without them."""
    if stamps is None:
        return b""
    return struct.pack("!BBBBII", _NOP, _NOP, _STAMPS, 10, *(one & 0xFFFFFFFF for one in stamps))


def sack_option(blocks: list[tuple[int, int]]) -> bytes:
    """SACK blocks as sequence numbers (RFC 2018); nothing without blocks."""
    if not blocks:
        return b""
    edges = b"".join(struct.pack("!II", a & 0xFFFFFFFF, b & 0xFFFFFFFF) for a, b in blocks)
    return bytes((_NOP, _NOP, _SACK, 2 + len(edges))) + edges


@dataclass(frozen=True)
class Peer:
    """The end to which the kernel sends: addresses and port."""

    address: bytes
    port: int
    kernel: bytes
    """Address of the kernel."""

    def segment(
        self,
        port: int,
        sequence: int,
        acknowledgement: int,
        flags: int,
        window: int,
        options: bytes,
    ) -> bytes:
        """A segment without data to a port of the kernel."""
        options += bytes((_NOP,)) * (-len(options) % _LINE)
        length = 20 + len(options)
        numbers = sequence & 0xFFFFFFFF, acknowledgement & 0xFFFFFFFF
        fixed = (self.port, port, *numbers, length // _LINE << 4, flags, window)
        pseudo = self.address + self.kernel + struct.pack("!HH", _TCP, length)
        bare = struct.pack("!HHIIBBHHH", *fixed, 0, 0) + options
        tcp = bare[:16] + struct.pack("!H", _checksum(pseudo + bare)) + bare[18:]
        ends = self.address + self.kernel
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, _TCP, 0) + ends
        return head[:10] + struct.pack("!H", _checksum(head)) + head[12:] + tcp


def _checksum(data: bytes) -> int:
    """The checksum of the Internet (RFC 1071)."""
    total = int(sum(struct.unpack(f"!{len(data) // 2}H", data)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
