"""Input from a user: the examples, and changes of them by mistake or malice."""

import tomllib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from lightburst.foundation.units import Quantity
from lightburst.scenario import Scenario
from lightburst.scenario.fields import Real, Whole
from lightburst.scenario.reading.messages import by_name, inner_model, kinds, markers

EXAMPLES = Path(__file__).parents[2] / "examples"

# Values that have caused errors before, for every kind of field.
TEXTS = [
    "", " ", "0", "-1", "1_0", "\u0661", "nan", "inf", "1e400", "-0.0 s", "\x1b[31m", "\0", "\n",
    "\u202e", "$x^$", "_x", "[/x]", "\u4e2d", "\ud800", "a" * 5000, "a.b", "all", "off",
    "link", "leaves", "free", "random", "hops", "delay", "tcp", "reno", "sack", "timer", "burst",
    "hybrid", "wide-area", "datacentre", "flow-hash", "edge", "core", "websearch",
]  # fmt: skip
QUANTITIES = [
    *("0 s", "1 ps", "7 ps", "1 ns", "1 us", "3 ms", "1 s", "4000000 s", "4000001 s"),
    *("1e-9999999999999999999999 s", "1e-999999999 s", "1 min", "1us", "1  us"),
    *("0 B", "1 B", "2 B", "39 B", "64 B", "1500 B", "9 kB", "1 MiB", "1 GB", "1000 TB"),
    *("1 b/s", "3 b/s", "1 kb/s", "10 Gb/s", "1000 Tb/s", "1 /s", "1e-300 /s", "1e15 /s"),
    *("0 m", "-0.0 m", "0.1 mm", "1 m", "1e6 km", "0 ps/m", "1 ps/m", "1000 ns/m", "1 pJ/b"),
]
NUMBERS: list[object] = [
    *(0, -1, 1, 2, 3, 4, 7, 16, 64, 65_535, 10**9, 2**31, 2**31 + 1, 2**63, 2**64, 10**400),
    *(-0.0, 0.5, 1.0, 1e-300, 1e-12, 0.999999, 1e9, 1e308, float("inf"), float("nan")),
]
OTHERS: list[object] = [
    *(True, False, None, [], {}, [[]], [1, 2], [2, 1], [None], {"kind": "x"}, {"": 1}),
    *([{"source": "a", "target": "b"}], {"a": {"workload": {"kind": "pairs"}}}, 10**5000),
]
DIGITS = st.sampled_from(
    [
        *("0", "1", "3", "7.5", "0.1", "1e3", "1e9", "1e-9", "-0.0", "-1"),
        *("1e-300", "1e999999999", "1e-9999999999999999999999"),
    ]
)
DEEP = ["{a=" * 300, "[" * 600 + "]" * 600, '{kind="tcp"}', "[1, 2]", "0x" + "f" * 9000]
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(QUANTITIES),
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(OTHERS).map(deepcopy),
    st.text(max_size=5),
    st.integers(),
    st.floats(),
)


def _small(name: str, **changes: dict[str, Any]) -> dict[str, Any]:
    """An example, reduced so that a run takes milliseconds."""
    values = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
    for table, keys in changes.items():
        values.setdefault(table, {}).update(keys)
    if values.get("transport", {}).get("kind") == "datagram":
        del values["transport"]["p"]
    values.setdefault("measurement", {})["time_limit"] = "20 ms"
    for table in (values["topology"], values.get("workload", {})):
        if "file" in table:
            table["file"] = str(EXAMPLES / table["file"])
    return values


def _bases() -> list[dict[str, Any]]:
    few = {"flows": 12}
    fat = {"k": 4}
    return [
        _small("path"),
        _small("obs"),
        _small("electronic", topology=fat, workload=few),
        _small("hybrid", topology=fat, workload=few),
        _small("incast", topology=fat, workload={"senders": 5, "rounds": 2}),
        _small("shuffle", topology=fat),
        _small("graph", workload=few),
        _small("nsfnet", workload={"duration": "1 ms"}),
        _small("obs-nsfnet", workload=few),
        _small("groups"),
        _small("flows"),
        _small("electronic", topology=fat, workload=few, transport={"kind": "datagram"}),
    ]


BASES = _bases()


def _tables(values: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """All tables in a scenario, each with the class that reads it, if it is known."""
    found: list[tuple[dict[str, Any], Any]] = [(values, Scenario)]
    for table, model in found:
        for key, inner in table.items():
            field = model.model_fields.get(key) if model else None
            if isinstance(inner, dict):
                known: Any = None
                if field is not None and not by_name(field):
                    kind = inner.get("kind")
                    known = kinds(field).get(kind) if isinstance(kind, str) else None
                    known = known or inner_model(field.annotation)
                found.append((inner, known))
    return found


def _fitting(field: FieldInfo | None) -> st.SearchStrategy[Any]:
    """Values of a field's own kind, at its limits and far from them."""
    if field is None:
        return VALUES
    for marker in markers(field):
        if isinstance(marker, Quantity):
            written = st.builds("{} {}".format, DIGITS, st.sampled_from([*marker.dimension.units]))
            return written | st.just(marker.word) if marker.word else written
        if isinstance(marker, Whole):
            return st.sampled_from([marker.minimum, marker.maximum, marker.word, *NUMBERS[:9]])
        if isinstance(marker, Real):
            inside = [x for x in NUMBERS if isinstance(x, float) and x < 100]
            return st.sampled_from([*inside, marker.minimum, marker.maximum])
    if members := kinds(field):
        return st.sampled_from(sorted(members)).map(lambda kind: {"kind": kind})
    words = [word for word in get_args(field.annotation) if isinstance(word, str)]
    return st.sampled_from(words) if words else st.booleans() | VALUES


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an example with a few changes, by mistake or malice."""
    values: dict[str, Any] = deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        table, model = draw(st.sampled_from(_tables(values)))
        fields = model.model_fields if model else {}
        key = draw(st.sampled_from([*sorted(fields), *sorted(table)] or ["kind"]))
        match draw(
            st.sampled_from([*["fitting"] * 8, "any", "any", "swap", "rename", "out", "in"])
        ):
            case "fitting":
                table[key] = draw(_fitting(fields.get(key)))
            case "any":
                table[key] = draw(VALUES)
            case "swap":
                other = draw(st.sampled_from(BASES))
                table[key] = deepcopy(other.get(key, other["topology"]))
            case "rename":
                table[draw(st.sampled_from([*TEXTS, key.upper(), key + "s"]))] = table.pop(key, 1)
            case "out":
                table.pop(key, None)
            case "in":
                table[key] = {key: table.get(key, [])} if draw(st.booleans()) else [table.get(key)]
    return values


@st.composite
def settings(draw: st.DrawFn, base: dict[str, Any]) -> str:
    """Draw the words after ``--set``, for one of the examples."""
    name = draw(st.sampled_from(sorted(base)))
    table = base[name]
    own = kinds(Scenario.model_fields[name]) if isinstance(table, dict) else {}
    model = own.get(table.get("kind")) if own else None
    fields = model.model_fields if model else {}
    if key := draw(st.sampled_from(["", *sorted(fields)])):
        path, value = f"{name}.{key}", draw(_fitting(fields[key]) | VALUES)
    else:
        path, value = draw(st.sampled_from([name, *TEXTS])), draw(VALUES | st.sampled_from(DEEP))
    try:
        return f"{path}={value}"
    except ValueError:  # a whole number that Python does not write
        return f"{path}={'9' * 5000}"


CELLS: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(["0", "1", "2", "9000", "1e-6", "1 km", "10 Gb/s", "a", "b", "c", "a/0"]),
    st.sampled_from([*TEXTS[:21], *QUANTITIES]).map(lambda text: text.replace("\ud800", "?")),
    st.integers(0, 2**70).map(str),
)


def _lines(draw: st.DrawFn, heading: list[str], usual: list[str]) -> bytes:
    """Rows of a table of text, with a few cells of other content."""
    rows = [list(heading)] + [list(usual) for _ in range(draw(st.integers(0, 4)))]
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3]))):
        row = draw(st.sampled_from(rows))
        if row:
            row[draw(st.integers(0, len(row) - 1))] = draw(CELLS)
    if draw(st.integers(0, 9)) == 9:
        draw(st.sampled_from(rows)).append(draw(CELLS))
    between = draw(st.sampled_from([*[","] * 7, ";", " ", "\t"]))
    text = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(map(between.join, rows))
    coding = draw(st.sampled_from([*["utf-8"] * 6, "utf-8-sig", "latin-1", "utf-16"]))
    return text.encode(coding, "replace") + draw(
        st.sampled_from([*[b"\n"] * 6, b"", b"\xff", b'"', b"\0"])
    )


@st.composite
def flow_csv(draw: st.DrawFn) -> bytes:
    """Draw a table of flows as text."""
    time = draw(st.sampled_from(["start_s", "start_ps"]))
    return _lines(draw, ["source", "destination", time, "size_bytes"], ["0", "1", "0", "9000"])


@st.composite
def link_csv(draw: st.DrawFn) -> bytes:
    """Draw a table of links as text."""
    columns = ["source", "target", "length", "rate", "wavelengths", "name"]
    width = draw(st.integers(2, 6))
    nodes = st.sampled_from(["a", "b", "c", "d"])
    usual = [draw(nodes), draw(nodes), "1 km", "10 Gb/s", "1", "x"][:width]
    return _lines(draw, columns[:width], usual)


@st.composite
def sizes_text(draw: st.DrawFn) -> bytes:
    """Draw a distribution of sizes as text."""
    points = sorted(draw(st.lists(st.integers(0, 10**6), max_size=3)))
    first = [str(point) for point in points[:1]] or ["1"]
    return _lines(draw, [*first, "10"], ["9000", "100"])


def _halves(values: list[Any]) -> np.ndarray[Any, np.dtype[np.float16]]:
    with np.errstate(over="ignore"):
        return np.array(values, np.float64).astype(np.float16)


def _strings(values: list[Any]) -> pa.Array:
    return pa.array([None if value is None else f"{value:.0f}" for value in values])


ARROW: list[Callable[[list[Any]], pa.Array]] = [
    *(lambda v, kind=kind: pa.array(v, pa.float64()).cast(kind, safe=False)
      for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float32(), pa.float64())),
    lambda v: pa.array(_halves(v)),
    lambda v: pa.array(v, pa.float64()).cast(pa.int64(), safe=False).cast(pa.timestamp("us")),
    lambda v: pa.array(v, pa.float64()).cast(pa.int64(), safe=False).cast(pa.decimal128(38, 2)),
    lambda v: _strings(v),
    lambda v: _strings(v).dictionary_encode(),
    lambda v: _strings(v).cast(pa.binary()),
    lambda v: pa.array([b"\xff" for _ in v]),
    lambda v: pa.array([bool(x) for x in v]),
    lambda v: pa.array([[x] for x in v]),
    lambda v: pa.array([{"x": x} for x in v]),
    lambda v: pa.nulls(len(v)),
]  # fmt: skip
CELL_NUMBERS = st.sampled_from([0.0, 0.0, 1.0, 2.0, 1e-6, 9000.0, 1e6, -1.0, 0.5, 2.0**53, 4e18])


@st.composite
def flow_parquet(draw: st.DrawFn) -> "pa.Table":
    """Draw a table of flows with columns of any kind."""
    count = draw(st.integers(0, 3))
    usual = {"source": 0.0, "destination": 1.0, "start_s": 0.0, "size_bytes": 9000.0}
    if draw(st.booleans()):
        usual["start_ps"] = usual.pop("start_s")
    special = draw(st.lists(st.sampled_from(sorted(usual)), max_size=2))
    columns = []
    for name, value in usual.items():
        numbers: list[Any] = [value] * count
        kind = ARROW[5]
        if name in special:
            numbers = draw(st.lists(CELL_NUMBERS, min_size=count, max_size=count))
            kind = draw(st.sampled_from(ARROW))
        columns.append(kind(numbers))
    names = list(usual)
    if draw(st.integers(0, 9)) == 9:
        names[draw(st.integers(0, 3))] = draw(st.sampled_from(TEXTS[:16]))
    return pa.Table.from_arrays(columns, names=names)
