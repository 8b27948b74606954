"""Random small plans for hypothesis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Arrays,
    Edge,
    Plan,
    all_optical,
    datagram,
    electronic,
    fat_tree_edges,
    flow_table,
    hybrid,
    parallel,
    path_edges,
    saw,
    settings,
    table,
)

RATES = [GIGABIT, 2_500_000_000, 3 * GIGABIT, 10 * GIGABIT]

Shape = tuple[list[Edge], int, int, dict[str, Any]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Edge], int, int]:
    """A connected graph of switches, some of its links double, with hosts on it."""
    switches = draw(st.integers(1, 6))
    hosts = draw(st.integers(2, 7))
    first = hosts
    edges = [(host, first + draw(st.integers(0, switches - 1))) for host in range(hosts)]
    edges += [(first + draw(st.integers(0, i - 1)), first + i) for i in range(1, switches)]
    if switches > 1:
        ends = st.integers(first, first + switches - 1)
        extra = st.tuples(ends, ends).filter(lambda edge: edge[0] != edge[1])
        edges += draw(st.lists(extra, max_size=8))
    return edges, hosts, hosts + switches


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """A path, a fat-tree by either routing, a random graph, or two switches with several links.

    Through the last, if the links are unequal, packets overtake each other.
    """
    kind = draw(st.sampled_from(["path", "fat-tree", "graph", "bundle"]))
    metric = draw(st.sampled_from(["hops", "hops", "delay"]))
    routing: dict[str, Any] = {"kind": "shortest-path", "metric": metric}
    wavelengths = draw(st.sampled_from([1, 1, 2, 3]))
    if kind == "path":
        edges, hosts, nodes = path_edges(draw(st.integers(1, 5)))
        return parallel(edges, hosts, wavelengths), hosts, nodes, routing
    if kind == "fat-tree":
        k = draw(st.sampled_from([2, 4]))
        if draw(st.booleans()):
            routing = {"kind": "fat-tree", "k": k, "wavelengths": wavelengths}
        edges, hosts, nodes = fat_tree_edges(k)
        return parallel(edges, hosts, wavelengths), hosts, nodes, routing
    if kind == "graph":
        return *draw(graphs()), routing
    hosts, ways = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    edges = [(host, hosts + host % 2) for host in range(hosts)]
    return edges + ways * [(hosts, hosts + 1)], hosts, hosts + 2, routing


@st.composite
def link_tables(draw: st.DrawFn, edges: list[Edge], hosts: int, kinds: list[str]) -> Arrays:
    """Equal links, or each with its own delay and, except at optical switches, its own rate."""
    processing = draw(st.sampled_from([0, 0, 1_000]))
    if draw(st.booleans()):
        rate, delay = draw(st.sampled_from(RATES)), draw(st.sampled_from([1, 50_000, 5_000_000]))
        return table(edges, hosts, rates=rate, delays=delay, header_processing=processing)
    # From one number, because hypothesis takes long to draw many.
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    rates = random.choice(RATES, len(edges)).tolist()
    rates = light_keeps_its_rate(edges, hosts, kinds, rates)
    delays = random.integers(1, draw(st.sampled_from([10**6, 10**7])), len(edges)).tolist()
    return table(edges, hosts, rates=rates, delays=delays, header_processing=processing)


@st.composite
def switches(draw: st.DrawFn) -> dict[str, Any]:
    """Any switch."""
    kind = draw(st.sampled_from(["all-optical", "hybrid", "hybrid", "electronic"]))
    switching_time = draw(st.sampled_from([0, 0, 1_000, 300_000]))
    if kind == "all-optical":
        return all_optical(switching_time)
    if kind == "hybrid":
        return hybrid(
            draw(st.integers(0, 4)),
            buffer_bytes=draw(st.sampled_from([None, None, 9_000, 20_000])),
            re_emission=draw(st.sampled_from(["after-reception", "cut-through"])),
            switching_time=switching_time,
        )
    return electronic(
        draw(st.sampled_from([None, 9_000, 20_000])), draw(st.sampled_from([None, 0, 1, 9_000]))
    )


@st.composite
def transports(
    draw: st.DrawFn, maxima: Sequence[int] = (60 * SECOND, 40 * MICROSECOND)
) -> dict[str, Any]:
    """Stop-and-wait of either kind with any numbers, or datagrams."""
    segment = draw(st.sampled_from([300, 1_500, 9_000]))
    header = draw(st.sampled_from([0, 40]))
    kind = draw(st.sampled_from(["saw", "sawl", "sawl", "datagram"]))
    if kind == "datagram":
        return datagram(segment, header)
    return saw(
        p=draw(st.sampled_from([0.0, 1 / 7, 1.0, 4.0])) if kind == "sawl" else None,
        alpha=draw(st.sampled_from([1.01, 1.1, 2.0])),
        beta=draw(st.sampled_from([0.1, 0.5, 0.9])),
        initial_timeout_ps=draw(
            st.sampled_from([MILLISECOND, 20 * MICROSECOND, 3 * MICROSECOND + 1])
        ),
        max_timeout_ps=draw(st.sampled_from(maxima)),
        segment_bytes=segment,
        header_bytes=header,
        control_bytes=draw(st.sampled_from([64, 200])),
        receiver_timers=draw(st.booleans()),
        **draw(st.sampled_from([{}, {}, {"max_retransmissions": 1}, {"max_retransmissions": 4}])),
    )


@st.composite
def flow_tables(draw: st.DrawFn, hosts: int, transport: dict[str, Any]) -> Arrays:
    """A few flows that start together, or nearly, so that they meet."""
    spread = draw(st.sampled_from([0, 100_000, 20 * MICROSECOND, MILLISECOND]))
    host = st.integers(0, hosts - 1)
    most = transport["segment_bytes"] - transport["header_bytes"]
    size = st.one_of(st.integers(1, 8 * most), st.integers(1, 8).map(lambda n: n * most))
    row = st.tuples(host, host, st.integers(0, spread), size).filter(lambda r: r[0] != r[1])
    rows = sorted(draw(st.lists(row, min_size=1, max_size=20)), key=lambda r: r[2])
    flows = flow_table(*rows)
    if transport["kind"] != "datagram":
        return flows
    counts = [-(-size // most) for _, _, _, size in rows]
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    gap = draw(st.sampled_from([0, MICROSECOND, 20 * MICROSECOND]))
    departures = [
        start + late
        for (_, _, start, _), count in zip(rows, counts, strict=True)
        for late in np.sort(random.integers(0, gap, count, endpoint=True)).tolist()
    ]
    return {
        **flows,
        "departures_ps": np.array(departures, np.uint64),
        "departure_offsets": np.array([0, *np.cumsum(counts)], np.uint64),
    }


def light_keeps_its_rate(
    edges: list[Edge], hosts: int, kinds: list[str], rates: list[int]
) -> list[int]:
    """One rate, the first, for all links at switches that are not electronic."""
    light = {node for node, kind in enumerate(kinds, hosts) if kind != "electronic"}
    return [
        rates[0] if light & set(edge) else rate for edge, rate in zip(edges, rates, strict=True)
    ]


@st.composite
def plans(draw: st.DrawFn, /, **changes: Any) -> Plan:
    """A plan; `changes` replace draws of its settings, or are strategies for them."""
    edges, hosts, nodes, routing = draw(shapes())
    transport = draw(changes.pop("transport", transports()))
    several = draw(changes.pop("switches", st.lists(switches(), min_size=1, max_size=3)))
    which = st.integers(0, len(several) - 1)
    kinds = draw(st.lists(which, min_size=nodes - hosts, max_size=nodes - hosts))
    chosen = {
        "routing": routing,
        "choice": draw(st.sampled_from(["free", "free", "random", "flow-hash"])),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "time_limit_ps": draw(
            st.sampled_from([SECOND // 10, 5 * MILLISECOND, 30 * MICROSECOND, MICROSECOND])
        ),
        "switches": several,
        "transport": transport,
    }
    chosen["sample_ps"] = draw(st.sampled_from([None, None, 1 + chosen["time_limit_ps"] // 29]))
    links = draw(link_tables(edges, hosts, [several[i]["kind"] for i in kinds]))
    flows = draw(flow_tables(hosts, transport))
    final = {**chosen, **changes}
    return Plan(settings(hosts, nodes, final.pop("switches"), **final), links, flows, kinds)
