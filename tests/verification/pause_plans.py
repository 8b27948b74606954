"""Random plans with priority flow control."""

from random import Random
from typing import Any

from outage_plans import crowded, steady
from plans import Plan
from random_disciplines import DISCIPLINES, random_buffer, settings_of, without_buffers
from random_plans import random_plan


def random_pfc(random: Random) -> dict[str, Any] | None:
    """Bounds that some packets pass, with room for a packet more or for many; or none."""
    pick = random.choice
    xoff = pick([0, 1_500, 3_000, 9_000, 20_000])
    return {
        "xoff_bytes": xoff,
        "xon_bytes": pick([0, xoff // 2, xoff]),
        "headroom_bytes": pick([None, None, 1_600, 9_100, 40_000]),
    }


def paused(random: Random, plan: Plan) -> Plan:
    """The same plan of electronic switches with explicit queues, most of which let links pause."""
    groups = len(plan.settings["groups"])
    largest = max(group["transport"]["segment_bytes"] for group in plan.settings["groups"])
    switches = []
    for own in without_buffers(plan):
        kind = random.choice(["drop-tail", "drop-tail", *DISCIPLINES])
        own = own | {"queue": settings_of(kind, random, groups)}
        if kind not in ("drop-tail", "prio", "drr"):
            own["ecn_threshold_bytes"] = None
        buffer = random_buffer(random, kind)
        shared = buffer.get("shared_buffer")
        if shared and shared["alpha"] * shared["size_bytes"] < 2 * largest:
            del buffer["shared_buffer"]
        own |= buffer
        if random.random() < 0.8 or not switches:
            own["pfc"] = pfc = random_pfc(random)
            most = pfc["headroom_bytes"]
            if most is not None and pfc["xoff_bytes"] + most < largest:
                pfc["headroom_bytes"] = largest
        switches.append(own)
    return plan._replace(settings={**plan.settings, "switches": switches})


def pause_plan(seed: int) -> Plan:
    """Every third is crowded."""
    plan = crowded(seed) if seed % 3 == 0 else steady(random_plan(seed, "packets"))
    switches = [
        {"kind": "electronic", "queue_bytes": None, "ecn_threshold_bytes": None}
        if own["kind"] != "electronic"
        else own
        for own in plan.settings["switches"]
    ]
    plan = plan._replace(settings={**plan.settings, "switches": switches})
    return paused(Random(f"pauses/{seed}"), plan)
