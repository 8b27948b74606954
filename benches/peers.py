"""ns-2 beside the nearest scenario of ours: ``make bench-peers``.

Both run here and now, in turns, because a rate that was measured on another machine or at another
hour says little. Needs the Debian package ``ns2``; says so and ends in peace without it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import case

SCRIPT = Path(__file__).resolve().parent / "peers" / "ns2-ft.tcl"
LOAD = 0.3
SECONDS = 0.05
MEAN_MEGABYTES = 1.0
SCHEDULERS = ("Calendar", "Splay")


def ns2(binary: str, scheduler: str, count_file: str) -> float:
    """Run the script and return the seconds between its first event and its last."""
    parameters = [str(SECONDS), str(LOAD), str(MEAN_MEGABYTES), "Sack1", count_file]
    run = subprocess.run(
        [binary, str(SCRIPT), *parameters],
        env={**os.environ, "SCHED": scheduler},
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = re.search(r"run_s ([0-9.]+)", run.stdout)
    if seconds is None:
        raise RuntimeError(f"ns-2 did not say how long it took: {run.stdout!r} {run.stderr!r}")
    return float(seconds[1])


def ns2_hops(binary: str) -> int:
    """Count the packet hops: the lines of a trace that tell of a packet leaving a queue.

    The script draws from a fixed seed, so the runs that are timed, without a trace, make the same.
    """
    with tempfile.TemporaryDirectory() as folder:
        count = Path(folder) / "count"
        ns2(binary, SCHEDULERS[0], str(count))
        return int(count.read_text())


def compare(binary: str, rounds: int, console: Console) -> dict[str, Any]:
    """Run ns-2 and lightburst in turns; return packet hops a second of both."""
    console.print("counting ns-2's packet hops (a traced run, half a minute) ...")
    hops = ns2_hops(binary)
    seconds: dict[str, list[float]] = {scheduler: [] for scheduler in SCHEDULERS}
    rates: dict[str, list[float]] = {"electronic": [], "paper": []}
    ours = {"electronic": case.electronic(LOAD, SECONDS), "paper": case.paper(8)}
    for number in range(1, rounds + 1):
        console.print(f"round {number} of {rounds} ...")
        for scheduler in SCHEDULERS:
            seconds[scheduler].append(ns2(binary, scheduler, ""))
        for name, description in ours.items():
            rates[name].append(case.measured(description, runs=5)["wall_hops_per_s"])
    best = max(hops / statistics.median(taken) for taken in seconds.values())
    measured = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "ns2_packet_hops": hops,
        "ns2_hops_per_s": {name: hops / statistics.median(s) for name, s in seconds.items()},
        "lightburst_hops_per_s": measured,
        "ratio": {name: rate / best for name, rate in measured.items()},
    }


def table(results: dict[str, Any]) -> Table:
    shown = Table(title=f"fat-tree k = 8, 128 hosts, 10 Gb/s: ns-2 at load {LOAD} and ours")
    shown.add_column("simulator and scenario")
    shown.add_column("M hops/s", justify="right")
    shown.add_column("times the best ns-2", justify="right")
    for scheduler, rate in results["ns2_hops_per_s"].items():
        shown.add_row(f"ns-2, TCP SACK, {scheduler.lower()} queue", f"{rate / 1e6:.2f}", "")
    names = {
        "electronic": "lightburst, electronic switches, same arrivals, SAWL",
        "paper": "lightburst, the paper's hybrid switches at 1e7 requests/s",
    }
    for name, rate in results["lightburst_hops_per_s"].items():
        shown.add_row(names[name], f"{rate / 1e6:.2f}", f"{results['ratio'][name]:.1f}")
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    console = Console(stderr=chosen.format == "json", width=None if sys.stdout.isatty() else 110)
    binary = shutil.which("ns")
    if binary is None:
        console.print("no ns-2 here, nothing to compare with; Debian and Ubuntu: apt install ns2")
        return 0
    results = compare(binary, chosen.rounds, console)
    if chosen.format == "json":
        print(json.dumps(results, indent=2))
    else:
        console.print(table(results))
        console.print(
            "A packet hop is one transmission of one packet over one link. The transports differ: "
            "ns-2 keeps a window of\npackets in flight with SACK, ours is stop-and-wait."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
