"""Slots that begin one after another, and short flows over the circuits of the present.

By hand, and core against twin on random networks.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from circuit_plans import bursts, circuit, random_expander, shifts
from compare import check_conservation, check_equal, check_stories
from plans import ENGINES, Plan, traced
from twin import Columns

# A segment of 9 kB takes 7.2 us at 10 Gb/s. Links of hosts have a delay of 50 ns, those of circuit
# switches one of 1 us. From its circuit on a segment takes 7.2 + 1 + 7.2 + 0.05 us to its host, and
# 7.2 + 1 + 1 us to the next circuit.
TX, REST, NEXT = 7_200_000, 15_450_000, 9_200_000
US = 1_000_000
Engine = Callable[[Plan], Columns]


def expander(
    *flows: tuple[int, int, int],
    turns: list[list[int]],
    short: int | None = 9_000,
    offsets: list[int] | None = None,
    guard: int = 10 * US,
) -> Plan:
    """Four racks of a host each; flows of a segment are short. Shift 0 is to the next rack."""
    forwarding = "direct" if short is None else "opera"
    own: dict[str, Any] = circuit(shifts(4), turns, forwarding=forwarding, guard=guard)
    if short is not None:
        own["short_bytes"] = short
    if offsets is not None:
        own["schedule"]["offsets_ps"] = offsets
    return bursts(*flows, switch=own, cores=len(turns))


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(
    ("short", "received", "relayed"),
    [
        # Slot 0 has the circuits 0 to 1, 1 to 2 and 2 to 3: three hops from 10 us on.
        (9_000, 10 * US + 2 * NEXT + REST, 2),
        # Not short: the circuit from 0 to 3 opens at 110 us.
        (8_999, 110 * US + REST, 0),
    ],
)
def test_short_flows_go_over_several_circuits_of_a_slot(
    run: Engine, short: int, received: int, relayed: int
) -> None:
    result = run(expander((0, 3, 1), turns=[[0, 2]], short=short))
    assert result["flows"]["received_ps"].tolist() == [received]
    assert result["switches"]["relayed"].sum() == relayed


@pytest.mark.parametrize("run", ENGINES)
def test_a_way_is_one_over_circuits_that_are_open(run: Engine) -> None:
    # The segment is at the circuit switches at 8.25 us. Switch 0 is in its guard time up to 10 us;
    # the slot of switch 1, from 0 to 3 and from 3 to 2, lasts up to 50 us.
    result = run(expander((0, 2, 1), turns=[[0], [2]], offsets=[0, 50 * US]))
    assert result["flows"]["received_ps"].tolist() == [8_250_000 + NEXT + REST]
    # Without an offset both are in their guard time up to 10 us.
    together = run(expander((0, 2, 1), turns=[[0], [2]]))
    assert together["flows"]["received_ps"].tolist() == [10 * US + NEXT + REST]


@pytest.mark.parametrize("run", ENGINES)
def test_slots_with_an_offset_begin_later(run: Engine) -> None:
    # The slots of the only switch begin at 30 us: before it is in the last one of its turn, from 0
    # to 3, and from 40 us on in the first one, from 0 to 1.
    plan = expander((0, 1, 13), (0, 3, 1), turns=[[0, 2]], short=None, offsets=[30 * US])
    result = run(plan)
    # 12 segments for rack 1 up to 130 us, the last one from 240 us on; that for rack 3 from 140 us.
    assert result["flows"]["received_ps"].tolist() == [240 * US + REST, 140 * US + REST]


@pytest.mark.parametrize("run", ENGINES)
def test_short_flows_go_first(run: Engine) -> None:
    # All are there before the guard time ends, at 50 us.
    result = run(expander((0, 1, 3), (0, 1, 1), turns=[[0, 1, 2]], guard=50 * US))
    assert result["flows"]["received_ps"].tolist() == [50 * US + 3 * TX + REST, 50 * US + REST]


@pytest.mark.parametrize("run", ENGINES)
def test_a_segment_that_goes_back_and_forth_waits_for_its_circuit_in_the_end(run: Engine) -> None:
    # From 0 to 2 in slots of a single hop. In every second one the way is 0, 1, 2, in the others it
    # is 1, 0, 2: when the segment is at a rack, the way from there leads back. It takes circuits
    # from 11 us on, the eighth at 81 us, back to rack 0. There it waits for the one to rack 2, at
    # 101 us.
    ways = [[1, 2, 3, 0], [2, 0, 3, 1]]
    own = circuit(ways, [[1, 0]], forwarding="opera", slot=10 * US, guard=US)
    result = run(bursts((0, 2, 1), switch=own | {"short_bytes": 9_000}))
    assert result["flows"]["received_ps"].tolist() == [101 * US + REST]
    assert result["switches"]["relayed"].tolist() == [4, 4, 0, 0, 0]


@pytest.mark.parametrize("block", range(4))
def test_core_equals_twin(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(30 * block, 30 * block + 30):
        plan = random_expander(seed)
        result = check_equal(plan)
        check_conservation(plan, result)
        own = plan.settings["switches"][0]
        seen[own["forwarding"]] += 1
        seen["offsets"] += "offsets_ps" in own["schedule"]
        seen["relayed"] += own["forwarding"] == "opera" and bool(
            result["switches"]["relayed"].sum()
        )
    assert all(seen[name] >= 10 for name in ("opera", "offsets", "relayed")), seen


def test_each_unit_is_in_one_place() -> None:
    for seed in range(20):
        check_stories(traced(random_expander(seed)))
