"""Headers that return to their senders over labelled paths: the core equals the twin."""

from random import Random
from typing import Any

from compare import check_conservation, check_equal
from plans import Plan, core
from queue_pairs import random_ndp
from random_plans import random_paths
from test_entropies import over_spines

from blocks import in_blocks

SEEDS = range(60)


def labelled(seed: int) -> Plan:
    """Queue pairs over a few spines, with given paths for some pairs of leaves each way."""
    random = Random(f"returned/{seed}")
    pick = random.choice
    plan = over_spines(2_000 + seed)
    queue = {"kind": "trim", "packets": 1, "header_bytes": 64, "weight": 1, "tail": 0.5}
    queue |= {"header_queue_bytes": pick([300, 100]), "return_to_sender": True}
    paths = random_paths(random, plan.links, plan.settings["hosts"])
    own: dict[str, Any] = {"label": pick(["random", "hash", "first"]), "choice": "random"}
    own |= {"routing": {"kind": "shortest-path", "metric": "hops"}, "trace": [0]}
    own["switches"] = [
        switch | {"queue": queue, "ecn_threshold_bytes": None}
        for switch in plan.settings["switches"]
    ]
    if random.random() < 0.5:
        law = {"congestion_control": random_ndp(random)}
        own["groups"] = [
            group | {"transport": group["transport"] | law} for group in plan.settings["groups"]
        ]
    return plan._replace(settings=plan.settings | own, paths=paths)


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = labelled(seed)
    check_conservation(plan, check_equal(plan))


def test_headers_return_in_most_of_them() -> None:
    returned = [core(labelled(seed))["switches"]["returned"].sum() for seed in SEEDS]
    assert sum(number > 0 for number in returned) > len(SEEDS) / 2
