"""Circuits whose links go down: by hand, and core against twin on random networks."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from circuit_plans import (
    bursts,
    packets,
    random_circuits,
    random_demand,
    random_expander,
    random_hybrid,
    scheduled,
    with_packets,
)
from compare import check_conservation, check_equal, check_stories
from outage_plans import NEVER, with_outages
from plans import ENGINES, GIGABIT, MICROSECOND, MILLISECOND, Plan, core, traced
from test_outages import down
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("run", ENGINES)

#: A segment of 9 kB at 10 Gb/s; the links of a circuit switch are 1 us long, those of hosts 50 ns.
TX = 7_200_000
US = MICROSECOND
# Hosts are 0 to 3, racks 4 to 7, circuit switches from 8 on.
CORE = 8


def core_down(plan: Plan, begin: int, end: int, **more: Any) -> Plan:
    """The plan with the first circuit switch down for a time."""
    ends = [pair for rack in range(4, 8) for pair in ((rack, CORE), (CORE, rack))]
    return down(plan, [(*pair, begin, end) for pair in ends], **more)


@engines
def test_racks_leave_out_a_circuit_that_they_know_to_be_down(run: Engine) -> None:
    """A circuit from 10 us on; its switch is down from 40 to 250 us, and racks know 20 us later."""
    plan = bursts((0, 1, 20))
    result = run(core_down(plan, 40 * US, 250 * US, restoration_ps=20 * US))
    # At the switch segments begin at 10, 17.2, 24.4, 31.6, 38.8 and 46 us. The next would end at
    # 60.4 us, when the racks know. The last two are not wholly through at 40 us.
    assert result["links"]["lost"].sum() == 2
    assert result["flows"]["delivered_bytes"].tolist() == [18 * 9_000]
    # The circuit is open again from 310 us on, for 12 segments, and from 610 us on for 2.
    links = TX + 1 * US + TX + 50_000
    assert result["totals"]["end_ps"] == 610 * US + TX + links
    # Nobody learns of it: the 12 segments up to 96.4 us go on, and all after the fourth are lost.
    result = run(core_down(plan, 40 * US, 250 * US))
    assert result["links"]["lost"].sum() == 12 - 4
    assert result["totals"]["end_ps"] == 310 * US + 7 * TX + links


@engines
@pytest.mark.parametrize(
    ("forwarding", "received"),
    [
        # The first switch has the only circuit to rack 1, which opens after the repair.
        ("direct", 910 * US),
        # By the second switch to rack 2 at 10 us. From there only the first one leads to rack 1: a
        # packet is not handed on to where no circuit leads further.
        ("valiant", 910 * US),
        ("rotor-lb", 910 * US),
    ],
)
def test_no_rack_relays_what_has_no_way_on(run: Engine, forwarding: str, received: int) -> None:
    # Switch 0 has the shift by 1 alone, and so the circuit from 0 to 1; switch 1 that by 2.
    plan = bursts((0, 1, 1), cores=2, turns=[[0], [1]], forwarding=forwarding)
    result = run(core_down(plan, 1, 900 * US, restoration_ps=0))
    assert result["flows"]["received_ps"].tolist() == [received + 2 * TX + 1 * US + 50_000]
    assert result["links"]["lost"].sum() == 0


@engines
def test_two_hops_go_round_a_switch_that_is_down(run: Engine) -> None:
    # The circuit 0 to 1 is of switch 0, which is down. Shifts by 2 and 3 at switch 1 lead there
    # over rack 2 (2 + 3 = 1 modulo 4): slots 0 and 1. With one hop it waits for ever.
    rows = {"turns": [[0], [1, 2]], "cores": 2}
    plan = bursts((0, 1, 1), forwarding="rotor-lb", **rows)
    result = run(core_down(plan, 1, NEVER, restoration_ps=0))
    assert result["flows"]["received_ps"].tolist() == [110 * US + 2 * TX + 1 * US + 50_000]
    result = run(core_down(bursts((0, 1, 1), **rows), 1, NEVER, restoration_ps=0))
    assert result["flows"]["delivered_bytes"].tolist() == [0]


@engines
def test_short_flows_go_over_the_circuits_that_are_left(run: Engine) -> None:
    # Three switches with a shift each. The circuit 0 to 1 is down; the graph of the others leads
    # there by 3 + 2, in either order, in the same slot. So does that of a long flow, which has no
    # circuit of its own left.
    for short_bytes in (9_000, 1):
        plan = bursts((0, 1, 1), turns=[[0], [1], [2]], cores=3, forwarding="opera")
        (own,) = plan.settings["switches"]
        own["short_bytes"] = short_bytes
        result = run(core_down(plan, 1, NEVER, restoration_ps=0))
        # Two circuits with a link before them, or between them, and the link to the host.
        expected = 10 * US + (1 * US + TX) + 1 * US + (1 * US + TX) + (TX + 50_000)
        assert result["flows"]["received_ps"].tolist() == [expected]


@engines
def test_schedulers_do_not_use_a_switch_that_is_down(run: Engine) -> None:
    switch = scheduled("greedy", slot_bytes=(112_500, 112_500))
    plan = bursts((0, 1, 1), (2, 1, 1), cores=2, switch=switch)
    both = run(plan)["flows"]["received_ps"].tolist()
    one = run(core_down(plan, 1, NEVER, restoration_ps=0))["flows"]["received_ps"].tolist()
    # The look at 80 us sees both. They have one destination, with a link from each switch: at once
    # with two switches, in two slots with one.
    assert both == [110 * US + 2 * TX + 1 * US + 50_000 + late for late in (0, TX)]
    assert one == [both[0], both[0] + 100 * US]


@engines
def test_units_go_by_circuits_while_the_packet_network_is_known_to_be_down(run: Engine) -> None:
    plan = with_packets(bursts((0, 3, 1), (1, 3, 1)), packets(), 1 * GIGABIT, 2 * US)
    # Rack 0 has no link to the packet network (node 9), and rack 1 the slot to rack 3 from 110 us.
    received = run(down(plan, [(4, 9, 1, NEVER)], restoration_ps=0))["flows"]["received_ps"]
    by_packets = TX + 50_000 + 2 * (10 * TX + 2 * US) + TX + 50_000
    assert received.tolist() == [210 * US + 2 * TX + 1 * US + 50_000, by_packets + 1]
    # Nobody learns of it, and the first is lost.
    result = run(down(plan, [(4, 9, 1, NEVER)]))
    assert result["flows"]["delivered_bytes"].tolist() == [0, 9_000]
    # No link leads to rack 3 from the packet network.
    received = run(down(plan, [(9, 7, 1, NEVER)], restoration_ps=0))["flows"]["received_ps"]
    assert received.tolist() == [at * US + 2 * TX + 1 * US + 50_000 for at in (210, 110)]


def circuit_outages(make: Callable[[int], Plan], seed: int) -> Plan:
    """A random plan of circuits with outages, which ends soon after that without them."""
    plan = make(seed)
    end = int(core(plan)["totals"]["end_ps"])
    limit = min(plan.settings["time_limit_ps"], 3 * end + MILLISECOND)
    plan = with_outages(Random(f"circuit outages/{seed}"), plan)
    return plan._replace(settings=plan.settings | {"time_limit_ps": limit, "sample_ps": None})


@pytest.mark.parametrize("make", [random_circuits, random_demand, random_expander, random_hybrid])
def test_core_equals_twin(make: Callable[[int], Plan]) -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        plan = circuit_outages(make, seed)
        own = plan.settings["switches"][0]
        if own.get("scheduler", {}).get("kind") == "birkhoff":
            continue
        result = check_equal(plan)
        check_conservation(plan, result)
        seen[own["forwarding"]] += 1
        seen["lost"] += bool(result["links"]["lost"].sum())
    assert seen["lost"] >= 20, seen


def test_each_unit_is_in_one_place() -> None:
    for seed in range(20):
        check_stories(traced(circuit_outages(random_circuits, seed)))
