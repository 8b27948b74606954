"""Random plans with several paths of different length between two edges, chosen by load."""

from random import Random

from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    Arrays,
    Edge,
    Plan,
    datagram,
    lossy,
    parallel,
    path_table,
    settings,
    table,
)
from random_plans import random_groups, random_loss
from random_switches import random_balance, random_burst, random_channels, random_obs
from random_transports import random_other, random_tcp

#: The orderings of bursts.
ORDERINGS = [
    {"kind": "none"},
    {"kind": "none"},
    {"kind": "source"},
    {"kind": "destination", "hold_back_ps": 30 * MICROSECOND},
    {"kind": "destination", "hold_back_ps": 40 * MILLISECOND},
]


def two_edges(random: Random, hosts: int) -> tuple[list[Edge], list[tuple[int, ...]], int]:
    """Hosts at the switches 0 and 1, with several paths between these, which may share a part."""
    a, b = hosts, hosts + 1
    edges = [(host, hosts + host % 2) for host in range(hosts)]
    nodes = hosts + 2
    begin: tuple[int, ...] = (a,)
    end: tuple[int, ...] = (b,)
    if random.random() < 0.5:
        # Figure 2 of komatireddy2009: the first and the last link are shared.
        begin, end, nodes = (a, nodes), (nodes + 1, b), nodes + 2
        edges += [(a, begin[1]), (end[0], b)]
    ways = []
    for _ in range(random.choice([2, 2, 3])):
        middle = tuple(range(nodes, nodes + random.choice([1, 1, 2])))
        way = (*begin, *middle, *end)
        new = zip((begin[-1], *middle), (*middle, end[0]), strict=True)
        edges += list(new)
        nodes += len(middle)
        ways += [way, way[::-1]]
    return edges, ways, nodes


def balanced_plan(seed: int, kind: str) -> Plan:
    """A plan with bursts, or bursts behind headers, between two edges."""
    random = Random(seed)
    pick = random.choice
    hosts = pick([2, 4, 6])
    edges, ways, nodes = two_edges(random, hosts)
    if kind == "headers":
        switch = random_obs(random)
        if random.random() < 0.5:
            switch["contention"] = []
    else:
        switch = random_burst(random)
        edges = parallel(edges, hosts, pick([1, 1, 2]))
    switch["ordering"] = pick(ORDERINGS)
    transports = [pick([random_tcp, random_other])(random)]
    transports += pick([2, 4, 6]) * [datagram(pick([300, 1_500]))]
    if kind == "headers" and random.random() < 0.3:
        switch["extra_offset_ps"] = [pick([0, 20 * MICROSECOND]) for _ in transports]
    flows = random_groups(random, hosts, transports)
    links = balanced_links(random, edges, hosts, kind)
    loss = random_loss(random, len(flows["source"])) if random.random() < 0.4 else None
    if loss is not None:
        links = lossy(links, hosts)
    chosen = {
        "choice": pick(["free", "random", "flow-hash"]),
        "seed": random.getrandbits(64),
        "time_limit_ps": pick([20 * MILLISECOND, 100 * MILLISECOND]),
        "label": "load",
        "balance": random_balance(random),
        "loss": loss,
        "trace": sorted({0, random.randrange(len(flows["source"]))}) if pick([0, 0, 1]) else None,
        "sample_ps": pick([None, None, MILLISECOND]),
    }
    final = settings(hosts, nodes, switch, transports, **chosen)
    return Plan(final, links, flows, None, path_table(links, *ways))


def balanced_links(random: Random, edges: list[Edge], hosts: int, kind: str) -> Arrays:
    """Links of hosts, and fibres of at least a few burst lengths."""
    fibres = [1, 5 * MICROSECOND, 50 * MICROSECOND, 200 * MICROSECOND]
    delays = {edge: random.choice(fibres) for edge in edges}
    of_host, core = random.choice([GIGABIT, 10 * GIGABIT]), random.choice([GIGABIT, 10 * GIGABIT])
    links = table(
        edges,
        hosts,
        rates=[of_host if min(edge) < hosts else core for edge in edges],
        delays=[MICROSECOND if min(edge) < hosts else delays[edge] for edge in edges],
    )
    return random_channels(random, links, most=5) if kind == "headers" else links
