"""Throughput of circuits against closed forms: the duty cycle, one hop and two hops."""

from typing import Any

import numpy as np
import pytest
from circuit_plans import circuit, rack_edges, scheduled, shifts
from plans import GIGABIT, MICROSECOND, Plan, core, datagram, flow_columns, settings, table

RACKS, CORES = 9, 4
SLOT, GUARD, TX = 100 * MICROSECOND, 10 * MICROSECOND, 7_200_000
#: Segments that a slot holds.
IN_SLOT = (SLOT - GUARD) // TX


def saturated(
    switch: dict[str, Any], pairs: list[tuple[int, int]], number: int, slots: int = 400
) -> float:
    """Segments that a rack receives in a slot, if all pairs have `number` to send from the start.

    One host in each rack, whose link is as fast as all its circuits.
    """
    edges, hosts, nodes = rack_edges(RACKS, 1, CORES)
    rates = [CORES * 10 * GIGABIT if a < hosts else 10 * GIGABIT for a, _ in edges]
    source, destination = np.array(pairs).T
    # A host sends to its destinations in turn, as fast as its link.
    gap = max(1, len(pairs) // RACKS) * TX // CORES
    zeros = np.zeros(len(pairs), np.uint64)
    flows = flow_columns(source, destination, zeros, zeros + np.uint64(9_000 * number))
    flows |= {
        "departures_ps": np.tile(np.arange(number, dtype=np.uint64) * np.uint64(gap), len(pairs)),
        "departure_offsets": np.arange(len(pairs) + 1, dtype=np.uint64) * np.uint64(number),
    }
    # What has arrived while all racks still send.
    limit = slots * SLOT
    plan = Plan(
        settings(hosts, nodes, switch, datagram(), time_limit_ps=limit),
        table(edges, hosts, rates=rates),
        flows,
    )
    result = core(plan)
    assert (result["flows"]["status"] != 0).all()
    return float(result["totals"]["delivered_bytes"]) / 9_000 / RACKS / (limit / SLOT)


PERMUTATION = [(i, (i + 3) % RACKS) for i in range(RACKS)]
ALL_TO_ALL = [(i, j) for i in range(RACKS) for j in range(RACKS) if i != j]
CAPACITY = CORES * IN_SLOT


@pytest.mark.parametrize(
    ("forwarding", "pairs", "share"),
    [
        # A pair has one circuit of four in one slot of two: 1 / (n - 1) of the rack's capacity.
        ("direct", PERMUTATION, 1 / (RACKS - 1)),
        # Every circuit is of use.
        ("direct", ALL_TO_ALL, 1.0),
        # The circuits to its destination carry a rack's segments, and half the time of all others;
        # the other half goes to second hops. That is 1/2, as for RotorNet and Sirius, for large n.
        ("valiant", PERMUTATION, RACKS / (2 * (RACKS - 1))),
        ("rotor-lb", PERMUTATION, RACKS / (2 * (RACKS - 1))),
        # A segment takes two circuits, or one of n - 1 times the first leads to its rack.
        ("valiant", ALL_TO_ALL, 1 / (2 - 1 / (RACKS - 1))),
        # Direct circuits are used by direct traffic alone, and leave nothing over.
        ("rotor-lb", ALL_TO_ALL, 1.0),
    ],
)
def test_throughput_is_that_of_the_closed_form(
    forwarding: str, pairs: list[tuple[int, int]], share: float
) -> None:
    # Each circuit switch has two of the eight shifts.
    turns = [[core, core + CORES] for core in range(CORES)]
    switch = circuit(shifts(RACKS), turns, slot=SLOT, guard=GUARD, forwarding=forwarding)
    number = 2 * 400 * CAPACITY * RACKS // len(pairs)
    assert saturated(switch, pairs, number) == pytest.approx(share * CAPACITY, rel=0.02)


@pytest.mark.parametrize("forwarding", ["valiant", "rotor-lb"])
@pytest.mark.parametrize("active", [1, 2, 4])
def test_few_pairs_have_the_circuits_of_idle_racks(forwarding: str, active: int) -> None:
    """Of k pairs of racks, no rack in two of them, each has (n - k) / (n - 1) of a rack's capacity.

    A sender fills its circuits to the rack of its pair and to the n - 1 - k racks that receive
    nothing of their own, which hand on as much. Its circuits to the receivers of other pairs are
    full of the second hops that the senders of these have left at it.
    """
    turns = [[core, core + CORES] for core in range(CORES)]
    switch = circuit(shifts(RACKS), turns, slot=SLOT, guard=GUARD, forwarding=forwarding)
    pairs = [(i, i + 4) for i in range(active)]
    each = saturated(switch, pairs, 2 * 400 * CAPACITY) * RACKS / active
    assert each == pytest.approx((RACKS - active) / (RACKS - 1) * CAPACITY, rel=0.02)
    direct = circuit(shifts(RACKS), turns, slot=SLOT, guard=GUARD)
    one_hop = saturated(direct, pairs, 2 * 400 * CAPACITY) * RACKS / active
    assert one_hop == pytest.approx(CAPACITY / (RACKS - 1), rel=0.02)


#: Segments in each slot of a matching that is held for 32 slots, with one guard time for all.
HELD = (32 * SLOT - GUARD) // TX / 32


@pytest.mark.parametrize(
    ("kind", "own", "pairs", "carried"),
    [
        # All circuits of a rack lead where its segments go, for the open part of each slot: the
        # duty cycle, however long the delay is.
        ("hungarian", {}, PERMUTATION, CAPACITY),
        ("hungarian", {"delay": 350 * MICROSECOND}, PERMUTATION, CAPACITY),
        ("greedy", {}, PERMUTATION, CAPACITY),
        ("islip", {"iterations": 1}, PERMUTATION, CAPACITY),
        ("birkhoff", {"frame": 32}, PERMUTATION, CORES * HELD),
        # Every rack has a circuit in every slot.
        ("hungarian", {}, ALL_TO_ALL, CAPACITY),
    ],
)
def test_throughput_by_demand_is_the_duty_cycle(
    kind: str, own: dict[str, int], pairs: list[tuple[int, int]], carried: float
) -> None:
    size = 10 * GIGABIT * (SLOT - GUARD) // (8 * 10**12)
    switch = scheduled(kind, slot=SLOT, guard=GUARD, slot_bytes=[size] * CORES, **own)
    # At first little waits, and a matching is held for a slot alone.
    slots = 1_000 if kind == "birkhoff" else 200
    number = 2 * slots * CAPACITY * RACKS // len(pairs)
    assert saturated(switch, pairs, number, slots) == pytest.approx(carried, rel=0.03)
