"""Values from Python: NumPy's and pandas' numbers, numbers in SI units, files, counts of seeds.

The oracle is the same scenario in Python's own numbers and in text with units: equal sections,
equal digests, equal keys in a store.
"""

import itertools
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import (
    DELAY_PER_LENGTH,
    ENERGY_PER_BIT,
    FREQUENCY,
    LENGTH,
    RATE,
    SIZE,
    TIME,
    Dimension,
    Quantity,
    as_python,
)
from lightburst.scenario import Scenario, load
from lightburst.scenario.section import Section
from lightburst.scenario.switching import Hybrid
from lightburst.scenario.tables.loss import Drop
from lightburst.scenario.tables.measurement import Energy, Measurement
from lightburst.scenario.tables.sizes import Constant
from lightburst.scenario.tables.topology import FatTree, GraphLink
from lightburst.scenario.tables.workload import Poisson
from lightburst.scenario.transport import Sawl, Tcp
from lightburst.study import Study, execute, replicate
from lightburst.topology import from_networkx

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "examples/path.toml"


def small() -> Scenario:
    return load(ROOT / "examples/hybrid.toml").with_(topology__k=4, workload__flows=8)


# NumPy's types for Python's 3 and 0.5 and True.
WHOLE = [kind(3) for kind in (np.int8, np.int64, np.uint16, np.uint64)] + [np.array(3)]
REAL = [kind(0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)]


@pytest.mark.parametrize("number", WHOLE, ids=lambda number: str(number.dtype))
def test_a_seed_of_numpy_s_is_the_same_seed(number: Any) -> None:
    result, own = lb.run(small(), seed=number), lb.run(small(), seed=3)
    assert result.digest == own.digest
    assert type(result.seed) is int
    assert compile_plan(small(), number).digest() == compile_plan(small(), 3).digest()
    json.dumps(result.provenance.as_dict())


@pytest.mark.parametrize("number", WHOLE, ids=lambda number: str(number.dtype))
def test_a_whole_number_of_numpy_s_is_python_s(number: Any) -> None:
    made = small().with_(switching__buffer_ports=number)
    assert made == small().with_(switching__buffer_ports=3)
    assert made.canonical_json() == small().with_(switching__buffer_ports=3).canonical_json()
    assert type(Hybrid(buffer_ports=number).buffer_ports) is int


@pytest.mark.parametrize("number", REAL, ids=lambda number: str(number.dtype))
def test_a_real_number_of_numpy_s_is_python_s(number: Any) -> None:
    assert small().with_(transport__beta=number) == small().with_(transport__beta=0.5)
    assert type(Sawl(beta=number).beta) is float


def test_other_things_of_numpy_s_and_pandas() -> None:
    assert Tcp(timestamps=np.bool_(True)) == Tcp(timestamps=True)
    assert Sawl(beta=np.float32(0.1)).beta == 0.1  # not 0.10000000149
    traced = (0, 2)
    for value in (np.array([0, 2]), pd.Series([0, 2]), range(0, 3, 2), [np.int64(0), 2]):
        assert Measurement(trace=value).trace == traced
    assert Drop(segments=np.array([2, 4])).segments == (2, 4)
    assert Drop(segments=(np.int64(2), 4)).segments == (2, 4)
    assert small().with_({"switching.kind": np.str_("electronic")}).switching.kind == "electronic"
    assert as_python(pd.Series([1, 2], dtype="Int64")) == [1, 2]
    for refused in (np.float64(3), np.timedelta64(5, "s"), np.array([3, 3]), np.complex128(3)):
        with pytest.raises(InputError, match=r"^buffer_ports: given .*; allowed: a whole number"):
            Hybrid(buffer_ports=refused)


# A field of each dimension; the same value in text, and the number in the SI unit.
AS_TEXT_AND_IN_SI: list[tuple[Dimension, type[Section], str, str, float]] = [
    (TIME, Sawl, "initial_timeout", "1 us", 1e-6),
    (TIME, Sawl, "initial_timeout", "100 us", 1e-4),
    (TIME, Sawl, "initial_timeout", "300 ms", 0.1 + 0.2),
    (TIME, Sawl, "max_timeout", "3 s", 3),
    (TIME, Sawl, "max_timeout", "1234000000000001 ps", 1234.000000000001),
    (SIZE, Constant, "value", "9 kB", 9000),
    (SIZE, Constant, "value", "9 kB", 9e3),
    (SIZE, Constant, "value", "1000 TB", 10**15),
    (RATE, FatTree, "link_rate", "10 Gb/s", 10e9),
    (RATE, FatTree, "link_rate", "2.5 Gb/s", 2_500_000_000),
    (LENGTH, FatTree, "link_length", "10 m", 10),
    (LENGTH, FatTree, "link_length", "0.1 m", 0.1),
    (LENGTH, GraphLink, "length", "120 km", 120e3),
    (FREQUENCY, Poisson, "arrival_rate", "1e7 /s", 1e7),
    (DELAY_PER_LENGTH, FatTree, "propagation", "5 ns/m", 5e-9),
    (DELAY_PER_LENGTH, FatTree, "propagation", "4.9 ns/m", 4.9e-9),
    (ENERGY_PER_BIT, Energy, "switch_oe", "1 pJ/b", 1e-12),
]


@pytest.mark.parametrize(("dimension", "section", "field", "text", "number"), AS_TEXT_AND_IN_SI)
def test_a_number_is_in_the_si_unit(
    dimension: Dimension, section: type[Section], field: str, text: str, number: float
) -> None:
    others = {"source": "a", "target": "b"} if section is GraphLink else {}
    with_text = section(**{field: text}, **others)
    for value in (number, np.float64(number)) if isinstance(number, float) else (number,):
        assert section(**{field: value}, **others) == with_text
    if not others:
        assert Quantity(dimension).in_si(getattr(with_text, field)) == pytest.approx(number)


def test_every_dimension_has_been_tried() -> None:
    dimensions = [TIME, SIZE, RATE, LENGTH, FREQUENCY, DELAY_PER_LENGTH, ENERGY_PER_BIT]
    assert {id(case[0]) for case in AS_TEXT_AND_IN_SI} == {id(each) for each in dimensions}


@given(st.integers(0, 10**15), st.integers(0, 12))
def test_a_decimal_of_at_most_fifteen_digits_is_exact(digits: int, places: int) -> None:
    text = f"{digits}e-{places}"
    quantity = Quantity(TIME, largest="1000000000000000 s")
    assert quantity.parse(float(text)) == quantity.parse(f"{text} s")
    assert quantity.parse(np.float64(text).item()) == digits * 10 ** (12 - places)


def test_the_steps_of_linspace_are_whole_picoseconds() -> None:
    steps = np.linspace(0, 1e-3, 11)
    assert repr(float(steps[3])) == "0.00030000000000000003"  # else the test proves nothing
    held = [Hybrid(switching_time=step).switching_time for step in steps]
    assert held == list(range(0, 10**9 + 1, 10**8))


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        (
            "transport__initial_timeout",
            1 / 3,
            "whole number of ps (did you mean '333333333333 ps'?)",
        ),
        ("transport__initial_timeout", 1e-13, "a duration of a whole number of ps"),
        ("transport__initial_timeout", 0, "a duration, greater than zero"),
        ("transport__initial_timeout", 5e-324, "a duration of a whole number of ps"),
        ("topology__link_length", Sawl().initial_timeout, "a length, zero or more"),
        ("transport__initial_timeout", -1e-3, "a duration, greater than zero"),
        ("transport__initial_timeout", 5e6, "up to 4000000 s"),
        ("transport__initial_timeout", 10**400, "up to 4000000 s"),
        ("transport__initial_timeout", np.timedelta64(5, "ms"), "such as '5 ms'"),
        (
            "transport__segment_size",
            1500.5,
            "a size of a whole number of B (did you mean '1500 B'?)",
        ),
        ("transport__segment_size", math.inf, "a size, greater than zero"),
        ("topology__link_length", math.nan, "a length, zero or more, such as '10 m'"),
        ("topology__link_length", True, "a length, zero or more, such as '10 m'"),
        ("topology__link_length", np.bool_(True), "a length, zero or more, such as '10 m'"),
        ("topology__link_length", "10", "a length, zero or more, such as '10 m'"),
        ("topology__link_rate", 10**400, "up to 1000 Tb/s"),
        ("transport__alpha", 10**400, "a number greater than 1"),
        ("workload__size", '{ kind = "constant", value = 9000 }', "such as '9 kB'"),
        ("workload__size", '{ kind = "constant", value = 9e3 }', "such as '9 kB'"),
    ],
)
def test_a_number_has_the_limits_of_text(field: str, value: object, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        small().with_(**{field: value})
    assert caught.value.path.startswith(field.replace("__", "."))
    assert allowed in caught.value.allowed


def test_a_number_in_a_file_has_no_unit(tmp_path: Path) -> None:
    values = FILE.read_text(encoding="utf-8").replace('link_length = "10 m"', "link_length = 10")
    (tmp_path / "bare.toml").write_text(values, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(tmp_path / "bare.toml")
    assert str(caught.value).startswith("topology.link_length: given 10; allowed: a length, zero")
    assert "such as '10 m'" in str(caught.value)


def test_a_number_of_a_file_is_python_s_own() -> None:
    scenario: Any = load(ROOT / "examples/hybrid.toml")
    assert type(scenario.topology.k) is int
    assert type(scenario.transport.p) is float


def sections(section: Section) -> list[Section]:
    inner = [sections(value) for _, value in section if isinstance(value, Section)]
    return [section, *itertools.chain.from_iterable(inner)]


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.toml")), ids=lambda f: f.stem)
def test_what_is_held_is_never_read_as_si(file: Path) -> None:
    scenario = load(file).with_(measurement__energy={"switch_oe": 1e-12})
    assert scenario.with_({}) == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert Scenario(**dict(scenario)) == scenario
    for name, section in scenario:
        if isinstance(section, Section):
            assert scenario.with_({name: section}) == scenario
    for section in sections(scenario):
        durations = {name: value for name, value in section if _is(section, name, TIME)}
        dumped: Any = section.model_dump()
        if isinstance(dumped, str):  # the bare name of a kind
            dumped = {"kind": dumped}
        again = type(section)(**(dumped | durations))
        assert again == section
        assert Quantity(TIME).parse(next(iter(durations.values()), 0)) is not None


def _is(section: Section, name: str, dimension: Dimension) -> bool:
    markers = type(section).model_fields[name].metadata
    return any(isinstance(m, Quantity) and m.dimension is dimension for m in markers)


def test_a_duration_of_a_section_stays_what_it_is_in_another() -> None:
    short = Sawl(initial_timeout="3 us")  # 3,000,000, which as seconds would be allowed
    made = small().with_(transport__initial_timeout=short.initial_timeout)
    assert made == small().with_(transport__initial_timeout="3 us")
    default = Hybrid().switching_time  # not given by the user
    assert Sawl(initial_timeout=Sawl().initial_timeout) == Sawl()
    assert Hybrid(header_processing_time=default) == Hybrid()


def test_the_attributes_of_a_networkx_graph_can_be_numbers() -> None:
    numbers, texts = nx.Graph(), nx.Graph()
    numbers.add_edge("a", "b", length=np.float64(120e3), rate=100e9)
    texts.add_edge("a", "b", length="120 km", rate="100 Gb/s")
    assert from_networkx(numbers, link_length=5) == from_networkx(texts, link_length="5 m")


@pytest.mark.parametrize("where", [str(FILE), FILE, os.fspath(FILE)])
def test_a_file_can_stand_for_its_scenario(where: Any) -> None:
    assert lb.run(where, seed=2).digest == lb.run(load(FILE), seed=2).digest
    table = lb.replicate(where, 2, progress=False)
    assert table["digest"].tolist() == [lb.run(load(FILE), seed).digest for seed in (1, 2)]
    assert Study(where, {}, 2).base == load(FILE)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (3, (1, 2, 3)),
        (np.int64(2), (1, 2)),
        (range(4, 7), (4, 5, 6)),
        (np.arange(1, 4), (1, 2, 3)),
        (np.array([7, 5], dtype=np.uint64), (7, 5)),
        (pd.Series([9, 8]), (9, 8)),
        ([np.int64(2), 2**64 - 1], (2, 2**64 - 1)),
        ((seed for seed in (1, 5)), (1, 5)),
    ],
)
def test_seeds(seeds: Any, expected: tuple[int, ...]) -> None:
    found = Study(small(), {}, seeds).seeds
    assert tuple(found) == expected
    assert {type(seed) for seed in found} == {int}


AXES: list[tuple[str, Any, list[object]]] = [
    ("switching.buffer_ports", np.array([0, 2]), [0, 2]),
    ("switching.buffer_ports", np.arange(0, 4, 2), [0, 2]),
    ("switching.buffer_ports", pd.Series([0, 2], index=[5, 9]), [0, 2]),
    ("switching.buffer_ports", (0, np.uint8(2)), [0, 2]),
    ("switching.buffer_ports", range(0, 3, 2), [0, 2]),
    ("transport.beta", np.linspace(0.25, 0.5, 2), [0.25, 0.5]),
    ("topology.link_length", np.array([10, 1000]), ["10 m", "1 km"]),
    ("transport.initial_timeout", np.array([1e-3, 2e-3]), ["1 ms", "2 ms"]),
    ("switching.kind", np.array(["hybrid", "electronic"]), ["hybrid", "electronic"]),
]


@pytest.mark.parametrize(("path", "values", "plain"), AXES)
def test_an_axis_has_the_keys_of_plain_values(
    path: str, values: Any, plain: Sequence[object]
) -> None:
    study, expected = Study(small(), {path: values}, [1]), Study(small(), {path: plain}, [1])
    assert [run.key for run in study.runs] == [run.key for run in expected.runs]
    assert len({run.key for run in study.runs}) == 2
    as_points = Study(small(), [{path: value} for value in values], [1])
    assert [run.key for run in as_points.runs] == [run.key for run in study.runs]
    json.dumps([study.points, as_points.points])


def test_a_store_knows_numpy_s_values_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = execute(
        Study(small(), {"switching.buffer_ports": [0, 2]}, [1, 2]),
        tmp_path / "runs",
        progress=False,
    )
    monkeypatch.setattr("lightburst.study.workers.one.simulate", None)  # no run is repeated
    grid = {"switching.buffer_ports": np.array([0, 2])}
    again = execute(Study(small(), grid, np.arange(1, 3)), tmp_path / "runs", progress=False)
    pd.testing.assert_frame_equal(plain, again)
    replicate(small().with_(switching__buffer_ports=0), 2, tmp_path / "runs", progress=False)


def test_a_table_has_the_number_beside_the_text() -> None:
    grid = {"topology.link_length": ["10 m", "1 km"], "transport.initial_timeout": ["1 ms"]}
    table = execute(Study(small(), grid, [1]), progress=False)
    assert list(table.columns[:5]) == [
        *("topology.link_length", "topology.link_length_m"),
        *("transport.initial_timeout", "transport.initial_timeout_s", "seed"),
    ]
    assert table["topology.link_length"].tolist() == ["10 m", "1 km"]
    assert table["topology.link_length_m"].tolist() == [10.0, 1000.0]
    assert table["transport.initial_timeout_s"].tolist() == [0.001, 0.001]
    assert table["topology.link_length_m"].dtype == float


@pytest.mark.parametrize(
    ("path", "values", "name", "numbers"),
    [
        ("transport.segment_size", ["9 kB", 1500], "transport.segment_size_bytes", [9000, 1500]),
        ("topology.link_rate", ["10 Gb/s", 1e9], "topology.link_rate_bps", [1e10, 1e9]),
        ("workload.arrival_rate", ["1 /us", 10], "workload.arrival_rate_per_s", [1e6, 10]),
        ("topology.propagation", ["5 ns/m", 4e-9], "topology.propagation_s_per_m", [5e-9, 4e-9]),
        (
            "switching.buffer_size",
            ["unlimited", "1 MB"],
            "switching.buffer_size_bytes",
            [None, 1e6],
        ),
        (
            "measurement.energy.switch_oe",
            ["1 pJ/b", 0],
            "measurement.energy.switch_oe_j_per_bit",
            [1e-12, 0],
        ),
    ],
)
def test_names_of_numbers(path: str, values: list[object], name: str, numbers: list[float]) -> None:
    columns = pd.DataFrame([run.parameters for run in Study(small(), {path: values}, [1]).runs])
    assert list(columns) == [path, name]
    assert columns[path].tolist() == values  # as given
    expected = pd.Series(numbers, dtype=float, name=name)
    pd.testing.assert_series_equal(columns[name], expected)


@pytest.mark.parametrize("values", [[0, 2], ["0", "2"], np.array([0, 2])])
def test_a_number_without_a_unit_stands_once_and_is_a_number(values: Any) -> None:
    grid = {"switching.buffer_ports": values, "transport.p": ["0.5"]}
    columns = pd.DataFrame([run.parameters for run in Study(small(), grid, [1]).runs])
    assert list(columns) == ["switching.buffer_ports", "transport.p"]
    assert columns["switching.buffer_ports"].dtype == np.int64
    assert columns["switching.buffer_ports"].tolist() == [0, 2]
    assert columns["transport.p"].dtype == float
