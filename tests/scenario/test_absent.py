"""A change to a field whose table is not there: the message says what to change instead."""

from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GROUPS = lb.load(EXAMPLES / "groups.toml")
HYBRID = lb.load(EXAMPLES / "hybrid.toml")
OWN = GROUPS.with_(
    {f"groups.{name}.transport": {"kind": "tcp"} for name in GROUPS.groups or ()}
    | {"transport": None}
)


def refused(scenario: lb.Scenario, path: str, value: object, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario.with_({path: value})
    assert caught.value.errors == (caught.value,)
    assert caught.value.path == path
    assert caught.value.allowed.startswith(words[0])
    assert caught.value.allowed.endswith(words[-1])


def test_the_transport_of_a_group_that_has_none() -> None:
    refused(
        GROUPS,
        "groups.query.transport.recovery",
        "tahoe",
        "a transport of the group's own, groups.query.transport = { kind = 'tcp', ... }",
        "; without it the group has the scenario's: transport.recovery changes that",
    )
    refused(
        GROUPS, "groups.query.transport.recovery.bug_fix", True, "", "recovery.bug_fix changes that"
    )


def test_a_group_that_is_not_there() -> None:
    for rest, value in [("workload.senders", 3), ("transport.kind", "tcp")]:
        refused(
            GROUPS,
            f"groups.qurey.{rest}",
            value,
            "one of the groups 'background', 'query' (did you mean 'query'?)",
            "; groups.qurey.workload.kind makes a new one",
        )
    assert "new" in (GROUPS.with_({"groups.new.workload.kind": "shuffle"}).groups or ())
    refused(HYBRID, "groups.query.workload.flows", 3, "no group", "one workload: workload.flows")


def test_the_workload_or_transport_that_each_group_has_for_itself() -> None:
    refused(
        GROUPS,
        "workload.load",
        0.3,
        "none, because each group has a workload of its own",
        ": groups.background.workload.load",
    )
    refused(
        OWN,
        "transport.min_timeout",
        "1 ms",
        "none, because each group has a transport",
        ": groups.background.transport.min_timeout or groups.query.transport.min_timeout",
    )


@pytest.mark.parametrize("where", ["layers.edge", "nodes.3"])
def test_the_switches_of_a_layer_that_has_none_of_its_own(where: str) -> None:
    path = f"switching.{where}"
    refused(HYBRID, f"{path}.queue_size", "1 MB", "a field", f": also give {path}.kind")
    both: dict[str, Any] = {f"{path}.queue_size": "1 MB", f"{path}.kind": "electronic"}
    assert HYBRID.with_(both).switching.kinds != HYBRID.switching.kinds


def test_all_such_changes_are_refused_together() -> None:
    changes = {"groups.a.workload.flows": 1, "workload.load": 0.1, "topology.k": 4}
    with pytest.raises(InputError) as caught:
        GROUPS.with_(changes)
    assert [error.path for error in caught.value.errors] == [
        "groups.a.workload.flows",
        "workload.load",
    ]


def test_names_of_layers_and_nodes_that_are_near() -> None:
    refused(HYBRID, "switching.layers.cor", {"kind": "electronic"}, "one of", "mean 'core'?)")
    graph = lb.load(EXAMPLES / "graph.toml").with_({"switching.nodes.leef-1.kind": "electronic"})
    with pytest.raises(InputError, match=r"mean 'leaf-1'\?\)"):
        lb.run(graph)


def test_explain_names_all_that_stands_for_a_flow(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(EXAMPLES / "path.toml"), "--flow", "best"]) == 2
    assert "given 'best'; allowed: 'worst', or a whole number from 0" in capsys.readouterr().err
