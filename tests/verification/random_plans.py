"""Random plans for TCP, for bursts and for losses: a number in, a plan out.

Plain numbers and not hypothesis, which takes long to draw many choices, and whose plans are equal
in half of the cases.
"""

from collections.abc import Mapping
from itertools import pairwise
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
    fat_tree_edges,
    flow_table,
    lossy,
    parallel,
    path_columns,
    path_edges,
    settings,
    table,
)
from random_disciplines import random_lines
from random_looks import random_traced
from random_switches import (
    random_balance,
    random_burst_links,
    random_channels,
    random_interfaces,
    random_obs,
    random_packet_links,
    random_switches,
)
from random_transports import (
    random_other,
    random_tcp,
)
from strategies import Shape

from lightburst.scenario.transport import OPEN_LOOP

#: Delays by which some, many, or all segments of a window are overtaken.
OVERTAKEN = [20 * MICROSECOND, 150 * MICROSECOND, MILLISECOND]


def random_flows(
    random: Random, hosts: int, transport: dict[str, Any], edge_of: Mapping[int, int] | None = None
) -> Arrays:
    """A few flows, some of them long, with a tiny segment at the end or none."""
    edge = edge_of or {}
    m = transport["segment_bytes"] - transport["header_bytes"]
    spread = random.choice([0, 100_000, 20 * MICROSECOND, MILLISECOND])
    rows = []
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        source, destination = random.sample(range(hosts), 2)
        while transport["kind"] == "bursts" and edge[source] == edge[destination]:
            source, destination = random.sample(range(hosts), 2)
        segments = random.choice([1, 3, 10, 30, 30, 80, 80, 200])
        size = random.randint(1, segments) * m + random.choice([0, 0, 1, m - 1])
        rows.append((source, destination, random.randint(0, spread), size))
    flows = flow_table(*sorted(rows, key=lambda row: row[2]))
    if transport["kind"] not in OPEN_LOOP:
        return flows
    counts = (flows["bytes"] + np.uint64(m - 1)) // np.uint64(m)
    gap = random.choice([0, MICROSECOND, 20 * MICROSECOND])
    departures = [
        start + late
        for start, number in zip(flows["start_ps"].tolist(), counts.tolist(), strict=True)
        for late in sorted(random.randint(0, gap) for _ in range(number))
    ]
    return {
        **flows,
        "departures_ps": np.array(departures, np.uint64),
        "departure_offsets": np.array([0, *counts.cumsum()], np.uint64),
    }


def random_groups(
    random: Random,
    hosts: int,
    transports: list[dict[str, Any]],
    edge_of: Mapping[int, int] | None = None,
) -> Arrays:
    """Flows of each transport, those that start first, first."""
    tables = [random_flows(random, hosts, transport, edge_of) for transport in transports]
    rows = []
    for group, own in enumerate(tables):
        offsets = own.get("departure_offsets", np.zeros(own["source"].size + 1, np.uint64))
        for i, (first, last) in enumerate(pairwise(offsets.tolist())):
            row = [int(own[name][i]) for name in ("source", "destination", "start_ps", "bytes")]
            departures = own["departures_ps"][first:last].tolist() if last > first else []
            rows.append((row, group, departures))
    rows.sort(key=lambda row: (row[0][2], row[1]))
    flows = flow_table(*(tuple(row) for row, _, _ in rows))
    flows["group"] = np.array([group for _, group, _ in rows], np.uint16)
    if any("departures_ps" in own for own in tables):
        each = [departures for _, _, departures in rows]
        flows["departures_ps"] = np.array([ps for times in each for ps in times], np.uint64)
        flows["departure_offsets"] = np.cumsum([0, *map(len, each)]).astype(np.uint64)
    return flows


def random_drop(random: Random, flows: int) -> dict[str, Any]:
    """A drop of any kind, of a unit that may never come."""
    first = random.choice([1, 2, 5, 20, 60])
    several = [first, first + random.choice([0, 0, 1, 2, 4, 30])]
    what: dict[str, Any] = random.choice(
        [
            {"burst": first},
            {"segments": several, "transmission": 1},
            {"segments": several, "transmission": random.randint(1, 3)},
            {"window": random.choice([1, 2, 4, 12, 40])},
            {"acknowledgements": several},
        ]
    )
    return {"flow": random.randrange(flows), **what}


def random_scripts(random: Random, plan: Plan) -> Plan:
    """The same plan; where there are losses, often with marks, held units and stalls."""
    loss = plan.settings["loss"]
    if loss is None or random.random() < 0.5:
        return plan

    def some(most: int) -> list[dict[str, Any]]:
        """Scripts without acknowledgements."""
        drawn = [random_drop(random, len(plan.flows["source"])) for _ in range(2 * most)]
        number = random.randint(0, most)
        return [script for script in drawn if "acknowledgements" not in script][:number]

    holds = [{**script, "later": random.choice([1, 1, 2, 3, 7])} for script in some(6)]
    times = [MICROSECOND, 300 * MICROSECOND, SECOND // 20, SECOND]
    stalls = [{**script, "duration_ps": random.choice(times)} for script in some(3)]
    if plan.links["lossy"][plan.links["from"] < plan.settings["hosts"]].any():
        holds, stalls = [], []
    scripts = {"marks": some(4), "holds": holds, "stalls": stalls}
    return plan._replace(settings={**plan.settings, "loss": {**loss, **scripts}})


def random_loss(random: Random, flows: int) -> dict[str, Any]:
    """Losses by chance, by script, by both, or none."""
    pick = random.choice
    return {
        "probability": pick([0.0, 0.0, 0.01, 0.03, 0.1, 0.3]),
        "acknowledgement_probability": pick([0.0, 0.0, 0.0, 0.05, 0.3]),
        "drops": [random_drop(random, flows) for _ in range(pick([0, 1, 2, 5]))],
    }


def random_lossy(random: Random, links: Arrays, hosts: int) -> Arrays:
    """Let links be lossy: all between switches, those of the first switches, or any."""
    source, target = links["from"], links["to"]
    between = (source >= hosts) & (target >= hosts)
    edges = np.isin(source, target[source < hosts]) & ~np.isin(target, target[source < hosts])
    anywhere = np.array([random.random() < 0.4 for _ in source])
    chosen = random.choice([between, between, between & edges, anywhere])
    return {**links, "lossy": chosen.astype(np.uint8)}


def random_graph(random: Random) -> tuple[list[Edge], int, int]:
    """A connected graph of switches, some of its links double, with hosts on it."""
    switches, hosts = random.randint(1, 6), random.randint(2, 7)
    edges = [(host, hosts + random.randrange(switches)) for host in range(hosts)]
    edges += [(hosts + random.randrange(i), hosts + i) for i in range(1, switches)]
    if switches > 1:
        for _ in range(random.randint(0, 8)):
            a, b = random.sample(range(hosts, hosts + switches), 2)
            edges.append((a, b))
    return edges, hosts, hosts + switches


def random_line(random: Random) -> tuple[list[Edge], int, int]:
    """Switches in a line, several hosts on the first and on the last."""
    line, hosts, nodes = path_edges(random.randint(2, 5))
    more = 2 * random.choice([0, 0, 1, 2])
    edges = [(a + more * (a > 1), b + more * (b > 1)) for a, b in line]
    for i in range(0, more, 2):
        edges += [(hosts + i, hosts + more), (hosts + i + 1, nodes - 1 + more)]
    return edges, hosts + more, nodes + more


def random_shape(random: Random, *, wide: bool = False) -> Shape:
    """A line, a fat-tree by either routing, a graph, or two switches with several links.

    Through the last, if the links are unequal, packets overtake each other. `wide`: mostly one with
    more than one path.
    """
    narrow = [] if wide else ["line", "line"]
    kind = random.choice([*narrow, "fat-tree", "graph", "bundle"])
    metric = random.choice(["hops", "hops", "delay"])
    routing: dict[str, Any] = {"kind": "shortest-path", "metric": metric}
    wavelengths = random.choice([1, 1, 2, 3])
    if kind == "line":
        edges, hosts, nodes = random_line(random)
        return parallel(edges, hosts, wavelengths), hosts, nodes, routing
    if kind == "graph":
        return *random_graph(random), routing
    if kind == "fat-tree":
        k = random.choice([2, 4])
        if random.random() < 0.5:
            routing = {"kind": "fat-tree", "k": k, "wavelengths": wavelengths}
        edges, hosts, nodes = fat_tree_edges(k)
        return parallel(edges, hosts, wavelengths), hosts, nodes, routing
    hosts, ways = random.randint(2, 5), random.randint(2, 3)
    edges = [(host, hosts + host % 2) for host in range(hosts)]
    return edges + ways * [(hosts, hosts + 1)], hosts, hosts + 2, routing


def random_paths(random: Random, links: Arrays, hosts: int) -> Arrays:
    """Some paths, one or several, for some pairs of switches with hosts; over any links."""
    source, target = links["from"].tolist(), links["to"].tolist()
    edges = sorted({target[host] for host in range(hosts)})
    paths = []
    for a in edges:
        for b in edges:
            for _ in range(random.choice([0, 1, 2, 3]) if a != b else 0):
                node, taken, seen = a, [], {a}
                while node != b:
                    # All the links to a next node, or one of them.
                    ways = [i for i, at in enumerate(source) if at == node]
                    further = [i for i in ways if target[i] >= hosts and target[i] not in seen]
                    if not further:
                        break
                    node = target[random.choice(further)]
                    there = [i for i in further if target[i] == node]
                    taken += there if random.random() < 0.5 else [random.choice(there)]
                    seen.add(node)
                if node == b:
                    paths.append((a, b, taken))
    return path_columns(paths)


def random_labels(random: Random, *, bursts: bool) -> dict[str, Any]:
    """The choice among paths; for bursts often by load."""
    label = random.choice(["first", "random", "hash", *(["load"] * 4 if bursts else [])])
    return {"label": label} | ({"balance": random_balance(random)} if label == "load" else {})


def gentle(random: Random, plan: Plan) -> Plan:
    """The same with one long flow at a time, wide windows and few losses, that recoveries end."""
    transport = plan.transport()
    m = transport["segment_bytes"] - transport["header_bytes"]
    windows = {
        "advertised_window_bytes": random.choice([12, 20, 50, 1000]) * m,
        "initial_window_bytes": random.choice([4, 10, 20]) * m,
        "access_buffer_bytes": None,
        "backoff": random.choice([1.5, 2.0]),
    }
    first = random.randint(1, 60)
    several = sorted(random.sample(range(first, first + 20), random.randint(1, 6)))
    drops = [
        {"flow": 0, "segments": [number, number], "transmission": 1 + (random.random() < 0.1)}
        for number in several
    ]
    loss = {
        "probability": random.choice([0.0, 0.0, 0.01]),
        "acknowledgement_probability": random.choice([0.0, 0.0, 0.05]),
        "drops": drops,
    }
    size = random.randint(several[-1], several[-1] + 60) * m + random.choice([0, 1])
    flow = {name: column[:1] for name, column in plan.flows.items()}
    groups = [{"transport": {**transport, **windows}}]
    changes = {"groups": groups, "loss": loss, "time_limit_ps": 1000 * SECOND}
    if plan.settings["sample_ps"] is not None:
        changes["sample_ps"] = SECOND // 3
    return Plan(
        {**plan.settings, **changes},
        lossy(plan.links, plan.settings["hosts"]),
        {**flow, "bytes": np.array([size], np.uint64)},
        plan.kinds,
        plan.paths,
    )


#: Extra offsets of classes.
EXTRA_OFFSETS = [0, 0, 300_000, 5 * MICROSECOND, 100 * MICROSECOND]
#: Time limits; short with reservations, since the twin searches all of them.
LIMITS = [SECOND, SECOND, 50 * MILLISECOND, MILLISECOND, 100 * MICROSECOND]
RESERVED_FOR = [20 * MILLISECOND, 5 * MILLISECOND, MILLISECOND, 100 * MICROSECOND]
#: Units between switches; crowds have many bursts, whose headers find channels taken.
KINDS = ["packets", "bursts", "headers", "crowds"]


def random_transports(random: Random, kind: str, *, apart: bool) -> list[dict[str, Any]]:
    """Mostly one transport, mostly `tcp`. `apart`: hosts have several edges of bursts."""
    other = kind != "packets" and random.random() < 0.25
    transports = [random_other(random) if other else random_tcp(random)]
    if random.random() < 0.25:
        both = [random_tcp(random), random_other(random)]
        transports += random.choice([both[:1], both[1:], both])
    if kind == "headers":
        # Bursts of senders that wait for acknowledgements seldom meet.
        transports += random.choice([0, 2, 4]) * [datagram(random.choice([300, 1_500]))]
    if kind == "crowds":
        transports = random.choice([8, 14]) * [datagram(random.choice([300, 1_500]))]
        transports += [random_tcp(random)]
    transports = [dict(transport) for transport in transports]
    for transport in transports:
        if apart and transport["kind"] == "datagram" and random.random() < 0.4:
            transport["kind"] = "bursts"
    cut_up(transports, Random(str(transports)))
    return transports


def cut_up(transports: list[dict[str, Any]], random: Random) -> None:
    """Give the bursts of edges packets, mostly several, some with a short last one."""
    for transport in transports:
        if transport["kind"] == "bursts" and random.random() < 0.7:
            segment, header = transport["segment_bytes"], transport["header_bytes"]
            least = max(header + 1, segment // 12)
            transport["packet_bytes"] = random.randint(least, max(least, segment // 2))


def random_absence(
    random: Random, switches: list[dict[str, Any]], transports: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The switches, mostly without a rule of assembly where no host sends packets."""
    if any(transport["kind"] != "bursts" for transport in transports) or random.random() < 0.3:
        return switches
    return [switch | ({"assembly": None} if "assembly" in switch else {}) for switch in switches]


def random_plan(seed: int, kind: str) -> Plan:
    """A plan with packets, bursts, or bursts behind headers; rough, with losses, or gentle."""
    random = Random(seed)
    bursts, headers, crowds = kind != "packets", kind in ("headers", "crowds"), kind == "crowds"
    edges, hosts, nodes, routing = random_shape(random, wide=crowds)
    if headers:
        number = random.choice([1, 1, 1, 3])
        drop = random.choice(["head", "tail"])
        switches = [random_obs(random, crowded=crowds, drop=drop) for _ in range(number)]
        kinds = [random.randrange(len(switches)) for _ in range(hosts, nodes)]
    else:
        switches, kinds = random_switches(random, edges, hosts, nodes, bursts=bursts)
    edge_of = {min(ends): max(ends) for ends in edges if min(ends) < hosts}
    apart = bursts and len(set(edge_of.values())) > 1
    transports = random_transports(random, kind, apart=apart)
    if len(transports) > 1:
        flows = random_groups(random, hosts, transports, edge_of)
    else:
        flows = random_flows(random, hosts, transports[0], edge_of)
    if bursts:
        links = random_burst_links(random, edges, hosts)
    else:
        links = random_packet_links(random, edges, hosts, [switches[i]["kind"] for i in kinds])
    if headers:
        links = random_channels(random, links, most=2 if crowds else 5)
    loss = None
    if random.random() < 0.8:
        loss = random_loss(random, len(flows["source"]))
        links = random_lossy(random, links, hosts)
    chosen: dict[str, Any] = {
        "routing": routing,
        "choice": random.choice(["free", "free", "random", "flow-hash"]),
        "seed": random.getrandbits(64),
        "time_limit_ps": random.choice(RESERVED_FOR if headers else LIMITS),
        "sample_ps": None,
        "loss": loss,
    }
    if random.random() < 0.3:
        chosen["sample_ps"] = chosen["time_limit_ps"] // random.choice([1, 7, 300])
    paths = None
    if routing["kind"] == "shortest-path" and random.random() < 0.4:
        paths = random_paths(random, links, hosts)
        chosen |= random_labels(random, bursts=bursts)
    if headers and len(transports) > 1 and random.random() < 0.5:
        for switch in switches:
            switch["extra_offset_ps"] = [random.choice(EXTRA_OFFSETS) for _ in transports]
    switches = random_absence(random, switches, transports)
    chosen |= random_interfaces(random)
    final = settings(hosts, nodes, switches, transports, **chosen)
    plan = Plan(final, links, flows, kinds, paths)
    # With headers that are always late, no flow ever ends.
    alone = not headers and len(transports) == 1 and transports[0]["kind"] == "tcp"
    plan = gentle(random, plan) if alone and random.random() < 0.4 else plan
    plan = random_writes(Random(f"writes/{seed}"), random_traced(random, plan))
    plan = random_lines(Random(f"lines/{seed}"), plan)
    return plan if headers else random_scripts(Random(f"scripts/{seed}"), plan)


def random_writes(random: Random, plan: Plan) -> Plan:
    """The same plan; in some groups of `tcp` the applications write in parts."""
    groups = []
    for group in plan.settings["groups"]:
        transport = group["transport"]
        if transport["kind"] == "tcp" and random.random() < 0.25:
            m = transport["segment_bytes"] - transport["header_bytes"]
            times = [1, 20 * MICROSECOND, MILLISECOND, 10 * MILLISECOND, SECOND // 4]
            # Parts of a segment, whole segments and more than a window.
            most = random.choice([m, 3 * m, 3 * m + 1, 10 * m, 10 * m, 30 * m + m // 2])
            writes = {"bytes": most, "interval_ps": random.choice(times)}
            group = {**group, "writes": writes}
        groups.append(group)
    return plan._replace(settings={**plan.settings, "groups": groups})


def overtaking_plan(seed: int) -> Plan:
    """A plan with SACK in which segments and acknowledgements overtake each other.

    Acknowledgements have few blocks, so an old one may report blocks that newer ones left out.
    """
    random = Random(seed)
    pick = random.choice
    recovery = pick(["sack", "sack1", "rr-tcp", "rr-tcp"])
    changes = {"sack_blocks": pick([1, 1, 2, 3]), "duplicate_threshold": pick([1, 1, 2, 3])}
    transport = random_tcp(random, recovery, **changes)
    m = transport["segment_bytes"] - transport["header_bytes"]
    transport |= {
        "initial_window_bytes": pick([4, 10, 20]) * m,
        "advertised_window_bytes": pick([12, 20, 50]) * m,
        "access_buffer_bytes": None,
        "max_timeout_ps": 60 * SECOND,
    }
    ways = random.randint(2, 4)
    links = table(
        [(0, 2), (1, 3)] + ways * [(2, 3)],
        hosts=2,
        delays=2 * [50_000] + random.choices([MICROSECOND, *OVERTAKEN], k=ways),
    )
    loss = {
        "probability": pick([0.0, 0.03, 0.1, 0.3]),
        "acknowledgement_probability": pick([0.0, 0.1, 0.5]),
        "drops": [],
    }
    chosen = {"choice": "random", "seed": random.getrandbits(64), "loss": loss}
    return Plan(
        settings(2, 4, electronic(None, None), transport, **chosen),
        lossy(links, hosts=2),
        flow_table((0, 1, 0, random.randint(5, 150) * m)),
    )
