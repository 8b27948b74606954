"""Bad input: one message for each field, with its path, the given value and the allowed values.

Each case is a good scenario file with one part replaced, read and compiled as a user would.
"""

import os
from pathlib import Path

import pytest

from lightburst.compile import compile_plan
from lightburst.foundation import memory
from lightburst.foundation.errors import InputError, show
from lightburst.scenario import Scenario, load

GOOD = """
name = "good"
[topology]
kind = "fat-tree"
k = 8
link_length = "10 m"
link_rate = "10 Gb/s"
[routing]
choice = "free"
[switching]
kind = "hybrid"
buffer_ports = 2
[transport]
kind = "sawl"
p = 4
segment_size = "9 kB"
[workload]
kind = "poisson"
arrival_rate = "1e7 /s"
flows = 1024
size = { kind = "lognormal", mu = 9.48, sigma = 2.45663283, max = "16 MiB" }
[measurement]
time_limit = "10 s"
"""
TABLE = GOOD.partition("[workload]")[0] + '[workload]\nkind = "table"\nfile = "flows.csv"\n'
ROWS = "source,destination,start_s,size_bytes\n"


def read(directory: Path, text: str) -> Scenario:
    file = directory / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    return load(file)


def refusal(directory: Path, text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        compile_plan(read(directory, text), 1)
    return caught.value


def test_the_good_one_is_good(tmp_path: Path) -> None:
    assert compile_plan(read(tmp_path, GOOD), 1).settings["hosts"] == 128


# old, new -> path, given, allowed (a part of it)
CASES = {
    # unknown keys
    ("k = 8", "kk = 8"): ("topology.kk", "an unknown key 'kk'", "one of the keys kind, "),
    ("name =", "nme ="): ("nme", "an unknown key 'nme'", "did you mean 'name'?"),
    ("mu = 9.48", "mue = 9.48"): ("workload.size.mue", "an unknown key 'mue'", "mean 'mu'?"),
    ("[routing]", "[route]"): ("route", "an unknown key 'route'", "topology, routing, switching"),
    ('"hybrid"', '"all-optical"'): (
        "switching.buffer_ports",
        "an unknown key 'buffer_ports'",
        "'buffer_ports' is for kind 'hybrid'",
    ),
    # unknown kinds and names
    ('"fat-tree"', '"fat tree"'): ("topology.kind", "'fat tree'", "'fat-tree', 'path', 'graph'"),
    ('"hybrid"', '"Hybrid"'): ("switching.kind", "'Hybrid'", "'all-optical', 'hybrid', 'electron"),
    ('"sawl"', '"udp"'): ("transport.kind", "'udp'", "'saw', 'sawl', 'tcp', 'rdma', 'datagram', "),
    ('"poisson"', '"burst"'): ("workload.kind", "'burst'", "'poisson', 'shuffle', 'pairs'"),
    ('"lognormal"', '"normal"'): ("workload.size.kind", "'normal'", "'constant', 'exponential'"),
    ('"free"', '"ecmp"'): ("routing.choice", "'ecmp'", "one of 'free', 'random', "),
    ('kind = "sawl"\n', ""): ("transport.kind", "nothing", "'sawl', 'tcp', 'rdma', 'datagram', "),
    ('kind = "sawl"', "kind = 3"): ("transport.kind", "'3'", "one of 'saw', 'sawl', 'tcp', "),
    # units
    ('"10 Gb/s"', '"10 Gb"'): ("topology.link_rate", "'10 Gb'", "did you mean '10 Gb/s'?"),
    ('"10 Gb/s"', '"10 gb/s"'): ("topology.link_rate", "'10 gb/s'", "did you mean '10 Gb/s'?"),
    ('"10 Gb/s"', "1e10"): ("topology.link_rate", "10000000000.0", "a rate, greater than zero"),
    ('"10 m"', '"10 meters"'): ("topology.link_length", "'10 meters'", "in one of mm, cm, m, km"),
    ('"9 kB"', '"9 kb"'): ("transport.segment_size", "'9 kb'", "did you mean '9 kB'?"),
    ('"9 kB"', '"9  kB"'): ("transport.segment_size", "'9  kB'", "a size, greater than zero"),
    ('"1e7 /s"', '"1e7 Hz"'): ("workload.arrival_rate", "'1e7 Hz'", "did you mean '1e7 /s'?"),
    ('"10 s"', '"10 sec"'): ("measurement.time_limit", "'10 sec'", "did you mean '10 s'?"),
    # negative and zero
    ('"9 kB"', '"0 B"'): ("transport.segment_size", "'0 B'", "a size, greater than zero"),
    ('"9 kB"', '"-9 kB"'): ("transport.segment_size", "'-9 kB'", "a size, greater than zero"),
    ('"16 MiB"', '"0 MiB"'): ("workload.size.max", "'0 MiB'", "a size, greater than zero"),
    ('"10 m"', '"-1 m"'): ("topology.link_length", "'-1 m'", "a length, zero or more"),
    ('"10 Gb/s"', '"0 Gb/s"'): ("topology.link_rate", "'0 Gb/s'", "a rate, greater than zero"),
    ('"1e7 /s"', '"0 /s"'): ("workload.arrival_rate", "'0 /s'", "a frequency, greater than zero"),
    ('"10 s"', '"0 s"'): ("measurement.time_limit", "'0 s'", "a duration, greater than zero"),
    ("flows = 1024", "flows = 0"): ("workload.flows", "0", "a whole number from 1"),
    ("flows = 1024", "flows = 1e3"): ("workload.flows", "1000.0", "a whole number from 1"),
    ("flows = 1024", "flows = true"): ("workload.flows", "True", "a whole number from 1"),
    ("p = 4", "p = -1"): ("transport.p", "-1", "a number at least 0"),
    ("p = 4", "p = nan"): ("transport.p", "nan", "a number at least 0"),
    ("p = 4", "beta = 1"): ("transport.beta", "1", "a number greater than 0 and less than 1"),
    ("p = 4", "alpha = 1"): ("transport.alpha", "1", "a number greater than 1"),
    ("2.45663283", "inf"): ("workload.size.sigma", "inf", "a number at least 0 and at most 20"),
    ("p = 4", "receiver_timers = 1"): ("transport.receiver_timers", "1", "true or false"),
    ("p = 4", 'receiver_timers = "no"'): ("transport.receiver_timers", "'no'", "true or false"),
    ('kind = "fat-tree"\nk = 8', 'kind = "graph"\nlinks = "ab"'): (
        "topology.links",
        "'ab'",
        "a list, each item a table with source and target",
    ),
    ('kind = "fat-tree"\nk = 8', 'kind = "graph"\nlinks = [["a", "b"]]'): (
        "topology.links[0]",
        "['a', 'b']",
        "a table with source and target",
    ),
    ("flows = 1024", "writes = 3"): ("workload.writes", "3", "a table"),
    ("flows = 1024", 'writes = { size = "9 kB" }'): (
        "workload.writes.interval",
        "nothing",
        "a duration, greater than zero",
    ),
    ("flows = 1024", 'writes = { size = "0 B", interval = "1 ms" }'): (
        "workload.writes.size",
        "'0 B'",
        "a size, greater than zero",
    ),
    ("flows = 1024", 'writes = { size = "9 kB", interval = "1 ms" }'): (
        "workload.writes",
        "writes in parts with the transport 'sawl'",
        "the transport 'tcp'",
    ),
    # structure
    ("k = 8", "k = 7"): ("topology.k", "7", "an even whole number from 2 to 128"),
    ("k = 8", "k = 0"): ("topology.k", "0", "an even whole number from 2 to 128"),
    ("k = 8", "k = 130"): ("topology.k", "130", "an even whole number from 2 to 128"),
    ("k = 8", 'k = "8"'): ("topology.k", "'8'", "an even whole number from 2 to 128"),
    ("buffer_ports = 2", "buffer_ports = 9"): (
        "switching.buffer_ports",
        "9",
        "a whole number from 0 to the links of the largest switch, 8",
    ),
    ("buffer_ports = 2", "buffer_ports = -1"): ("switching.buffer_ports", "-1", "a whole number"),
    ("p = 4", 'header_size = "9 kB"'): ("transport.header_size", "9 kB", "less than segment_size"),
    ("p = 4", 'control_size = "10 kB"'): (
        "transport.control_size",
        "10 kB",
        "at most segment_size (9 kB)",
    ),
    ("p = 4", 'initial_timeout = "61 s"'): (
        "transport.initial_timeout",
        "61 s",
        "at most max_timeout (60 s)",
    ),
    ('kind = "hybrid"\nbuffer_ports = 2', 'kind = "electronic"\nqueue_size = "8 kB"'): (
        "switching.queue_size",
        "8 kB",
        "at least transport.segment_size (9 kB), or 'unlimited'",
    ),
    ('"16 MiB"', '"10 B"'): ("workload.size.max", "10 B, which keeps 0.17 %", "at least 1 % of"),
    ('kind = "fat-tree"\nk = 8', 'kind = "graph"'): (
        "topology.file",
        "neither of file and links",
        "one of file and links",
    ),
    ('size = { kind = "lognormal", mu = 9.48, sigma = 2.45663283, max = "16 MiB" }', "size = 9"): (
        "workload.size",
        "9",
        "a size, greater than zero, such as '9 kB', in one of B, kB, KiB, MB, MiB, GB, GiB, TB, "
        "TiB, or a table with a kind, one of 'constant'",
    ),
    ('size = { kind = "lognormal", mu = 9.48, sigma = 2.45663283, max = "16 MiB" }',
     'size = "9 kb"'): ("workload.size", "'9 kb'", "did you mean '9 kB'?), or a table with a kind"),
    ("[transport]", "[[transport]]"): ("transport", "[{'kind': 'sawl'", "a table with a kind"),
    ('name = "good"', "name = 5"): ("name", "5", "text"),
    # unreadable files
    ('{ kind = "lognormal", mu = 9.48, sigma = 2.45663283, max = "16 MiB" }',
     '{ kind = "empirical", file = "none.txt" }'): (
        "workload.size.file",
        "'none.txt'",
        "No such file",
    ),
    ('{ kind = "lognormal", mu = 9.48, sigma = 2.45663283, max = "16 MiB" }',
     '{ kind = "empirical", name = "google" }'): (
        "workload.size.name",
        "'google'",
        "one of 'websearch', 'hadoop'",
    ),
    ('kind = "fat-tree"\nk = 8', 'kind = "graph"\nfile = "none.csv"'): (
        "topology.file",
        "'none.csv'",
        "the name of a file that can be read",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CASES, ids=lambda change: change[1].replace("\n", " "))
def test_one_wrong_field(change: tuple[str, str], tmp_path: Path) -> None:
    old, new = change
    assert GOOD.count(old) == 1
    path, given, allowed = CASES[change]
    error = refusal(tmp_path, GOOD.replace(old, new))
    assert error.errors == (error,)
    assert error.path == path
    assert error.given.startswith(given)
    assert allowed in error.allowed
    assert str(error) == f"{path}: given {error.given}; allowed: {error.allowed}"


def test_all_errors_of_a_file_together(tmp_path: Path) -> None:
    text = GOOD.replace("k = 8", "k = 7").replace('"10 Gb/s"', '"10 Gb"').replace("p = 4", "q = 4")
    text = text.replace("flows = 1024", "flows = -1").replace("9.48", '"x"').replace("10 s", "10")
    error = refusal(tmp_path, text)
    assert [single.path for single in error.errors] == [
        "topology.link_rate",
        "topology.k",
        "transport.q",
        "workload.flows",
        "workload.size.mu",
        "measurement.time_limit",
    ]
    assert len(str(error).splitlines()) == 6


def test_a_whole_table_is_missing(tmp_path: Path) -> None:
    error = refusal(tmp_path, 'name = "nothing"\n')
    assert [(single.path, single.given) for single in error.errors] == [
        (table, "nothing") for table in ("topology", "switching", "transport", "workload")
    ]


ROW_CASES = {
    "host that does not exist": ("0,128,0,1\n", "row 1: destination 128", "from 0 to 127"),
    "unsorted": ("0,1,1,1\n1,2,0.5,1\n", "row 2: start_s 0.5", "sort the table by start"),
    "NaN": ("0,1,0,1\n1,2,nan,1\n", "row 2: start_s 'nan'", "a number from 0"),
    "no size": ("0,1,0,0\n", "row 1: size_bytes 0", "a whole number of bytes from 1"),
}


@pytest.mark.parametrize("case", ROW_CASES)
def test_a_wrong_row_of_a_flow_table(case: str, tmp_path: Path) -> None:
    rows, given, allowed = ROW_CASES[case]
    (tmp_path / "flows.csv").write_text(ROWS + rows)
    error = refusal(tmp_path, TABLE)
    assert error.path == "workload.file"
    assert given in error.given
    assert allowed in error.allowed


def test_a_file_that_is_not_there_and_one_that_is_a_directory(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path, TABLE).allowed
    (tmp_path / "flows.csv").mkdir()
    error = refusal(tmp_path, TABLE)
    assert (error.path, error.given) == ("workload.file", "'flows.csv'")
    assert "Is a directory" in error.allowed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").touch(mode=0)
    assert "Permission denied" in refusal(tmp_path, TABLE).allowed


def test_a_file_that_went_away_after_it_was_checked(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(ROWS + "0,1,0,1\n")
    scenario = read(tmp_path, TABLE)
    (tmp_path / "flows.csv").unlink()
    with pytest.raises(InputError, match=r"^workload.file: given .*; allowed: the name of a file"):
        compile_plan(scenario, 1)


@pytest.mark.parametrize(
    ("content", "given", "allowed"),
    [
        (b'name = "a"\n[topology\n', "at line 2, column 10", "a TOML file"),
        (b'name = "a"\nk = 8\nk = 9\n', "'k' twice (again at line 3)", "each name once"),
        (b"[a.b]\nk = 8\n[ a.b ]\n", "'a.b' twice (again at line 3)", "each name once"),
        (b"name = a\n", "at line 1", "a TOML file"),
    ],
)
def test_what_is_not_toml_is_named_with_its_line(
    content: bytes, given: str, allowed: str, tmp_path: Path
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(file)
    assert (caught.value.path, caught.value.allowed) == (str(file), allowed)
    assert given in caught.value.given


def test_scenario_files_that_cannot_be_read(tmp_path: Path) -> None:
    none = tmp_path / "none.toml"
    for path, given in ((none, "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError) as caught:
            load(path)
        assert caught.value.path == "scenario"
        assert caught.value.given == f"{show(str(path))} ({given})"
        assert caught.value.allowed == "a file that can be read"


def test_more_memory_than_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 2**30)
    text = GOOD.replace("k = 8", "k = 128").replace("flows = 1024", "flows = 1_000_000_000")
    error = refusal(tmp_path, text)
    assert error.path == "scenario"
    assert error.given.startswith("one that needs about 448")
    assert error.allowed == "one that fits into the 4.0 GiB that are free"


def test_pieces_made_in_python_are_checked_alike() -> None:
    from lightburst.scenario.tables.topology import FatTree

    with pytest.raises(InputError, match=r"^k: given 5; allowed: an even whole number"):
        FatTree(k=5)
    with pytest.raises(InputError, match=r"^topology.k: given 5; "):
        Scenario(topology={"kind": "fat-tree", "k": 5}, switching={"kind": "hybrid"},
                 transport={"kind": "saw"}, workload={"kind": "incast", "senders": 3})  # fmt: skip
