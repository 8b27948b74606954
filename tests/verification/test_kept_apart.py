"""Flows that lost data in one burst are kept apart afterwards: `multi-queue`, `a-posteriori`.

The network is that of `test_burst_exact`, and flows send in cycles as in `test_assembly_exact`. A
cycle of 100 us begins with the first packet of the first flow; after 50 us its bursts are closed.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from compare import differences
from plans import (
    GIGABIT,
    MICROSECOND,
    Plan,
    core,
    datagram,
    flow_table,
    loss,
    multi_queue,
    obs,
    settings,
    table,
)
from test_assembly_exact import bursts_of, in_cycles
from test_burst_exact import ACCESS, FIBRE, SIZE
from test_order import shuffled

CYCLES = 20


def kept_apart(flows: int, queues: int, delay: int | None, **more: Any) -> Plan:
    """Cycles of 50 us; the burst of the eleventh is lost on its first fibre."""
    rule = {"notice_delay_ps": delay, "forget_after_ps": 10_000 * MICROSECOND} | more
    plan = in_cycles(flows, CYCLES, multi_queue(50 * MICROSECOND, "a-posteriori", queues, **rule))
    plan.settings["loss"] = loss({"burst": 11})
    return lossy_over(plan, 2, 3)


def lossy_over(plan: Plan, source: int, target: int) -> Plan:
    """The same with one lossy link."""
    chosen = (plan.links["from"] == source) & (plan.links["to"] == target)
    return plan._replace(links={**plan.links, "lossy": chosen.astype(np.uint8)})


@pytest.mark.parametrize(
    ("delay", "cycles"),
    # The burst is lost when its cycle ends, 50 us before the next one begins.
    [
        (0, 11),
        (50 * MICROSECOND - 1, 11),
        (50 * MICROSECOND, 12),
        (150 * MICROSECOND - 1, 12),
        (150 * MICROSECOND, 13),
        (None, 11),
    ],
)
def test_flows_that_lost_data_together_are_apart_from_when_it_is_known(
    delay: int | None, cycles: int
) -> None:
    made = bursts_of(kept_apart(3, 3, delay))
    assert made[:cycles] == [[0, 1, 2]] * cycles
    after = made[cycles:]
    assert len(after) == 3 * (CYCLES - cycles)
    assert Counter(flow for (flow,) in after) == dict.fromkeys(range(3), CYCLES - cycles)


@pytest.mark.parametrize(("short", "cycles"), [(0, 12), (1, 11)])
def test_a_notice_takes_as_long_as_the_burst_to_where_it_was_lost(short: int, cycles: int) -> None:
    """Over the first fibre in 25 us, or 1 ps less, and back, where the next cycle begins in 50."""
    plan = lossy_over(kept_apart(2, 2, None), 3, 4)
    plan.links["delay_ps"] = np.where(
        plan.links["delay_ps"] == FIBRE, 25 * MICROSECOND - short, plan.links["delay_ps"]
    ).astype(np.uint64)
    made = bursts_of(plan)
    assert made[:cycles] == [[0, 1]] * cycles
    assert sorted(made[cycles:]) == [[flow] for flow in (0, 1) for _ in range(CYCLES - cycles)]


def test_with_fewer_queues_each_block_of_flows_is_apart() -> None:
    """Five flows in two queues: the first two are apart, the next two, and one is with either."""
    made = bursts_of(kept_apart(5, 2, 0))
    for first, second in zip(made[11::2], made[12::2], strict=True):
        assert sorted(first + second) == [0, 1, 2, 3, 4]
        for burst in (first, second):
            assert len({0, 1} & set(burst)) == len({2, 3} & set(burst)) == 1


def test_a_flow_that_lost_alone_stays_with_the_others() -> None:
    """Two flows begin after the first has lost a burst, and before it loses the next but one."""
    # A flow with a new draw would seldom get the first queue.
    plan = kept_apart(3, 100, 0)
    late = plan.flows["departures_ps"].reshape(3, CYCLES)
    late[1:] += np.uint64(1100 * MICROSECOND)
    plan.flows["start_ps"][1:] += np.uint64(1100 * MICROSECOND)
    plan.settings["loss"] = loss({"burst": 11}, {"burst": 13})
    made = bursts_of(plan)
    assert made[:11] == [[0]] * 11
    assert made[11:13] == [[0, 1, 2]] * 2
    assert [0, 1, 2] not in made[13:]


def test_a_flow_of_which_nothing_comes_is_forgotten() -> None:
    """The third packet after the loss comes 700 us after the second."""
    for forget_after, together in ((700 * MICROSECOND, 0), (700 * MICROSECOND - 1, 7)):
        plan = kept_apart(2, 2, 0, forget_after_ps=forget_after)
        times = plan.flows["departures_ps"].reshape(2, CYCLES)
        times[:, 13:] += np.uint64(600 * MICROSECOND)
        made = bursts_of(plan)
        assert made.count([0, 1]) == 11 + together


def cut(drop: str, later: int) -> Plan:
    """Three flows of one edge, and one burst of another, a given time after their 11th.

    All have packets of 1,500 bytes and a channel to a third edge: when bursts collide there the
    later one loses its head, or the earlier one its tail.
    """
    rule = {"notice_delay_ps": 0, "forget_after_ps": 10_000 * MICROSECOND}
    assembly = multi_queue(50 * MICROSECOND, "a-posteriori", 2, **rule)["assembly"]
    resolver = {"kind": "segmentation", "drop": drop}
    switch = obs(assembly, ingress="delay", contention=[resolver])
    edges = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6)]
    links = table(
        edges,
        3,
        rates=[GIGABIT] * 3 + [10 * GIGABIT] * 3,
        delays=[ACCESS] * 3 + [FIBRE] * 3,
    )
    links["channels"] = np.ones(len(links["from"]), np.uint16)
    alone = 10 * 100 * MICROSECOND + later
    rows = [(0, 2, flow, CYCLES * SIZE) for flow in range(3)] + [(1, 2, alone, 3 * SIZE)]
    departures = [flow + cycle * 100 * MICROSECOND for flow in range(3) for cycle in range(CYCLES)]
    columns = flow_table(*rows) | {
        "departures_ps": np.array(departures + [alone] * 3, np.uint64),
        "departure_offsets": np.array([0, 20, 40, 60, 63], np.uint64),
    }
    return Plan(settings(3, 7, switch, datagram(SIZE)), links, columns)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("drop", "later", "hit"), [("tail", 1_800_000, {1, 2}), ("head", -1_800_000, {0, 1})]
)
def test_of_a_burst_that_is_cut_only_the_flows_in_the_lost_part_are_dealt(
    drop: str, later: int, hit: set[int], seed: int
) -> None:
    """Half of the second of three packets overlaps, 1.2 us each."""
    plan = cut(drop, later)
    plan.settings["seed"] = seed
    made = [flows for flows in bursts_of(plan) if flows[0] != 3]
    assert made[:11] == [[0, 1, 2]] * 11
    assert len(made) == 11 + 2 * (CYCLES - 11)
    for first, second in zip(made[11::2], made[12::2], strict=True):
        assert sorted(first + second) == [0, 1, 2]
        assert all(len(hit & set(burst)) == 1 for burst in (first, second))


@pytest.mark.parametrize(("drop", "later"), [("tail", 2_600_000), ("head", -3_000_000)])
def test_where_one_packet_is_cut_off_nothing_changes(drop: str, later: int) -> None:
    made = [flows for flows in bursts_of(cut(drop, later)) if flows[0] != 3]
    assert made == [[0, 1, 2]] * CYCLES


def hangs_on_the_order(plan: Plan) -> bool:
    """Whether another order of simultaneous events of different nodes gives other results."""
    found = core(plan)
    return any(differences(found, core(shuffled(plan, by))) != [] for by in range(8))


def test_a_loss_elsewhere_at_the_very_instant_is_not_known_yet() -> None:
    """The first fibre takes 50 us: the burst is lost behind it as the next cycle begins."""
    plan = lossy_over(kept_apart(3, 3, 0), 3, 4)
    delays = plan.links["delay_ps"]
    delays[delays == FIBRE] = 50 * MICROSECOND
    made = bursts_of(plan)
    assert made[:12] == [[0, 1, 2]] * 12
    assert len(made) == 12 + 3 * (CYCLES - 12)
    assert not hangs_on_the_order(plan)


@pytest.mark.parametrize("seed", range(8))
def test_of_losses_at_one_instant_the_burst_that_was_made_first_counts_first(seed: int) -> None:
    """Three paths of one length. Two of three bursts of one instant are lost, at two nodes."""
    plan = kept_apart(6, 3, 0)
    edges = [(0, 2), *((2, core) for core in (3, 4, 5)), *((core, 6) for core in (3, 4, 5)), (6, 1)]
    links = table(
        edges,
        2,
        rates=[GIGABIT, *[10 * GIGABIT] * 6, GIGABIT],
        delays=[ACCESS, *[FIBRE] * 6, ACCESS],
    )
    links["lossy"] = ((links["from"] > 2) & (links["to"] == 6)).astype(np.uint8)
    lost = [{"flow": flow, "burst": burst} for flow, burst in ((0, 4), (0, 8), (1, 8))]
    changes = {"nodes": 7, "seed": seed, "loss": loss(*lost)}
    plan = Plan({**plan.settings, **changes}, links, plan.flows)
    made = bursts_of(plan)
    assert [len(flows) for flows in made[:16]] == [6] * 4 + [2] * 12
    # Flows that shared a burst with the flows 0 and 1 are kept apart from them.
    for flow in (0, 1):
        together = next(flows for flows in made[4:7] if flow in flows)
        assert together not in made[16:]
    assert not hangs_on_the_order(plan)
