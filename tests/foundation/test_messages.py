"""Mistakes of new users in Python and on the command line: the message has the right form."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst
from lightburst import study
from lightburst.cli import main
from lightburst.foundation.errors import InputError, did_you_mean, number_meant, show
from lightburst.scenario import load, switching
from lightburst.scenario.tables import topology

ROOT = Path(__file__).resolve().parents[2]
FILE = str(ROOT / "examples/path.toml")
S: Any = load(FILE)
# The arguments here are of other types than declared.
lb: Any = lightburst
Scenario: Any = lightburst.Scenario
Study: Any = study.Study
Stopping: Any = study.Stopping
FatTree: Any = topology.FatTree
Hybrid: Any = switching.Hybrid
ST: Any = study
RUNS: Any = pd.DataFrame({"load": [0.1], "p99": [2.0], "digest": ["a"]})
WHOLE = "a whole number from 0 to 2**64 - 1"
Call = Callable[[], object]

# Call -> path, given value, end of the allowed values.
CALLS: list[tuple[Call, str, str, str]] = [
    (lambda: lb.run(S, seed=1.0), "seed", "1.0", f"{WHOLE} (did you mean 1?)"),
    (lambda: lb.run(S, seed="1"), "seed", "'1'", f"{WHOLE} (did you mean 1?)"),
    (lambda: lb.run(S, seed=2.5), "seed", "2.5", WHOLE),
    (lambda: lb.run(S, seed=-1), "seed", "-1", WHOLE),
    (lambda: lb.run(S, seed=True), "seed", "True", WHOLE),
    (lambda: lb.run(S, seed=[1, 2]), "seed", "[1, 2]", "lightburst.replicate runs several seeds"),
    (lambda: lb.run(None), "scenario", "None", "or the name of a scenario file"),
    (
        lambda: lb.run({"a": 1}),
        "scenario",
        "{'a': 1}",
        "Scenario.from_dict makes one of a dictionary",
    ),
    (
        lambda: lb.run(S, switching__kind="hybrid"),
        "run",
        "switching__kind=...",
        "scenario, seed, cancel, before, metrics and threads; to change a scenario, write "
        "scenario.with_(switching__kind=...)",
    ),
    (
        lambda: lb.run(S, sead=2),
        "run",
        "sead=...",
        "scenario, seed, cancel, before, metrics and threads",
    ),
    (
        lambda: lb.replicate(S, 2, topology__k=4),
        "replicate",
        "topology__k=...",
        "to change a scenario, write scenario.with_(topology__k=...)",
    ),
    (lambda: lb.run(""), "scenario", "''", "the name of a scenario file"),
    (lambda: lb.load(None), "scenario", "None", "the name of a scenario file"),
    (lambda: lb.load(S), "scenario", "a Scenario", "the name of a scenario file"),
    (lambda: lb.replicate(S, 0), "seeds", "0", "or their number: 10 for the seeds 1 to 10"),
    (lambda: lb.replicate(S, "10"), "seeds", "'10'", "to 10 (did you mean 10?)"),
    (lambda: lb.replicate(S, [1, 1]), "seeds", "1 twice", "for the seeds 1 to 10"),
    (lambda: lb.replicate(S, []), "seeds", "none", "for the seeds 1 to 10"),
    (lambda: lb.replicate(S, [1, 2.0]), "seeds[1]", "2.0", f"{WHOLE} (did you mean 2?)"),
    (lambda: lb.replicate(S, 2, workers="2"), "workers", "'2'", "(did you mean 2?)"),
    (lambda: lb.replicate(S, 2, workers=1.5), "workers", "1.5", "or its file as NAME.json"),
    (lambda: lb.replicate(S, 2, 5), "store", "5", "the name of a folder, new or a store of runs"),
    (lambda: lb.execute(S), "study", "a Scenario", "lightburst.replicate run a scenario"),
    (lambda: Study(S, {"topology.k": 4}), "grid['topology.k']", "4", "a list of values, as [4]"),
    (
        lambda: Study(S, {"topology.k": "4"}),
        "grid['topology.k']",
        "'4'",
        "a list of values, as ['4']",
    ),
    (
        lambda: Study(S, {"topology.k": []}),
        "grid['topology.k']",
        "no values",
        "a list of one or more",
    ),
    (lambda: Study(S, "topology.k"), "grid", "'topology.k'", "or a list of points"),
    (lambda: Study(S, [("topology.k", 4)]), "grid[0]", "('topology.k', 4)", "or a list of points"),
    (lambda: Study(S, []), "grid", "no points", "or a list of points"),
    (
        lambda: Study(S, pd.DataFrame({"k": [4]})),
        "grid",
        "DataFrame",
        "as to_dict('records') gives it",
    ),
    (lambda: S.with_(5), "with_", "5", "a dictionary of paths and values"),
    (lambda: S.with_({3: 4}), "path", "3", "the path of a field, such as 'topology.link_length'"),
    (lambda: S.with_({"topology.": 4}), "path", "'topology.'", "such as 'topology.link_length'"),
    (
        lambda: S.with_(switching="hybrid"),
        "switching",
        "'hybrid'",
        "(did you mean switching.kind = 'hybrid'?)",
    ),
    (
        lambda: S.with_(workload__size="large"),
        "workload.size",
        "'large'",
        ", as { kind = 'constant', ... }",
    ),
    (
        lambda: S.with_(workload__size="websearch"),
        "workload.size",
        "'websearch'",
        '(did you mean size = { kind = "empirical", name = "websearch" }?)',
    ),
    (
        lambda: S.with_(workload__size="constant"),
        "workload.size",
        "'constant'",
        '(did you mean size = { kind = "constant", value = ... }?)',
    ),
    (
        lambda: ST.summarise(RUNS, "load", "p99"),
        "by",
        "'load'",
        "a list of columns that name a point, as ['load']",
    ),
    (lambda: ST.summarise(RUNS, 5, "p99"), "by", "5", "name a point, as ['workload.load']"),
    (
        lambda: ST.summarise(RUNS, ["lood"], "p99"),
        "by",
        "'lood'",
        "columns of runs (did you mean 'load'?)",
    ),
    (
        lambda: ST.summarise(RUNS, ["load"], ["p99"]),
        "metric",
        "['p99']",
        "of one column of runs with numbers, as 'throughput_bps' (did you mean 'p99'?)",
    ),
    (
        lambda: ST.summarise(RUNS, ["load"], "digest"),
        "metric",
        "'digest'",
        "the name of one column of runs with numbers, as 'throughput_bps'",
    ),
    (
        lambda: S.with_(switching__kind="optical"),
        "switching.kind",
        "'optical'",
        "mean 'all-optical'?)",
    ),
    (
        lambda: S.with_(routing__choice="hash"),
        "routing.choice",
        "'hash'",
        "(did you mean 'flow-hash'?)",
    ),
    (lambda: S.with_(topology__links=2.0), "topology.links", "2.0", "(did you mean 2?)"),
    (lambda: S.with_(topology__links='"2"'), "topology.links", "'2'", "(did you mean 2?)"),
    (lambda: S.with_(topology__links='"0"'), "topology.links", "'0'", "from 1 to 10000"),
    (lambda: S.with_(transport__beta='"0.5"'), "transport.beta", "'0.5'", "(did you mean 0.5?)"),
    (
        lambda: S.with_(topology__link_length="10 meters"),
        "topology.link_length",
        "'10 meters'",
        "mean '10 m'?)",
    ),
    (lambda: S.with_(topology__link_rate="10G"), "topology.link_rate", "'10G'", "mean '10 Gb/s'?)"),
    (
        lambda: S.with_(measurement__time_limit="5 seconds"),
        "measurement.time_limit",
        "'5 seconds'",
        "mean '5 s'?)",
    ),
    (lambda: FatTree(8), "FatTree", "8", "link_length, link_rate, propagation, k, access_rate"),
    (lambda: FatTree(k=7.0), "k", "7.0", "an even whole number from 2 to 128"),
    (
        lambda: Hybrid(buffer_size="unlimted"),
        "buffer_size",
        "'unlimted'",
        "(did you mean 'unlimited'?)",
    ),
    (
        lambda: Scenario(FILE),
        "Scenario",
        show(FILE),
        "lightburst.load reads a file, Scenario.from_dict a dictionary",
    ),
    (lambda: Scenario.from_dict(FILE), "scenario", show(FILE), "lightburst.load reads a file"),
    (lambda: Stopping("x", precision="1 %"), "stopping.precision", "'1 %'", "a number above 0"),
    (lambda: Stopping("x", first=2.5), "stopping.first", "2.5", "a whole number from 2"),
    (
        lambda: study.execute_until(Study(S, {}, 2), Stopping("throughput")),
        "stopping.metric",
        "'throughput'",
        "'throughput_bps'?)",
    ),
    (
        lambda: lb.reproduce("minakhmetov"),
        "name",
        "'minakhmetov'",
        "(did you mean 'minakhmetov2018'?)",
    ),
    (lambda: lb.reproduce(5), "name", "5", "vlachos2008/beyond"),
]


@pytest.mark.parametrize(
    ("call", "path", "given", "allowed"),
    CALLS,
    ids=[f"{path}-{given}"[:40] for _, path, given, _ in CALLS],
)
def test_in_python(call: Call, path: str, given: str, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert (caught.value.path, caught.value.given) == (path, given)
    assert caught.value.allowed.endswith(allowed)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("link_length", "'topology.link_length'"),
        ("topology_link_length", "'topology.link_length'"),
        ("topology/link_length", "'topology.link_length'"),
        ("transport_kind", "'transport.kind'"),
        ("buffer_ports", "'switching.buffer_ports'"),
        ("toplogy", "'topology'"),
    ],
)
def test_a_key_outside_its_table_is_led_there(key: str, meant: str) -> None:
    with pytest.raises(InputError) as caught:
        S.with_({key: 1})
    assert caught.value.allowed.endswith(f"(did you mean {meant}?)")


def test_a_key_that_many_tables_have_is_led_nowhere() -> None:
    with pytest.raises(InputError) as caught:
        S.with_(kind="tcp")
    assert "did you mean" not in caught.value.allowed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "k=4"], "k: given an unknown key 'k'; allowed: one of the keys name, "),
        (
            ["--set", "topology.link_length=10"],
            "topology.link_length: given 10; allowed: a length, ",
        ),
        (["--set", "switching=hybrid"], "(did you mean switching.kind = 'hybrid'?)"),
        (["--set", "topology..k=4"], "path: given 'topology..k'; allowed: the path of a field"),
        (["--seed", str(2**64)], f"--seed: given {2**64}; allowed: a whole number from 0 to 2**64"),
        (["--format", "tables"], "allowed: one of table, json, csv (did you mean 'table'?)"),
    ],
)
def test_on_the_command_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", FILE, *words]) == 2
    assert message in capsys.readouterr().err


def test_what_is_not_toml_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[topology\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        lb.run(tmp_path / "bad.toml")
    assert caught.value.given.startswith("invalid TOML (")
    assert "line 1" in caught.value.given


def test_the_parts_of_a_message() -> None:
    assert did_you_mean("hybird", ["hybrid", "electronic"]) == " (did you mean 'hybrid'?)"
    assert did_you_mean("x", ["hybrid"]) == did_you_mean("hybrid", []) == ""

    def any_number(number: float) -> bool:
        return True

    given: list[tuple[Any, str]] = [
        (8.0, " (did you mean 8?)"), ("8", " (did you mean 8?)"), ("0.5", " (did you mean 0.5?)"),
        ("eight", ""), (float("nan"), ""), (float("inf"), ""), (None, ""), ([8], ""),
    ]  # fmt: skip
    for value, words in given:
        assert number_meant(value, any_number) == words
    assert number_meant("8", lambda number: number < 8) == ""
    assert show(S) == "a Scenario"
    assert show(S.transport) == "a Saw"
