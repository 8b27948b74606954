"""Random plans with connections of several subflows."""

from random import Random
from typing import Any

from change_plans import busy_links, unheld
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
#: The rules of a data level.
_RULES = ("reinjection", "shared_window")
#: Measurements by packet, in which a subflow would be a flow.
_OF_PACKETS = (
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


def level_plan(seed: int, kind: str) -> Plan:
    """A random plan whose subflows have a data level, mostly on links that are dead for a time."""
    random = Random(f"level/{kind}/{seed}")
    plan = multipath_plan(seed, kind)
    groups = [with_level(random, group) for group in plan.settings["groups"]]
    plan = plan._replace(settings={**plan.settings, "groups": groups})
    some = any(group["transport"].get("subflows", 1) > 1 for group in groups)
    return with_dead_links(random, unheld(plan)) if some and random.random() < 0.8 else plan


def with_level(random: Random, group: dict[str, Any]) -> dict[str, Any]:
    """A group with reinjection, with a shared window, mostly a small one, or with both."""
    transport = dict(group["transport"])
    if transport.get("subflows", 1) == 1:
        return group
    payload = transport["segment_bytes"] - transport["header_bytes"]
    rules = random.choice([(True, False), (True, True), (True, True), (False, True)])
    transport |= {name: True for name, on in zip(_RULES, rules, strict=True) if on}
    if random.random() < 0.6:
        transport["advertised_window_bytes"] = random.choice([1, 2, 3, 5, 9, 20]) * payload
    return {**group, "transport": transport}


def with_dead_links(random: Random, plan: Plan) -> Plan:
    """The plan with links that lose all data for some time, or to the end of a shorter run."""
    links, end = busy_links(random, plan)
    limit = min(plan.settings["time_limit_ps"], random.choice([3, 10, 30]) * end)
    rows = []
    for link in links:
        begin, other = sorted(random.sample(range(end + 2), 2))
        rows.append([link, begin, 1.0, random.choice([0.0, 0.0, 1.0])])
        if random.random() < 0.8:
            rows.append([link, other, 0.0, 0.0])
    changed = {"changes": {"losses": rows}, "time_limit_ps": limit}
    return plan._replace(settings={**plan.settings, **changed})
