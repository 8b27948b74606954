"""Hostile input: one message each, no other error, no endless wait."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError, printable, show

BASE = """name = "n"
[topology]
kind = "path"
links = 2
[switching]
kind = "electronic"
[transport]
kind = "tcp"
[workload]
kind = "pairs"
size = { kind = "constant", value = "9 kB" }
"""
HEADING = "source,destination,start_s,size_bytes\n"


def message(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of the command line for bad input: one line."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lightburst: ")
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert len(err) < 1500
    return err


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)


DEEP = "[" * 500 + "]" * 500
TEXTS = {
    "lists": (BASE + f"x = {DEEP}", "20 tables or lists inside each other"),
    "tables": (BASE + "x = " + "{a=" * 500 + "1" + "}" * 500, "inside each other"),
    "headings": (BASE + f"[{'.'.join(['a'] * 3000)}]", "inside each other"),
    "digits": (BASE.replace("links = 2", "links = " + "9" * 5000), "thousands of digits"),
    "hexadecimal": (BASE.replace("links = 2", "links = 0x" + "f" * 9000), "thousands of digits"),
    "power": (BASE.replace("links = 2", "links = 1" + "0" * 400), "from 1 to 10000"),
    "escape in a key": (BASE + '"\\u001b[31m" = 1', "unknown key '\\x1b[31m'"),
    "long key": (BASE + f"{'k' * 5000} = 1", "unknown key 'kkk"),
    "escape in a name": (BASE.replace('"n"', r'"\u001b]0;x\u0007"'), "printable characters"),
    "long name": (BASE.replace('"n"', f'"{"n" * 201}"'), "0 to 200 printable"),
    "nothing": ("", "topology: given nothing"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_scenario_file(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, said = TEXTS[case]
    Path("case.toml").write_text(text)
    assert main(["run", "case.toml"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert all(line.isprintable() and len(line) < 1500 for line in err.splitlines())


SETTINGS = {
    f"topology.links={DEEP}": "'[[[[",
    f"topology.links={'9' * 5000}": "given '9999",
    f"topology.links=1{'0' * 400}": "from 1 to 10000",
    f'workload.size={{kind="lognormal",mu=1{"0" * 400}}}': "at most 40",
    "measurement.time_limit=1e-9999999999999999999999 s": "exponent of fewer digits",
    "measurement.time_limit=1e9999999999999999999999 s": "exponent of fewer digits",
    "measurement.time_limit=1e-999999999 s": "greater than zero",
    "topology.link_length=1e999999999 m": "up to 1e6 km",
    "topology.links=٣": "given '٣'",
    "topology.link_length=٣ m": "given '٣ m'",
    "\x1b[31mx.y=3": "unknown key '\\x1b[31mx'",
    f"{'a' * 5000}=3": "unknown key 'aaa",
    f"{'a.' * 500}a=3": "levels deep",
    "name=\udcff": "printable",
    "workload.size={kind='empirical',file='\udcff'}": "file that can be read",
    'workload={kind="table",file="a\\u0000b"}': "file that can be read",
}


@pytest.mark.parametrize("setting", SETTINGS, ids=range(len(SETTINGS)))
def test_a_setting(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert SETTINGS[setting] in message(capsys, "run", "base.toml", "--set", setting)


@pytest.mark.parametrize("seed", ["9" * 5000, "1_0", "٣", "-1", " 1", "0x1", "1e3", ""])
@pytest.mark.parametrize("option", ["--seed", "--replications"])
def test_an_option(option: str, seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a whole number from" in message(capsys, "run", "base.toml", f"{option}={seed}")


def test_zero_has_no_sign() -> None:
    base = lb.load("base.toml")
    negative = {"workload.size": {"kind": "lognormal", "mu": 5, "sigma": -0.0}}
    zero = base.with_(negative).with_({"workload.size.sigma": 0})
    assert base.with_(negative).canonical_json() == zero.canonical_json()
    assert lb.run(base.with_(negative)).flows["size_bytes"].tolist() == [round(np.exp(5))]
    lengths = [base.with_({"topology.link_length": text}) for text in ("-0.0 m", "0 m")]
    assert lengths[0].to_toml() == lengths[1].to_toml()


TABLES: dict[str, tuple[str | bytes, str]] = {
    "latin": ((HEADING + "0,1,0,10\n0,1,0,\xe9\n").encode("latin-1"), "row 2: size_bytes '"),
    "latin heading": ((HEADING[:-1] + ",\xe9\n0,1,0,1,1\n").encode("latin-1"), "not UTF-8"),
    "underscore": (HEADING + "0,1,0,1_000\n", "row 1: size_bytes '1_000'"),
    "Arabic digits": (HEADING + "0,1,0,\u0661\u0660\n", "row 1: size_bytes"),
    "escape": (
        HEADING[:-1] + "\x1b[31m\n0,1,0,10\n",
        "size_bytes\\x1b[31m; 'size_bytes' is missing",
    ),
    "NUL": (HEADING + "0,1,0,\0\n", "row 1: size_bytes"),
    "not a number": (HEADING + "0,1,nan,1\n", "row 1: start_s"),
    "twice": ("source," + HEADING + "0,0,1,0,1\n", "'source' more than once"),
    "10^400": (HEADING + f"0,1,0,1{'0' * 400}\n", "row 1: size_bytes '1000"),
    "long": (HEADING + f"0,1,0,{'x' * 100_000}\n", "row 1: size_bytes 'xxx"),
    "nothing": ("", "Empty CSV"),
    "no rows": (HEADING, "no rows"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_of_flows(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    content, said = TABLES[case]
    Path("t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    assert said in message(
        capsys, "run", "base.toml", "--set", 'workload={kind="table",file="t.csv"}'
    )


def flows_of(**columns: pa.Array) -> "lb.Result":
    usual = {"source": [0, 0], "destination": [1, 1], "start_s": [0.0, 1.0], "size_bytes": [10, 90]}
    pq.write_table(pa.table({name: columns.get(name, usual[name]) for name in usual}), "t.parquet")
    table = {"kind": "table", "file": "t.parquet"}
    return lb.run(lb.load("base.toml").with_({"workload": table}))


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint8(),
        pa.int64(),
        pa.float16(),
        pa.float32(),
        pa.decimal128(30, 2),
        pa.string(),
    ],
)
def test_a_column_may_be_of_any_numbers(kind: pa.DataType) -> None:
    def column(*values: int) -> pa.Array:
        if kind == pa.float16():
            return pa.array(np.array(values, np.float16))
        return pa.array([str(v) for v in values] if kind == pa.string() else values).cast(kind)

    flows = flows_of(start_s=column(0, 3), size_bytes=column(10, 90), source=column(0, 0)).flows
    assert flows["start_s"].tolist() == [0, 3]
    assert flows["size_bytes"].tolist() == [10, 90]


@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal128(19, 0), pa.string()])
def test_whole_picoseconds_stay_exact(kind: pa.DataType) -> None:
    late = 3_999_999_999_999_999_999
    table = {"source": [0], "destination": [1], "size_bytes": [10]}
    start = pa.array([str(late)]).cast(kind) if kind != pa.int64() else pa.array([late])
    pq.write_table(pa.table({**table, "start_ps": start}), "t.parquet")
    scenario = lb.load("base.toml").with_({"workload": {"kind": "table", "file": "t.parquet"}})
    from lightburst.compile import compile_plan

    assert compile_plan(scenario, 1).flows["start_ps"].tolist() == [late]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([True, False]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([[1], [2]]),
        pa.array([0, 1], pa.timestamp("s")),
        pa.array([b"\xff", b"1"]),
        pa.array([None, None]),
        pa.array([None, 1]),
    ],
    ids=str,
)
def test_a_column_of_something_else_is_refused(column: pa.Array) -> None:
    for name in ("source", "start_s", "size_bytes"):
        with pytest.raises(InputError, match=r"row 1|of the type"):
            flows_of(**{name: column})


FILES = ("scenario", "table", "graph", "sizes")


def reading(kind: str, file: str) -> list[str]:
    """A command that reads a file."""
    if kind == "scenario":
        return ["run", file]
    name = json.dumps(file)
    tables = {
        "table": f'workload={{kind="table",file={name}}}',
        "graph": f'topology={{kind="graph",file={name}}}',
        "sizes": f'workload.size={{kind="empirical",file={name}}}',
    }
    return ["run", "base.toml", "--set", tables[kind]]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("/dev/zero", "a device or a pipe"),
        ("fifo", "a device or a pipe"),
        ("loop", "Too many levels of symbolic links"),
        ("a" * 5000, "File name too long"),
        ("/".join("a" * 2500), "File name too long"),
        (".", "Is a directory"),
        ("a\0b", "file"),
        ("\x1b[31m", "No such file"),
    ],
    ids=lambda value: printable(value)[:20],
)
def test_a_file_that_is_none(
    kind: str, file: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("fifo")
    Path("loop").symlink_to("loop")
    assert said in message(capsys, *reading(kind, file))


@pytest.mark.parametrize("kind", FILES)
def test_a_file_without_an_end(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("huge").open("wb") as stream:
        stream.truncate(10**13)  # a sparse file: it takes no room on the disk
    said = "memory" if kind == "table" else "more than 100 MB"
    assert said in message(capsys, *reading(kind, "huge"))


@pytest.mark.parametrize("kind", ["scenario", "graph", "sizes"])
def test_a_file_that_is_not_utf_8_is_named_with_its_line(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("latin").write_bytes(b"\n\nname = '\xe9'\n")
    assert "not UTF-8 at line 3" in message(capsys, *reading(kind, "latin"))


@pytest.mark.parametrize("line", ["1_000 100", "\u0661 100", "1 nan", "1 100 1", "1e999 100"])
def test_a_line_of_sizes(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sizes").write_text(f"{line}\n")
    assert "line 1" in message(capsys, *reading("sizes", "sizes"))


@pytest.mark.parametrize(
    "rows",
    [
        "source,target\na,\x1b[31m\n",
        f"source,target\na,{'b' * 201}\n",
        "source,target,source\na,b,c\n",
    ],
)
def test_a_table_of_links(rows: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("links").write_text(rows)
    message(capsys, *reading("graph", "links"))


def test_times_beyond_the_year_9999_are_no_numbers() -> None:
    for name in ("source", "size_bytes"):
        with pytest.raises(InputError, match="timestamp"):
            flows_of(**{name: pa.array([4 * 10**18] * 2, pa.timestamp("us"))})


def test_python_may_nest_without_end_as_well() -> None:
    endless: list[object] = []
    endless.append(endless)
    for value in (endless, 10**5000, [10**5000], json.loads(DEEP)):
        with pytest.raises(InputError):
            lb.load("base.toml").with_({"topology.links": value})
        with pytest.raises(InputError):
            lb.Scenario.from_dict({"topology": value})
        assert len(show(value)) <= 80


def test_what_cannot_be_printed_is_written_as_an_escape() -> None:
    assert printable("a\x1b[31m\n\x9b\u202e\udcff é中") == r"a\x1b[31m\n\x9b\u202e\udcff é中"
    error = InputError("p" * 999, "g\a" * 999, "a\r" * 999)
    assert str(error).isprintable()
    assert len(str(error)) < 5000


def test_a_working_directory_that_was_deleted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = lb.load("base.toml")
    gone = Path("gone").absolute()
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (["run", "../base.toml"], ["reproduce", "yu2004", "--out", "x"], ["list"]):
        assert "working directory: given one that was deleted" in message(capsys, *words)
    with pytest.raises(InputError, match="--out"):
        lb.run(scenario).save("saved")
    monkeypatch.chdir(gone.parent)


@pytest.mark.parametrize(
    "place", ["a\0b", "loop", "loop/in", "a" * 5000, "/dev/null", "base.toml/x"]
)
def test_a_place_that_cannot_be_written(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("loop").symlink_to("loop")
    for several in ("1", "2"):
        words = ["run", "base.toml", "--out", place, "--replications", several]
        assert message(capsys, *words).startswith("lightburst: --out: given")
