"""Circuit switches: slots by hand, and core against twin on random networks."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from circuit_plans import FORWARDINGS, bursts, random_circuits
from compare import check_conservation, check_equal, check_stories
from plans import ENGINES, Plan, core, traced
from twin import Columns

# A segment of 9 kB takes 7.2 us at 10 Gb/s. Links of hosts have a delay of 50 ns, those of circuit
# switches one of 1 us.
TX = 7_200_000
Engine = Callable[[Plan], Columns]


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(
    ("slot", "received"),
    [
        # The first segment is at the circuit switch at 8.25 us, and waits for the end of the guard
        # time, 10 us. 90 us hold 12 segments. The other 8 go when the circuit comes again, from
        # 310 us on; the last one from 310 + 7 * 7.2 us on, and 7.2 + 1 + 7.2 + 0.05 us later it is
        # at its host.
        (100_000_000, 310_000_000 + 7 * TX + 15_450_000),
        # 12 segments fill a slot to the picosecond.
        (96_400_000, 3 * 96_400_000 + 10_000_000 + 7 * TX + 15_450_000),
        # A picosecond less, and the twelfth does not fit.
        (96_399_999, 3 * 96_399_999 + 10_000_000 + 8 * TX + 15_450_000),
    ],
)
def test_a_slot_holds_what_is_through_before_its_end(run: Engine, slot: int, received: int) -> None:
    result = run(bursts((0, 1, 20), slot=slot))
    assert result["flows"]["received_ps"].tolist() == [received]
    assert result["links"]["lost"].sum() == result["links"]["dropped"].sum() == 0
    # All but the last of a slot depart at an event of their own; a slot without traffic has none.
    assert (
        result["totals"]["events"]
        == run(bursts((0, 1, 20), slot=slot, turns=[[0, 1, 2] * 99]))["totals"]["events"]
    )


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(
    ("forwarding", "received", "relayed"),
    [
        # The circuit to rack 1 opens at 210 us.
        ("direct", 210_000_000 + 15_450_000, 0),
        # Over the one to rack 2 at 10 us, and from there over that to rack 1 at 110 us.
        ("valiant", 110_000_000 + 15_450_000, 1),
        ("rotor-lb", 110_000_000 + 15_450_000, 1),
    ],
)
def test_two_hops_take_two_slots(run: Engine, forwarding: str, received: int, relayed: int) -> None:
    result = run(bursts((0, 1, 1), forwarding=forwarding, turns=[[1, 2, 0]]))
    assert result["flows"]["received_ps"].tolist() == [received]
    assert result["switches"]["relayed"].sum() == relayed


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(
    ("forwarding", "direct"),
    [
        # First in, first out: the segment for rack 2 follows the one for rack 1.
        ("valiant", 20_000_000 + TX + 15_450_000),
        # The circuit leads to rack 2, whose segment goes first.
        ("rotor-lb", 20_000_000 + 15_450_000),
    ],
)
def test_rotor_lb_serves_the_rack_at_the_end_of_the_circuit_first(
    run: Engine, forwarding: str, direct: int
) -> None:
    plan = bursts((0, 1, 1), (0, 2, 1), forwarding=forwarding, turns=[[1, 2, 0]], guard=20_000_000)
    result = run(plan)
    # Both are there before the guard time ends. That for rack 1 goes on from rack 2 in slot 1.
    assert result["flows"]["received_ps"].tolist() == [120_000_000 + 15_450_000, direct]


@pytest.mark.parametrize("run", ENGINES)
def test_a_queue_holds_what_its_size_says(run: Engine) -> None:
    # Of four segments that come before the guard time ends, 27 kB hold three.
    result = run(bursts((0, 1, 4), queue=27_000, guard=50_000_000))
    rack = {name: column[0] for name, column in result["switches"].items()}
    assert rack["dropped_queue_full"] == 1
    assert rack["buffered"] == 3
    assert rack["buffer_max_bytes"] == 27_000
    # They come at 7.25, 14.45 and 21.65 us, and go at 49, 56.2 and 63.4 us.
    waits = [49 - 7.25, 56.2 - 14.45, 63.4 - 21.65]
    assert rack["buffer_byte_ps"] == pytest.approx(9_000 * sum(waits) * 1e6, rel=1e-12)
    assert rack["oe_bytes"] == 36_000
    assert rack["eo_bytes"] == 27_000


def test_an_empty_network_has_no_events() -> None:
    """Slots cost nothing: a run of 1,000 slots has the events of its packet alone."""
    plan = bursts((0, 1, 1))
    late = {**plan.flows, "departures_ps": np.array([10**11], np.uint64)}
    late["start_ps"] = late["departures_ps"]
    result = core(plan._replace(flows=late))
    # Its start; four arrivals; and at rack 0, perhaps, the opening of the circuit.
    assert result["totals"]["end_ps"] > 1_000 * 100_000_000
    assert result["totals"]["events"] == 6


@pytest.mark.parametrize("block", range(4))
def test_core_equals_twin(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(60 * block, 60 * block + 60):
        plan = random_circuits(seed)
        result = check_equal(plan)
        check_conservation(plan, result)
        forwarding = plan.settings["switches"][0]["forwarding"]
        switches = result["switches"]
        seen[forwarding] += 1
        seen["relayed"] += bool(switches["relayed"].sum())
        seen["full"] += bool(switches["dropped_queue_full"].sum())
        assert forwarding != "direct" or not switches["relayed"].any()
    assert all(seen[name] >= 10 for name in FORWARDINGS), seen
    assert seen["relayed"] >= 20, seen
    assert seen["full"] >= 1, seen


def test_each_unit_is_in_one_place() -> None:
    for seed in range(30):
        check_stories(traced(random_circuits(seed)))


@pytest.mark.slow
def test_core_equals_twin_at_length() -> None:
    for seed in range(1_000, 4_000):
        check_equal(random_circuits(seed))
