"""Random switches and the links between them, for the plans of `random_plans`."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Arrays,
    Edge,
    all_optical,
    burst,
    electronic,
    hybrid,
    obs,
    table,
)
from random_disciplines import random_discipline
from strategies import RATES, light_keeps_its_rate
from twin.obs import SCHEDULERS

BOTH = [False, True]


def random_window_based(random: Random, times: list[int]) -> dict[str, Any]:
    """Times that may be equal, windows that many flows have or none, the three paces or fewer."""
    medium = random.choice([1, 2, 3, 5])
    return {
        **{f"{pace}_time_ps": random.choice(times) for pace in ("slow", "medium", "fast")},
        "medium_window": medium,
        "fast_window": medium + random.choice([0, 1, 2, 5, 65_000]),
        "acknowledgements": random.choice(["slow", "slow", "medium", "fast"]),
    }


def random_multi_queue(random: Random, times: list[int]) -> dict[str, Any]:
    """One queue or several, fewer than flows and more."""
    pick = random.choice
    anew = {"kind": pick(["a-priori", "printed"]), "queues": random.randint(1, 4)}
    kept_apart = {
        "kind": "a-posteriori",
        "queues": random.randint(1, 4),
        "notice_delay_ps": pick([None, None, 0, 1, 50 * MICROSECOND, MILLISECOND]),
        "forget_after_ps": pick([0, 100 * MICROSECOND, 10 * SECOND]),
    }
    allocation = pick([anew, kept_apart, kept_apart, {"kind": "per-flow"}])
    return {"time_ps": pick(times), "allocation": allocation}


#: The settings of the rules of assembly that have more than a time and a size.
RULES: dict[str, Callable[[Random, list[int]], dict[str, Any]]] = {
    "average-delay": lambda random, times: {"time_ps": random.choice(times)},
    "multi-queue": random_multi_queue,
    "window-based": random_window_based,
}


def random_burst(random: Random, *, large: bool = False) -> dict[str, Any]:
    """Any assembly; times that are multiples of a packet's so that packets come at the expiry.

    Large ones are mostly of several packets.
    """
    pick = random.choice
    kind = pick(["timer", "timer", "size", "mixed", *RULES])
    sized = kind in ("size", "mixed")
    size = pick([9_000] if large else [64, 1_500, 3_000, 4_501]) if sized else None
    most = pick([None, None, 3_000, 10_000]) if not size or size <= 3_000 else None
    short = [] if large else [0, 1, 512_000]
    times = [*short, 12 * MICROSECOND, 24 * MICROSECOND, 100 * MICROSECOND]
    rule = RULES[kind](random, times) if kind in RULES else None
    return burst(
        kind,
        time=pick(times) if kind in ("timer", "mixed") else None,
        size=size,
        rule=rule,
        most=most,
        least=pick([None, None, 200, 3_000]),
        assemble_acknowledgements=pick(BOTH),
        switching_time=pick([0, 0, 1_000, 300_000]),
        **random_ordering(random),
    )


def random_ordering(random: Random) -> dict[str, Any]:
    """The ordering of bursts, mostly none; an egress waits for long, or hardly."""
    hold_back = random.choice([0, 50_000, 20 * MICROSECOND, 40 * MILLISECOND])
    egress = {"kind": "destination", "hold_back_ps": hold_back}
    ordering = random.choice([None, None, None, {"kind": "none"}, {"kind": "source"}, egress])
    return {} if ordering is None else {"ordering": ordering}


def random_balance(random: Random) -> dict[str, Any]:
    """Paths by load: intervals of a few bursts or of many, thresholds that are met or not."""
    interval = random.choice([1, 20 * MICROSECOND, 100 * MICROSECOND + 1, MILLISECOND])
    late = random.choice([0, 0, 0.3, 1, 3.7])
    drawn = {
        "interval_ps": interval,
        "delay_ps": int(late * interval),
        "threshold": random.choice([0.0, 0.0, 0.01, 0.05, 0.5]),
        "threshold_on": random.choice(["link", "path"]),
        "capacity_bps": random.choice([None, None, 4 * GIGABIT]),
    }
    # Drawn apart, so that older plans stay what they were.
    return drawn | {"uncongested": Random(repr(drawn)).choice(["present", "primary"])}


def random_obs(random: Random, *, crowded: bool = False, drop: str = "head") -> dict[str, Any]:
    """Any node that reserves channels; now and then its offsets are too short, and headers late.

    A crowded node has resolvers for bursts without a channel. All nodes cut off the same part of
    bursts, head or tail.
    """
    pick = random.choice
    assembled = random_burst(random, large=crowded and random.random() < 0.75)
    times = [0, 1_000, 20_000] if crowded else [0, 0, 1_000, 500_000, 3 * MICROSECOND]
    processing, switching = pick(times), pick([0, 0, 300_000])
    short = random.random() < (0.03 if crowded else 0.15)
    # A longer path takes more offset than a crowded node has.
    least = switching if crowded else 300_000
    limited = {"kind": "limited", "range": pick([1, 1, 2, 4])}
    return obs(
        assembled["assembly"],
        assemble_acknowledgements=assembled["assemble_acknowledgements"],
        switching_time_ps=switching,
        header_processing_time_ps=processing,
        header_bytes=pick([64, 64, 1_000]),
        control_rate_bps=pick([None, None, GIGABIT, 10 * GIGABIT]),
        offset_time_ps=pick([0, 1_000] if short else [switching, least, 10 * MICROSECOND]),
        offset_per_hop_ps=pick([0, processing] if short else [None, None, 2 * processing + 600]),
        signalling=pick(["jet", "jet", "jit"]),
        scheduler=pick(sorted(SCHEDULERS)),
        conversion=pick([{"kind": "none"}, {"kind": "full"}, limited]),
        ingress=pick(["lose", "lose", "delay"]),
        contention=random_contention(random, 1 if crowded else 0, drop),
        **random_ordering(random),
    )


def random_contention(random: Random, least: int, drop: str) -> list[dict[str, Any]]:
    """Some resolvers in any order; delays shorter and longer than a burst."""
    pick = random.choice
    lines = {
        "kind": "delay-line",
        "granularity_ps": pick([1, 300_000, MICROSECOND, 12 * MICROSECOND, 80 * MICROSECOND]),
        "delays": pick([1, 1, 2, 5]),
        "lines": pick([None, 1, 2, 2]),
        "occupied": pick(["entering", "inside"]),
    }
    deflection = {
        "kind": "deflection",
        "hop_limit": pick([1, 2, 3, 4, 6, 16]),
        "loops": pick(BOTH),
    }
    cut = {"kind": "segmentation", "drop": drop}
    resolvers: list[dict[str, Any]] = [lines, deflection, cut]
    return random.sample(resolvers, random.randint(least, len(resolvers)))


def random_channels(random: Random, links: Arrays, most: int) -> Arrays:
    """Fibres with equal or different numbers of channels."""
    numbers = random.choice([[1], [1], [2], [3], [4], [1, 2], [1, 2, 3, 4, 5]])
    channels = [min(random.choice(numbers), most) for _ in links["from"]]
    return {**links, "channels": np.array(channels, np.uint16)}


def random_burst_links(random: Random, edges: list[Edge], hosts: int) -> Arrays:
    """Links between switches of one rate, the hosts' slower, faster or equal."""
    core = random.choice(RATES)
    of_hosts = random.choice([[core], [GIGABIT], RATES])
    rates = [random.choice(of_hosts) if min(edge) < hosts else core for edge in edges]
    delays = random.choice([[1], [1, 50_000], [50_000], [5_000_000], range(1, 10**6)])
    return table(
        edges,
        hosts,
        rates=rates,
        delays=[random.choice(delays) for _ in edges],
        header_processing=random.choice([0, 0, 1_000]),
    )


def random_packet_links(random: Random, edges: list[Edge], hosts: int, kinds: list[str]) -> Arrays:
    """Links that are all equal, or each with a delay, and a rate unless light passes its ends."""
    rates = [random.choice(RATES)] if random.random() < 0.5 else RATES
    delays = random.choice([[1], [1, 50_000], [50_000], [5_000_000], [20_000_000], range(1, 10**7)])
    chosen = [random.choice(rates) for _ in edges]
    return table(
        edges,
        hosts,
        rates=light_keeps_its_rate(edges, hosts, kinds, chosen),
        delays=[random.choice(delays) for _ in edges],
    )


def random_switch(random: Random) -> dict[str, Any]:
    """Any switch of packets."""
    pick = random.choice
    switching_time = pick([0, 0, 1_000, 300_000])
    return pick(
        [
            all_optical(switching_time),
            hybrid(
                random.randint(0, 4),
                buffer_bytes=pick([None, None, 9_000, 20_000]),
                re_emission=pick(["after-reception", "cut-through"]),
                switching_time=switching_time,
            ),
            random_electronic(random, pick([None, 9_000, 20_000]), pick([None, 0, 1, 9_000])),
        ]
    )


def random_electronic(random: Random, queue: int | None, threshold: int | None) -> dict[str, Any]:
    """An electronic switch, every other one with explicit queues."""
    # Drawn apart, so that older plans stay what they were.
    apart = Random(repr(random.getstate()))
    discipline = random_discipline(apart) if apart.random() < 0.5 else None
    return electronic(queue, threshold, discipline)


def random_switches(
    random: Random, edges: list[Edge], hosts: int, nodes: int, *, bursts: bool
) -> tuple[list[dict[str, Any]], list[int]]:
    """Settings, one for all switches or several, and the index of each switch's settings.

    With `bursts` all switches with hosts are edges; the others may be any switch.
    """
    assemblies = [random_burst(random) for _ in range(random.choice([1, 1, 2]) if bursts else 0)]
    others = [random_switch(random) for _ in range(random.choice([0, 0, 1, 3]))]
    if not bursts and not others:
        others = [random_switch(random)]
    edge_nodes = {max(edge) for edge in edges if min(edge) < hosts}
    settings = assemblies + others
    kinds = [
        random.randrange(len(assemblies if bursts and node in edge_nodes else settings))
        for node in range(hosts, nodes)
    ]
    return settings, kinds


def random_interfaces(random: Random) -> dict[str, Any]:
    """Interfaces of hosts: first in, first out, or fair."""
    if random.random() < 0.6:
        return {}
    return {"fair": {"small_queue": random.choice([1, 2, 2, 5, None])}}
