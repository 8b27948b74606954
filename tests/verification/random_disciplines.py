"""Random disciplines of explicit output queues, for the plans of `random_plans`."""

from collections.abc import Callable
from random import Random
from typing import Any

from plans import MICROSECOND, MILLISECOND, Plan


def random_codel(random: Random) -> dict[str, Any]:
    """Targets of a segment or two, and the RFC's; intervals in which a queue can last."""
    pick = random.choice
    return {
        "target_ps": pick([1, 7 * MICROSECOND, 20 * MICROSECOND, 5 * MILLISECOND]),
        "interval_ps": pick([1, 10 * MICROSECOND, 50 * MICROSECOND, 200 * MICROSECOND]),
        "ecn": pick([False, True]),
    }


def random_red(random: Random) -> dict[str, Any]:
    """Thresholds that queues pass; averages that follow at once or slowly."""
    pick = random.choice
    low = pick([0, 1_500, 5_000])
    return {
        "min_threshold_bytes": low,
        "max_threshold_bytes": low + pick([1, 3_000, 10_000]),
        "max_probability": pick([0.02, 0.1, 1.0]),
        "weight": pick([0.002, 0.1, 1.0]),
        "mean_packet_bytes": pick([1, 500, 9_000]),
        "gentle": pick([False, True]),
        "ecn": pick([False, True]),
    }


def random_marking(random: Random) -> dict[str, Any]:
    """Thresholds that queues pass."""
    pick = random.choice
    low = pick([0, 1_500, 5_000])
    return {
        "min_threshold_bytes": low,
        "max_threshold_bytes": low + pick([1, 3_000, 10_000]),
        "max_probability": pick([0.01, 0.1, 1.0]),
    }


def random_pie(random: Random) -> dict[str, Any]:
    """Delays of some segments; probabilities that grow within some of them, or slowly."""
    pick = random.choice
    return {
        "target_ps": pick([1, 10 * MICROSECOND, 50 * MICROSECOND, 15 * MILLISECOND]),
        "update_ps": pick([7 * MICROSECOND, 20 * MICROSECOND, 15 * MILLISECOND]),
        "alpha": pick([0.0, 0.125, 100.0, 20_000.0]),
        "beta": pick([0.0, 1.25, 1_000.0, 50_000.0]),
        "burst_ps": pick([0, 100 * MICROSECOND, 150 * MILLISECOND]),
        "mean_packet_bytes": pick([1, 500, 1_500]),
        "ecn": pick([False, True]),
        "mark_below": pick([0.0, 0.1, 1.0]),
    }


def random_fq_codel(random: Random) -> dict[str, Any]:
    """Queues that flows share, and many; a turn of less than a segment or of several."""
    pick = random.choice
    own = {"flows": pick([1, 2, 3, 64]), "quantum_bytes": pick([256, 1_500, 4_000, 20_000])}
    return random_codel(random) | own


def random_prio(random: Random, groups: int) -> dict[str, Any]:
    """Bands that some groups share, and some without a group."""
    pick = random.choice
    bands = [pick([0, 1, 2]) for _ in range(groups)]
    return {"bands": bands, "buffer": pick(["own", "shared"])}


def random_drr(random: Random, groups: int) -> dict[str, Any]:
    """Quanta of less than a segment, of some, and of many."""
    pick = random.choice
    quanta = [pick([256, 700, 1_500, 4_000, 20_000]) for _ in range(groups)]
    return {"quanta_bytes": quanta, "buffer": pick(["own", "shared"])}


def random_dualpi2(random: Random) -> dict[str, Any]:
    """Delays of some segments; a base probability that grows within some of them, or slowly."""
    pick = random.choice
    return {
        "target_ps": pick([1, 10 * MICROSECOND, 50 * MICROSECOND, 15 * MILLISECOND]),
        "update_ps": pick([7 * MICROSECOND, 20 * MICROSECOND, 15 * MILLISECOND]),
        "alpha": pick([0.0, 0.15, 100.0, 20_000.0]),
        "beta": pick([0.0, 3.0, 1_000.0, 50_000.0]),
        "coupling": pick([1.0, 2.0, 7.5]),
        "l4s_threshold_ps": pick([0, 5 * MICROSECOND, 800 * MICROSECOND]),
        "l4s_range_ps": pick([0, 30 * MICROSECOND, 400 * MICROSECOND]),
        "quantum_bytes": pick([256, 1_500, 9_000]),
        "l4s_weight": pick([1, 9]),
    }


def random_trim(random: Random) -> dict[str, Any]:
    """Few packets of data, headers that find no room, and turns of one or of several."""
    pick = random.choice
    return {
        "packets": pick([1, 2, 3, 8]),
        "header_bytes": pick([64, 64, 20, 300]),
        "header_queue_bytes": pick([0, 128, 500, 12_000, 12_000]),
        "weight": pick([1, 2, 10]),
        "tail": pick([0.0, 0.5, 0.5, 1.0]),
    }


#: The settings of each discipline that does not distinguish groups.
ALIKE: dict[str, Callable[[Random], dict[str, Any]]] = {
    "drop-tail": lambda random: {},
    "codel": random_codel,
    "red": random_red,
    "pie": random_pie,
    "fq-codel": random_fq_codel,
    "dualpi2": random_dualpi2,
    "marking": random_marking,
}


#: The settings of each discipline with settings for each of several groups.
BY_GROUP: dict[str, Callable[[Random, int], dict[str, Any]]] = {
    "prio": random_prio,
    "drr": random_drr,
}
DISCIPLINES = [*ALIKE, *BY_GROUP]


def settings_of(kind: str, random: Random, groups: int) -> dict[str, Any]:
    """Settings of a discipline, for so many groups of flows."""
    own = ALIKE[kind](random) if kind in ALIKE else BY_GROUP[kind](random, groups)
    return {"kind": kind} | own


def random_discipline(random: Random) -> dict[str, Any]:
    """Any discipline that does not distinguish groups."""
    return settings_of(random.choice(sorted(ALIKE)), random, 0)


def random_buffer(random: Random, kind: str) -> dict[str, Any]:
    """Settings of a buffer that outputs share, and of marks at departures."""
    pick = random.choice
    own: dict[str, Any] = {}
    if random.random() < 0.4:
        size, alpha = pick([4_000, 20_000, 60_000]), pick([0.125, 0.7, 1.0, 8.0])
        own["shared_buffer"] = {"size_bytes": size, "alpha": alpha}
    if kind in ("drop-tail", *BY_GROUP) and random.random() < 0.4:
        own["marks_at_departure"] = True
    return own


def without_buffers(plan: Plan) -> list[dict[str, Any]]:
    """The settings of the switches without those that `random_buffer` gives."""
    given = ("shared_buffer", "marks_at_departure")
    return [
        {key: value for key, value in switch.items() if key not in given}
        for switch in plan.settings["switches"]
    ]


def random_lines(random: Random, plan: Plan) -> Plan:
    """The same plan; some switches with explicit queues have settings for each group, a buffer that
    their outputs share, or marks at departures.
    """
    groups = len(plan.settings["groups"])
    largest = max(group["transport"]["segment_bytes"] for group in plan.settings["groups"])
    switches = []
    for switch in plan.settings["switches"]:
        if "queue" in switch and random.random() < 0.4:
            kind = random.choice(sorted(BY_GROUP))
            switch = {**switch, "queue": settings_of(kind, random, groups)}
        if "queue" in switch:
            buffer = random_buffer(random, switch["queue"]["kind"])
            # A unit that no threshold ever admits would be sent again without end.
            shared = buffer.get("shared_buffer")
            if shared and shared["alpha"] * shared["size_bytes"] < 2 * largest:
                del buffer["shared_buffer"]
            switch = switch | buffer
        switches.append(switch)
    return plan._replace(settings={**plan.settings, "switches": switches})
