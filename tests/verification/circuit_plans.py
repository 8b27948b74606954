"""Plans of networks with circuits: random ones, and small ones for results by hand."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from plans import (
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Arrays,
    Edge,
    Plan,
    datagram,
    electronic,
    flow_table,
    settings,
    table,
)
from random_looks import random_traced
from random_plans import (
    random_flows,
    random_groups,
    random_loss,
    random_lossy,
    random_transports,
)
from random_switches import random_interfaces

FORWARDINGS = ("direct", "valiant", "rotor-lb")
Turns = Sequence[Sequence[int]]


def circuit(
    matchings: Turns,
    turns: Turns,
    *,
    slot: int = 100 * MICROSECOND,
    guard: int = 10 * MICROSECOND,
    forwarding: str = "direct",
    queue: int | None = None,
) -> dict[str, Any]:
    """Settings of racks and circuit switches."""
    return {
        "kind": "circuit",
        "queue_bytes": queue,
        "forwarding": forwarding,
        "schedule": {
            "slot_ps": slot,
            "guard_ps": guard,
            "matchings": [list(matching) for matching in matchings],
            "turns": [list(turn) for turn in turns],
        },
    }


def scheduled(
    kind: str,
    *,
    slot: int = 100 * MICROSECOND,
    guard: int = 10 * MICROSECOND,
    delay: int = 20 * MICROSECOND,
    slot_bytes: Sequence[int] = (112_500,),
    queue: int | None = None,
    **own: int,
) -> dict[str, Any]:
    """Settings of racks and circuit switches with a scheduler."""
    return {
        "kind": "circuit",
        "queue_bytes": queue,
        "forwarding": "direct",
        "scheduler": {
            "kind": kind,
            "slot_ps": slot,
            "guard_ps": guard,
            "delay_ps": delay,
            "slot_bytes": list(slot_bytes),
            **own,
        },
    }


def shifts(racks: int) -> list[list[int]]:
    """The cyclic shifts."""
    return [[(rack + by) % racks for rack in range(racks)] for by in range(1, racks)]


def rack_edges(racks: int, each: int, cores: int) -> tuple[list[Edge], int, int]:
    """Edges, hosts and nodes of racks of `each` hosts, and of cores behind them."""
    hosts = racks * each
    down = [(host, hosts + host // each) for host in range(hosts)]
    up = [(hosts + rack, hosts + racks + core) for rack in range(racks) for core in range(cores)]
    return down + up, hosts, hosts + racks + cores


def bursts(*flows: tuple[int, int, int], **changes: Any) -> Plan:
    """Four racks of a host each, one circuit switch: source, destination and segments of each flow.

    There may be more circuit switches (`cores`). All segments of a flow are handed to its host's
    link at once, a picosecond after those of the flow before.
    """
    edges, hosts, nodes = rack_edges(4, 1, changes.pop("cores", 1))
    delays = [50_000 if a < hosts else 1_000_000 for a, _ in edges]
    rows = [(*ends, at, 9_000 * number) for at, (*ends, number) in enumerate(flows)]
    numbers = [number for *_, number in flows]
    columns = flow_table(*rows) | {
        "departures_ps": np.repeat(np.arange(len(numbers), dtype=np.uint64), numbers),
        "departure_offsets": np.array([0, *np.cumsum(numbers)], np.uint64),
    }
    switch = changes.pop("switch", None)
    if switch is None:
        switch = circuit(shifts(4), changes.pop("turns", [[0, 1, 2]]), **changes)
    return Plan(
        settings(hosts, nodes, switch, datagram()), table(edges, hosts, delays=delays), columns
    )


def packets(
    by: str = "size",
    threshold: int = 9_000,
    queue: int | None = None,
    marks: int | None = None,
) -> dict[str, Any]:
    """The settings of racks beside a packet network."""
    return {
        "by": by,
        "threshold_bytes": threshold,
        "queue_bytes": queue,
        "ecn_threshold_bytes": marks,
    }


def with_packets(
    plan: Plan, packet: dict[str, Any], rates: int | Sequence[int], delays: int | Sequence[int]
) -> Plan:
    """The plan with a packet network: a further node with a link to each rack, and one back."""
    (own,) = plan.settings["switches"]
    switch = electronic(packet["queue_bytes"], packet["ecn_threshold_bytes"])
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    racks = sorted(set(plan.links["to"][:hosts].tolist()))
    star = table([(rack, nodes) for rack in racks], hosts, rates=rates, delays=delays)
    links = {name: plan.links[name] for name in star}
    links = {name: np.concatenate([column, star[name]]) for name, column in links.items()}
    order = np.argsort(links["from"], kind="stable")
    links = {name: column[order] for name, column in links.items()}
    if "lossy" in plan.links:
        lossy = np.concatenate([plan.links["lossy"], np.zeros(2 * len(racks), np.uint8)])
        links["lossy"] = lossy[order]
    return plan._replace(
        settings=plan.settings
        | {"nodes": nodes + 1, "switches": [own | {"packet": packet}, switch]},
        links=links,
        kinds=[0] * (nodes - hosts) + [1],
    )


def random_matching(random: Random, racks: int) -> list[int]:
    """A permutation without fixed points."""
    while True:
        to = random.sample(range(racks), racks)
        if all(rack != other for rack, other in enumerate(to)):
            return to


def random_turns(random: Random, racks: int, cores: int) -> tuple[list[list[int]], list[list[int]]]:
    """Matchings and turns; each pair of racks has a circuit at some time."""
    matchings = shifts(racks) + [
        random_matching(random, racks) for _ in range(random.randint(0, 3))
    ]
    random.shuffle(matchings)
    turns: list[list[int]] = [[] for _ in range(cores)]
    for number in range(len(matchings)):
        random.choice(turns).append(number)
    for turn in turns:
        turn.extend(random.randrange(len(matchings)) for _ in range(random.choice([0, 0, 1, 2])))
        if not turn:
            turn.append(random.randrange(len(matchings)))
    return matchings, turns


def random_links(random: Random, racks: int, cores: int) -> tuple[Arrays, int, int]:
    """Links of racks with one host or several; nodes in any order, delays that differ."""
    home = [*range(racks), *(random.randrange(racks) for _ in range(random.randint(0, 3)))]
    hosts = len(home)
    number = random.sample(range(hosts, hosts + racks + cores), racks + cores)
    down = [(host, number[rack]) for host, rack in enumerate(home)]
    up = [(number[rack], number[racks + core]) for rack in range(racks) for core in range(cores)]
    random.shuffle(up)
    pick = random.choice
    rate = pick([10**9, 10**10, 3 * 10**9, 7_000_000_001])
    rates = [pick([10**9, 10**10]) for _ in down] + [rate] * len(up)
    same = pick([1, 50_000, MICROSECOND, 20 * MICROSECOND])
    delays = [pick([same, random.randint(1, 5 * MICROSECOND)]) for _ in down + up]
    return table(down + up, hosts, rates=rates, delays=delays), hosts, hosts + racks + cores


def random_circuits(seed: int) -> Plan:
    """Any network of circuits, with any transport for packets."""
    random = Random(f"circuits/{seed}")
    pick = random.choice
    racks, cores = random.randint(2, 6), random.randint(1, 4)
    links, hosts, nodes = random_links(random, racks, cores)
    transports = random_transports(random, "packets", apart=False)
    if len(transports) > 1:
        flows = random_groups(random, hosts, transports, {})
    else:
        flows = random_flows(random, hosts, transports[0])
    largest = max(max(one["segment_bytes"], one["control_bytes"]) for one in transports)
    rate = int(links["rate_bps"][hosts:].min())
    full = -(-largest * 8 * 10**12 // rate)
    guard = pick([0, 1, full // 3, 5 * MICROSECOND])
    slot = guard + pick([full, full + 1, 2 * full + 7, 10 * full, 50 * MICROSECOND + full])
    matchings, turns = random_turns(random, racks, cores)
    switch = circuit(
        matchings,
        turns,
        slot=slot,
        guard=guard,
        forwarding=pick(FORWARDINGS),
        queue=pick([None, None, 3 * largest, 20 * largest]),
    )
    chosen: dict[str, Any] = {
        "seed": random.getrandbits(64),
        "time_limit_ps": pick([SECOND, SECOND // 10, 3 * MILLISECOND]),
    }
    if random.random() < 0.3:
        chosen["sample_ps"] = chosen["time_limit_ps"] // pick([1, 7, 300])
    if random.random() < 0.4:
        chosen["loss"] = random_loss(random, len(flows["source"]))
        links = random_lossy(random, links, hosts)
    chosen |= random_interfaces(random)
    plan = Plan(settings(hosts, nodes, switch, transports, **chosen), links, flows)
    return random_traced(random, plan)


def random_hybrid(seed: int) -> Plan:
    """Any network of circuits beside a packet network."""
    random = Random(f"hybrid/{seed}")
    plan = random.choice([random_circuits, random_demand, random_expander])(seed)
    largest = max(
        max(one["transport"]["segment_bytes"], one["transport"]["control_bytes"])
        for one in plan.settings["groups"]
    )
    by, sizes = random.choice(["size", "age"]), plan.flows["bytes"].tolist()
    threshold = random.choice([0, 3 * largest, random.choice(sizes), max(sizes)])
    queue = random.choice([None, 2 * largest, 10 * largest])
    packet = packets(by, threshold, queue, random.choice([None, largest]))
    racks = len(set(plan.links["to"][: plan.settings["hosts"]].tolist()))
    rates = [random.choice([10**8, 10**9, 10**10]) for _ in range(racks)]
    delays = [random.choice([1, random.randint(1, 10 * MICROSECOND)]) for _ in range(racks)]
    return with_packets(plan, packet, rates, delays)


SCHEDULERS = ("greedy", "hungarian", "islip", "birkhoff")


def random_demand(seed: int) -> Plan:
    """Any network of circuits, with any scheduler."""
    random = Random(f"demand/{seed}")
    pick = random.choice
    plan = random_circuits(seed)
    (switch,) = plan.settings["switches"]
    schedule, hosts = switch["schedule"], plan.settings["hosts"]
    ends = plan.links["from"], plan.links["to"]
    racks = set(ends[1][:hosts].tolist())
    up = [i for i, one in enumerate(zip(*ends, strict=True)) if one[0] in racks and one[1] >= hosts]
    rate, longest = (
        int(plan.links["rate_bps"][up[0]]),
        int(plan.links["delay_ps"][up].max()),
    )
    kind = pick(SCHEDULERS)
    slot, guard = schedule["slot_ps"], schedule["guard_ps"]
    least = max(0, longest + 1 - guard)
    own = scheduled(
        kind,
        slot=slot,
        guard=guard,
        delay=pick([least, least + random.randint(0, slot), least + 3 * slot]),
        slot_bytes=[rate * (slot - guard) // (8 * 10**12)] * len(schedule["turns"]),
        queue=switch["queue_bytes"],
    )
    if kind == "islip":
        own["scheduler"]["iterations"] = random.randint(1, 4)
    if kind == "birkhoff":
        own["scheduler"]["frame"] = pick([1, 3, 20])
    return plan._replace(settings=plan.settings | {"switches": [own]})


def random_expander(seed: int) -> Plan:
    """Any network of circuits, with slots that begin together or not, and any forwarding."""
    random = Random(f"expander/{seed}")
    plan = random_circuits(seed)
    (switch,) = plan.settings["switches"]
    slot, cores = switch["schedule"]["slot_ps"], len(switch["schedule"]["turns"])
    own = {**switch, "schedule": {**switch["schedule"]}}
    if random.random() < 0.8:
        apart = [core * slot // cores for core in range(cores)]
        own["schedule"]["offsets_ps"] = random.choice(
            [apart, [random.randrange(slot) for _ in range(cores)]]
        )
    if random.random() < 0.7:
        sizes = sorted({0, *plan.flows["bytes"].tolist()})
        own |= {"forwarding": "opera", "short_bytes": random.choice(sizes)}
    return plan._replace(settings=plan.settings | {"switches": [own]})
