"""The capture file, byte by byte, and the headers in it."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightburst.foundation.errors import InputError
from lightburst.trace import Capture, capture, write
from lightburst.trace.flow import ACK, FIN, FORWARD, LOST, REASONS, SYN
from traces import SECOND, SIZE, Log, eventful, trace

YEAR_2000_NS = 946_684_800 * 10**9


def checksum(data: bytes) -> int:
    """RFC 1071, word by word."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def fields(captured: Capture, place: int) -> dict[str, Any]:
    """Read a packet's headers again."""
    header = captured.headers[place, : captured.header_bytes[place]].tobytes()
    names = (
        "version service length identification fragment ttl protocol ip_checksum source "
        "destination source_port destination_port sequence acknowledgement offset flags window "
        "checksum urgent"
    )
    values = struct.unpack(">BBHHHBBHIIHHIIBBHHH", header[:40])
    return dict(zip(names.split(), values, strict=True)) | {"options": header[40:]}


def test_a_file_of_one_lost_packet(tmp_path: Path) -> None:
    log = Log()
    log.packet(5_000_001_999, SYN | FORWARD, burst=17)
    write(tmp_path / "x.pcapng", capture(trace(log, sack=False)), "a tool")
    syn_options = bytes((2, 4, 0x03, 0xE8, 1, 3, 3, 2))  # MSS 1000; window scale 2
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 48, 1, 0x4000, 64, 6, 0, 0x0A000001, 0x0A00012D)
    ip = ip[:10] + checksum(ip).to_bytes(2, "big") + ip[12:]
    tcp = struct.pack(">HHIIBBHHH", 49155, 5001, 0, 0, 7 << 4, 2, 65535, 0, 0) + syn_options
    pseudo = ip[12:] + struct.pack(">BBH", 0, 6, len(tcp))
    tcp = tcp[:16] + checksum(pseudo + tcp).to_bytes(2, "big") + tcp[18:]
    comment = b"lost in burst 17: scripted drop"
    time = YEAR_2000_NS + 5_000_001  # rounded down
    section = struct.pack("<IIIHHqHH6sxxHHI", 0x0A0D0D0A, 44, 0x1A2B3C4D, 1, 0, -1, 4, 6, b"a tool",
                          0, 0, 44)  # fmt: skip
    interface = struct.pack("<IIHHIHH6sxxHHBxxxHHI", 1, 44, 101, 0, 0, 2, 6, b"source", 9, 1, 9,
                            0, 0, 44)  # fmt: skip
    packet = struct.pack("<IIIIIII", 6, 120, 0, time >> 32, time & 0xFFFFFFFF, 48, 48) + ip + tcp
    packet += struct.pack("<HH31sxHHI", 1, 31, comment, 0, 0, 120)
    assert (tmp_path / "x.pcapng").read_bytes() == section + interface + packet


def test_the_payload_can_be_in_the_file_and_changes_nothing_else(tmp_path: Path) -> None:
    log = eventful()
    for payload in (1, 2, 3, 4):  # the blocks of the file are padded
        log.packet(SECOND, FORWARD, number=SIZE, acknowledgement=1, payload=payload, burst=payload)
    captured = capture(trace(log))
    write(tmp_path / "headers", captured, "x")
    write(tmp_path / "whole", captured, "x", whole=True)
    short, long = blocks(tmp_path / "headers"), blocks(tmp_path / "whole")
    assert len(short) == len(long) == 31
    for place, (head, whole) in enumerate(zip(short, long, strict=True)):
        size, payload = captured.header_bytes[place], captured.payload_bytes[place]
        assert head["data"] == captured.headers[place, :size].tobytes()
        assert whole["data"] == head["data"] + bytes(payload)
        assert head["length"] == whole["length"] == size + payload
        assert head["options"] == whole["options"]
        assert head["time"] == whole["time"] == YEAR_2000_NS + captured.time_ps[place] // 1000


def test_many_packets_are_written_in_pieces_and_all_are_there(tmp_path: Path) -> None:
    log = Log()
    for number in range(20_000):
        log.data(number * 1000, number % 7, burst=number if number % 1000 == 999 else None)
    write(tmp_path / "x", capture(trace(log)), "x")
    found = blocks(tmp_path / "x")
    assert [block["time"] - YEAR_2000_NS for block in found] == list(range(20_000))
    lost = [place for place, block in enumerate(found) if block["options"]]
    assert lost == list(range(999, 20_000, 1000))
    assert b"lost in burst 8999: scripted drop" in found[8999]["options"]


def blocks(path: Path) -> list[dict[str, Any]]:
    """Read the packets of a capture file again."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert data[at + length - 4 : at + length] == struct.pack("<I", length)
        if kind == 6:
            _, high, low, kept, original = struct.unpack_from("<IIIII", data, at + 8)
            end = at + 28 + kept
            found.append(
                {
                    "time": (high << 32) + low,
                    "length": original,
                    "data": data[at + 28 : end],
                    "options": data[end + -kept % 4 : at + length - 4],
                }
            )
        at += length
    return found


def test_what_the_source_sent_and_heard_is_in_the_file_and_nothing_else() -> None:
    log = Log()
    log.data(0, 0)
    log.data(10, 1, burst=4)
    log.packet(30, ACK, acknowledgement=1000, burst=6)
    log.packet(40, ACK, acknowledgement=1000)
    captured = capture(trace(log))
    assert captured.time_ps.tolist() == [0, 10, 40 + SECOND // 100]
    assert captured.comments == {1: "lost in burst 4: scripted drop"}


def test_what_the_interface_had_no_room_for_stands_in_its_place() -> None:
    log = Log()
    for segment, at in enumerate((100, 200, 0, 300)):  # all handed over at the time 0
        log.data(at, segment, burst=9 if segment == 2 else None)
    refused = {"time_ps": 0, "burst": 2**64 - 1, "reason": REASONS.index("queue-full")}
    log.rows = [row for row in log.rows if row["packet"] != 2 or row["event"] == LOST]
    log.rows = [row | refused if row["packet"] == 2 else row for row in log.rows]
    captured = capture(trace(log))
    assert captured.time_ps.tolist() == [100, 200, 200, 300]
    assert [fields(captured, place)["sequence"] for place in range(4)] == [1, 1001, 2001, 3001]
    assert captured.comments == {2: "lost: queue full"}


def test_an_acknowledgement_stands_before_what_it_let_go() -> None:
    log = Log()
    log.packet(0, ACK, acknowledgement=1000)
    log.data(SECOND // 100, 1)
    log.rows.reverse()
    captured = capture(trace(log))
    assert [int(size) for size in captured.payload_bytes] == [0, 1000]


def test_a_loss_outside_a_burst_says_only_why() -> None:
    log = Log()
    log.data(0, 0, burst=4)
    log.rows[1] |= {"burst": 2**64 - 1, "reason": REASONS.index("queue-full")}
    assert capture(trace(log)).comments == {0: "lost: queue full"}


def test_the_numbers_of_a_whole_connection() -> None:
    captured = capture(trace())
    packets = [fields(captured, place) for place in range(len(captured.time_ps))]
    seen = [(p["sequence"], p["acknowledgement"], p["flags"]) for p in packets]
    ack, syn, fin, psh = 16, 2, 1, 8
    assert seen[:5] == [(0, 0, syn), (0, 1, syn | ack), (1, 1, ack), (1, 1, ack), (1001, 1, ack)]
    assert seen[17] == (7001, 1, ack | psh)  # the last segment, which is not full
    assert seen[18] == (1, 3001, ack)
    end = SIZE + 1
    assert seen[-3:] == [(end, 1, fin | ack), (1, end + 1, fin | ack), (end + 1, 2, ack)]
    own = [p["source"] == 0x0A000001 for p in packets]
    for direction in (True, False):
        numbers = [p["identification"] for p, o in zip(packets, own, strict=True) if o == direction]
        assert numbers == list(range(1, len(numbers) + 1))
    assert {(p["source_port"], p["destination_port"]) for p in packets} == {
        (49155, 5001),
        (5001, 49155),
    }
    assert {p["window"] for p in packets} == {65535, 50000}  # SYNs are not scaled


def test_an_acknowledgement_after_the_fin_counts_it() -> None:
    log = Log()
    log.packet(0, FIN | FORWARD, acknowledgement=1)
    log.packet(1, FIN | ACK, acknowledgement=SIZE)
    log.packet(2, ACK, acknowledgement=SIZE)
    log.packet(3, FIN | ACK, acknowledgement=SIZE)
    captured = capture(trace(log))
    numbers = [
        (fields(captured, n)["sequence"], fields(captured, n)["acknowledgement"]) for n in (1, 2, 3)
    ]
    assert numbers == [(1, SIZE + 2), (2, SIZE + 2), (1, SIZE + 2)]


def test_a_fin_with_data_takes_the_number_after_it() -> None:
    """The answer to the FIN is lost, and the data before it comes again: both are counted."""
    log = Log()
    log.data(0, 6)
    log.data(1, 7, flags=ACK | FIN | FORWARD)
    log.packet(2, FIN | ACK, acknowledgement=SIZE, burst=3)
    log.data(3, 6, again=True)
    log.packet(4, ACK, acknowledgement=SIZE)
    log.packet(5, FIN | ACK, acknowledgement=SIZE)
    log.packet(6, ACK | FORWARD, acknowledgement=2)
    captured = capture(trace(log))
    packets = [fields(captured, place) for place in range(len(captured.time_ps))]
    ack, fin, psh = 16, 1, 8
    assert [(p["sequence"], p["acknowledgement"], p["flags"]) for p in packets] == [
        (6001, 1, ack),
        (7001, 1, ack | fin | psh),
        (6001, 1, ack),
        (SIZE + 2, 2, ack),
        (2, SIZE + 2, ack),
        (1, SIZE + 2, ack | fin),
    ]


def test_sequence_numbers_wrap() -> None:
    log = Log()
    log.packet(0, FORWARD, number=2**32 - 1001, acknowledgement=1, payload=1000)
    log.packet(1, FORWARD, number=2**32 - 1, acknowledgement=1, payload=1000)
    log.packet(2, ACK, acknowledgement=2**32 - 1001, blocks=((2**32 - 1, 2**32 + 999),))
    captured = capture(trace(log, size_bytes=2**33))
    assert [fields(captured, place)["sequence"] for place in (0, 1)] == [2**32 - 1000, 0]
    last = fields(captured, 2)
    assert last["acknowledgement"] == 2**32 - 1000
    assert last["options"] == bytes((1, 1, 5, 10)) + struct.pack(">II", 0, 1000)


@pytest.mark.parametrize(
    ("window", "shift", "field"),
    [(1000, 0, 1000), (65535, 0, 65535), (65536, 1, 32768), (131_070, 1, 65535),
     (131_071, 2, 32768), (200_001, 2, 50001), (65535 << 14, 14, 65535), (2**40, 14, 65535)],
)  # fmt: skip
def test_the_window_is_scaled_and_rounded_up(window: int, shift: int, field: int) -> None:
    captured = capture(trace(window_bytes=window))
    assert fields(captured, 0)["window"] == min(window, 65535)
    assert fields(captured, 0)["options"][4:8] == bytes((1, 3, 3, shift))
    assert fields(captured, 3)["window"] == field


def test_options_stand_as_linux_writes_them() -> None:
    clock = (7_999_999_999, 3_000_000_000)  # 7.99 ms and 3 ms in ticks of a millisecond
    log = Log()
    log.packet(0, SYN | FORWARD, clock=(clock[0], 2**64 - 1))
    blocks = ((3000, 4000), (5000, 6000), (1000, 2000))
    log.packet(1, ACK, acknowledgement=500, clock=clock, blocks=blocks)
    log.data(SECOND, 0, clock=clock)
    captured = capture(trace(log))
    syn, answer, data = (fields(captured, place) for place in range(3))
    assert syn["options"] == bytes((2, 4, 0x03, 0xF4)) + bytes((1, 3, 3, 2)) + bytes(
        (1, 1, 4, 2)
    ) + bytes((1, 1, 8, 10)) + struct.pack(">II", 7, 0)
    stamp = bytes((1, 1, 8, 10)) + struct.pack(">II", 7, 3)
    edges = (3001, 4001, 5001, 6001, 1001, 2001)
    assert answer["options"] == stamp + bytes((1, 1, 5, 26)) + struct.pack(">6I", *edges)
    assert answer["offset"] == 15 << 4
    assert data["options"] == stamp
    assert data["length"] == 20 + 32 + 1000


def test_without_sack_none_is_offered() -> None:
    assert len(fields(capture(trace(sack=False)), 0)["options"]) == 8
    assert len(fields(capture(trace(sack=True)), 0)["options"]) == 12


def test_checksums_are_those_of_the_whole_packet() -> None:
    captured = capture(trace())
    for place, payload in enumerate(captured.payload_bytes):
        header = captured.headers[place, : captured.header_bytes[place]].tobytes()
        assert checksum(header[:20]) == 0
        data = header[20:] + bytes(payload)
        assert checksum(header[12:20] + struct.pack(">BBH", 0, 6, len(data)) + data) == 0


def test_carries_are_carried_as_often_as_it_takes() -> None:
    log = Log()
    for at in range(20_000):
        log.packet(at, FORWARD, number=at * 1_000_003, acknowledgement=1, payload=1000)
    captured = capture(trace(log))
    for header in captured.headers[:, :40]:
        data = header.tobytes()
        assert checksum(data[:20]) == 0
        assert checksum(data[12:] + struct.pack(">BBH", 0, 6, 1020)) == 0


def test_what_does_not_fit_is_refused() -> None:
    log = eventful()
    capture(trace(log, payload_bytes=65_495))
    with pytest.raises(InputError, match=r"transport\.segment_size.*65,495 B") as error:
        capture(trace(log, payload_bytes=65_496))
    assert "65496 B" in error.value.given or "65,496" in error.value.given
    stamped = replace(trace(log), payload_bytes=65_484)
    stamped.segments["timestamp_ps"][:] = 1
    with pytest.raises(InputError, match="65,483 B"):
        capture(stamped)
    log.packet(0, ACK, clock=(1, 1), blocks=((1, 2), (3, 4), (5, 6), (7, 8)))
    with pytest.raises(InputError, match=r"transport\.recovery\.sack_blocks: given 4"):
        capture(trace(log))


def test_nothing_captured_is_a_file_too(tmp_path: Path) -> None:
    empty = trace()
    rows = {name: values[:0] for name, values in empty.segments.items()}
    captured = capture(replace(empty, segments=rows, access_ps=np.zeros(0, np.uint64)))
    write(tmp_path / "x", captured, "x")
    assert blocks(tmp_path / "x") == []
