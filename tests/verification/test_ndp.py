"""Messages whose packets the receiver pulls: the core equals the twin on random plans."""

from collections import Counter
from random import Random

import numpy as np
from compare import check_conservation, check_equal, check_stories
from plans import MICROSECOND, Plan, core, traced
from queue_pairs import random_ndp
from test_trim import incast

from blocks import in_blocks

SEEDS = range(120)


def pulled(seed: int) -> Plan:
    """A random incast in which the messages of one or of both groups are pulled."""
    random = Random(f"ndp/{seed}")
    plan = incast(1_000 + seed)
    groups = []
    for number, group in enumerate(plan.settings["groups"]):
        own = group["transport"]
        if own["kind"] == "rdma" and (number == 0 or random.random() < 0.5):
            own = own | {"congestion_control": random_ndp(random)}
            own["acknowledgement_timeout_ps"] = random.choice([300, 2_000]) * MICROSECOND
        groups.append(group | {"transport": own})
    settings = plan.settings | {"groups": groups}
    if random.random() < 0.3:
        settings["fair"] = {"small_queue": random.choice([1, 3])}
    if random.random() < 0.3:
        settings["loss"] = {
            "probability": random.choice([0.01, 0.1]),
            "acknowledgement_probability": random.choice([0.0, 0.05]),
        }
        links = plan.links | {
            "lossy": np.array([random.random() < 0.5 for _ in plan.links["to"]], np.uint8)
        }
        plan = plan._replace(links=links)
    if random.random() < 0.3:
        back = {"return_to_sender": True, "header_queue_bytes": random.choice([300, 600])}
        settings["switches"] = [
            switch | {"queue": switch["queue"] | back} for switch in settings["switches"]
        ]
    return plan._replace(settings=settings)


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = pulled(seed)
    check_conservation(plan, check_equal(plan))
    if seed % 40 == 0:
        check_stories(traced(plan))


def test_all_that_the_rule_has_occurs() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        result = core(pulled(seed))
        flows = result["flows"]
        found["trimmed"] += result["switches"]["trimmed"].sum() > 20
        found["returned"] += result["switches"]["returned"].sum() > 2
        found["lost"] += flows["drops"].sum() > 0
        found["finished"] += (flows["received_ps"] < 2**64 - 1).all()
        for name in ("retransmissions", "timeouts"):
            found[name] += flows[name].sum() > 0
    assert all(n >= 20 for n in found.values()), found
