"""Queue disciplines on explicit output queues: core against twin, and drop-tail against the output
whose departures are decided on arrival.
"""

from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal, check_stories, differences
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    table,
    tcp,
    traced,
)
from random_disciplines import DISCIPLINES, random_buffer, settings_of, without_buffers
from random_plans import random_plan
from twin import Columns

DCTCP = {"congestion_control": {"kind": "dctcp", "halving": "flight-size", "g": 0.0625}}

#: What each discipline does besides dropping what finds no room.
ACTS = {
    "drop-tail": [],
    "codel": ["marked", "dropped_target_exceeded"],
    "red": ["marked", "dropped_red_early", "dropped_red_forced"],
    "pie": ["marked", "dropped_pie_early"],
    "fq-codel": ["marked", "dropped_target_exceeded"],
    "prio": ["marked"],
    "drr": ["marked"],
    "dualpi2": ["marked", "dropped_dualpi2_early"],
    "marking": ["marked"],
}


def bottleneck(seed: int, kind: str) -> Plan:
    """Some flows of two transports that share one slow link, whose output has the discipline."""
    random = Random(f"{kind}/{seed}")
    pick = random.choice
    senders = random.randint(2, 5)
    hosts = senders + 1
    edges = [(host, hosts) for host in range(senders)] + [(senders, hosts + 1), (hosts, hosts + 1)]
    rates = [10 * GIGABIT] * hosts + [pick([GIGABIT, 3 * GIGABIT])]
    links = table(edges, hosts, rates=rates, delays=pick([50_000, MICROSECOND, 20 * MICROSECOND]))
    m = pick([1_000, 1_460])
    laws: list[dict[str, Any]] = [{}, pick([{"ecn": True}, DCTCP])]
    if Random(f"feedback of {kind}/{seed}").random() < 0.4:
        laws[1] = laws[1] | {"ecn": "accurate"}
    sizes = {
        "segment_bytes": m + 40,
        "header_bytes": 40,
        "initial_window_bytes": pick([4, 10, 20]) * m,
        "advertised_window_bytes": 100 * m,
    }
    transports = [tcp(**(sizes | law)) for law in laws]
    starts = sorted(random.randint(0, 50) * MICROSECOND for _ in range(senders))
    rows = [(i, senders, at, random.randint(20, 200) * m) for i, at in enumerate(starts)]
    flows = flow_table(*rows)
    flows["group"] = np.array([random.randint(0, 1) for _ in range(senders)], np.uint16)
    queue = settings_of(kind, random, len(transports))
    capacity = pick([None, 15_000, 40_000])
    marks = kind in ("prio", "drr") and random.random() < 0.5
    switch = electronic(capacity, pick([0, 3_000, 12_000]) if marks else None, queue)
    apart = Random(f"buffer of {kind}/{seed}")
    switch |= random_buffer(apart, kind)
    limit = pick([SECOND, 10 * SECOND, 3 * MILLISECOND])
    chosen = {"seed": random.getrandbits(64), "time_limit_ps": limit}
    return Plan(settings(hosts, hosts + 2, switch, transports, **chosen), links, flows)


def counted(result: Columns) -> dict[str, int]:
    """Marks and drops of all switches."""
    columns = result["switches"].items()
    return {name: int(n.sum()) for name, n in columns if "dropped" in name or name == "marked"}


@pytest.mark.parametrize("kind", DISCIPLINES)
def test_core_equals_twin_at_a_bottleneck(kind: str) -> None:
    found: dict[str, int] = {}
    for seed in range(120):
        plan = bottleneck(seed, kind)
        result = check_equal(plan)
        check_conservation(plan, result)
        for name, n in counted(result).items():
            found[name] = found.get(name, 0) + n
    acts = {*ACTS[kind], "dropped_queue_full"}
    assert all(n > 20 if name in acts else n == 0 for name, n in found.items()), found
    check_stories(traced(bottleneck(0, kind)))


def with_queues(plan: Plan, queue: dict[str, Any] | None) -> Plan:
    """The plan without losses on links, its electronic switches with the queue."""
    switches = [
        {key: value for key, value in switch.items() if key != "queue"}
        | ({"queue": queue} if queue and switch["kind"] == "electronic" else {})
        for switch in without_buffers(plan)
    ]
    links = {name: column for name, column in plan.links.items() if name != "lossy"}
    # Windows and bookings count a unit when it is handed over, which is later with a queue.
    never = dict.fromkeys(("loss", "window", "bookings"))
    kept = {key: value for key, value in plan.settings.items() if key not in never}
    return plan._replace(settings={**kept, "switches": switches}, links=links)


@pytest.mark.parametrize("block", range(4))
def test_drop_tail_on_a_queue_is_that_without_one(block: int) -> None:
    compared = 0
    for seed in range(100 * block, 100 * block + 100):
        plan = random_plan(seed, "packets" if seed % 4 else "bursts")
        committed = core(with_queues(plan, None))
        explicit = core(with_queues(plan, {"kind": "drop-tail"}))
        if committed["totals"]["end_ps"] == plan.settings["time_limit_ps"]:
            # Units that wait at the end have not been handed over.
            continue
        compared += committed["switches"]["buffered"].sum() > 0
        # A departure of a unit that waited is an event.
        explicit["totals"]["events"] = committed["totals"]["events"]
        assert differences(committed, explicit) == [], seed
    assert compared > 5
