"""Tables of flows, with columns as narrow as their values; columns of plans that are not copied."""

import json

import numpy as np
import pytest

import lightburst as lb
from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.narrow import Narrow, as_counted

SCENARIO = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "hybrid"},
    "transport": {"kind": "tcp", "preset": "datacentre"},
    "workload": {"kind": "shuffle", "size": {"kind": "constant", "value": "300 kB"}},
}


def test_what_is_kept_in_a_byte_is_read_as_64_bits() -> None:
    """In uint8 the sum of 200 and 100 would be 44."""
    kept = np.array([200, 0], np.uint8)
    table = Narrow({"drops": kept, "status": kept})
    assert table["drops"].dtype == np.uint64
    assert (table["drops"] + np.uint64(100)).tolist() == [300, 100]
    assert table["status"].dtype == np.uint8
    assert table.nbytes == 4
    assert list(table) == ["drops", "status"]
    with pytest.raises(KeyError):
        table["other"]


def test_tables_by_flow_are_narrow_and_the_others_as_they_are() -> None:
    given = {"flows": {"drops": np.zeros(1, np.uint8)}, "totals": {"events": 3}}
    found = as_counted(given)
    assert isinstance(found["flows"], Narrow)
    assert found["totals"] is given["totals"]


def test_a_result_keeps_counts_in_as_few_bytes_as_hold_them_and_shows_them_in_full() -> None:
    result = lb.run(lb.Scenario.from_dict(SCENARIO))
    ran, flows = result.columns["flows"], result.flows
    assert isinstance(ran, Narrow)
    widths = {name: column.dtype.itemsize for name, column in ran._kept.items()}
    assert widths["received_ps"] == 8
    assert widths["retransmissions"] == 1
    assert flows["retransmissions"].max() > 0
    assert {name: str(flows[name].dtype) for name in ("drops", "transmissions", "timeouts")} == (
        dict.fromkeys(("drops", "transmissions", "timeouts"), "uint64")
    )
    for name in widths:
        assert (ran[name] == ran._kept[name]).all()


@pytest.mark.parametrize("kind", ["read-only", "view", "writeable"])
def test_flows_are_the_same_whether_they_are_copied_or_not(kind: str) -> None:
    """Only arrays that are read-only, and no part of another array, are read in place."""
    plan = compile_plan(lb.Scenario.from_dict(SCENARIO), 1)
    settings = json.dumps(plan.settings)
    expected = _core.simulate(settings, plan.nodes, plan.links, plan.flows)
    flows = {name: np.concatenate([column, column]) for name, column in plan.flows.items()}
    flows = {name: column[: column.size // 2] for name, column in flows.items()}
    if kind != "view":
        flows = {name: column.copy() for name, column in flows.items()}
    for column in flows.values():
        column.flags.writeable = kind == "writeable"
    found = _core.simulate(settings, plan.nodes, plan.links, flows)
    for name, column in expected["flows"].items():
        assert (found["flows"][name] == column).all()
