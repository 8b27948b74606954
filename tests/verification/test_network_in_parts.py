"""A network in parts has the results of the whole network, to the bit."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest
from compare import differences
from law_plans import law_plan
from plans import (
    GIGABIT,
    MICROSECOND,
    SECOND,
    Plan,
    core,
    electronic,
    fat_tree_edges,
    flow_columns,
    hybrid,
    saw,
    settings,
    table,
    tcp,
)
from random_plans import random_plan
from random_transports import LAWS
from test_disciplines import ACTS, bottleneck
from test_rdma import over_queue_pairs
from twin import Columns

from blocks import in_blocks
from lightburst import _core

#: Settings without which a network runs in parts.
WHOLE = ["loss", "trace", "sample_ps", "bookings", "bursts", "displacement_threshold"]
WHOLE += ["synchronisation", "label", "balance"]
SEEDS = range(400)


def why_whole(plan: Plan) -> str | None:
    return _core.why_whole(json.dumps(plan.settings), "towards_join" in plan.flows)


def divided(plan: Plan) -> Plan:
    """The plan without settings for which a network runs as a whole."""
    kept = {name: value for name, value in plan.settings.items() if name not in WHOLE}
    return plan._replace(settings=kept, paths=None)


def in_parts(plan: Plan, parts: list[int], threads: int = 1) -> Columns:
    tables = json.dumps(plan.settings), plan.nodes, plan.links, plan.flows
    result: Columns = _core.simulate(*tables, parts=parts, threads=threads)
    return result


def random_parts(random: Random, nodes: int) -> list[int]:
    """Any part for each node: hosts are apart from their switches, each link may cross."""
    most = min(nodes, random.choice([2, 2, 3, 5]))
    parts = [random.randrange(most) for _ in range(nodes)]
    numbers = {part: number for number, part in enumerate(dict.fromkeys(parts))}
    return [numbers[part] for part in parts]


def check(plan: Plan, random: Random, threads: int = 1) -> Columns:
    """Compare all columns of the whole network and of it in random parts."""
    whole = core(plan)
    for queue in ("measured", "ladder"):
        parts = random_parts(random, plan.settings["nodes"])
        changed = plan._replace(settings={**plan.settings, "queue": queue})
        found = differences(whole, in_parts(changed, parts, threads))
        assert not found, (queue, parts, found)
    return whole


def packets(seed: int) -> Plan:
    return random_plan(seed, "packets")


FAMILIES: list[Callable[[int], Plan]] = [packets, over_queue_pairs]


def plans(family: Callable[[int], Plan]) -> Iterator[tuple[int, Plan]]:
    """The plans of a family that can run in parts, with their seeds."""
    each = ((seed, divided(family(seed))) for seed in SEEDS)
    return ((seed, plan) for seed, plan in each if why_whole(plan) is None)


@pytest.mark.parametrize("family", FAMILIES)
@in_blocks("seed", SEEDS)
def test_random_packet_networks_in_parts(seed: int, family: Callable[[int], Plan]) -> None:
    plan = divided(family(seed))
    if why_whole(plan) is None:
        check(plan, Random(seed))


@pytest.mark.parametrize("family", FAMILIES)
@in_blocks("seed", SEEDS[::20])
def test_random_packet_networks_on_threads(seed: int, family: Callable[[int], Plan]) -> None:
    plan = divided(family(seed))
    if why_whole(plan) is None:
        check(plan, Random(seed), threads=2)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_networks_above_lose_packets_and_have_windows(family: Callable[[int], Plan]) -> None:
    seen = Counter[str]()
    for _, plan in plans(family):
        result = core(plan)
        seen["plans"] += 1
        seen["losses"] += int(result["totals"]["units_dropped"] > 0)
        seen["audits"] += int(result["flows"]["spurious_retransmissions"].any())
        seen["windows"] += "window" in plan.settings
        seen["cut off"] += int((result["flows"]["status"] == 1).any())
    assert min(seen.values()) > 25, seen


@pytest.mark.parametrize("law", LAWS)
def test_window_laws_in_parts(law: str) -> None:
    for seed in range(20):
        check(divided(law_plan(seed, law)), Random(f"{law}/{seed}"))


@pytest.mark.parametrize("kind", ACTS)
def test_disciplines_in_parts(kind: str) -> None:
    for seed in range(20):
        plan = divided(bottleneck(seed, kind))
        assert why_whole(plan) is None
        check(plan, Random(f"{kind}/{seed}"))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("switch", "transport"),
    [
        (hybrid(1), saw(p=4.0)),
        (electronic(27_000, 9_000), tcp(initial_window_bytes=10_000)),
    ],
)
def test_slots_of_ended_connections_are_used_again(
    switch: dict[str, object], transport: dict[str, object], threads: int
) -> None:
    """Three waves of thousands of flows; slots are freed between two windows."""
    edges, hosts, nodes = fat_tree_edges(4)
    random, count = np.random.default_rng(1), 4_500
    source, wave = random.integers(0, hosts, count), np.arange(count) // 1_500
    flows = flow_columns(
        source,
        (source + random.integers(1, hosts, count)) % hosts,
        np.sort(random.integers(0, 100 * MICROSECOND, count)) + wave * SECOND,
        random.integers(1, 20_000, count),
    )
    routing = {"kind": "fat-tree", "k": 4, "wavelengths": 1}
    given = settings(hosts, nodes, switch, transport, routing=routing, time_limit_ps=9 * SECOND)
    plan = Plan(given, table(edges, hosts, rates=10 * GIGABIT), flows)
    result = core(plan)
    assert result["totals"]["units_dropped"] > 100
    pods = [host // 4 for host in range(hosts)]
    parts = pods + [switch // 2 % 4 for switch in range(16)] + [0, 1, 2, 3]
    assert not differences(result, in_parts(plan, parts, threads))
