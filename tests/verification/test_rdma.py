"""Messages over queue pairs: the core equals the twin on random plans."""

from random import Random
from typing import Any

import numpy as np
from compare import check_conservation, check_equal
from plans import MILLISECOND, Plan, core
from queue_pairs import random_rdma
from random_disciplines import random_marking
from random_plans import random_plan

from blocks import in_blocks

SEEDS = range(240)
LIMIT = 5 * MILLISECOND


def with_marks(random: Random, switch: dict[str, Any]) -> dict[str, Any]:
    """An electronic switch that marks soon, by a queue or by its threshold; any other as it is."""
    if switch["kind"] != "electronic":
        return switch
    plain = {key: switch[key] for key in ("kind", "queue_bytes")}
    if random.random() < 0.5:
        queue = {"kind": "marking", **random_marking(random)}
        return plain | {"ecn_threshold_bytes": None, "queue": queue}
    return plain | {"ecn_threshold_bytes": random.choice([0, 3_000, 20_000])}


def with_telemetry(groups: list[Any], switches: list[Any]) -> tuple[list[Any], list[Any]]:
    """Groups and switches whose outputs have explicit queues, if packets ask for telemetry.

    Where a switch has no outputs that could tell, no packet asks.
    """
    laws = [group["transport"].get("congestion_control", {}).get("kind") for group in groups]
    if "hpcc" not in laws:
        return groups, switches
    if all(switch["kind"] == "electronic" for switch in switches):
        return groups, [{"queue": {"kind": "drop-tail"}, **switch} for switch in switches]
    plain = {"congestion_control": {"kind": "line-rate"}}
    changed = [
        group | {"transport": group["transport"] | plain} if law == "hpcc" else group
        for group, law in zip(groups, laws, strict=True)
    ]
    return changed, switches


def over_queue_pairs(seed: int) -> Plan:
    """A random plan of packets or bursts, in which all connections are queue pairs."""
    random = Random(f"rdma/{seed}")
    plan = random_plan(seed, random.choice(["packets", "packets", "packets", "bursts"]))
    groups = []
    for group in plan.settings["groups"]:
        own = group["transport"]
        if own["kind"] not in ("datagram", "bursts"):
            own = random_rdma(random, own["segment_bytes"], own["header_bytes"])
        groups.append({**group, "transport": own})
        groups[-1].pop("writes", None)
    switches = [with_marks(random, switch) for switch in plan.settings["switches"]]
    groups, switches = with_telemetry(groups, switches)
    chosen: dict[str, Any] = {"groups": groups, "switches": switches}
    # Timeouts of queue pairs do not grow.
    chosen["time_limit_ps"] = min(plan.settings["time_limit_ps"], LIMIT)
    if plan.settings["sample_ps"] is not None:
        chosen["sample_ps"] = chosen["time_limit_ps"] // random.choice([1, 7])
    settings = {key: value for key, value in plan.settings.items() if key != "synchronisation"}
    # Messages of many packets, that marks and losses come to.
    flows = {**plan.flows, "bytes": plan.flows["bytes"] * np.uint64(random.choice([1, 3, 10]))}
    if "departure_offsets" in flows:
        flows = plan.flows
    return plan._replace(settings=settings | chosen, flows=flows)


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = over_queue_pairs(seed)
    check_conservation(plan, check_equal(plan))


def test_all_that_queue_pairs_do_occurs() -> None:
    """Repairs by both recoveries, timeouts, marks, and senders that give up."""
    found: dict[str, int] = {}
    for seed in SEEDS:
        plan = over_queue_pairs(seed)
        flows = core(plan)["flows"]
        groups = [group["transport"] for group in plan.settings["groups"]]
        index = plan.flows.get("group")
        for row in range(len(flows["status"])):
            own = groups[0 if index is None else int(index[row])]
            if own["kind"] == "rdma":
                recovery = own["recovery"]["kind"]
                for name in ("fast_retransmits", "timeouts", "duplicates", "reordered"):
                    key = f"{recovery} {name}"
                    found[key] = found.get(key, 0) + (flows[name][row] > 0)
                found["gave up"] = found.get("gave up", 0) + (flows["status"][row] == 4)
    # What comes out of order is refused.
    assert found.pop("go-back-n reordered") == 0
    assert len(found) == 8
    assert all(n >= 5 for n in found.values()), found
