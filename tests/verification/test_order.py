"""The order of simultaneous events depends on the events, and not on events elsewhere."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from allocated_plans import POLICIES, allocated_plan
from balanced_plans import balanced_plan
from circuit_plans import random_circuits, random_demand
from compare import BRIEF, check_equal, differences
from hypothesis import given
from hypothesis import strategies as st
from in_step import in_step
from plans import Plan, core
from random_plans import KINDS, random_plan
from strategies import plans

from blocks import in_blocks
from lightburst import _core, load
from lightburst.compile import compile_plan
from lightburst.result import metrics

#: Each kind of topology, switch, workload and transport that ships.
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

#: A part of the longest ones, with some million events.
SHORTER: dict[str, dict[str, object]] = {
    "nsfnet": {"workload.duration": "0.2 s"},
    "synchronisation": {"measurement.time_limit": "15 s"},
}

#: Random plans by a seed, of each kind that has one.
PLANS: dict[str, Callable[[int], Plan]] = {
    **{kind: partial(random_plan, kind=kind) for kind in KINDS},
    **{f"balanced {kind}": partial(balanced_plan, kind=kind) for kind in ("bursts", "headers")},
    "circuits": random_circuits,
    "circuits by demand": random_demand,
    **{f"allocated {policy}": partial(allocated_plan, policy=policy) for policy in POLICIES},
}


def shuffled(plan: Plan, by: int) -> Plan:
    """The plan, run with the simultaneous events of different nodes in another order."""
    return plan._replace(settings={**plan.settings, "shuffle": by})


def in_a_ladder(plan: Plan) -> Plan:
    """The plan, run with a ladder, which only large networks have otherwise."""
    return plan._replace(settings={**plan.settings, "queue": "ladder"})


def check(plan: Plan, by: int) -> None:
    """Nodes do not depend on events of others at the same instant: runs in several threads could
    rely on this. And the queue of the events has no effect on their order.
    """
    expected = core(plan)
    assert differences(expected, core(shuffled(plan, by))) == []
    assert differences(expected, core(in_a_ladder(plan))) == []


@BRIEF
@given(plans(), st.integers(0, 2**64 - 1))
def test_any_order_of_different_nodes_gives_the_same(plan: Plan, by: int) -> None:
    check(plan, by)


@pytest.mark.parametrize("kind", KINDS)
@in_blocks("seed", range(100), 25)
def test_any_order_of_different_nodes_gives_the_same_in_wilder_plans(seed: int, kind: str) -> None:
    check(random_plan(seed, kind), seed)


@pytest.mark.parametrize("kind", PLANS)
def test_any_order_gives_the_same_where_nodes_do_much_at_one_instant(kind: str) -> None:
    for seed in range(300):
        check(in_step(PLANS[kind](seed)), seed)


@pytest.mark.parametrize("kind", PLANS)
def test_core_equals_twin_where_nodes_do_much_at_one_instant(kind: str) -> None:
    for seed in range(10):
        check_equal(in_step(PLANS[kind](seed), scripts=True))


def test_the_test_sees_what_hangs_on_the_order() -> None:
    """Scripted drops do: so there are nodes with events at one instant, and their effects meet."""
    plans = (in_step(PLANS["balanced bursts"](seed), scripts=True) for seed in range(300))
    assert any(differences(core(plan), core(shuffled(plan, 1))) for plan in plans)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_any_order_of_different_nodes_gives_the_same_in_the_examples(path: Path) -> None:
    plan = compile_plan(load(path).with_(SHORTER.get(path.stem, {})), 1)

    def digest(**more: int | str) -> str:
        settings = json.dumps({**plan.settings, **more})
        return metrics.digest(_core.simulate(settings, plan.nodes, plan.links, plan.flows))

    others = [digest(queue="ladder"), *(digest(shuffle=by) for by in range(3))]
    assert len({digest(), *others}) == 1
