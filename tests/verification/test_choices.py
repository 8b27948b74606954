"""Choices among equal-cost next hops that keep a state at each node: core against twin, and by
hand.
"""

from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal, differences
from plans import (
    GIGABIT,
    MICROSECOND,
    SECOND,
    Arrays,
    Plan,
    all_optical,
    core,
    datagram,
    electronic,
    flow_table,
    hybrid,
    one_datagram_each,
    saw,
    settings,
    table,
    tcp,
)
from random_disciplines import random_discipline
from random_plans import random_plan
from random_transports import random_tcp

PACKET = 1_000


def random_choice(random: Random) -> str | dict[str, Any]:
    """A choice with state, now and then one without."""
    if random.random() < 0.1:
        return random.choice(["free", "random", "flow-hash"])
    if random.random() < 0.5:
        gap = random.choice([1, 1_000, MICROSECOND, 20 * MICROSECOND, 300 * MICROSECOND, SECOND])
        return {"kind": "flowlet", "gap_ps": gap}
    samples = random.choice([None, 1, 2, 3, 9])
    memory = 0 if samples is None else random.choice([0, 1, 2])
    return {"kind": "least-queue", "samples": samples, "memory": memory}


def spines(leaves: int, count: int, hosts_each: int, **of_links: Any) -> tuple[int, int, Arrays]:
    """Hosts, nodes and links of leaves that are each linked to all spines."""
    hosts = leaves * hosts_each
    nodes = hosts + leaves + count
    edges = [(host, hosts + host // hosts_each) for host in range(hosts)]
    edges += [
        (hosts + leaf, hosts + leaves + spine) for leaf in range(leaves) for spine in range(count)
    ]
    return hosts, nodes, table(edges, hosts, **of_links)


def among_spines(seed: int) -> Plan:
    """Flows over a few spines, with switches of any kind that forwards packets."""
    random = Random(f"spines/{seed}")
    pick = random.choice
    hosts, nodes, links = spines(
        pick([2, 3]), pick([2, 3, 4]), pick([1, 2]), rates=GIGABIT, delays=pick([50_000, 10**6])
    )
    transport = random_tcp(random) if random.random() < 0.7 else saw(pick([None, 2.0]))
    room = pick([None, 20_000])
    switch = pick(
        [
            electronic(room),
            electronic(room, 9_000),
            electronic(room, None, {"kind": "drop-tail"}),
            electronic(room, None, random_discipline(random)),
            hybrid(pick([1, 3])),
            all_optical(),
        ]
    )
    payload = transport["segment_bytes"] - transport["header_bytes"]
    rows = []
    for start in sorted(random.randint(0, 200) * MICROSECOND for _ in range(random.randint(2, 9))):
        source, destination = random.sample(range(hosts), 2)
        rows.append((source, destination, start, random.randint(1, 40 * payload)))
    chosen = {
        "choice": random_choice(random),
        "seed": random.getrandbits(64),
        "time_limit_ps": pick([SECOND, 3 * SECOND]),
    }
    return Plan(settings(hosts, nodes, switch, transport, **chosen), links, flow_table(*rows))


@pytest.mark.parametrize("block", range(3))
def test_core_equals_twin_among_spines(block: int) -> None:
    for seed in range(60 * block, 60 * block + 60):
        plan = among_spines(seed)
        check_conservation(plan, check_equal(plan))


def test_core_equals_twin_in_any_network() -> None:
    for seed in range(40):
        plan = random_plan(seed, "packets" if seed % 4 else "bursts")
        choice = random_choice(Random(f"choice/{seed}"))
        check_equal(plan._replace(settings=plan.settings | {"choice": choice}))


LEAST = {"kind": "least-queue", "samples": None, "memory": 0}


def crossing(choice: str | dict[str, Any], queue: dict[str, Any] | None = None) -> Plan:
    """Long flows from each host of a leaf to a host of the other one, over three spines."""
    hosts, nodes, links = spines(2, 3, 4, rates=GIGABIT, delays=MICROSECOND)
    transport = tcp(initial_window_bytes=4 * 1_460, advertised_window_bytes=40 * 1_460)
    rows = [(host, 4 + host, host * 700_000, 400_000) for host in range(4)]
    switch = electronic(30_000, None, queue)
    return Plan(
        settings(hosts, nodes, switch, transport, choice=choice, seed=7), links, flow_table(*rows)
    )


@pytest.mark.parametrize("queue", [None, {"kind": "drop-tail"}])
@pytest.mark.parametrize(
    "choice",
    [
        # One sample and nothing remembered; each packet of a flow is a flowlet.
        {"kind": "least-queue", "samples": 1, "memory": 0},
        {"kind": "flowlet", "gap_ps": 1},
    ],
)
def test_limiting_cases_are_random_spraying(
    choice: dict[str, Any], queue: dict[str, Any] | None
) -> None:
    sprayed = core(crossing("random", queue))
    assert sprayed["flows"]["reordered"].sum() > 0
    assert differences(sprayed, core(crossing(choice, queue))) == []


def test_no_packet_is_overtaken_if_the_gap_covers_a_full_queue() -> None:
    # 30 kB at 1 Gb/s are 240 us; the propagation delays are the same.
    gap = 240 * MICROSECOND
    kept = core(crossing({"kind": "flowlet", "gap_ps": gap}))
    assert kept["flows"]["reordered"].sum() == 0
    # There are several flowlets: the flows use more links than with one flowlet each.
    by_hash = core(crossing({"kind": "flowlet", "gap_ps": 10**18}))
    used = [int((one["links"]["units"] > 0).sum()) for one in (kept, by_hash)]
    assert used[0] > used[1]
    assert core(crossing({"kind": "flowlet", "gap_ps": MICROSECOND}))["flows"]["reordered"].sum()


def instant(
    choice: str | dict[str, Any], packets: int, seed: int, queue: dict[str, Any] | None
) -> list[int]:
    """Packets for each of four spines, of many that come to a leaf almost at once."""
    hosts, nodes, links = spines(2, 4, 2, rates=GIGABIT, delays=1)
    of_host = (links["from"] < hosts) | (links["to"] < hosts)
    links["rate_bps"] = np.where(of_host, 10_000 * GIGABIT, links["rate_bps"]).astype(np.uint64)
    # 0.8 ns apart; a packet leaves a spine's link after 8 us.
    flows = flow_table(*((0, 2, 800 * i, PACKET) for i in range(packets)))
    chosen = {"choice": choice, "seed": seed}
    plan = Plan(
        settings(hosts, nodes, electronic(None, None, queue), datagram(PACKET), **chosen),
        links,
        one_datagram_each(flows),
    )
    units = core(plan)["links"]["units"]
    up = (links["from"] == hosts) & (links["to"] >= hosts + 2)
    return [int(n) for n in units[up]]


@pytest.mark.parametrize("queue", [None, {"kind": "drop-tail"}])
def test_the_least_queue_levels_the_outputs(queue: dict[str, Any] | None) -> None:
    for seed in range(20):
        assert instant(LEAST, 40, seed, queue) == [10] * 4
        # 42 packets: two outputs have one more.
        assert sorted(instant(LEAST, 42, seed, queue)) == [10, 10, 11, 11]
    # Which ones is drawn anew.
    assert len({tuple(instant(LEAST, 42, seed, queue)) for seed in range(40)}) == 6


@pytest.mark.parametrize("queue", [None, {"kind": "drop-tail"}])
def test_two_samples_are_better_than_one_and_memory_than_none(queue: dict[str, Any] | None) -> None:
    def spread(samples: int, memory: int) -> float:
        """The mean of the longest queue."""
        choice = {"kind": "least-queue", "samples": samples, "memory": memory}
        return float(np.mean([max(instant(choice, 400, seed, queue)) for seed in range(60)]))

    one, two, remembered = spread(1, 0), spread(2, 0), spread(2, 1)
    # One sample: the largest of four binomial numbers of mean 100 and deviation 8.7, 1.03
    # deviations above the mean (order statistics of the normal distribution).
    assert one == pytest.approx(100 + 1.03 * 8.66, abs=4 * 8.66 * 0.7 / 60**0.5)
    # Two of four (Azar et al. 1999): a gap of the order of ln ln 4 / ln 2, which no number of
    # packets widens.
    assert 100 <= two < 103
    assert 100 <= remembered < two
    # All four samples are all outputs.
    assert spread(4, 0) == 100
