"""Random plans in which many flows share the queues for an egress, and lose data together."""

from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Arrays,
    Plan,
    datagram,
    flow_table,
    lossy,
    multi_queue,
    obs,
    settings,
    table,
    tcp,
    window_based,
)

#: The rules of assembly, or allocations of `multi-queue`, that depend on the flow of a packet.
POLICIES = ("a-posteriori", "a-priori", "per-flow", "printed", "window-based")
#: Delays equal to the time to the place of loss and back, or shorter, or longer.
CYCLES = [20 * MICROSECOND, 100 * MICROSECOND, 400 * MICROSECOND]


def allocated_plan(seed: int, policy: str) -> Plan:
    """Two edges with one core between them, and flows in both directions, most of them in one."""
    random = Random(f"{policy} {seed}")
    pick = random.choice
    hosts = 8
    left, core, right = hosts, hosts + 1, hosts + 2
    links = table(
        [(host, left if host < 6 else right) for host in range(hosts)]
        + [(left, core), (core, right)],
        hosts,
        rates=[GIGABIT] * hosts + [10 * GIGABIT] * 2,
        delays=[MICROSECOND] * hosts + [pick([20, 100]) * MICROSECOND for _ in range(2)],
    )
    switch = allocated(random, policy)
    if random.random() < 0.5:
        switch = obs(switch["assembly"], ingress="delay", offset_time_ps=MICROSECOND)
        links["channels"] = (links["rate_bps"] // (5 * GIGABIT)).clip(1).astype("uint16")
    rows = []
    for flow in range(pick([6, 10])):
        ends = (flow % 6, 6 + flow % 2)
        start, segments = random.randint(0, 200 * MICROSECOND), random.randint(20, 80)
        rows.append((*(ends if flow else ends[::-1]), start, segments * 1_500))
    flows = flow_table(*sorted(rows, key=lambda row: row[2]))
    # With many losses connections seldom have much to send at once; streams always have.
    streams = policy != "window-based" and random.random() < 0.6
    loss = {
        "probability": pick([0.05, 0.2] if streams else [0.01, 0.03, 0.1]),
        "acknowledgement_probability": 0.0,
        "drops": [],
    }
    chosen = {"seed": random.getrandbits(64), "time_limit_ps": SECOND, "loss": loss}
    transport = datagram(1_500) if streams else connection(random)
    final = settings(hosts, hosts + 3, switch, transport, **chosen)
    return Plan(final, lossy(links, hosts), departing(random, flows) if streams else flows)


def departing(random: Random, flows: Arrays) -> Arrays:
    """The same as streams of datagrams that leave at random, now and then after a long break."""
    gaps = [10, 50, 50, 200, 2_000]
    departures: list[int] = []
    offsets = [0]
    for start, size in zip(flows["start_ps"].tolist(), flows["bytes"].tolist(), strict=True):
        late = accumulate(
            random.randint(0, random.choice(gaps) * MICROSECOND) for _ in range(size // 1_500 - 1)
        )
        departures += [start, *(start + time for time in late)]
        offsets.append(len(departures))
    return {
        **flows,
        "departures_ps": np.array(departures, np.uint64),
        "departure_offsets": np.array(offsets, np.uint64),
    }


def connection(random: Random) -> dict[str, Any]:
    """Settings of TCP with short timeouts."""
    return tcp(
        initial_window_bytes=random.choice([2, 10]) * 1_500,
        min_timeout_ps=MILLISECOND,
        initial_timeout_ps=random.choice([1, 5]) * MILLISECOND,
        clock_granularity_ps=MICROSECOND,
        acknowledge_every=random.choice([1, 2]),
        acknowledgement_delay_ps=100 * MICROSECOND,
    )


def allocated(random: Random, policy: str) -> dict[str, Any]:
    """Settings of edges with a rule of assembly, as `burst` makes them."""
    pick = random.choice
    if policy == "window-based":
        bounds = (pick([2, 4]), pick([4, 8, 16]))
        pace = pick(["slow", "medium", "fast"])
        return window_based(
            (pick(CYCLES), pick(CYCLES), pick(CYCLES)), bounds, acknowledgements=pace
        )
    if policy == "per-flow":
        return multi_queue(pick(CYCLES), policy)
    own: dict[str, Any] = {}
    if policy == "a-posteriori":
        own = {
            "notice_delay_ps": pick([None, None, 0, 50 * MICROSECOND, MILLISECOND]),
            "forget_after_ps": pick([0, 200 * MICROSECOND, 3 * MILLISECOND, 10 * SECOND]),
        }
    return multi_queue(pick(CYCLES), policy, random.randint(2, 4), **own)
