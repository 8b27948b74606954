"""Same plan, same bits: with each queue of pending events."""

import json

import pytest
from test_determinism import ALL, SEEDS, scenario

from lightburst import _core
from lightburst.compile import Plan, compile_plan
from lightburst.result import metrics


def digest(plan: Plan, **more: str) -> str:
    settings = json.dumps({**plan.settings, **more})
    return metrics.digest(_core.simulate(settings, plan.nodes, plan.links, plan.flows))


@pytest.mark.parametrize(("switch", "transport"), ALL)
def test_each_queue_gives_the_same(switch: str, transport: str) -> None:
    for seed in SEEDS:
        plan = compile_plan(scenario(switch, transport), seed)
        of_each = {digest(plan, queue="wheel"), digest(plan, queue="ladder")}
        assert of_each == {digest(plan)}
