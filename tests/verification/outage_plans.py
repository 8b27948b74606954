"""Random plans whose links go down and come up."""

from random import Random
from typing import Any

from plans import (
    GIGABIT,
    MICROSECOND,
    UNFINISHED,
    Plan,
    core,
    datagram,
    electronic,
    flow_table,
    one_datagram_each,
    settings,
    table,
)
from random_disciplines import DISCIPLINES, random_buffer, settings_of, without_buffers
from random_plans import random_graph, random_plan

NEVER = UNFINISHED


def steady(plan: Plan) -> Plan:
    """The same plan with switches and routes that can change, and without scripts of held units."""
    changed = dict(plan.settings)
    changed["switches"] = [
        electronic(own["buffer_bytes"])
        if own["kind"] == "hybrid"
        else {key: value for key, value in own.items() if key != "queue"}
        for own in plan.settings["switches"]
    ]
    if changed["routing"]["kind"] == "fat-tree":
        changed["routing"] = {"kind": "shortest-path", "metric": "hops"}
    for own in changed["switches"]:
        if own.get("ordering") == {"kind": "source"}:
            own["ordering"] = {"kind": "none"}
    for key in ("label", "balance"):
        changed.pop(key, None)
    if changed.get("loss") is not None:
        changed["loss"] = {**changed["loss"], "holds": [], "stalls": []}
    return plan._replace(settings=changed, paths=None)


def random_spans(random: Random, end: int) -> list[tuple[int, int]]:
    """Some outages of a link, mostly while the run is busy."""
    number = 2 * random.choice([1, 1, 2, 4])
    times = sorted({random.randrange(1, end + 2) for _ in range(number)})
    spans = list(zip(times[::2], times[1::2], strict=False))
    if len(times) % 2 or random.random() < 0.1:
        spans.append((times[-1] + 1, NEVER))
    return spans


def crowded(seed: int) -> Plan:
    """Datagrams that queue in a random graph of electronic switches."""
    random = Random(f"crowd/{seed}")
    edges, hosts, nodes = random_graph(random)
    rows = []
    for start in sorted(random.randrange(100 * MICROSECOND) for _ in range(60)):
        source, destination = random.sample(range(hosts), 2)
        rows.append((source, destination, start, random.choice([300, 1500, 9000])))
    switch = electronic(random.choice([None, None, 60_000]), random.choice([None, 20_000]))
    changes = {"choice": random.choice(["free", "random", "flow-hash"])}
    chosen = settings(hosts, nodes, switch, datagram(), **changes)
    rates = [10 * GIGABIT if min(edge) < hosts else GIGABIT for edge in edges]
    links = table(edges, hosts, rates=rates, delays=random.choice([1, 50_000, 5 * MICROSECOND]))
    return Plan(chosen, links, one_datagram_each(flow_table(*rows)))


def outage_plan(seed: int) -> Plan:
    """A random plan of packets with random outages; every third has long queues."""
    random = Random(f"outages/{seed}")
    plan = crowded(seed) if seed % 3 == 0 else steady(random_plan(seed, "packets"))
    return with_outages(random, plan)


def burst_outage_plan(seed: int) -> Plan:
    """A random plan of bursts behind headers with random outages; every third is crowded."""
    random = Random(f"burst outages/{seed}")
    return with_outages(random, steady(random_plan(seed, "headers" if seed % 3 else "crowds")))


def assembled_outage_plan(seed: int) -> Plan:
    """A random plan of bursts without headers, with random outages."""
    random = Random(f"assembled outages/{seed}")
    return with_outages(random, steady(random_plan(seed, "bursts")))


def with_outages(random: Random, plan: Plan) -> Plan:
    """The plan with random outages of links, or of both directions of links."""
    result = core(plan)
    end = max(1000, int(result["totals"]["transmitted_until_ps"]))
    if random.random() < 0.3:
        end = max(1000, end // 20)
    source, target = plan.links["from"].tolist(), plan.links["to"].tolist()
    count = len(source)
    weights = (result["links"]["bytes"] + result["links"]["waiting_bytes"] + 1).tolist()
    some = sorted(set(random.choices(range(count), weights, k=random.choice([1, 2, 4, 8]))))
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
        delays = [0, 0, 0, 1, MICROSECOND, end // 100, end // 10, random.randrange(end)]
        outages["restoration_ps"] = random.choice(delays)
    return plan._replace(settings={**plan.settings, "outages": outages})


def queued_outage_plan(seed: int) -> Plan:
    """A random plan of packets with outages, whose electronic switches have a discipline."""
    random = Random(f"queued outages/{seed}")
    plan = steady(random_plan(seed, "packets")) if seed % 3 == 2 else crowded(seed)
    # Each discipline has plans of each sort.
    kind = DISCIPLINES[seed // 3 % len(DISCIPLINES)]
    queue = settings_of(kind, random, len(plan.settings["groups"]))
    # Long queues, of which some wait when the routes change.
    if kind == "red":
        queue["min_threshold_bytes"] += 100_000
        queue["max_threshold_bytes"] += 100_000
    if kind == "pie":
        queue["burst_ps"] = random.choice([100, 150_000]) * MICROSECOND
    switches = [
        own | {"queue": queue} | random_buffer(random, kind) if own["kind"] == "electronic" else own
        for own in without_buffers(plan)
    ]
    return with_outages(random, plan._replace(settings={**plan.settings, "switches": switches}))


def hybrid_outage_plan(seed: int) -> Plan:
    """A random plan of packets with outages and hybrid switches."""
    random = Random(f"hybrid outages/{seed}")
    plan = crowded(seed)
    switches = [
        {
            "kind": "hybrid",
            "switching_time_ps": random.choice([0, 100_000, MICROSECOND]),
            "buffer_ports": random.choice([1, 2, 8]),
            "buffer_bytes": random.choice([None, 60_000]),
            "re_emission": random.choice(["after-reception", "cut-through"]),
        }
        for _ in plan.settings["switches"]
    ]
    links = {**plan.links, "rate_bps": 0 * plan.links["rate_bps"] + GIGABIT}
    chosen = {**plan.settings, "switches": switches}
    return with_outages(random, plan._replace(settings=chosen, links=links))
