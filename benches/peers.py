"""Comparison of ns-2 with the closest scenarios of lightburst: ``make bench-peers``.

Both run alternately on this machine, because rates from another machine or another hour are not
comparable. Needs the Debian package ``ns2``; without it a message is printed and the exit code is
0.
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
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import case

SCRIPTS = Path(__file__).resolve().parent / "peers"
LOAD = 0.3
SECONDS = 0.05
LONG_SECONDS = 1000
#: Largest time in seconds between the end of ns-2 and the end of the counting program.
COUNT_S = 10
SCHEDULERS = ("Calendar", "Splay")

#: Placeholders in arguments: scheduler of the run, and file that receives the count.
SCHEDULER, COUNT = "{scheduler}", "{count}"


@dataclass(frozen=True)
class Peer:
    """Scenario for ns-2: title, script, arguments and environment."""

    title: str
    script: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    """What a run finds in its environment besides ours; an empty value is left out."""

    def run(self, binary: str, scheduler: str, count: str = "") -> float:
        """Run the script; return the seconds between its first event and its last."""
        filled = {SCHEDULER: scheduler, COUNT: count}
        arguments = [filled.get(argument, argument) for argument in self.arguments]
        added = {name: filled.get(value, value) for name, value in self.environment.items()}
        run = subprocess.run(
            [binary, str(SCRIPTS / self.script), *arguments],
            env={**os.environ, **{name: value for name, value in added.items() if value}},
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = re.search(r"run_s ([0-9.]+)", run.stdout)
        if seconds is None:
            raise RuntimeError(f"ns-2 did not say how long it took: {run.stdout!r} {run.stderr!r}")
        return float(seconds[1])

    def hops(self, binary: str) -> int:
        """Count the packet hops: lines of a trace in which a packet leaves a queue.

        The scripts use a fixed seed, so the timed runs, which have no trace, make the same hops.
        """
        with tempfile.TemporaryDirectory() as folder:
            count = Path(folder) / "count"
            self.run(binary, SCHEDULERS[0], str(count))
            # ns-2 does not wait for the counting program.
            deadline = time.monotonic() + COUNT_S
            while not count.read_text() and time.monotonic() < deadline:
                time.sleep(0.1)
            return int(count.read_text())


PEERS = {
    "fat-tree": Peer(
        f"fat-tree k = 8, 128 hosts, 10 Gb/s, load {LOAD}",
        "ns2-ft.tcl",
        (str(SECONDS), str(LOAD), "1.0", "Sack1", COUNT),
        {"SCHED": SCHEDULER},
    ),
    "long-flow": Peer(
        "one flow over five links of 10 ms and 10 Gb/s, loss 0.001",
        "ns2-long.tcl",
        ("Sack1", str(LONG_SECONDS), "0.001", SCHEDULER),
        {"CNT": COUNT},
    ),
}


def ours() -> dict[str, dict[str, dict[str, Any]]]:
    """Return our scenarios for each of `PEERS`: descriptions by label."""
    return {
        "fat-tree": {
            "the same: TCP SACK, electronic switches": case.electronic(LOAD, SECONDS),
            "hybrid switches, SAWL, 1e7 requests/s": case.paper(8),
        },
        "long-flow": {"the same: TCP SACK, electronic switches": case.long_flow(LONG_SECONDS)},
    }


def compare(binary: str, name: str, rounds: int, console: Console) -> dict[str, Any]:
    """Run ns-2 and lightburst alternately; return the packet hops a second of both."""
    peer, descriptions = PEERS[name], ours()[name]
    console.print(f"{name}: counting ns-2's packet hops (a traced run, half a minute) ...")
    hops = peer.hops(binary)
    seconds: dict[str, list[float]] = {scheduler: [] for scheduler in SCHEDULERS}
    rates: dict[str, list[float]] = {label: [] for label in descriptions}
    for number in range(1, rounds + 1):
        console.print(f"{name}: round {number} of {rounds} ...")
        for scheduler in SCHEDULERS:
            seconds[scheduler].append(peer.run(binary, scheduler))
        for label, description in descriptions.items():
            rates[label].append(case.measured(description, runs=5)["wall_hops_per_s"])
    peers = {scheduler: hops / statistics.median(taken) for scheduler, taken in seconds.items()}
    measured = {label: statistics.median(values) for label, values in rates.items()}
    best = max(peers.values())
    return {
        "ns2_packet_hops": hops,
        "ns2_hops_per_s": peers,
        "lightburst_hops_per_s": measured,
        "ratio": {label: rate / best for label, rate in measured.items()},
    }


def table(name: str, results: dict[str, Any]) -> Table:
    """Build the table of one scenario: ns-2 and, below it, lightburst."""
    shown = Table(title=PEERS[name].title)
    shown.add_column("simulator and scenario")
    shown.add_column("M hops/s", justify="right")
    shown.add_column("times the best ns-2", justify="right")
    for scheduler, rate in results["ns2_hops_per_s"].items():
        shown.add_row(f"ns-2, TCP SACK, {scheduler.lower()} queue", f"{rate / 1e6:.2f}", "")
    for label, rate in results["lightburst_hops_per_s"].items():
        ratio = results["ratio"][label]
        shown.add_row(f"lightburst, {label}", f"{rate / 1e6:.2f}", f"{ratio:.1f}")
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenario", choices=PEERS, action="append", help="default: all")
    chosen = parser.parse_args()
    console = Console(stderr=chosen.format == "json", width=None if sys.stdout.isatty() else 110)
    binary = shutil.which("ns")
    if binary is None:
        console.print("no ns-2 here, nothing to compare with; Debian and Ubuntu: apt install ns2")
        return 0
    names = chosen.scenario or list(PEERS)
    results = {name: compare(binary, name, chosen.rounds, console) for name in names}
    if chosen.format == "json":
        print(json.dumps(results, indent=2))
        return 0
    for name in names:
        console.print(table(name, results[name]))
    console.print("A packet hop is one transmission of one packet over one link.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
