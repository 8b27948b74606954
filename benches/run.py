"""Speed of one core: ``make bench``.

Measures packet hops and events a second for the paper's scenario and for larger trees under the
same load, their memory, the event queue alone, and a fixed loop that shows the current speed of the
machine. docs/performance.md has earlier results and an analysis of the costs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import case
from lightburst import _core

#: Runs per size, enough for a stable median.
RUNS = {8: 40, 16: 9, 32: 3, 64: 1}
#: Size and simulated seconds of a dense network, and the largest run here: a thousand million hops.
DENSE_K, DENSE_S = 64, 0.001
#: Scenarios with windows of segments: ns-2's two (`benches/peers.py`) and yu2004's path, with the
#: simulated seconds of one run.
TREE_S, FLOW_S = 0.05, 1000.0
TREE = case.electronic(0.3, TREE_S)
TCP = (
    (TREE, TREE_S),
    (case.beside(TREE, "the same, rack-tlp", transport={"recovery": "rack-tlp"}), TREE_S),
    (case.beside(TREE, "the same, fair interfaces", hosts={"queueing": "fair"}), TREE_S),
    *(
        (case.beside(TREE, f"the same, {name}", switching=switching), TREE_S)
        for name, switching in (
            ("CoDel", {"queue": "codel"}),
            ("FQ-CoDel", {"queue": "fq-codel"}),
            ("shared buffers", {"shared_buffer": {"size": "9 MB", "alpha": 1}}),
        )
    ),
    (case.rotor(0.3, TREE_S), TREE_S),
    (case.long_flow(FLOW_S), FLOW_S),
    (case.burst_path(FLOW_S), FLOW_S),
)
TCP_RUNS = 9
#: Wavelengths per fibre in a network of bursts.
WAVELENGTHS = (8, 16, 64)
BURSTS, BURST_RUNS = 2_000_000, 5
#: Simulated seconds of vlachos2008's network and of the larger ones.
NETWORK_S, NETWORK_RUNS = 60.0, 1
PENDING = (1_000, 100_000, 10_000_000)
#: The event queues of the simulator, and a plain heap for comparison.
QUEUES = ("wheel", "ladder", "heap")
REPEATS = 3
WIDTH = 110
MILLION = 1_000_000
#: Columns of the tables.
COLUMNS: dict[str, Callable[[case.Measurement], str]] = {
    "runs": lambda m: str(m["runs"]),
    "M hops": lambda m: f"{m['packet_hops'] / m['runs'] / 1e6:.2f}",
    "M hops/s": lambda m: f"{m['hops_per_s'] / 1e6:.1f}",
    "M burst hops/s": lambda m: f"{m['fibre_hops_per_s'] / 1e6:.2f}",
    "M hops/s in bursts": lambda m: f"{m['hops_in_bursts_per_s'] / 1e6:.1f}",
    "cost": lambda m: f"{m['cost']:.2f}",
    "s": lambda m: f"{m['packet_hops'] / m['hops_per_s'] / m['runs']:.1f}",
    "M events/s": lambda m: f"{m['events_per_s'] / 1e6:.1f}",
    "simulated s/s": lambda m: f"{m['simulated_seconds_per_s']:,.3g}",
    "plan s": lambda m: f"{m['compile_s']:.2f}",
    "build s": lambda m: f"{m['build_s']:.2f}",
    "peak MiB": lambda m: f"{m['peak_bytes'] / 2**20:.0f}",
    "estimated MiB": lambda m: f"{m['estimated_bytes'] / 2**20:.0f}",
}
#: Tables: title and columns for each list of measurements.
TABLES = {
    "scenarios": (
        "one core, the paper's scenario and larger trees under the same load",
        ("runs", "M hops", "M hops/s", "M events/s", "plan s", "build s", "peak MiB"),
    ),
    "dense": (
        f"one core, {DENSE_S * 1e3:g} ms of a dense network",
        ("M hops", "s", "M hops/s", "M events/s", "plan s", "build s", "peak MiB", "estimated MiB"),
    ),
    "tcp": (
        "one core, TCP (with SACK unless it says otherwise)",
        ("runs", "M hops", "M hops/s", "M events/s", "simulated s/s", "peak MiB"),
    ),
    "bursts": (
        "one core, bursts that book channels, without TCP",
        ("runs", "M hops", "M burst hops/s", "M events/s", "peak MiB"),
    ),
    "networks": (
        f"one core, {NETWORK_S:.0f} s of TCP flows over bursts; cost of a packet's hop",
        ("M hops", "s", "M hops/s", "M hops/s in bursts", "cost", "M events/s", "peak MiB"),
    ),
}
#: Number of events from which filling the queue takes longer than the events; it is then measured
#: once only.
MANY = MILLION
#: Share of a core below which the machine counts as busy.
QUIET = 0.97


def calibrate() -> float:
    return statistics.median(_core.bench_calibration() for _ in range(REPEATS))


def queue_rate(name: str, pending: int) -> float:
    """Return events a second of the hold model, after a warm-up of the queue."""
    repeats = REPEATS if pending < MANY else 1
    events = 2 * MILLION
    seconds = [_core.bench_queue(name, pending, events, seed) for seed in range(repeats)]
    return events / statistics.median(seconds)


def queues() -> dict[str, dict[str, float]]:
    """Measure each event queue alone.

    Returns
    -------
    dict
        By name of the queue, events a second of the hold model by number of pending events
        (``"1000"``).
    """
    return {
        name: {str(pending): queue_rate(name, pending) for pending in PENDING} for name in QUEUES
    }


def table(title: str, headings: Sequence[str], measurements: Sequence[case.Measurement]) -> Table:
    """Build a table of measurements, one row each, with some of `COLUMNS`."""
    made = Table(title=title)
    made.add_column("scenario")
    for heading in headings:
        made.add_column(heading, justify="right")
    for measurement in measurements:
        cells = (COLUMNS[heading](measurement) for heading in headings)
        made.add_row(measurement["name"], *cells)
    return made


def queue_table(rates: dict[str, dict[str, float]]) -> Table:
    made = Table(title="the event queues alone (hold model, M events/s)")
    made.add_column("event queue")
    for pending in next(iter(rates.values())):
        made.add_column(f"{int(pending):,} pending", justify="right")
    for name, by_pending in rates.items():
        made.add_row(name, *(f"{rate / 1e6:.2g}" for rate in by_pending.values()))
    return made


def networks(console: Console) -> list[case.Measurement]:
    """Measure TCP flows over networks of bursts, and the cost of a packet's hop in each.

    Returns
    -------
    list of dict
        As `case.measure`, with ``cost``: the time per packet and link, packets in bursts counted
        individually, relative to the first network.
    """
    measured: list[case.Measurement] = []
    for nodes in case.NETWORKS:
        description = case.connections(nodes, NETWORK_S)
        console.print(f"{description['name']} ...")
        measured.append(case.measured(description, NETWORK_RUNS))
    first = measured[0]["hops_in_bursts_per_s"]
    return [one | {"cost": first / one["hops_in_bursts_per_s"]} for one in measured]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument(
        "--largest", type=int, default=64, help="leave out fat-trees with a larger k (default 64)"
    )
    return parser.parse_args()


def main() -> int:
    chosen = options()
    # A log has no width, and the default of 80 is too narrow for the table.
    console = Console(stderr=chosen.format == "json", width=None if sys.stdout.isatty() else WIDTH)
    results: dict[str, Any] = {"calibration_before_s": calibrate()}
    console.print(f"calibration loop: {results['calibration_before_s']:.3f} s")
    results["scenarios"] = []
    for k, runs in RUNS.items():
        if k <= chosen.largest:
            console.print(f"fat-tree k = {k}: {case.hosts(k)} hosts ...")
            results["scenarios"].append(case.measured(case.paper(k), runs))
    results["dense"] = []
    if chosen.largest >= DENSE_K:
        description = case.dense(DENSE_K, DENSE_S)
        console.print(f"{description['name']} ...")
        results["dense"].append(case.measured(description, 1))
    results["tcp"] = []
    for description, simulated in TCP:
        console.print(f"{description['name']} ...")
        measurement = case.measured(description, TCP_RUNS)
        seconds = simulated * measurement["wall_hops_per_s"] / measurement["packet_hops"]
        results["tcp"].append(
            measurement | {"simulated_seconds_per_s": seconds * measurement["runs"]}
        )
    results["bursts"] = []
    for wavelengths in WAVELENGTHS:
        description = case.burst_network(wavelengths, 0.6, BURSTS)
        console.print(f"{description['name']} ...")
        results["bursts"].append(case.measured(description, BURST_RUNS))
    results["networks"] = networks(console)
    console.print("event queues ...")
    results["queues"] = queues()
    results["calibration_after_s"] = calibrate()
    if chosen.format == "json":
        print(json.dumps(results, indent=2))
        return 0
    for name, (title, headings) in TABLES.items():
        if results[name]:
            console.print(table(title, headings, results[name]))
    share = min(m["core_share"] for m in results["scenarios"])
    if share < QUIET:
        console.print(
            f"the machine was busy: a run had its core only {share:.0%} of the time. The rates are "
            "for the time\nit had, but its caches were shared too: they are too low.\n"
        )
    start = results["scenarios"][0]["start_bytes"]
    console.print(f"of the peak, Python and its libraries: {start / 2**20:.0f} MiB\n")
    console.print(queue_table(results["queues"]))
    console.print(f"calibration loop again: {results['calibration_after_s']:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
