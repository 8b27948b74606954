"""Studies on clusters: ``python benches/cluster.py``; docs/cluster.md has the results.

Measures runs per second in threads and in processes of this machine, the time that Dask takes per
batch, and the driver alone, with a thousand simulated workers that answer at once.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Final

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import lightburst as lb  # noqa: E402
from clusters import local  # noqa: E402 - it is a module of the tests
from instant import Instant  # noqa: E402 - it is a module of the tests
from lightburst.study import Store, Study, execute  # noqa: E402
from lightburst.study.runs import PlannedRun  # noqa: E402
from lightburst.study.workers.driver import drive  # noqa: E402
from lightburst.study.workers.interface import Answer, Order  # noqa: E402
from lightburst.study.workers.where import workers_of  # noqa: E402

MADE_UP = 100_000
# Repetitions of each measurement; the median is reported.
ROUNDS = 5
# Number of threads, and the same number of workers.
PAIRS: Final[list[tuple[int | str, int | str]]] = [(1, "local:1"), (2, "local:2")]


def scenario(flows: int) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e6 /s",
                "flows": flows,
                "size": {"kind": "constant", "value": "100 kB"},
            },
        }
    )


def rates(flows: int, seeds: int) -> None:
    """Measure threads and workers alternately, because the speed of the machine may drift."""
    study = Study(scenario(flows), {"switching.buffer_ports": [0, 2]}, seeds)
    warm = Study(study.base, {}, 20)  # imports, caches
    number, took = len(study.runs), {where: list[float]() for pair in PAIRS for where in pair}
    with ExitStack() as stack:
        workers = {where: stack.enter_context(workers_of(where)) for where in took}
        for one in workers.values():
            execute(warm, workers=one, progress=False)
        for _ in range(ROUNDS):
            for where, one in workers.items():
                begun = time.perf_counter()
                execute(study, workers=one, progress=False)
                took[where].append(time.perf_counter() - begun)
    for where, times in took.items():
        each = median(times) / number
        print(f"{flows} flows, {where}: {1 / each:.0f} runs/s, {1e3 * each:.2f} ms each")
    for threads, there in PAIRS:
        ratios = [one / other for one, other in zip(took[threads], took[there], strict=True)]
        print(
            f"{flows} flows, {there} is {median(ratios):.2f} times as fast as {threads} thread(s)"
        )


def of_dask() -> None:
    """Measure empty batches."""
    with local(2) as client, workers_of(client) as workers:
        workers.begin(Order())
        for number in (10, 2000):
            begun, left = time.perf_counter(), number
            for _ in range(number):
                workers.submit([])
            while left:
                left -= len(workers.answers())
            took = time.perf_counter() - begun
        print(f"Dask: {number / took:.0f} batches/s, {1e3 * took / number:.2f} ms each")


def alone(kept: bool, takes: float) -> None:
    """Drive a thousand workers that answer at once, to measure the driver alone."""
    result = lb.run(scenario(20))
    digests = [f"{n:064x}" for n in range(100)]
    runs = [PlannedRun({}, result.scenario, n, digests[n % 100]) for n in range(MADE_UP)]
    by_key = {run.key: run for run in runs}
    took = []
    for _ in range(ROUNDS):
        made_up = Instant(1000, takes=lambda run: takes, row=dict(result.record))
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "runs")) as store:

            def keep(answers: Sequence[Answer], store: Store = store) -> None:
                if kept:
                    store.put_all([(by_key[one.key], one.metrics or {}) for one in answers])

            begun = time.perf_counter()
            drive(runs, made_up, Order(), keep)
            took.append(time.perf_counter() - begun)
    words = "kept" if kept else "not kept"
    rates = (
        f"{MADE_UP / median(took):.0f}/s ({MADE_UP / max(took):.0f} to {MADE_UP / min(took):.0f})"
    )
    print(f"runs of {takes} s, {words}: {rates}, {len(made_up.batches)} batches")


if __name__ == "__main__":
    for kept in (False, True):
        alone(kept, 0.001)
        alone(kept, 0.1)
    of_dask()
    rates(20, 1500)
    rates(400, 150)
