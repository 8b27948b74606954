"""Speed of a run on several threads beside one: ``make bench``.

Whole network and parts run in turns in one process, so that the ratio is of the same minutes. The
columns of both are compared, to the bit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

import case
from lightburst import _core
from lightburst.compile import Plan, compile_plan
from lightburst.foundation.cores import available_cores
from lightburst.result import metrics
from lightburst.scenario import Scenario
from lightburst.simulation.cut import parts_of
from lightburst.simulation.parts import events_in, lookahead_ps

#: Scenarios, with the simulated microseconds of the dense ones.
DENSE = {8: 2_000, 16: 400, 32: 100, 64: 30}
PAPER = (8, 32)
REPEATS = 3


def simulate(plan: Plan, parts: list[int] | None, threads: int) -> tuple[float, dict[str, Any]]:
    """Return the wall time of a run in seconds, and its columns."""
    settings = json.dumps(plan.settings)
    begun = time.perf_counter()
    columns = _core.simulate(
        settings, plan.nodes, plan.links, plan.flows, parts=parts, threads=threads
    )
    return time.perf_counter() - begun, columns


def compare(description: dict[str, Any], threads: int) -> list[str]:
    """Measure a scenario as a whole and in parts; return a row of the table."""
    plan = compile_plan(Scenario.from_dict(description), 1)
    for column in plan.flows.values():
        column.flags.writeable = False
    parts = parts_of(plan, threads)
    times: list[list[float]] = []
    for _ in range(REPEATS):
        whole_s, whole = simulate(plan, None, 1)
        alone_s, alone = simulate(plan, parts.tolist(), 1)
        threads_s, on_threads = simulate(plan, parts.tolist(), threads)
        if len({metrics.digest(columns) for columns in (whole, alone, on_threads)}) > 1:
            raise AssertionError(f"{description['name']}: parts have other results")
        times.append([whole_s, alone_s, threads_s])
    whole_s, alone_s, threads_s = (statistics.median(column) for column in zip(*times, strict=True))
    hops = whole["totals"]["packet_hops"]
    return [
        description["name"],
        f"{hops / 1e6:.1f}",
        f"{events_in(plan, lookahead_ps(plan, parts)):,.0f}",
        f"{hops / whole_s / 1e6:.1f}",
        f"{hops / alone_s / 1e6:.1f}",
        f"{hops / threads_s / 1e6:.1f}",
        f"{whole_s / threads_s:.2f}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--largest", type=int, default=64, help="largest k of a fat-tree")
    chosen = parser.parse_args()
    if chosen.threads == 1:
        print("one core: nothing to compare")
        return 0
    headings = ["scenario", "M hops", "events a window", "whole, M hops/s", "parts, one thread"]
    headings += [f"{chosen.threads} threads", "ratio"]
    made = Table(title=f"one run on {chosen.threads} threads (wall time)")
    for heading in headings:
        made.add_column(heading, justify="left" if heading == "scenario" else "right")
    described = [case.paper(k) for k in PAPER if k <= chosen.largest]
    described += [case.dense(k, us / 1e6) for k, us in DENSE.items() if k <= chosen.largest]
    for description in described:
        made.add_row(*compare(description, chosen.threads))
    Console(width=None if sys.stdout.isatty() else 130).print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
