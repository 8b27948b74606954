"""What a user may hand over: the examples, and what a slip or malice makes of them."""

import tomllib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from pydantic import BaseModel

from lightburst.scenario import Scenario
from lightburst.scenario.explain import inner_model, is_mapping, kinds

EXAMPLES = Path(__file__).parents[2] / "examples"

# Values that have broken something somewhere, for every kind of field.
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
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(QUANTITIES),
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(OTHERS),
    st.text(max_size=5),
    st.integers(),
    st.floats(),
)


def _small(name: str, **changes: dict[str, Any]) -> dict[str, Any]:
    """An example, with so little to do that a run takes milliseconds."""
    values = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
    for table, keys in changes.items():
        values.setdefault(table, {}).update(keys)
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
        _small("groups"),
        _small("flows"),
        _small("electronic", topology=fat, workload=few, transport={"kind": "datagram", "p": None}),
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
                if field is not None and not is_mapping(field):
                    named = kinds(field).get(str(inner.get("kind")))
                    known = named or inner_model(field.annotation)
                found.append((inner, known))
    return found


def _known_keys(model: type[BaseModel] | None) -> list[str]:
    return sorted(model.model_fields) if model else ["kind"]


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an example with a few changes that a hostile hand made."""
    values = deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(0, 3))):
        table, model = draw(st.sampled_from(_tables(values)))
        known = st.sampled_from(_known_keys(model))
        key = draw(known | st.sampled_from(sorted(table) or ["x"]))
        match draw(st.sampled_from(["value", "value", "value", "swap", "rename", "out", "deeper"])):
            case "value":
                table[key] = draw(VALUES)
            case "swap":
                other = draw(st.sampled_from(BASES))
                table[key] = deepcopy(other.get(key, other["topology"]))
            case "rename":
                table[draw(st.sampled_from([*TEXTS, key.upper(), key + "s"]))] = table.pop(key, 1)
            case "out":
                table.pop(key, None)
            case "deeper":
                table[key] = {key: table.get(key, [])} if draw(st.booleans()) else [table.get(key)]
    return values


@st.composite
def settings(draw: st.DrawFn) -> str:
    """Draw the words after ``--set``."""
    base = draw(st.sampled_from(BASES))
    table = draw(st.sampled_from(sorted(base)))
    model = inner_model(Scenario.model_fields[table].annotation)
    keys = [*_known_keys(model), *(base[table] if isinstance(base[table], dict) else ())]
    path = draw(st.sampled_from([*(f"{table}.{key}" for key in keys), table, *TEXTS]))
    value = draw(VALUES | st.sampled_from(["{a=" * 300, "[" * 600, '{kind="tcp"}', "[1, 2]"]))
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
    """Rows of a table of text, with a few cells that are something else."""
    rows = [list(heading)] + [list(usual) for _ in range(draw(st.integers(0, 4)))]
    for _ in range(draw(st.integers(0, 4))):
        row = draw(st.sampled_from(rows))
        if row:
            row[draw(st.integers(0, len(row) - 1))] = draw(CELLS)
    if draw(st.booleans()):
        draw(st.sampled_from(rows)).append(draw(CELLS))
    between = draw(st.sampled_from([",", ",", ",", ";", " ", "\t"]))
    text = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(map(between.join, rows))
    coding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"]))
    return text.encode(coding, "replace") + draw(
        st.sampled_from([b"", b"\n", b"\xff", b'"', b"\0"])
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


def _strings(values: list[Any]) -> pa.Array:
    return pa.array([None if value is None else f"{value:.0f}" for value in values])


ARROW: list[Callable[[list[Any]], pa.Array]] = [
    *(lambda v, kind=kind: pa.array(v, pa.float64()).cast(kind, safe=False)
      for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float32(), pa.float64())),
    lambda v: pa.array(np.array(v, np.float64).astype(np.float16)),
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
    columns, names = [], []
    for name, value in usual.items():
        numbers = cast("list[Any]", [value] * count)
        if draw(st.booleans()):
            numbers = draw(st.lists(CELL_NUMBERS | st.none(), min_size=count, max_size=count))
        kind = draw(st.sampled_from(ARROW)) if draw(st.booleans()) else ARROW[5]
        columns.append(kind([0.0 if n is None and kind is not ARROW[5] else n for n in numbers]))
        names.append(draw(st.sampled_from(TEXTS[:20])) if draw(st.integers(0, 9)) == 9 else name)
    return pa.Table.from_arrays(columns, names=names)
