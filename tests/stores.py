"""A store of synthetic runs for tests."""

from pathlib import Path

from lightburst.foundation.counts import Metric
from lightburst.scenario import Scenario
from lightburst.study import Store
from lightburst.study.runs import Key, PlannedRun, scenario_digest

INDEX = "index.sqlite"
SCENARIOS = 3
SEEDS = 8


def scenario(place: int) -> Scenario:
    return Scenario.from_dict(
        {
            "name": "made up",
            "topology": {"kind": "fat-tree", "k": 4, "link_length": f"{place + 1} m"},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e6 /s",
                "flows": 8,
                "size": {"kind": "constant", "value": "9 kB"},
            },
        }
    )


def metrics(place: int, seed: int, columns: int = 60) -> dict[str, Metric]:
    """Rows are as long as real ones; more columns make a row longer than a page."""
    return {f"figure_{n}_bps": float(1000 * place + seed) + n / 7 for n in range(columns)}


def planned() -> list[PlannedRun]:
    found = []
    for place in range(SCENARIOS):
        which = scenario(place)
        digest = scenario_digest(which)
        found += [PlannedRun({"place": place}, which, seed, digest) for seed in range(SEEDS)]
    return found


def truth(columns: int = 60) -> dict[Key, dict[str, Metric]]:
    """The runs of a store."""
    return {run.key: metrics(int(str(run.point["place"])), run.seed, columns) for run in planned()}


def fill(path: Path, columns: int = 60) -> dict[Key, dict[str, Metric]]:
    """Write a store, and return its runs."""
    runs = truth(columns)
    with Store(path) as store:
        for run in planned():
            store.put(run, runs[run.key])
    return runs


def digests() -> list[str]:
    return list(dict.fromkeys(run.scenario_digest for run in planned()))
