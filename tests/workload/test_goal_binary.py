"""Binary GOAL schedules: what txt2bin of LogGOPSim makes of the text runs as the text does."""

import struct
from pathlib import Path
from random import Random

import numpy as np
import pytest
from test_goal import random_schedule, ring, scenario

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.goal import Goal
from lightburst.workload.goal import CALC, Schedule, make_messages, read_schedule

# SEND 1, RECV 2, CALC 3; the words of Schedule are calc 0, send 1, recv 2.
TYPE = {0: 3, 1: 1, 2: 2}


def encoded(schedule: Schedule) -> bytes:
    """Return the bytes of ``Graph::serialize_mmap``, field by field."""
    place = 4 + 2 + 16 * schedule.ranks
    jumps, parts = b"", b""
    for rank in range(schedule.ranks):
        own = np.flatnonzero(schedule.rank == rank).tolist()
        edges = list(zip(schedule.needed, schedule.by, schedule.at_begin, strict=True))
        roots = [one for one in own if one not in set(schedule.by.tolist())]
        part = struct.pack("<II", len(own), len(roots))
        part += b"".join(struct.pack("<I", own.index(root)) for root in roots)
        appendix: list[int] = []
        for one in own:
            kind = int(schedule.kind[one])
            waits = sum(by == one for _, by, _ in edges)
            calc = kind == CALC
            peer, tag = (0, 0) if calc else (int(schedule.peer[one]), int(schedule.tag[one]))
            part += struct.pack("<IbIQI", waits, TYPE[kind], peer, int(schedule.value[one]), tag)
            part += struct.pack("<BB", int(schedule.cpu[one]), int(schedule.nic[one]))
            for begin in (False, True):
                after = [by for needed, by, how in edges if needed == one and how == begin]
                part += struct.pack("<II", len(after), len(appendix))
                appendix += [own.index(by) for by in after]
        part += struct.pack(f"<{len(appendix)}I", *appendix)
        jumps += struct.pack("<QQ", place, place + len(part))
        place += len(part)
        parts += part
    most = [int(column.max(initial=0)) for column in (schedule.cpu, schedule.nic)]
    return struct.pack("<QIBB", 4223, schedule.ranks, *most) + jumps + parts


def written(tmp_path: Path, *operations: str) -> tuple[Path, Path]:
    """Write the operations of each rank as text and as binary."""
    text, binary = tmp_path / "schedule.goal", tmp_path / "schedule.bin"
    ranks = (f"rank {rank} {{\n{own}\n}}\n" for rank, own in enumerate(operations))
    text.write_text(f"num_ranks {len(operations)}\n{''.join(ranks)}")
    binary.write_bytes(encoded(read_schedule(text)))
    return text, binary


def test_the_bytes_of_one_message(tmp_path: Path) -> None:
    """A calc of 7 ns before a send of 5 B to rank 1 with tag 9, written out by hand."""
    send, recv, calc = b"\1", b"\2", b"\3"

    def word(*numbers: int) -> bytes:
        return struct.pack(f"<{len(numbers)}I", *numbers)

    def node(waits: int, kind: bytes, peer: int, size: int, tag: int, *after: int) -> bytes:
        number = struct.pack("<Q", size)
        return word(waits) + kind + word(peer) + number + word(tag) + b"\0\0" + word(*after)

    first = word(2, 1, 0)  # two operations, one root: operation 0
    first += node(0, calc, 0, 7, 0, 1, 0, 0, 1) + node(1, send, 1, 5, 9, 0, 1, 0, 1)
    first += word(1)  # operation 1 waits for operation 0
    second = word(1, 1, 0) + node(0, recv, 0, 5, 9, 0, 0, 0, 0)
    begin = 4 + 2 + 2 * 16
    middle, end = begin + len(first), begin + len(first) + len(second)
    file = tmp_path / "one.bin"
    jumps = struct.pack("<QQQQ", begin, middle, middle, end)
    file.write_bytes(struct.pack("<QIBB", 4223, 2, 0, 0) + jumps + first + second)
    schedule = read_schedule(file)
    assert schedule.ranks == 2
    assert schedule.rank.tolist() == [0, 0, 1]
    assert schedule.kind.tolist() == [0, 1, 2]
    assert schedule.value.tolist() == [7, 5, 5]
    assert (schedule.needed.tolist(), schedule.by.tolist()) == ([0], [1])
    assert not schedule.at_begin.any()
    assert schedule.words(1) == "operation 1 (rank 0: send 5b to 1 tag 9)"
    assert file.read_bytes() == encoded(schedule)


@pytest.mark.parametrize("seed", range(6))
def test_a_binary_schedule_runs_as_its_text(tmp_path: Path, seed: int) -> None:
    random = Random(f"binary goal/{seed}")
    text, binary = written(tmp_path, *random_schedule(random, 5, 30))
    of_text, of_binary = read_schedule(text), read_schedule(binary)
    for name in ("rank", "kind", "value", "cpu", "nic"):
        assert getattr(of_text, name).tolist() == getattr(of_binary, name).tolist(), name
    message = of_text.kind != CALC
    assert of_text.peer[message].tolist() == of_binary.peer[message].tolist()
    assert of_text.tag[message].tolist() == of_binary.tag[message].tolist()
    edges = [
        sorted(zip(one.needed.tolist(), one.by.tolist(), one.at_begin.tolist(), strict=True))
        for one in (of_text, of_binary)
    ]
    assert edges[0] == edges[1]
    keys = {"overhead": "100 ns", "gap": "300 ns"}
    runs = [lb.run(scenario(file, 5, **keys)) for file in (text, binary)]
    for name, column in runs[0].columns["flows"].items():
        assert (column == runs[1].columns["flows"][name]).all(), name
    ends = [run.ranks.drop(columns="line", errors="ignore") for run in runs]
    assert ends[0].equals(ends[1])


@pytest.mark.parametrize(
    ("at", "value", "given"),
    [
        (8, b"\xff\xff\0\0", "which is too short for 65535 ranks"),
        (14 + 48, b"\xff\xff\xff\xff", "whose rank 0 has 94 bytes for its"),
        (14 + 48 + 12 + 4, b"\4", "whose rank 0 has an operation that is no send"),
        (14, b"\xff\xff\0\0", "whose table of ranks does not fit the file"),
        (14 + 8, b"\xff\xff\0\0", "whose table of ranks does not fit the file"),
        (14 + 48 + 12 + 23, b"\1", "whose rank 0 has 0 dependencies, not 1"),
        (14 + 48 + 12, b"\1", "whose rank 0 has dependencies other than it counts"),
        (14 + 48 + 12 + 5, b"\xff\xff\xff\xff", "rank -1 in operation 0"),
        (14 + 48 + 12 + 5, b"\3\0\0\0", "rank 3 in operation 0 of rank 0"),
        (14 + 48 + 12 + 9, b"\xff" * 8, f"{2**63 - 1} in operation 0 of rank 0"),
    ],
)
def test_damage_is_named(tmp_path: Path, at: int, value: bytes, given: str) -> None:
    """Three ranks: head of 14 B, jump table of 48 B, of rank 0 two counts, one root, nodes."""
    _, binary = written(tmp_path, "send 1b to 1\nb: calc 1\n", "recv 1b from 0", "calc 1")
    data = bytearray(binary.read_bytes())
    at += 4 * (at > 14 + 48)  # a second root
    data[at : at + len(value)] = value
    binary.write_bytes(data)
    with pytest.raises(InputError) as refused:
        lb.run(scenario(binary, 3))
    (error,) = refused.value.errors
    assert error.path == "workload.file"
    assert given in error.given


@pytest.mark.parametrize("seed", range(4))
def test_damaged_schedules_are_refused_or_run(tmp_path: Path, seed: int) -> None:
    """Cut files and changed bytes: a message, and no other error."""
    random = Random(f"damaged binary/{seed}")
    _, binary = written(tmp_path, *ring(3, 10))
    whole = binary.read_bytes()
    refused = 0
    for number in range(80):
        data = bytearray(whole[: random.choice([len(whole), random.randrange(8, len(whole))])])
        for _ in range(random.randint(0, 3)):
            at = random.randrange(8, len(data) + 1)
            data[at : at + 1] = random.choice([b"\0", b"\1", b"\x7f", b"\xff", b"", b"\2\2"])
        file = tmp_path / f"damaged{number}.bin"
        file.write_bytes(data)
        try:
            make_messages(Goal(file=file), 3, np.random.default_rng(1))
        except InputError as error:
            refused += 1
            assert str(file) in str(error)
    assert refused > 40
