"""Queues that trim packets to headers: the core equals the twin, and all of the rule occurs."""

from collections import Counter
from random import Random
from typing import Any

import numpy as np
from compare import check_conservation, check_equal, check_stories
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    table,
    tcp,
    traced,
)
from queue_pairs import random_rdma
from random_disciplines import random_trim

from blocks import in_blocks

SEEDS = range(240)


def incast(seed: int) -> Plan:
    """Messages of some hosts to one, over two switches that trim; some of them over TCP, or over
    queue pairs that go back.
    """
    random = Random(f"trim/{seed}")
    pick = random.choice
    senders = random.randint(2, 6)
    hosts = senders + 1
    edges = [(host, hosts) for host in range(senders)] + [(senders, hosts + 1), (hosts, hosts + 1)]
    rates = [10 * GIGABIT] * hosts + [pick([GIGABIT, 3 * GIGABIT, 10 * GIGABIT])]
    rates[senders] = pick([10 * GIGABIT, 2 * GIGABIT])
    links = table(edges, hosts, rates=rates, delays=pick([50_000, MICROSECOND, 20 * MICROSECOND]))
    m = pick([300, 1_000, 1_460])
    repeated = random_rdma(random, m + 62, 62) | {"recovery": {"kind": "selective-repeat"}}
    other = pick([repeated, random_rdma(random, m + 62, 62), tcp(segment_bytes=m + 40)])
    queue = {"kind": "trim"} | random_trim(random)
    switch = electronic(pick([None, None, 15_000, 40_000]), None, queue)
    if random.random() < 0.3:
        size = pick([20_000, 60_000])
        switch["shared_buffer"] = {"size_bytes": size, "alpha": pick([0.5, 1.0, 8.0])}
    starts = sorted(random.randint(0, 20) * MICROSECOND for _ in range(senders))
    rows = [(i, senders, at, random.randint(1, 60) * m - 7) for i, at in enumerate(starts)]
    flows = flow_table(*rows)
    flows["group"] = np.array([random.random() < 0.3 for _ in range(senders)], np.uint16)
    chosen: dict[str, Any] = {"seed": random.getrandbits(64)}
    chosen["time_limit_ps"] = pick([5, 20]) * MILLISECOND
    queue |= pick([{}, {"return_to_sender": True}])
    if seed % 4 == 0:
        chosen["trace"] = list(range(senders))
    return Plan(settings(hosts, hosts + 2, switch, [repeated, other], **chosen), links, flows)


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = incast(seed)
    check_conservation(plan, check_equal(plan))
    if seed % 40 == 0:
        check_stories(traced(plan))


def test_all_that_the_rule_has_occurs() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        result = core(incast(seed))
        found["trimmed"] += result["switches"]["trimmed"].sum() > 20
        found["returned"] += result["switches"]["returned"].sum() > 5
        found["dropped"] += result["switches"]["dropped_queue_full"].sum() > 5
        for name in ("retransmissions", "timeouts", "fast_retransmits", "duplicates"):
            found[name] += result["flows"][name].sum() > 0
    assert all(n >= 20 for n in found.values()), found
