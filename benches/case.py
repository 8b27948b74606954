"""One measurement of one scenario, in a process of its own so that its peak memory is its own.

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
from typing import Any

HERE = Path(__file__).resolve()
K_OF_THE_PAPER = 8
#: Fibres of a shortest path of NSFNET, on the mean over all pairs.
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
        Ports of each switch. At 8 this is minakhmetov2018, figure 2a: hybrid switches with two
        buffer ports under SAWL at 1e7 requests a second. For a larger tree the arrival rate and
        the number of flows grow with the number of hosts, so that each host is as busy as there.

    Returns
    -------
    dict
        What a scenario file says.
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
    """Describe what ``peers/ns2-ft.tcl`` simulates, as near as lightburst comes to it.

    Parameters
    ----------
    load : float
        Mean useful bits that arrive for each host, as a fraction of its 10 Gb/s.
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


def long_flow(seconds: float) -> dict[str, Any]:
    """Describe what ``peers/ns2-long.tcl`` simulates: one SACK flow that loses a packet in 1000.

    Parameters
    ----------
    seconds : float
        Simulated time.

    Returns
    -------
    dict
        The same path; the packets are lost on its second link, there on its third.
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
        What a scenario file says.
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
    """Describe NSFNET with booked bursts and no TCP: bursts that its edges make themselves.

    Parameters
    ----------
    wavelengths : int
        Data channels of each fibre, at 10 Gb/s.
    load : float
        Mean load that is offered to a fibre, if nothing were lost.
    bursts : int
        How many, of 125 kB, between all pairs of the 14 nodes alike.

    Returns
    -------
    dict
        What a scenario file says.
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
            # For what hosts send: nothing.
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


def measure(description: dict[str, Any], runs: int) -> Measurement:
    """Run a scenario with the seeds 1 to `runs` and time what each part takes.

    Parameters
    ----------
    description : dict
        What a scenario file says.
    runs : int
        How often to run it, with another seed each time.

    Returns
    -------
    dict
        ``hops_per_s`` and ``events_per_s``: medians over the runs, for each second that the core
        had the processor, the building of the network included. ``wall_hops_per_s``: the same by
        the clock on the wall. ``core_share``: the part of the wall clock's time in which the
        machine gave this process a processor, 1 if nothing else ran. ``packet_hops``, ``events``:
        of all runs together. ``fibre_hops_per_s``: of units between switches alone.
        ``compile_s``: Python makes links and flows, the first time.
        ``build_s``: Rust builds the network. ``peak_bytes``: largest resident set of this whole
        process; ``start_bytes``: the same before the first plan, so Python and its libraries.
    """
    # Imported here, so that whoever only starts the process does not pay for it.
    from lightburst import _core
    from lightburst.compile import compile_plan
    from lightburst.scenario import Scenario

    start_bytes = peak_memory()
    scenario = Scenario.from_dict(description)
    begun = time.perf_counter()
    plan = compile_plan(scenario, 1)
    compile_s = time.perf_counter() - begun

    first_flow: dict[str, Any] = {name: column[:1] for name, column in plan.flows.items()}
    if "departures_ps" in plan.flows:
        ends = plan.flows["departure_offsets"][:2]
        departures = plan.flows["departures_ps"][: int(ends[1])]
        first_flow |= {"departure_offsets": ends, "departures_ps": departures}
    begun = time.perf_counter()
    _core.simulate(json.dumps(plan.settings), plan.nodes, plan.links, first_flow)
    build_s = time.perf_counter() - begun

    hops, fibre_hops, events, wall, processor = [], [], [], [], []
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
        events.append(totals["events"])
    return {
        "name": scenario.name,
        "runs": runs,
        "hops_per_s": median_rate(hops, processor),
        "fibre_hops_per_s": median_rate(fibre_hops, processor),
        "events_per_s": median_rate(events, processor),
        "wall_hops_per_s": median_rate(hops, wall),
        "core_share": sum(processor) / sum(wall),
        "packet_hops": sum(hops),
        "events": sum(events),
        "compile_s": compile_s,
        "build_s": build_s,
        "start_bytes": start_bytes,
        "peak_bytes": peak_memory(),
    }


def median_rate(counts: list[int], seconds: list[float]) -> float:
    """Return the median over the runs of what a run did in a second."""
    return statistics.median(n / s for n, s in zip(counts, seconds, strict=True))


def peak_memory() -> int:
    """Return the largest resident set of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(description: dict[str, Any], runs: int) -> Measurement:
    """Call `measure` in a process of its own."""
    order = json.dumps({"description": description, "runs": runs})
    command = [sys.executable, str(HERE), order]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measurement: Measurement = json.loads(child.stdout)
    return measurement


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
