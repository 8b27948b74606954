"""Random plans whose links go down and come up."""

from random import Random
from typing import Any

from plans import MICROSECOND, UNFINISHED, Plan, core, electronic
from random_plans import random_plan

NEVER = UNFINISHED


def steady(plan: Plan) -> Plan:
    """The same plan with switches and routes that can change, and without scripts of held units."""
    changed = dict(plan.settings)
    changed["switches"] = [
        electronic(own["buffer_bytes"]) if own["kind"] == "hybrid" else own
        for own in plan.settings["switches"]
    ]
    if changed["routing"]["kind"] == "fat-tree":
        changed["routing"] = {"kind": "shortest-path", "metric": "hops"}
    for key in ("label", "balance"):
        changed.pop(key, None)
    if changed.get("loss") is not None:
        changed["loss"] = {**changed["loss"], "holds": [], "stalls": []}
    return plan._replace(settings=changed, paths=None)


def random_spans(random: Random, end: int) -> list[tuple[int, int]]:
    """Some outages of a link, mostly while the run is busy."""
    times = sorted({random.randrange(1, end + 2) for _ in range(2 * random.choice([1, 1, 2, 4]))})
    spans = list(zip(times[::2], times[1::2], strict=False))
    if len(times) % 2 or random.random() < 0.1:
        spans.append((times[-1] + 1, NEVER))
    return spans


def outage_plan(seed: int) -> Plan:
    """A random plan of packets with random outages of links, or of both directions of links."""
    plan = steady(random_plan(seed, "packets"))
    random = Random(f"outages/{seed}")
    result = core(plan)
    end = max(1000, int(result["totals"]["end_ps"]))
    if random.random() < 0.3:
        end = max(1000, end // 20)
    source, target = plan.links["from"].tolist(), plan.links["to"].tolist()
    count = len(source)
    some = random.sample(range(count), min(count, random.choice([1, 2, 4, 8])))
    spans: dict[int, list[tuple[int, int]]] = {}
    for link in some:
        spans[link] = random_spans(random, end)
        back = [i for i in range(count) if (source[i], target[i]) == (target[link], source[link])]
        if random.random() < 0.7:
            spans[back[0]] = spans[link]
    outages: dict[str, Any] = {
        "links": [[link, *span] for link in sorted(spans) for span in spans[link]],
        "reroute": random.random() < 0.5,
    }
    if random.random() < 0.85:
        delays = [0, 1, MICROSECOND, end // 100, end // 10, random.randrange(end)]
        outages["restoration_ps"] = random.choice(delays)
    return plan._replace(settings={**plan.settings, "outages": outages})
