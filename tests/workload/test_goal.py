"""GOAL schedules: times by hand, by LogGOPS, and against collectives; refusals with their line."""

from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.result.waits.operations import Operations
from lightburst.scenario.tables.goal import Goal
from lightburst.workload.goal import make_messages, read_schedule

#: Picoseconds: o, a calc's unit, the delay of a link, and a byte at 100 Gb/s.
OVERHEAD, NS, DELAY, BYTE = 700_000, 1000, 50_000, 80
TRANSPORT = {
    "kind": "tcp",
    "handshake": False,
    "segment_size": "9 kB",
    "initial_window": 100_000,
    "advertised_window": 100_000,
}


def scenario(schedule: Path, number: int, /, **workload: Any) -> lb.Scenario:
    """A star of hosts with one switch."""
    links = [{"source": f"h{host:02}", "target": "s", "length": "10 m"} for host in range(number)]
    topology = {"kind": "graph", "link_rate": "100 Gb/s", "links": links}
    return lb.Scenario.from_dict(
        {
            "topology": topology,
            "switching": {"kind": "electronic"},
            "transport": TRANSPORT,
            "workload": {"kind": "goal", "file": str(schedule), **workload},
        }
    )


class Write:
    """Writes schedules and runs them."""

    def __init__(self, path: Path) -> None:
        self.file = path / "schedule.goal"

    def __call__(self, *ranks: str, number: int | None = None) -> Path:
        """Write the operations of each rank."""
        blocks = [f"rank {rank} {{\n{text}\n}}" for rank, text in enumerate(ranks)]
        self.file.write_text("\n".join([f"num_ranks {number or len(ranks)}", *blocks, ""]))
        return self.file

    def run(self, *ranks: str, **workload: Any) -> lb.Result:
        """Run a schedule with a host for each rank."""
        return lb.run(scenario(self(*ranks), len(ranks), **workload))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return Write(tmp_path)


def times(result: lb.Result) -> list[int]:
    """The time of each rank in picoseconds."""
    ps: list[int] = np.rint(result.ranks["time_s"].to_numpy() * 1e12).astype(int).tolist()
    return ps


def way(payload: int, result: lb.Result) -> int:
    """L and (s - 1) G of LogGP here: a segment over two links of a switch that stores it."""
    (transport,) = result.plan.transports
    size = max(payload + int(transport["header_bytes"]), int(transport["control_bytes"]))
    return 2 * (size * BYTE + DELAY)


def test_one_message_takes_two_overheads_and_its_way(write: Write) -> None:
    """calc, o, L + (s - 1) G, o + (s - 1) O, calc; the sender works for o + (s - 1) O."""
    ranks = (
        "a: calc 100\nb: send 1000b to 1 tag 5\nb requires a",
        "a: recv 1000b from 0 tag 5\nb: calc 50\nb requires a",
    )
    result = write.run(*ranks, overhead="700 ns", overhead_per_byte="3 ps")
    sent = 100 * NS + OVERHEAD
    arrived = sent + way(1000, result)
    assert times(result) == [sent + 999 * 3, arrived + OVERHEAD + 999 * 3 + 50 * NS]
    assert result.metrics["schedule_time_s"] == pytest.approx(times(result)[1] * 1e-12, rel=1e-14)


@pytest.mark.parametrize(("overhead", "gap"), [(700, 2000), (2000, 700), (700, 0), (0, 900)])
def test_messages_leave_after_the_larger_of_overhead_and_gap(
    write: Write, overhead: int, gap: int
) -> None:
    """Message k is there after o + k max(o, g) + L, and its receive is over o later."""
    count = 5
    sends = "\n".join(f"send 100b to 1 tag {k}" for k in range(count))
    recvs = "\n".join(f"recv 100b from 0 tag {k}" for k in range(count))
    result = write.run(sends, recvs, overhead=f"{overhead} ns", gap=f"{gap} ns")
    apart = max(overhead, gap) * NS
    there = [overhead * NS + k * apart + way(100, result) for k in range(count)]
    assert result.columns["flows"]["received_ps"].tolist() == there
    assert times(result) == [count * overhead * NS, there[-1] + overhead * NS]


def test_a_binomial_tree_is_that_of_loggops(write: Write) -> None:
    """The broadcast that LogGOPSim ships as an example (binary_tree_16.goal), of 1 B.

    A child's receive is over o + L + o after its parent turned to it, and a parent turns to its
    children o after each other.
    """
    ranks = [[] if rank == 0 else ["r: recv 1b from {} tag 0"] for rank in range(16)]
    over = {0: 0}
    children: dict[int, list[int]] = defaultdict(list)
    for rank in range(16):
        for child in (rank + 2**k for k in range(4) if 2**k > rank and rank + 2**k < 16):
            place = len(children[rank])
            children[rank].append(child)
            ranks[rank].append(f"s{place}: send 1b to {child} tag 0")
            ranks[rank].extend([f"s{place} requires r"] if rank else [])
            ranks[child][0] = f"r: recv 1b from {rank} tag 0"
    result = write.run(*map("\n".join, ranks), overhead="700 ns")
    for rank in range(16):
        for place, child in enumerate(children[rank], 1):
            over[child] = over[rank] + place * OVERHEAD + way(1, result) + OVERHEAD
    ends = [over[rank] + len(children[rank]) * OVERHEAD for rank in range(16)]
    assert times(result) == ends


def test_operations_of_one_processor_run_one_after_another_and_of_two_at_once(
    write: Write,
) -> None:
    both = "calc 300 cpu {}\ncalc 500 cpu {}\nsend 1b to 1 tag 0 cpu 2"
    for second, longest in ((0, 800), (1, 500)):
        result = write.run(both.format(0, second), "recv 1b from 0 tag 0")
        assert times(result)[0] == longest * NS


def test_irequires_waits_for_the_begin_alone(write: Write) -> None:
    """The calc on cpu 1 begins with the one on cpu 0, after 40 ns, and not at its end."""
    works = "a: calc 40\nb: calc 100\nc: calc 7 cpu 1\nd: send 1b to 1 cpu 1\n"
    waits = "b requires a\nc irequires b\nd requires c"
    result = write.run(works + waits, "recv 1b from 0")
    assert result.columns["flows"]["started_ps"].tolist() == [47 * NS]


def test_irequires_of_a_receive_waits_for_its_posting(write: Write) -> None:
    """Rank 1 posts its receive after 30 ns, and sends then; the message comes later."""
    first = "a: calc 5000\nb: send 1b to 1 tag 1\nb requires a\nc: recv 1b from 1 tag 2"
    second = "a: calc 30\nb: recv 1b from 0 tag 1\nb requires a\nc: send 1b to 0 tag 2\n"
    result = write.run(first, second + "c irequires b")
    assert result.columns["flows"]["started_ps"].tolist() == [5000 * NS, 30 * NS]
    path = result.critical_path()
    assert path["what"].tolist() == ["calc", "send", "message", "recv"]
    later = write.run(first, second + "c requires b").columns["flows"]["started_ps"].tolist()
    assert later[1] == 5000 * NS + way(1, result)


def test_messages_of_one_tag_match_in_order_and_others_by_tag(write: Write) -> None:
    """Receives that work for different times tell which message each took."""
    sends = "send 10b to 1 tag 1\nsend 20b to 1 tag 2\nsend 30b to 1 tag 1"
    recvs = "recv 20b from 0 tag 2\nrecv 10b from 0 tag 1\nrecv 99b from 0 tag 1"
    result = write.run(sends, recvs)
    assert result.ranks["received_bytes"].tolist() == [0, 60]
    assert result.plan.flows["towards_join"].tolist() == [4, 3, 5]
    assert result.plan.flows["bytes"].tolist() == [10, 20, 30]


def ring(ranks: int, part: int) -> list[str]:
    """The operations of a ring all-reduce, of whose parts each has `part` bytes."""
    rounds = 2 * (ranks - 1)
    found = []
    for rank in range(ranks):
        lines = []
        for k in range(rounds):
            lines.append(f"s{k}: send {part}b to {(rank + 1) % ranks} tag {k}")
            lines.append(f"r{k}: recv {part}b from {(rank - 1) % ranks} tag {k}")
            if k:
                lines += [f"s{k} requires r{k - 1}", f"r{k} requires r{k - 1}"]
        found.append("\n".join(lines))
    return found


@pytest.mark.parametrize("part", [1000, 100_000])
def test_a_ring_equals_the_collective_to_the_bit(write: Write, part: int) -> None:
    ranks = 6
    goal = write.run(*ring(ranks, part))
    same = {"kind": "collective", "operation": "all-reduce", "size": f"{ranks * part} B"}
    table = scenario(write.file, ranks).to_dict()
    collective = lb.run(lb.Scenario.from_dict({**table, "workload": same}))

    def ends(result: lb.Result) -> dict[tuple[int, int], list[int]]:
        found = defaultdict(list)
        columns, flows = result.columns["flows"], result.plan.flows
        for one in np.argsort(columns["started_ps"], kind="stable"):
            pair = int(flows["source"][one]), int(flows["destination"][one])
            for name in ("started_ps", "received_ps", "acknowledged_ps", "transmissions"):
                found[pair].append(int(columns[name][one]))
        return dict(found)

    assert ends(goal) == ends(collective)
    totals = goal.columns["totals"], collective.columns["totals"]
    assert totals[0] == totals[1]


def test_the_critical_path_has_all_of_the_time(write: Write) -> None:
    """Each row begins when the one before has ended, the first one at 0."""
    chain = "a: recv 4000b from {} tag 0\nb: calc 300\nb requires a\nc: send 4000b to {} tag 0\n"
    first = "w: calc 20\nx: calc 900\na: send 4000b to 1 tag 0\na requires w"
    last = "a: recv 4000b from 2 tag 0"
    result = write.run(
        first, chain.format(0, 2) + "c requires b", chain.format(1, 3) + "c requires b", last,
        overhead="700 ns",
    )  # fmt: skip
    path = result.critical_path()
    assert path["what"].tolist()[:5] == ["calc", "calc", "send", "message", "recv"]
    assert path["waited_for"].tolist()[:5] == [
        "nothing", "processor", "processor", "send", "message",
    ]  # fmt: skip
    assert path["rank"].tolist()[-1] == 3
    assert path["start_s"].iloc[0] == 0
    assert path["start_s"].to_numpy()[1:] == pytest.approx(path["end_s"].to_numpy()[:-1], abs=1e-15)
    assert path["end_s"].iloc[-1] == result.metrics["schedule_time_s"]
    assert path["line"].tolist()[:3] == [3, 4, 5]


def test_a_receive_that_waits_behind_what_its_posting_released(write: Write) -> None:
    """`b` needs the posting of the receive only, and has the processor before the receive."""
    receiver = "c: calc 5000\na: recv 100b from 0 tag 0\na requires c\nb: calc 1000\nb irequires a"
    result = write.run("s: send 100b to 1 tag 0", receiver, overhead="1500 ns")
    path = result.critical_path()
    assert path["what"].tolist() == ["calc", "recv", "calc", "recv"]
    assert path["waited_for"].tolist() == ["nothing", "requires", "irequires", "processor"]
    ends = [5e-6, 5e-6, 6e-6, 7.5e-6]
    assert path["end_s"].to_numpy() == pytest.approx(ends)
    assert path["start_s"].to_numpy() == pytest.approx([0, *ends[:-1]])


def test_the_table_of_ranks_conserves_bytes(write: Write) -> None:
    result = write.run(*ring(5, 1234), overhead="10 ns")
    table = result.ranks
    assert table["sent_bytes"].tolist() == table["received_bytes"].tolist() == [8 * 1234] * 5
    assert table["ended"].tolist() == table["operations"].tolist() == [16] * 5
    assert table["overhead_s"].to_numpy() == pytest.approx([16 * 10e-9] * 5)
    assert result.metrics["delivered_bytes"] == 5 * 8 * 1234


def test_a_schedule_that_does_not_end_tells_who_waits_for_whom(write: Write) -> None:
    ranks = (
        "a: recv 10b from 1\nb: calc 5\nb requires a",
        "a: recv 90000000b from 2\nb: send 10b to 0\nb requires a",
        "send 90000000b to 1",
    )
    file = write(*ranks)
    with pytest.warns(lb.RunWarning) as warned:
        result = lb.run(scenario(file, 3).with_(measurement__time_limit="1 ms"))
    (text,) = [str(one.message) for one in warned if "schedule did not end" in str(one.message)]
    assert "rank 0 at line 3 (recv) waits for rank 1 at line 9 (send)" in text
    assert "which waits for rank 1 at line 8 (recv), which waits for flow 1 of rank 2" in text
    assert "line 13 (send), of which" in text
    assert "of 90,000,000 bytes have arrived" in text
    assert "4 operations of 2 ranks have not" in text
    assert result.metrics["schedule_time_s"] == np.inf
    assert result.ranks["ended"].tolist() == [0, 0, 1]


def test_ranks_are_placed_by_rule_or_list(write: Write) -> None:
    file = write(*ring(3, 10))

    def placed(**keys: Any) -> list[int]:
        hosts: list[int] = lb.run(scenario(file, 7, **keys)).plan.flows["host_of_rank"].tolist()
        return hosts

    assert placed() == [0, 1, 2]
    assert placed(placement="strided") == [0, 2, 4]
    assert placed(hosts=[5, 0, 3]) == [5, 0, 3]
    assert len(set(placed(placement="random"))) == 3


def test_lines_may_have_comments_and_several_statements(write: Write) -> None:
    plain = write(*ring(2, 10)).read_text()
    expected = lb.run(scenario(write.file, 2)).digest
    # The lines stay where they are, as results have them.
    joined = plain.replace("rank 1", "/* a comment\n*/rank 1").replace("\nr0:", " // here\nr0:")
    other = write.file.with_name("other.goal")
    other.write_text(joined)
    assert lb.run(scenario(other, 2)).digest == expected
    other.write_text(plain.replace("\n", "\r\n"))
    assert lb.run(scenario(other, 2)).digest == expected
    one = "num_ranks 2\nrank 0 { a: calc 7; b: send 8b to 1; b requires a }\n"
    other.write_text(f"{one}rank 1 {{ recv 8b from 0; }}")
    assert lb.run(scenario(other, 2)).columns["flows"]["started_ps"].tolist() == [7 * NS]


HEAD = "num_ranks 2\nrank 0 {\n"
TAIL = "\n}\nrank 1 {\nrecv 1b from 0\n}\n"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (f"{HEAD}a: calc x{TAIL}", "'a: calc x' in line 3"),
        (f"{HEAD}send 1b from 1{TAIL}", "'send ... from' in line 3"),
        (f"{HEAD}\nsend 1b to 2{TAIL}", "rank 2 in line 4"),
        (f"{HEAD}send 1b to 0{TAIL}", "rank 0 in line 3"),
        (f"{HEAD}a: send 1b to 1\nb requires a{TAIL}", "label 'b' in line 4"),
        (f"{HEAD}a: send 1b to 1\na: calc 1{TAIL}", "label 'a' in line 4"),
        (f"{HEAD}send 1b to 1{TAIL}rank 0 {{\n}}\n", "'rank 0' in line 8"),
        (f"{HEAD}send 1b to 1{TAIL}rank 2 {{\n}}\n", "'rank 2' in line 8"),
        (f"{HEAD}send 1b to 1", "the end of the file in line 3"),
        (f"{HEAD}send 1b to -1{TAIL}", "rank -1 in line 3"),
        (f"{HEAD}send 1b to 1 tag -1{TAIL}", "tag -1 in line 3"),
        (f"{HEAD}recv 1b from -2{TAIL}", "rank -2 in line 3"),
        (f"{HEAD}recv 1b from 1 tag -2{TAIL}", "tag -2 in line 3"),
        (f"{HEAD}recv 1b from -1\n}}\n", "line 3 (rank 0: recv 1b from -1 tag 0)"),
        (f"{HEAD}recv 1b from 1 tag -1\n}}\n", "line 3 (rank 0: recv 1b from 1 tag -1)"),
        (f"{HEAD}calc 0x10{TAIL}", "'calc 0x10' in line 3"),
        (f"{HEAD}calc 100g{TAIL}", "'calc 100g' in line 3"),
        (f"{HEAD}l0: put 200b to 1 tag 10{TAIL}", "'l0: put 200b to 1 tag 10' in line 3"),
        (f"{HEAD}calc 1 cpu 256{TAIL}", "256 in line 3"),
        ("rank 0 {\n}", "'rank 0' in line 1"),
        ("num_ranks 2\ncalc 1\n", "an operation in line 2"),
        ("num_ranks 2\n}\n", "'}' in line 2"),
        (f"{HEAD}calc 1\n}}\n", "without a message"),
        (f"{HEAD}recv 1b from 1\n}}\n", "line 3 (rank 0: recv 1b from 1 tag 0)"),
        (f"{HEAD}a: calc 1\na requires a\n}}\n", "line 3 (rank 0: calc 1) of"),
        (f"{HEAD}send 1b to 1 tag 3{TAIL}", "line 6 (rank 1: recv 1b from 0 tag 0)"),
        (f"{HEAD}send 1b to 1\nsend 2b to 1{TAIL}", "line 4 (rank 0: send 2b to 1 tag 0)"),
        (
            f"{HEAD}a: calc 1\nb: send 1b to 1\na requires b\nb requires a{TAIL}",
            "line 3 (rank 0: calc 1), then line 4 (rank 0: send 1b to 1 tag 0) of",
        ),
        (f"{HEAD}a: calc 1\na requires a\nsend 1b to 1{TAIL}", "line 3 (rank 0: calc 1) of"),
        (f"{HEAD}calc 9999999999999999\nsend 1b to 1{TAIL}", "9999999999999999 in line 3"),
    ],
)
def test_refusals_name_the_line(write: Write, text: str, given: str) -> None:
    write.file.write_text(text)
    with pytest.raises(InputError) as refused:
        lb.run(scenario(write.file, 2))
    (error,) = refused.value.errors
    assert error.path == "workload.file"
    assert given in error.given


def test_a_circle_across_ranks_is_refused(write: Write) -> None:
    """Each rank sends after it has received."""
    rank = "a: recv 1b from {}\nb: send 1b to {}\nb requires a"
    with pytest.raises(InputError, match=r"line 3 .*, then line 4 .*, then line 8 .*, then line 9"):
        write.run(rank.format(1, 1), rank.format(0, 0))


@pytest.mark.parametrize(
    ("keys", "path", "given"),
    [
        ({"hosts": [0, 0, 1]}, "workload.hosts", "host 0 twice"),
        ({"hosts": [0, 1]}, "workload.hosts", "2 hosts"),
        ({"hosts": [0, 1, 9]}, "workload.hosts", "3 hosts, the last 9"),
        ({"hosts": [0, 1, 2], "placement": "random"}, "workload.hosts", "a list beside"),
        ({"overhead": "-1 ns"}, "workload.overhead", "'-1 ns'"),
        ({"file": "absent.goal"}, "workload.file", ""),
    ],
)
def test_refusals_of_keys(write: Write, keys: dict[str, Any], path: str, given: str) -> None:
    file = write(*ring(3, 10))
    with pytest.raises(InputError) as refused:
        lb.run(scenario(file, 4, **keys))
    (error,) = refused.value.errors
    assert error.path == path
    assert error.given.startswith(given)


def test_ranks_without_hosts_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r"5 ranks in .*; allowed: at most 4 ranks"):
        lb.run(scenario(write(*ring(5, 10)), 4))


def test_refusals_beside_other_tables(write: Write) -> None:
    plain = scenario(write(*ring(3, 10)), 3)
    with pytest.raises(InputError, match=r"transport\.kind: given 'datagram' with messages that"):
        lb.run(plain.with_(transport={"kind": "datagram", "rate": "1 Gb/s"}))
    with pytest.raises(InputError, match=r"workload\.kind: given 'goal'; allowed: 'collective'"):
        _ = lb.run(plain).collectives
    with pytest.raises(InputError, match=r"step: given 1"):
        lb.run(plain).critical_path(1)
    with pytest.raises(InputError, match=r"workload\.kind: given 'poisson'; allowed: 'goal'"):
        _ = lb.run("examples/electronic.toml").ranks


def random_schedule(random: Random, ranks: int, messages: int) -> list[str]:
    """Operations of ranks without a circle: each waits for earlier ones, sends before receives."""
    lines: list[list[str]] = [[] for _ in range(ranks)]
    labels: list[list[str]] = [[] for _ in range(ranks)]

    def add(rank: int, what: str) -> None:
        label = f"l{len(labels[rank])}"
        lines[rank].append(f"{label}: {what} cpu {random.randint(0, 1)}")
        for other in random.sample(labels[rank], min(len(labels[rank]), random.randint(0, 2))):
            lines[rank].append(f"{label} {random.choice(['requires', 'irequires'])} {other}")
        labels[rank].append(label)

    for tag in range(messages):
        source, destination = random.sample(range(ranks), 2)
        for rank in random.choices(range(ranks), k=random.randint(0, 2)):
            add(rank, f"calc {random.choice([0, 1, 50, 3000])}")
        size = random.choice([0, 1, 900, 30_000])
        add(source, f"send {size}b to {destination} tag {tag % 3}")
        add(destination, f"recv {size}b from {source} tag {tag % 3}")
    return ["\n".join(own) for own in lines]


@pytest.mark.parametrize("seed", range(12))
def test_random_schedules_keep_what_they_say(write: Write, seed: int) -> None:
    """Dependencies, processors, interfaces and messages in the times of a run, one by one."""
    random = Random(f"goal/{seed}")
    overhead, gap = random.choice([0, 90]), random.choice([0, 400])
    schedule = write(*random_schedule(random, 5, 40))
    keys = {"overhead": f"{overhead} ns", "overhead_per_byte": "1 ps", "gap": f"{gap} ns"}
    result = lb.run(scenario(schedule, 5, **keys))
    known = read_schedule(schedule)
    operations = Operations(result.plan, result.columns)
    assert operations.all_ended
    begun, ended = operations.begun.astype(np.int64), operations.ended.astype(np.int64)
    flows, times = result.plan.flows, result.columns["flows"]
    started, received = (times[name].astype(np.int64) for name in ("started_ps", "received_ps"))
    send, recv = flows["after_join"], flows["towards_join"]
    # Messages leave o after the begin of their send or later, and are there before their receive.
    assert (started >= begun[send] + overhead * NS).all()
    assert (begun[recv] >= received).all()
    size = np.maximum(known.value, 1)
    costs = np.where(known.kind == 0, known.value * NS, overhead * NS + size - 1)
    assert (ended - begun == costs).all()
    # What requires waits for ends; what irequires for begins, of a receive for its posting.
    ready = np.where(known.at_begin, begun[known.needed], ended[known.needed])
    firm = ~known.at_begin | (known.kind[known.needed] != 2)
    assert (begun[known.by] >= ready)[firm].all()
    cpu = known.rank * 2 + known.cpu
    for one in np.unique(cpu):
        own = np.flatnonzero((cpu == one) & (costs > 0))
        order = own[np.argsort(begun[own])]
        assert (begun[order][1:] >= ended[order][:-1]).all()
    for rank in range(5):
        leaving = np.sort(started[known.rank[send] == rank])
        assert (np.diff(leaving) >= gap * NS).all()
    # Nothing waits without a reason: each begins when the last of its causes has come.
    for one in range(known.kind.size):
        cause = operations.last_cause(one)
        assert cause.time == begun[one], known.words(one)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_schedules_are_refused_or_run(write: Write, seed: int) -> None:
    """Cut, doubled and exchanged pieces: a message, and no other error."""
    random = Random(f"damaged/{seed}")
    text = write(*ring(3, 10)).read_text()
    pieces = ["-1", "9" * 5000, "\0", "é", "{", "}", ";", "//", "/*", "rank 1 {", "requires", "\r"]
    refused = 0
    for number in range(60):
        begin, end = sorted(random.choices(range(len(text)), k=2))
        middle = random.choice(["", text[begin:end] * 2, random.choice(pieces)])
        file = write.file.with_name(f"damaged{number}.goal")
        file.write_text(text[:begin] + middle + text[end:], encoding="utf-8")
        try:
            make_messages(Goal(file=file), 3, np.random.default_rng(1))
        except InputError as error:
            refused += 1
            assert str(file) in str(error)
    assert refused > 30
