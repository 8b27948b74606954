"""Studies and functions with endless, nameless or senseless arguments: one message each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import MOST_SEEDS, check_seeds
from lightburst.foundation.errors import InputError
from lightburst.topology import from_networkx

SMALL = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {
        "kind": "poisson",
        "load": 0.1,
        "flows": 10,
        "size": {"kind": "constant", "value": "9 kB"},
    },
}
AXIS = {"workload.load": [0.1, 0.2]}
ENDS = {"workload.load": {"from": 0.1, "to": 0.2}}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small() -> lb.Scenario:
    return lb.Scenario.from_dict(SMALL)


def ways(scenario: lb.Scenario, **asked: Any) -> dict[str, Callable[[], object]]:
    """The functions that take axes and seeds."""
    over: dict[str, Any] = {"over": AXIS, **asked}
    return {
        "sweep": lambda: lb.sweep(scenario, **over),
        "optimise": lambda: lb.optimise(scenario, **over, minimise="makespan_s"),
        "sensitivity": lambda: lb.sensitivity(scenario, **over, metric="makespan_s"),
    }


@pytest.mark.parametrize("path", ["", ".", "..", "a.", ".a", "a..b", '"', '""."', 7, None])
@pytest.mark.parametrize("way", ["sweep", "optimise", "sensitivity"])
def test_an_axis_without_a_name(small: lb.Scenario, path: Any, way: str) -> None:
    with pytest.raises(InputError) as caught:
        ways(small, over={path: [1, 2]})[way]()
    assert caught.value.path == "over"
    assert caught.value.allowed == "the path of a field, such as 'topology.link_length'"


@pytest.mark.parametrize(
    "study",
    [
        'over = { "" = [1, 2] }',
        'over = { "." = [1, 2] }',
        'linked = [{ "" = [1, 2] }]',
        'variants = { a = { "" = 1 }, b = {} }',
    ],
)
def test_a_study_file_with_such_an_axis(
    small: lb.Scenario, study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("small.toml").write_text(small.to_toml(), "utf-8")
    Path("study.toml").write_text(f'scenario = "small.toml"\n{study}\n', "utf-8")
    assert main(["sweep", "study.toml"]) == 2
    said = capsys.readouterr().err
    assert "allowed: the path of a field" in said or "an unknown key" in said
    assert said.count("\n") == 1


# A number; a list; an endless iterator.
TOO_MANY: dict[str, Any] = {
    "2**63": 2**63,
    "2**64": 2**64,
    "2**40": 2**40,
    "one too many": MOST_SEEDS + 1,
    "range(2**63)": range(2**63),
    "range(2**70)": range(2**70),
    "downwards": range(2**63, 0, -1),
    "count": itertools.count(),
}


@pytest.mark.parametrize("given", TOO_MANY)
@pytest.mark.parametrize("way", ["sweep", "optimise", "sensitivity", "replicate"])
def test_seeds_without_end(small: lb.Scenario, given: str, way: str) -> None:
    seeds = TOO_MANY[given]
    ask = ways(small, seeds=seeds) | {"replicate": lambda: lb.replicate(small, seeds)}
    with pytest.raises(InputError, match=r"^seeds: .*; allowed: up to 1,000,000 seeds"):
        ask[way]()


def test_as_many_seeds_as_may_be(small: lb.Scenario) -> None:
    assert len(check_seeds(MOST_SEEDS)) == MOST_SEEDS
    assert check_seeds(range(5, 2, -1)) == (5, 4, 3)
    assert check_seeds(iter((2**64 - 1, 0))) == (2**64 - 1, 0)
    with pytest.raises(InputError, match=r"^seeds: given 7 twice"):
        check_seeds([*range(100_000), 7])


@pytest.mark.parametrize("command", ["sweep", "optimise", "sensitivity"])
@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ("seeds = 1099511627776", "seeds: given 1099511627776; allowed: up to 1,000,000 seeds"),
        ("seeds = 9223372036854775808", "seeds: given 9223372036854775808"),
        ("[target]\nmetric='makespan_s'\nprecision=0.1\nmaximum=9223372036854775808",
         "target.maximum: given 9223372036854775808"),
    ],
)  # fmt: skip
def test_a_study_file_with_such_seeds(
    small: lb.Scenario, command: str, seeds: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("small.toml").write_text(small.to_toml(), "utf-8")
    tables = {
        "sweep": "",
        "optimise": "[optimise]\nminimise = 'makespan_s'",
        "sensitivity": "[sensitivity]\nmetric = 'makespan_s'",
    }
    over = "over = { 'workload.load' = { from = 0.1, to = 0.2, number = 2 } }"
    text = f'scenario = "small.toml"\n{over}\n{seeds}\n{tables[command]}\n'
    Path("study.toml").write_text(text, "utf-8")
    assert main([command, "study.toml"]) == 2
    assert said in capsys.readouterr().err


def test_replications_without_end(small: lb.Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    Path("small.toml").write_text(small.to_toml(), "utf-8")
    assert main(["run", "small.toml", "--replications", str(2**63), "--yes"]) == 2
    said = capsys.readouterr().err
    assert said == f"lightburst: --replications: given {2**63}; allowed: up to 1,000,000\n"


@pytest.mark.parametrize("graph", ["x", None, 3, {}, [("a", "b")], nx.DiGraph(), nx.Graph])
def test_what_is_no_graph(graph: Any) -> None:
    with pytest.raises(InputError, match=r"^graph: given .*; allowed: an? (undirected|networkx)"):
        from_networkx(graph)


CELLS = [
    "0x10",
    "0X1F",
    "0b1",
    "1_000",
    "١",
    "inf",
    "-inf",
    "1e",
    "1.5.2",
    "0x1p3",
    "1 000",
    "true",
]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("column", ["source", "destination", "start_s", "start_ps", "size_bytes"])
def test_numbers_in_a_table_are_decimal(small: lb.Scenario, cell: str, column: str) -> None:
    start = "start_ps" if column == "start_ps" else "start_s"
    row = {"source": "0", "destination": "1", start: "0", "size_bytes": "9"}
    text = ",".join(row) + "\n" + ",".join((row | {column: cell}).values()) + "\n"
    Path("flows.csv").write_text(text, "utf-8")
    table = {"kind": "table", "file": "flows.csv"}
    with pytest.raises(InputError) as caught:
        lb.run(small.with_({"workload": table}))
    assert caught.value.path == "workload.file"
    assert caught.value.given == f"row 1: {column} '{cell}'"


def test_a_row_in_hexadecimal_of_which_a_part_was_read(small: lb.Scenario) -> None:
    """The text was once run as a flow from 0 to 1 of 16 bytes."""
    Path("flows.csv").write_text(
        "source,destination,start_s,size_bytes\n0x0,0x1,1e-13,0x10\n", "utf-8"
    )
    with pytest.raises(InputError, match=r"row 1: size_bytes '0x10'"):
        lb.run(small.with_({"workload": {"kind": "table", "file": "flows.csv"}}))


def test_whole_picoseconds_stay_exact_beside_one_with_a_point(small: lb.Scenario) -> None:
    """As a float each of them would be one picosecond beside itself."""
    text = "source,destination,start_ps,size_bytes\n0,1,1.0,9\n0,1,9007199254740993,9\n"
    Path("flows.csv").write_text(text, "utf-8")
    from lightburst.compile import compile_plan

    plan = compile_plan(small.with_({"workload": {"kind": "table", "file": "flows.csv"}}), 1)
    assert plan.flows["start_ps"].tolist() == [1, 9007199254740993]


ENDLESS: dict[str, Callable[[lb.Scenario], object]] = {
    "values of an axis": lambda s: lb.sweep(s, {"workload.load": itertools.count(1)}),
    "a range of values": lambda s: lb.sweep(s, {"transport.initial_window": range(1, 2**70)}),
    "linked axes": lambda s: lb.sweep(s, linked=itertools.repeat({"workload.load": [0.1]})),
    "linked axes of a search": lambda s: lb.optimise(
        s, linked=itertools.repeat({"workload.load": [0.1]}), minimise="makespan_s"
    ),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_axes_without_end(small: lb.Scenario, case: str) -> None:
    with pytest.raises(InputError, match=r"^(over\.\S+|linked): .*; allowed: (up to|fewer)"):
        ENDLESS[case](small)


@pytest.mark.parametrize("servers", [10**9, 2**63, 1e300, float("inf"), float("nan")])
def test_more_servers_than_a_recursion_ends_with(servers: float) -> None:
    """As 64 bits 1e300 was another number, and a thousand million took an hour."""
    with pytest.raises(
        InputError, match=r"^servers: .*; allowed: whole numbers from 0 to 1,000,000"
    ):
        lb.models.erlang_b(1.0, servers)


@pytest.mark.parametrize("command", ["list", "check", "failed", "retry", "clean"])
def test_a_store_without_a_name(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", command, ""]) == 2
    assert capsys.readouterr().err.startswith("lightburst: store: given ")


@pytest.mark.parametrize("way", ["sweep", "optimise", "sensitivity"])
def test_a_range_to_a_number_that_no_float_holds(small: lb.Scenario, way: str) -> None:
    """It ended in an OverflowError."""
    over = {"workload.flows": {"from": 1, "to": 10**400, "step": 1}}
    with pytest.raises(InputError, match=r"^over\.workload\.flows\.to: given 1000.*whole number"):
        ways(small, over=over)[way]()


@pytest.mark.parametrize("most", [[], [1], "many", {"a": 1}, True, -1, float("nan"), range(3)])
@pytest.mark.parametrize("way", ["sweep", "optimise", "sensitivity"])
def test_a_limit_of_runs_that_is_no_number(small: lb.Scenario, most: Any, way: str) -> None:
    """It ended in a TypeError."""
    with pytest.raises(InputError, match=r"^most_runs: given .*; allowed: a number from 0, or No"):
        ways(small, most_runs=most, over=AXIS if way == "sweep" else ENDS)[way]()
