"""The Rust core against the twin, bit for bit, and invariants of every run."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from compare import BRIEF, LONG, QUICK, check_conservation, check_equal, check_stories, differences
from hypothesis import given
from hypothesis import strategies as st
from plans import (
    MICROSECOND,
    SECOND,
    UNFINISHED,
    Plan,
    all_optical,
    core,
    electronic,
    fat_tree_edges,
    flow_columns,
    hybrid,
    saw,
    settings,
    table,
    traced,
)
from strategies import plans, transports
from twin import Columns

from lightburst.scenario.transport import OPEN_LOOP


@QUICK
@given(plans())
def test_core_equals_twin(plan: Plan) -> None:
    check_equal(plan)


PAPER = [
    ("free", all_optical(), saw()),
    ("free", hybrid(2), saw(p=4.0)),
    ("free", hybrid(1, re_emission="cut-through", switching_time=10_000), saw(p=1.0)),
    ("random", hybrid(2, buffer_bytes=20_000), saw(p=4.0, receiver_timers=True)),
    ("flow-hash", hybrid(5), saw(p=0.0)),
    ("free", electronic(27_000, 9_000), saw(p=4.0)),
    ("flow-hash", electronic(), saw()),
]


@pytest.mark.parametrize(("choice", "switch", "transport"), PAPER)
def test_core_equals_twin_in_a_loaded_fat_tree(
    choice: str, switch: dict[str, Any], transport: dict[str, Any]
) -> None:
    """The network of the paper with a part of its flows, arriving at 3e7 /s."""
    edges, hosts, nodes = fat_tree_edges(8)
    random, count = np.random.default_rng(1), 300
    source = random.integers(0, hosts, count)
    flows = flow_columns(
        source,
        (source + random.integers(1, hosts, count)) % hosts,
        np.sort(random.integers(0, 10 * MICROSECOND, count)),
        np.minimum(random.lognormal(9.48, 2.46, count), 500_000).astype(int) + 1,
    )
    chosen = {"choice": choice, "routing": {"kind": "fat-tree", "k": 8, "wavelengths": 1}}
    plan = Plan(settings(hosts, nodes, switch, transport, **chosen), table(edges, hosts), flows)
    result = check_equal(plan)
    assert set(result["flows"]["status"].tolist()) == {0}
    assert result["totals"]["units_dropped"] + result["switches"]["buffered"].sum() > 400


@pytest.mark.slow
@LONG
@given(plans())
def test_core_equals_twin_at_length(plan: Plan) -> None:
    check_equal(plan)


@BRIEF
@given(plans())
def test_conservation_and_reasons(plan: Plan) -> None:
    result = core(plan)
    check_conservation(plan, result)
    flows = result["flows"]
    for i, status in enumerate(flows["status"].tolist()):
        check_flow(plan, result, i, status)


def check_flow(plan: Plan, result: Columns, i: int, status: int) -> None:
    """The status of flow `i` agrees with its fate."""
    row: dict[str, int] = {name: int(column[i]) for name, column in result["flows"].items()}
    given: dict[str, int] = {
        name: int(plan.flows[name][i]) for name in ("source", "start_ps", "bytes")
    }
    finished, time_limit, not_started, lost, gave_up = range(5)
    assert row["delivered_bytes"] <= given["bytes"]
    assert (status == finished) == (row["received_ps"] != UNFINISHED)
    least = int(plan.links["delay_ps"].min()) * row["path_links"]
    open_loop = plan.transport(i)["kind"] in OPEN_LOOP
    if row["acknowledged_ps"] != UNFINISHED:
        # The data was received; its acknowledgement came back over a path.
        assert row["acknowledged_ps"] - row["received_ps"] >= (0 if open_loop else least + 1)
        assert row["acknowledged_ps"] <= result["totals"]["end_ps"]
    if status == finished:
        assert row["delivered_bytes"] == given["bytes"]
        # The last data came over a path, and before it a SYN and its answer.
        ways = 1 if open_loop else 3
        assert row["received_ps"] > given["start_ps"] + ways * least
        assert row["received_ps"] <= result["totals"]["end_ps"]
    elif status == not_started:
        first = given["start_ps"]
        if "departures_ps" in plan.flows:
            first = int(plan.flows["departures_ps"][int(plan.flows["departure_offsets"][i])])
        assert first > plan.settings["time_limit_ps"]
        assert row["transmissions"] == row["delivered_bytes"] == 0
    elif status == lost:
        assert plan.transport(i)["kind"] in OPEN_LOOP
        assert row["delivered_bytes"] < given["bytes"]
        assert result["totals"]["units_dropped"] > 0
    elif status == gave_up:
        transport = plan.transport(i)
        # The receiver, if it has a timer, can give up as well.
        assert transport["receiver_timers"] or row["timeouts"] > transport["max_retransmissions"]
    else:
        assert status == time_limit
        assert given["start_ps"] <= plan.settings["time_limit_ps"]


@BRIEF
@given(plans(time_limit_ps=1000 * SECOND, transport=transports(maxima=[60 * SECOND])))
def test_everything_ends(plan: Plan) -> None:
    """Given time, every flow ends and no unit is left, or a flow has tried for long without
    success.

    Flows whose timers run in step can destroy each other's packets for ever: the only randomness of
    stop-and-wait is the choice of the path.
    """
    result = core(plan)
    flows = result["flows"]
    unfinished = flows["status"] == 1
    if unfinished.any():
        assert (flows["drops"][unfinished] >= 20).all()
        assert (flows["timeouts"][unfinished] >= 20).all()
        return
    assert result["totals"]["units_in_flight"] == 0
    passed = result["switches"]["forwarded"] + sum(
        column for name, column in result["switches"].items() if "dropped" in name
    )
    assert passed.tolist() == result["switches"]["arrived"].tolist()
    # Every unit that entered a buffer left it.
    hybrids = np.array(plan.kind_of) == "hybrid"
    into, out = (result["switches"][name][hybrids] for name in ("oe_bytes", "eo_bytes"))
    assert into.tolist() == out.tolist()


@BRIEF
@given(plans())
def test_each_unit_is_in_one_place(plan: Plan) -> None:
    """The life of each unit in the twin, which is equal to the core's."""
    trace = traced(plan)
    check_stories(trace)
    # A buffer is first in, first out for units to one destination.
    buffered: dict[tuple[int, int], list[str]] = defaultdict(list)
    for entry in trace:
        place = entry.node, entry.unit.destination
        if entry.what == "buffer":
            buffered[place].append(entry.unit.name)
        elif entry.what == "re-emit" and plan.settings["choice"] == "free":
            assert buffered[place].pop(0) == entry.unit.name


@BRIEF
@given(plans(switches=st.just([all_optical(1_000)])))
def test_hybrid_without_ports_is_all_optical(plan: Plan) -> None:
    other = Plan({**plan.settings, "switches": [hybrid(0, switching_time=1_000)]}, *plan[1:])
    assert differences(core(plan), core(other)) == []
