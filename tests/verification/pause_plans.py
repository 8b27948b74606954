"""Random plans with priority flow control."""

from random import Random
from typing import Any

import numpy as np
from outage_plans import crowded, steady, with_outages
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    datagram,
    electronic,
    flow_table,
    settings,
    table,
    tcp,
)
from random_disciplines import ALIKE, random_buffer, settings_of, without_buffers
from random_plans import random_plan

#: The datagrams of a flow.
DATAGRAMS = 30


def random_pfc(random: Random) -> dict[str, Any]:
    """Bounds that some packets pass, with room for a packet more or for many; or none."""
    pick = random.choice
    xoff = pick([0, 1_500, 3_000, 9_000, 20_000])
    return {
        "xoff_bytes": xoff,
        "xon_bytes": pick([0, xoff // 2, xoff]),
        "headroom_bytes": pick([None, None, 1_600, 9_100, 40_000]),
    }


def paused(random: Random, plan: Plan, *, by_class: float = 0.7) -> Plan:
    """The same plan of electronic switches with explicit queues, most of which let links pause.

    `by_class` is the probability that classes pause alone, where there are several groups.
    """
    groups = len(plan.settings["groups"])
    # Classes are the same at all switches.
    lines = random.choice(["prio", "drr"]) if groups > 1 and random.random() < by_class else None
    classes = settings_of(lines, random, groups) if lines else {}
    largest = max(group["transport"]["segment_bytes"] for group in plan.settings["groups"])
    switches: list[dict[str, Any]] = []
    for own in without_buffers(plan):
        kind = lines or random.choice(["drop-tail", "drop-tail", *ALIKE])
        queue = settings_of(kind, random, groups)
        own = own | {"queue": queue | ({"bands": classes["bands"]} if "bands" in classes else {})}
        if kind not in ("drop-tail", "prio", "drr"):
            own["ecn_threshold_bytes"] = None
        buffer = random_buffer(random, kind)
        shared = buffer.get("shared_buffer")
        if shared and shared["alpha"] * shared["size_bytes"] < 2 * largest:
            del buffer["shared_buffer"]
        own |= buffer
        if random.random() < 0.8 or not switches:
            own["pfc"] = pfc = random_pfc(random)
            most = pfc["headroom_bytes"]
            if most is not None and pfc["xoff_bytes"] + most < largest:
                pfc["headroom_bytes"] = largest
        switches.append(own)
    return plan._replace(settings={**plan.settings, "switches": switches})


def any_packets(seed: int) -> Plan:
    """Any plan of packets."""
    return steady(random_plan(seed, "packets"))


def converging(seed: int, *, crowd: bool = False) -> Plan:
    """Flows of some groups, mostly to one host, over a chain of switches whose links are slow.

    A `crowd` are many of three groups from few hosts, so that these take turns.
    """
    random = Random(f"converging/{seed}")
    pick = random.choice
    hosts, switches = 3 if crowd else random.randint(3, 6), random.randint(1, 3)
    edges = [(host, hosts + random.randrange(switches)) for host in range(hosts)]
    edges += [(hosts + i, hosts + i + 1) for i in range(switches - 1)]
    rates = [pick([GIGABIT, 10 * GIGABIT]) for _ in edges]
    links = table(edges, hosts, rates=rates, delays=pick([1, 50_000, 2 * MICROSECOND]))
    m = pick([500, 1_460])
    sizes: dict[str, Any] = {
        "segment_bytes": m + 40,
        "header_bytes": 40,
        "initial_window_bytes": pick([4, 20]) * m,
        "advertised_window_bytes": 60 * m,
    }
    transports = [tcp(**sizes), tcp(**sizes, ecn=True), datagram(1_500)][
        : 3 if crowd else random.randint(1, 3)
    ]
    rows, groups = [], []
    number = 16 if crowd else random.randint(2, 9)
    for start in sorted(random.randrange(30 * MICROSECOND) for _ in range(number)):
        source, other = random.sample(range(hosts), 2)
        destination = pick([other, 0]) if source else other
        groups.append(random.randrange(len(transports)))
        size = DATAGRAMS * 1_500 if groups[-1] == 2 else random.randint(1, 80) * m
        rows.append((source, destination, start, size))
    flows = flow_table(*rows)
    flows["group"] = np.array(groups, np.uint16)
    if len(transports) == 3:
        counts = [DATAGRAMS if group == 2 else 0 for group in groups]
        times = [row[2] + i for row, n in zip(rows, counts, strict=True) for i in range(n)]
        flows["departures_ps"] = np.array(times, np.uint64)
        flows["departure_offsets"] = np.cumsum([0, *counts]).astype(np.uint64)
    chosen: dict[str, Any] = {"seed": random.getrandbits(64)}
    chosen["time_limit_ps"] = pick([SECOND, 2 * MILLISECOND])
    if random.random() < 0.6:
        chosen["fair"] = {"small_queue": pick([None, 1, 2])}
    switch = electronic(pick([None, None, 30_000]))
    return Plan(settings(hosts, hosts + switches, switch, transports, **chosen), links, flows)


def pause_plan(seed: int) -> Plan:
    """Packets that crowd, any, and flows that converge, in turns."""
    plan = (crowded, any_packets, converging)[seed % 3](seed)
    switches = [
        {"kind": "electronic", "queue_bytes": None, "ecn_threshold_bytes": None}
        if own["kind"] != "electronic"
        else own
        for own in plan.settings["switches"]
    ]
    plan = plan._replace(settings={**plan.settings, "switches": switches})
    return paused(Random(f"pauses/{seed}"), plan)


def classes_plan(seed: int) -> Plan:
    """A crowd of flows that converge; each class pauses alone, often in its turn."""
    plan = converging(seed, crowd=True)
    random = Random(f"classes/{seed}")
    plan = paused(random, plan, by_class=1)
    if random.random() < 0.5:
        plan = plan._replace(settings={**plan.settings, "fair": {"small_queue": None}})
    return plan


def broken_plan(seed: int) -> Plan:
    """Packets that pause over links that go down and come up."""
    random = Random(f"broken pauses/{seed}")
    plan = classes_plan(seed) if seed % 4 == 3 else pause_plan(seed)
    changed = {
        key: value for key, value in plan.settings.items() if key not in ("label", "balance")
    }
    changed["time_limit_ps"] = min(changed["time_limit_ps"], 20 * MILLISECOND)
    if changed["routing"]["kind"] == "fat-tree":
        changed["routing"] = {"kind": "shortest-path", "metric": "hops"}
    if changed.get("loss") is not None:
        changed["loss"] = {**changed["loss"], "holds": [], "stalls": []}
    return with_outages(random, plan._replace(settings=changed, paths=None))
