"""The ideal completion time: reached exactly without contention, never undercut."""

from random import Random
from typing import Any

import numpy as np
import pytest
from compare import BRIEF
from hypothesis import assume, given
from hypothesis import strategies as st
from plans import (
    GIGABIT,
    MICROSECOND,
    SECOND,
    START,
    UNFINISHED,
    Arrays,
    Plan,
    all_optical,
    burst,
    core,
    datagram,
    electronic,
    flow_table,
    hybrid,
    path_edges,
    saw,
    settings,
    table,
)
from random_plans import KINDS, overtaking_plan, random_plan
from strategies import RATES, plans

RECEIVED = "received_ps"


def all_at_once(size: int, segment: int, **ends: int) -> Arrays:
    """One flow whose datagrams are all handed to the interface at its start."""
    flows = flow_table((ends.get("source", 0), ends.get("destination", 1), START, size))
    number = -(-size // segment)
    return {
        **flows,
        "departures_ps": np.full(number, START, np.uint64),
        "departure_offsets": np.array([0, number], np.uint64),
    }


def taken(plan: Plan) -> np.ndarray[Any, Any]:
    """How long each flow took; 2^64 - 1 less its start if it did not arrive."""
    received: np.ndarray[Any, Any] = core(plan)["flows"][RECEIVED]
    return received - plan.flows["start_ps"]


def mixed_line(random: Random) -> Plan:
    """A flow of any size on a line: electronic switches and any rates, or light and one rate."""
    edges, hosts, nodes = path_edges(random.randint(1, 6))
    segment = random.choice([300, 1_500, 9_000])
    size = random.choice([1, random.randint(1, segment), random.randint(1, 40 * segment)])
    kind = random.choice(["electronic", "electronic", "light", "burst"])
    rates = [random.choice(RATES) for _ in edges]
    switch: dict[str, Any] = electronic()
    if kind == "light":
        rates = [rates[0]] * len(edges)
        # Back to back, a unit meets a matrix that is still set up for the one before it.
        switching_time = random.choice([0, 1_000, 300_000]) if size <= segment else 0
        switch = random.choice([all_optical(switching_time), hybrid(2)])
    elif kind == "burst":
        # Bursts of one packet, because no two come at one instant; whole picoseconds a byte.
        switch = burst("timer", time=0)
        access = [random.choice(RATES) for _ in range(2)]
        rates = [access[0], *[10 * GIGABIT] * (len(edges) - 2), access[1]][: len(edges)]
    delays = [random.randint(1, 10**7) for _ in edges]
    return Plan(
        settings(hosts, nodes, switch, datagram(segment), seed=random.getrandbits(64)),
        table(edges, hosts, rates=rates, delays=delays),
        all_at_once(size, segment),
    )


@BRIEF
@given(st.integers(0, 2**32))
def test_datagrams_at_line_rate_arrive_at_the_ideal_time(seed: int) -> None:
    plan = mixed_line(Random(seed))
    result = core(plan)
    assert taken(plan).tolist() == result["flows"]["ideal_ps"].tolist()


def two_ways(choice: str, size: int, seed: int = 1) -> Plan:
    """Two switches with a slow link at the first port, and a fast one that is longer."""
    edges = [(0, 2), (1, 3), (2, 3), (2, 3)]
    rates = [10 * GIGABIT, 10 * GIGABIT, GIGABIT, 2 * GIGABIT]
    links = table(edges, hosts=2, rates=rates, delays=[50, 50, 50, 20 * MICROSECOND])
    chosen = {"choice": choice, "seed": seed}
    return Plan(
        settings(2, 4, electronic(), datagram(1_500), **chosen), links, all_at_once(size, 1_500)
    )


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        # 1.2 us at the hosts; 12 us at the first port, 6 us and 20 us of delay at the second.
        (1_500, 1_200_000 + 12_000_000 + 1_200_000 + 3 * 50),
        (15_000, 1_200_000 + 10 * 6_000_000 + 1_200_000 + 2 * 50 + 20_000_000),
    ],
)
def test_it_is_the_fastest_of_the_ways_that_a_flow_can_be_hashed_to(
    size: int, expected: int
) -> None:
    found = {
        int(core(two_ways("flow-hash", size, seed))["flows"]["ideal_ps"][0]) for seed in range(4)
    }
    assert found == {expected}
    # The seed decides the path of a flow; one of them is as fast as that.
    assert min(int(taken(two_ways("flow-hash", size, seed))[0]) for seed in range(20)) == expected


def test_side_by_side_segments_wait_only_where_all_ways_meet() -> None:
    """Ten segments: the hosts' links are shared, the two between the switches are not."""
    ideal = int(core(two_ways("free", 15_000))["flows"]["ideal_ps"][0])
    assert ideal == 1_200_000 + 12_000_000 + 10 * 1_200_000 + 3 * 50
    assert min(int(taken(two_ways("free", 15_000, seed))[0]) for seed in range(20)) >= ideal
    # One alone is no faster side by side.
    single = [two_ways("free", 1_500, seed) for seed in range(20)]
    assert min(int(taken(plan)[0]) for plan in single) == core(single[0])["flows"]["ideal_ps"][0]


def check_not_beaten(plan: Plan) -> None:
    """No flow was faster than its ideal."""
    flows = core(plan)["flows"]
    arrived = flows[RECEIVED] != UNFINISHED
    assert (taken(plan)[arrived] >= flows["ideal_ps"][arrived]).all()


@BRIEF
@given(plans())
def test_nothing_beats_it(plan: Plan) -> None:
    check_not_beaten(plan)


@BRIEF
@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_nothing_beats_it_with_tcp_and_bursts(seed: int, kind: str) -> None:
    plan = random_plan(seed, kind)
    resolvers = [
        one for switch in plan.settings["switches"] for one in switch.get("contention", ())
    ]
    # A deflected burst may find a faster path than those of the routes.
    assume(all(resolver["kind"] != "deflection" for resolver in resolvers))
    check_not_beaten(plan)


@BRIEF
@given(st.integers(0, 2**32))
def test_nothing_beats_it_where_segments_overtake(seed: int) -> None:
    check_not_beaten(overtaking_plan(seed))


@BRIEF
@given(plans(transport=st.builds(datagram, st.sampled_from([300, 1_500]))))
def test_nothing_beats_it_with_all_at_once(plan: Plan) -> None:
    """Datagrams at the line's rate, on any network, beside each other and alone."""
    segment = plan.transport()["segment_bytes"]
    counts = -(-plan.flows["bytes"].astype(np.int64) // segment)
    plan.flows.update(
        departures_ps=np.repeat(plan.flows["start_ps"], counts),
        departure_offsets=np.array([0, *counts.cumsum()], np.uint64),
    )
    check_not_beaten(plan)
    check_not_beaten(plan._replace(flows=all_at_once(20 * segment + 100, segment)))


def test_a_flow_without_end_has_an_ideal_time_all_the_same() -> None:
    """Values beyond 64 bits saturate."""
    edges, hosts, nodes = path_edges(2)
    links = table(edges, hosts, rates=[1_000, 1_000])
    flows = flow_table((0, 1, 0, 10**18))
    plan = Plan(
        settings(hosts, nodes, all_optical(), saw(), time_limit_ps=SECOND),
        links,
        flows,
    )
    assert core(plan)["flows"]["ideal_ps"].tolist() == [UNFINISHED]
