"""Retransmissions by flows without loss are a warning, also if other flows have losses."""

from __future__ import annotations

import re
from typing import Any

import pytest

import lightburst as lb
from lightburst.result.warnings import caveats

WORDS = "retransmissions by flows without losses"
#: From a to b there are two paths of different length.
LINKS = [
    {"source": "a", "target": "b", "name": "short"},
    {"source": "a", "target": "b", "name": "long", "length": "100 km"},
]


def pairs(size: str) -> dict[str, Any]:
    return {"workload": {"kind": "pairs", "size": {"kind": "constant", "value": size}}}


def run(*, hosts: int = 1, drop: int | None = None, **tables: Any) -> lb.Result:
    given: dict[str, Any] = {
        "topology": {"kind": "graph", "links": LINKS, "hosts_per_node": hosts},
        "switching": {"kind": "electronic", "queue_size": "unlimited"},
        "transport": {"kind": "tcp"},
        **tables,
    }
    if drop is not None:
        given["loss"] = {"drops": [{"flow": drop, "segments": [3, 3]}]}
    return lb.run(lb.Scenario.from_dict(given))


def needless(result: lb.Result, group: str | None = None) -> int:
    flows = result.flows if group is None else result.flows[result.flows["group"] == group]
    return int(flows[flows["drops"] == 0]["retransmissions"].sum())


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_what_another_group_lost_does_not_silence_it() -> None:
    both = {"short": pairs("20 kB"), "long": pairs("2 MB")}
    result = run(groups=both, routing={"choice": "free"}, drop=0)
    assert result.flows["drops"].tolist() == [1, 0]
    number = needless(result, "long")
    assert number > 0
    cause = "paths of different delay changed the order (routing.choice = 'free')"
    assert result.warnings == (f"group long: {number} {WORDS}: {cause}",)
    # A lost segment is sent again, as it should be.
    assert run(groups=both, drop=0).warnings == ()


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_what_another_flow_lost_does_not_silence_it() -> None:
    result = run(hosts=3, **pairs("2 MB"), routing={"choice": "free"}, drop=1)
    assert (result.flows["drops"] > 0).tolist() == [False, True, False]
    (warning,) = result.warnings
    assert warning.startswith(f"{needless(result)} {WORDS}")
    assert 0 < needless(result) < result.flows["retransmissions"].sum()


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_labels_change_the_order_without_a_loss() -> None:
    """Two paths of different length, both for each packet."""
    labelled = run(**pairs("2 MB"), routing={"paths": 2, "label": "random"})
    assert labelled.metrics["loss_end_to_end"] == 0
    number = int(labelled.flows["retransmissions"].sum())
    assert number > 0
    cause = "paths of different delay changed the order (routing.label = 'random')"
    assert labelled.warnings == (f"{number} {WORDS}: {cause}",)
    for label in ("first", "hash"):
        one_way = run(**pairs("2 MB"), routing={"paths": 2, "label": label})
        assert one_way.metrics["retransmissions"] == 0
        assert one_way.warnings == ()


@pytest.mark.parametrize(("lost", "warns"), [(98, True), (99, False)])
def test_one_in_a_hundred_is_not_worth_a_word(lost: int, warns: bool) -> None:
    result = run(hosts=2, **pairs("20 kB"))
    flows = {name: column.copy() for name, column in result.columns["flows"].items()}
    flows["drops"][:], flows["retransmissions"][:], flows["timeouts"][:] = [9, 0], [lost, 1], [0, 1]
    found = list(caveats(result.scenario, result.plan, {**result.columns, "flows": flows}))
    assert len(found) == warns
    for warning in found:
        assert re.fullmatch(f"1 {WORDS}: a timeout was shorter than the round trip", warning)


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
@pytest.mark.parametrize(
    ("switching", "setting"),
    [
        ({"forwarding": "valiant"}, "switching.forwarding = 'valiant'"),
        (
            {"packet": {"rate": "100 Mb/s", "by": "age", "threshold": "50 kB"}},
            "switching.packet.by = 'age'",
        ),
    ],
)
def test_circuits_have_no_choice_of_next_hops_to_blame(
    switching: dict[str, Any], setting: str
) -> None:
    result = run(
        topology={"kind": "racks", "racks": 8, "hosts_per_rack": 1, "uplinks": 3},
        switching={"kind": "circuit", "queue_size": "unlimited", **switching},
        **pairs("2 MB"),
    )
    (warning,) = (one for one in result.warnings if WORDS in one)
    assert f"paths of different delay changed the order ({setting})" in warning
    assert "routing.choice" not in warning
