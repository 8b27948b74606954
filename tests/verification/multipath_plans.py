"""Random plans with connections of several subflows."""

from random import Random
from typing import Any

from plans import Plan
from random_plans import random_plan

#: Window laws that are coupled or not, with settings.
LAWS: list[dict[str, Any]] = [
    {"kind": "lia", "halving": "flight-size"},
    {"kind": "lia", "halving": "window"},
    {"kind": "olia", "halving": "flight-size"},
    {"kind": "olia", "halving": "flight-size"},
    {"kind": "reno", "halving": "flight-size"},
    {"kind": "highspeed"},
]
#: Measurements by packet, in which a subflow would be a flow.
_OF_PACKETS = (
    "trace",
    "bookings",
    "bursts",
    "displacement_threshold",
    "recovery_bin_ps",
    "synchronisation",
)


def multipath_plan(seed: int, kind: str) -> Plan:
    """A random plan of packets or bursts whose `tcp` has subflows, in most groups."""
    random = Random(f"multipath/{kind}/{seed}")
    plan = random_plan(seed, kind)
    groups = [with_subflows(random, group) for group in plan.settings["groups"]]
    settings = {**plan.settings, "groups": groups}
    settings |= {key: None for key in _OF_PACKETS if key in settings}
    classes = any("extra_offset_ps" in switch for switch in settings["switches"])
    if settings.get("label") is not None and not classes and random.random() < 0.7:
        settings["label"] = "subflow"
        settings.pop("balance", None)
    return plan._replace(settings=settings)


def with_subflows(random: Random, group: dict[str, Any]) -> dict[str, Any]:
    """A group of flows, mostly with subflows if its transport is `tcp`."""
    transport = group["transport"]
    timed = transport.get("recovery", {}).get("kind") == "rack-tlp"
    if transport["kind"] != "tcp" or timed or random.random() < 0.1:
        return group
    transport = {
        **transport,
        "subflows": random.choice([2, 2, 3, 4]),
        "congestion_control": random.choice(LAWS),
    }
    if transport.get("ecn") is True and random.random() < 0.5:
        transport["ecn"] = False
    return {key: value for key, value in group.items() if key != "writes"} | {
        "transport": transport
    }
