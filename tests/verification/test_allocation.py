"""The queue of a flow: core against twin where many flows lose data together.

In the random plans of `test_tcp_vs_core` flows are few, and hardly any is kept apart from another.
"""

from collections import Counter
from functools import cache

import pytest
from allocated_plans import POLICIES, allocated_plan
from compare import check_conservation, check_equal, check_same
from plans import Ran, ran
from twin import Burst

from blocks import in_blocks

SEEDS = range(12)

each = pytest.mark.parametrize("policy", POLICIES)


@cache
def run(seed: int, policy: str) -> Ran:
    """A random plan, run once for all tests."""
    return ran(allocated_plan(seed, policy))


@each
@in_blocks("seed", SEEDS)
def test_core_equals_twin(seed: int, policy: str) -> None:
    it = run(seed, policy)
    check_same(it.twin, it.core)
    check_conservation(it.plan, it.core)


@each
@in_blocks("seed", SEEDS)
def test_what_joins_a_queue_leaves_it_in_one_burst_and_in_order(seed: int, policy: str) -> None:
    joined: dict[int, int] = {}
    closed = set[int]()
    for place, entry in enumerate(run(seed, policy).trace):
        unit = entry.unit
        if entry.what == "wait":
            assert id(unit) not in joined
            joined[id(unit)] = place
        elif isinstance(unit, Burst) and id(unit) not in closed:
            closed.add(id(unit))
            places = [joined.pop(id(packet)) for packet in unit.packets]
            assert places == sorted(places)
    # No unit is left.
    assert not joined


@pytest.mark.slow
@each
@in_blocks("seed", range(1_000, 1_200))
def test_core_equals_twin_at_length(seed: int, policy: str) -> None:
    check_equal(allocated_plan(seed, policy))


def test_flows_lose_data_together() -> None:
    """The plans exercise the rule; with a queue for each flow none does."""
    shared = Counter[str]()
    for policy in POLICIES:
        for seed in SEEDS:
            for entry in run(seed, policy).trace:
                if "drop" in entry.what and isinstance(entry.unit, Burst):
                    flows = {packet.flow for packet in entry.unit.packets if packet.payload}
                    shared[policy] += len(flows) > 1
    assert shared["per-flow"] == 0
    assert min(shared[policy] for policy in POLICIES if policy != "per-flow") > 5
