"""Measurements of a random plan: traces, reordering, bins of time, bursts, windows."""

from random import Random
from typing import Any

from plans import MICROSECOND, MILLISECOND, Plan

from lightburst.scenario.transport import OPEN_LOOP


def random_traced(random: Random, plan: Plan) -> Plan:
    """The plan, some of whose flows and links may be traced, and whose bursts may be counted."""
    flows, links = len(plan.flows["source"]), len(plan.links["from"])
    chosen: dict[str, Any] = {}
    if random.random() < 0.3:
        chosen["trace"] = sorted(random.sample(range(flows), random.randint(1, min(3, flows))))
    if random.random() < 0.3:
        chosen["displacement_threshold"] = random.choice([1, 2, 3, 5, 20])
    if random.random() < 0.4:
        first = random.choice([0, 0, random.randrange(2 * MILLISECOND)])
        chosen["bookings"] = {
            "links": random.sample(range(links), random.randint(0, links)),
            "from_ps": first,
            "until_ps": first + random.choice([1, MILLISECOND, 2**63]),
        }
    connected = any(g["transport"]["kind"] not in OPEN_LOOP for g in plan.settings["groups"])
    if connected and random.random() < 0.3:
        chosen["synchronisation"] = random_bins(random, plan.settings["time_limit_ps"])
    if random.random() < 0.5:
        first = random.choice([0, 0, random.randrange(MILLISECOND)])
        until = first + random.choice([1, MILLISECOND, 2**63])
        chosen["bursts"] = {"from_ps": first, "until_ps": until}
    if random.random() < 0.5:
        chosen["window"] = random_window(random, plan)
    return plan._replace(settings={**plan.settings, **chosen})


def random_window(random: Random, plan: Plan) -> dict[str, int]:
    """A window, often over the busiest time; it may be empty, or the whole run."""
    starts, limit = plan.flows["start_ps"].tolist(), plan.settings["time_limit_ps"]
    soon = starts[0] + random.randrange(2 * MILLISECOND)
    first = random.choice([0, soon, soon, random.choice(starts), limit, limit + 1])
    length = random.choice([1, 20 * MICROSECOND, MILLISECOND, limit, 2**64])
    return {"from_ps": first, "until_ps": min(first + length, 2**64 - 1)}


def random_bins(random: Random, limit: int) -> dict[str, Any]:
    """Bins of time; the first and the last may not count, and often one bin is most of a run."""
    pick = random.choice
    every = max(min(pick([13, 100, 1_000, 20_000]) * MICROSECOND, limit), limit // 500)
    return {
        "bin_ps": every,
        "from_ps": pick([0, 0, every, 3 * every + 1]),
        "until_ps": pick([limit, 2**63, limit // 2]),
        "series": pick([False, True]),
    }
