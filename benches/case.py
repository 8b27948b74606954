"""Measurement of one scenario, in a separate process to isolate its peak memory.

``python benches/case.py '{"k": 8, "runs": 20}'`` prints one JSON object; `benches/run.py` and
`benches/peers.py` start it.
"""

from __future__ import annotations

import csv
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightburst.compile import Plan

HERE = Path(__file__).resolve()
K_OF_THE_PAPER = 8
#: Mean number of fibres on a shortest path of NSFNET, over all pairs.
MEAN_FIBRES = 2.14

Measurement = dict[str, Any]


def hosts(k: int) -> int:
    """Return the number of hosts of a k-ary fat-tree."""
    return k**3 // 4


def paper(k: int) -> dict[str, Any]:
    """Describe the paper's scenario on a fat-tree of any size.

    Parameters
    ----------
    k : int
        Ports of each switch. 8 gives minakhmetov2018, figure 2a: hybrid switches with two buffer
        ports under SAWL at 1e7 requests a second. For a larger tree the arrival rate and the number
        of flows grow with the number of hosts, so that the load per host stays the same.

    Returns
    -------
    dict
        Tables of a scenario file.
    """
    share = hosts(k) / hosts(K_OF_THE_PAPER)
    return {
        "name": f"hybrid fat-tree, k = {k}",
        "topology": {"kind": "fat-tree", "k": k, "link_length": "10 m", "link_rate": "10 Gb/s"},
        "switching": {"kind": "hybrid", "buffer_ports": 2},
        "transport": {"kind": "sawl", "p": 4},
        "workload": {
            "kind": "poisson",
            "arrival_rate": f"{1e7 * share:.10g} /s",
            "flows": round(1024 * share),
            "size": {"kind": "lognormal", "mu": 9.48, "sigma": 2.45663283, "max": "16 MiB"},
        },
    }


def electronic(load: float, seconds: float) -> dict[str, Any]:
    """Describe the scenario of ``peers/ns2-ft.tcl``, as closely as lightburst can.

    Parameters
    ----------
    load : float
        Mean useful bits that arrive at each host, as a fraction of its 10 Gb/s.
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        The same tree, links, queues, arrivals and sizes, under TCP with SACK and delayed
        acknowledgements.
    """
    mean_bytes = 1e6
    rate = load * 10e9 / 8 / mean_bytes * hosts(K_OF_THE_PAPER)
    return {
        "name": "electronic fat-tree, k = 8",
        "topology": {"kind": "fat-tree", "k": 8, "link_length": "10 m", "link_rate": "10 Gb/s"},
        "switching": {"kind": "electronic", "queue_size": "900 kB"},
        "routing": {"choice": "flow-hash"},
        "transport": {
            "kind": "tcp",
            "recovery": "sack",
            "segment_size": "9 kB",
            "header_size": "52 B",
            "advertised_window": 100_000,
            "initial_window": 10,
            "acknowledgement_delay": "1 ms",
            "initial_timeout": "10 ms",
            "min_timeout": "10 ms",
            "clock_granularity": "100 us",
        },
        "workload": {
            "kind": "poisson",
            "arrival_rate": f"{rate:.10g} /s",
            "flows": round(rate * seconds),
            "size": {"kind": "lognormal", "mu": 13.315510557964274, "sigma": 1.0},
        },
        "measurement": {"time_limit": f"{seconds:.10g} s"},
    }


def dense(k: int, seconds: float) -> dict[str, Any]:
    """Describe a data centre of today: links of 400 Gb/s, DCTCP at load 0.3, from an empty network.

    Parameters
    ----------
    k : int
        Ports of each switch of the fat-tree.
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        Tables of a scenario file. Sizes are those of `electronic`.
    """
    scenario = electronic(0.3, seconds)
    # As many bits for each host, 40 times as fast.
    rate = 40 * 0.3 * 10e9 / 8 / 1e6 * hosts(k)
    return beside(
        scenario,
        f"{hosts(k):,} hosts x 400 Gb/s, DCTCP, load 0.3",
        topology={"k": k, "link_rate": "400 Gb/s"},
        switching={"queue_size": "2 MB", "ecn_threshold": "200 kB"},
        transport={"congestion_control": "dctcp", "acknowledgement_delay": "10 us"},
        workload={"arrival_rate": f"{rate:.10g} /s", "flows": round(rate * seconds)},
    )


def beside(description: dict[str, Any], name: str, **tables: dict[str, Any]) -> dict[str, Any]:
    """Describe a scenario with some keys of its tables replaced, under another name."""
    changed = {table: {**description.get(table, {}), **keys} for table, keys in tables.items()}
    return {**description, "name": name, **changed}


def rotor(load: float, seconds: float) -> dict[str, Any]:
    """Describe 16 racks of 8 hosts behind 8 rotor switches, each rack with a circuit to each.

    Parameters
    ----------
    load, seconds
        As for `electronic`, whose flows and sender it has.

    Returns
    -------
    dict
        Tables of a scenario file.
    """
    return electronic(load, seconds) | {
        "name": "rotor switches, 128 hosts",
        "topology": {"kind": "racks", "racks": 16, "hosts_per_rack": 8, "uplinks": 8},
        "switching": {"kind": "circuit", "schedule": "rotor"},
        "routing": {},
    }


def long_flow(seconds: float) -> dict[str, Any]:
    """Describe the scenario of ``peers/ns2-long.tcl``: one SACK flow with a loss of 0.001.

    Parameters
    ----------
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        The same path, but with the losses on the second link instead of the third.
    """
    return {
        "name": "one SACK flow over five links, loss 0.001",
        "topology": {"kind": "path", "links": 5, "link_length": "2000 km", "link_rate": "10 Gb/s"},
        "switching": {"kind": "electronic", "queue_size": "unlimited"},
        "loss": {"probability": 0.001},
        "transport": {
            "kind": "tcp",
            "recovery": "sack",
            "segment_size": "1 kB",
            "advertised_window": 1_000_000,
            "acknowledgement_delay": "100 ms",
            "min_timeout": "0.2 s",
            "clock_granularity": "10 ms",
        },
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
        "measurement": {"time_limit": f"{seconds:.10g} s"},
    }


def burst_path(seconds: float) -> dict[str, Any]:
    """Describe yu2004's path: one SACK flow over burst switching, p = 0.001, 50 segments.

    Parameters
    ----------
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        Tables of a scenario file.
    """
    return {
        "name": "yu2004's path, SACK, p = 0.001, W_m = 50",
        "topology": {"kind": "obs-path", "access_rate": "1 Gb/s"},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "loss": {"probability": 0.001},
        "transport": {
            "kind": "tcp",
            "recovery": "sack",
            "segment_size": "1 kB",
            "advertised_window": 50,
            "acknowledge_every": 1,
            "min_timeout": "0.2 s",
        },
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
        "measurement": {"time_limit": f"{seconds:.10g} s"},
    }


def burst_network(wavelengths: int, load: float, bursts: int) -> dict[str, Any]:
    """Describe NSFNET with reserved channels and no TCP: the edges create the bursts.

    Parameters
    ----------
    wavelengths : int
        Data channels of each fibre, at 10 Gb/s.
    load : float
        Mean offered load of a fibre, without losses.
    bursts : int
        Number of bursts of 125 kB, spread evenly over all pairs of the 14 nodes.

    Returns
    -------
    dict
        Tables of a scenario file.
    """
    with (HERE.parents[1] / "examples" / "nsfnet.csv").open(encoding="utf-8") as file:
        fibres = list(csv.DictReader(file))
    nodes = sorted({fibre[end] for fibre in fibres for end in ("source", "target")})
    hosts = [{"source": f"{node}/0", "target": node} for node in nodes]
    flows = len(nodes) * (len(nodes) - 1)
    rate = load * 2 * len(fibres) * wavelengths * 10e9 / MEAN_FIBRES / flows
    return {
        "name": f"NSFNET, W = {wavelengths}, LAUC-VF, load {load:g}",
        "topology": {
            "kind": "graph",
            "links": fibres + hosts,
            "link_rate": "10 Gb/s",
            "wavelengths": wavelengths,
        },
        "switching": {
            "kind": "obs",
            # Required for packets of hosts, which send none here.
            "assembly": {"kind": "size", "size": "1 B"},
            "ingress": "lose",
            "offset_time": "100 us",
        },
        "transport": {
            "kind": "bursts",
            "segment_size": "125 kB",
            "rate": f"{round(rate)} b/s",
            "spacing": "poisson",
        },
        "workload": {"kind": "shuffle", "size": f"{round(bursts / flows) * 125_000} B"},
        "measurement": {"time_limit": "1000 s"},
    }


#: Network of vlachos2008 and larger ones, by number of nodes.
NETWORKS = {14: "nsfnet", 50: "gabriel/50/0", 200: "gabriel/200/0"}
EDGES, HOSTS_PER_EDGE = 8, 100


def connections(nodes: int, seconds: float) -> dict[str, Any]:
    """Describe vlachos2008's network with its TCP flows, or a larger one with the same flows.

    Parameters
    ----------
    nodes : int
        14 for NSFNET; 50 or 200 for a Gabriel graph of the package topohub. Eight of the nodes are
        edges, those crossed by the fewest shortest paths.
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        Tables of a scenario file: 800 flows a second, with the size distribution S2 (mean 321 kB).
    """
    access = {"access_rate": "100 Mb/s", "access_delay": "0 s"}
    topology: dict[str, Any] = {"kind": "nsfnet", "hosts_per_edge": HOSTS_PER_EDGE, **access}
    if nodes != min(NETWORKS):
        topology = {"kind": "graph", "hosts_per_node": HOSTS_PER_EDGE, **access}
        topology |= gabriel(NETWORKS[nodes]) | {"link_rate": "10 Gb/s"}
    return {
        "name": f"TCP flows over {nodes} nodes, bursts of 5 ms",
        "topology": topology,
        "routing": {"metric": "delay"},
        "switching": {
            "kind": "obs",
            "assembly": {"kind": "timer", "time": "5 ms"},
            "header_processing_time": "10 us",
            "offset_time": "50 us",
        },
        "transport": {
            "kind": "tcp",
            "segment_size": "1040 B",
            "header_size": "40 B",
            "control_size": "40 B",
            "min_timeout": "200 ms",
            "acknowledge_every": 1,
            "initial_window": 2,
        },
        "workload": {
            "kind": "poisson",
            "arrival_rate_per_edge": "100 /s",
            "duration": f"{seconds:.10g} s",
            "size": {"kind": "pareto", "minimum": "40 kB", "mean": "700 kB", "max": "1 GB"},
        },
        "measurement": {"time_limit": f"{seconds:.10g} s"},
    }


def gabriel(key: str) -> dict[str, Any]:
    """Return the links of a network of topohub, and the names of its edges."""
    import networkx as nx
    import topohub

    found = nx.node_link_graph(topohub.get(key), edges="edges")
    crossed = nx.betweenness_centrality(found, weight="dist")
    edges = sorted(crossed, key=lambda node: (crossed[node], node))[:EDGES]
    links = [
        {"source": str(a), "target": str(b), "length": f"{length} km"}
        for a, b, length in found.edges(data="dist")
    ]
    return {"links": links, "edges": [str(node) for node in sorted(edges)]}


def measure(description: dict[str, Any], runs: int) -> Measurement:
    """Run a scenario with the seeds 1 to `runs` and measure the time of each part.

    Parameters
    ----------
    description : dict
        Tables of a scenario file.
    runs : int
        Number of runs, each with another seed.

    Returns
    -------
    dict
        ``hops_per_s`` and ``events_per_s``: medians over the runs, per second of processor time of
        the core, including the construction of the network. ``wall_hops_per_s``: the same per
        second of wall time. ``core_share``: processor time over wall time, 1 if nothing else ran.
        ``packet_hops``, ``events``: sums over all runs. ``fibre_hops_per_s``: hops between switches
        only. ``hops_in_bursts_per_s``: hops of packets, those in bursts counted individually.
        ``compile_s``: the first compilation of links and flows in Python. ``build_s``: the
        construction of the network in Rust. ``peak_bytes``: largest resident set of this process;
        ``start_bytes``: the same before the first plan, of Python and its libraries;
        ``estimated_bytes``: that and the estimate of what a run needs.
    """
    # Imported here, so that the parent process does not load the package.
    from lightburst import _core
    from lightburst.compile import compile_plan
    from lightburst.compile.memory import estimate_memory
    from lightburst.scenario import Scenario

    start_bytes = peak_memory()
    scenario = Scenario.from_dict(description)
    begun = time.perf_counter()
    plan = compile_plan(scenario, 1)
    compile_s = time.perf_counter() - begun

    estimated_bytes = start_bytes + estimate_memory(plan)
    begun = time.perf_counter()
    _core.simulate(json.dumps(plan.settings), plan.nodes, plan.links, first_flow(plan))
    build_s = time.perf_counter() - begun

    hops, fibre_hops, in_bursts, events, wall, processor = [], [], [], [], [], []
    for seed in range(1, runs + 1):
        plan = compile_plan(scenario, seed)
        settings = json.dumps(plan.settings)
        wall_begun, processor_begun = time.perf_counter(), time.process_time()
        columns = _core.simulate(settings, plan.nodes, plan.links, plan.flows)
        processor.append(time.process_time() - processor_begun)
        wall.append(time.perf_counter() - wall_begun)
        totals = columns["totals"]
        hops.append(totals["packet_hops"])
        fibre_hops.append(int(columns["links"]["units"][plan.between_switches].sum()))
        in_bursts.append(packets_over_links(plan, columns["flows"]))
        events.append(totals["events"])
    return {
        "name": scenario.name,
        "runs": runs,
        "hops_per_s": median_rate(hops, processor),
        "fibre_hops_per_s": median_rate(fibre_hops, processor),
        "hops_in_bursts_per_s": median_rate(in_bursts, processor),
        "events_per_s": median_rate(events, processor),
        "wall_hops_per_s": median_rate(hops, wall),
        "core_share": sum(processor) / sum(wall),
        "packet_hops": sum(hops),
        "events": sum(events),
        "compile_s": compile_s,
        "build_s": build_s,
        "start_bytes": start_bytes,
        "estimated_bytes": estimated_bytes,
        "peak_bytes": peak_memory(),
    }


def first_flow(plan: Plan) -> dict[str, Any]:
    """Return the first flow of a plan, in columns."""
    first: dict[str, Any] = {name: column[:1] for name, column in plan.flows.items()}
    if "departures_ps" in plan.flows:
        ends = plan.flows["departure_offsets"][:2]
        departures = plan.flows["departures_ps"][: int(ends[1])]
        first |= {"departure_offsets": ends, "departures_ps": departures}
    return first


def packets_over_links(plan: Plan, flows: dict[str, Any]) -> int:
    """Count the links crossed by all packets, those in bursts individually.

    Each data segment, and each acknowledgement of a connection, is assumed to reach its
    destination.
    """
    answers = plan.by_flow(lambda transport: 1 / transport.get("acknowledge_every", 1))
    connected = plan.by_flow(lambda transport: transport["kind"] not in ("datagram", "bursts"))
    packets = flows["transmissions"] * (1 + answers * connected)
    return int((packets * flows["path_links"]).sum())


def median_rate(counts: list[int], seconds: list[float]) -> float:
    """Return the median over the runs of counts per second."""
    return statistics.median(n / s for n, s in zip(counts, seconds, strict=True))


def peak_memory() -> int:
    """Return the largest resident set of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(description: dict[str, Any], runs: int) -> Measurement:
    """Call `measure` in a separate process."""
    order = json.dumps({"description": description, "runs": runs})
    command = [sys.executable, str(HERE), order]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measurement: Measurement = json.loads(child.stdout)
    return measurement


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
