"""The bytes that a link carried within the run, and those that still wait at its end."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import BRIEF
from hypothesis import given
from hypothesis import strategies as st
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    all_optical,
    burst,
    core,
    datagram,
    electronic,
    flow_table,
    one_flow,
    path_edges,
    saw,
    settings,
    table,
    tcp,
)
from random_plans import KINDS, random_plan
from strategies import plans
from twin import Columns

import lightburst as lb
from lightburst.scenario import Scenario

Engine = Callable[[Plan], Columns]


def check_busy(plan: Plan) -> None:
    """No link is busier than time allows, and bytes and time agree."""
    result = core(plan)
    links, end = result["links"], int(result["totals"]["transmitted_until_ps"])
    time = max(0, end - int(plan.flows["start_ps"].min()))
    busy = links["busy_ps"].astype(object)
    # Bursts go over all channels of a fibre at once.
    channels = plan.links.get("channels", np.ones(busy.size, np.uint16)).astype(object)
    assert (busy <= time * channels).all()
    # A unit takes a whole number of picoseconds, so bytes are up to a picosecond each behind.
    bits = 8 * 10**12 * links["bytes"].astype(object)
    carried = busy * plan.links["rate_bps"].astype(object)
    units = links["units"].astype(object)
    assert (bits <= carried).all()
    byte = 8 * 10**12
    assert (carried - bits <= (units + 1) * plan.links["rate_bps"].astype(object) + byte).all()


def cut(plan: Plan, share: float) -> Plan:
    """The same, ended by a time limit somewhere in the run."""
    end = int(core(plan)["totals"]["end_ps"])
    return Plan({**plan.settings, "time_limit_ps": max(1, int(share * end))}, *plan[1:])


@BRIEF
@given(plans(), st.floats(0, 1.1))
def test_no_link_is_busier_than_time_allows(plan: Plan, share: float) -> None:
    check_busy(cut(plan, share))


@BRIEF
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.floats(0, 1.1))
def test_nor_with_tcp_and_bursts(seed: int, kind: str, share: float) -> None:
    check_busy(cut(random_plan(seed, kind), share))


def test_a_timer_that_nobody_waits_for_does_not_thin_utilisation_out() -> None:
    """A flow of 1 MB at 10 Gb/s is over in a millisecond; its first timeout was armed for 1 s."""
    size = {"kind": "constant", "value": "1 MB"}
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "path", "links": 2, "link_length": "10 m"},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "tcp", "preset": "ns-2"},
            "workload": {"kind": "poisson", "flows": 1, "arrival_rate": 1, "size": size},
        }
    )
    result = lb.run(scenario)
    totals, link = result.columns["totals"], result.columns["links"]
    start = int(result.plan.flows["start_ps"][0])
    observed = totals["transmitted_until_ps"] - start
    assert MILLISECOND / 2 < observed < 3 * MILLISECOND
    assert totals["end_ps"] - start > SECOND / 2
    assert result.links["utilisation"].tolist() == [
        busy / observed for busy in link["busy_ps"].tolist()
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_waits_at_the_time_limit_is_left_out(engine: Engine) -> None:
    """Ten datagrams of 7.2 us at once, and 20 us: two are through, a third to 5.6 / 7.2."""
    edges, hosts, nodes = path_edges(2)
    flows = flow_table((0, 1, START, 90_000))
    flows |= {
        "departures_ps": np.full(10, START, np.uint64),
        "departure_offsets": np.array([0, 10], np.uint64),
    }
    limit = {"time_limit_ps": START + 20 * MICROSECOND}
    plan = Plan(settings(hosts, nodes, electronic(), datagram(), **limit), table(edges, 2), flows)
    result = engine(plan)
    links = result["links"]
    up, down = 0, 3
    assert result["totals"]["end_ps"] == START + 20 * MICROSECOND
    assert links["units"][up] == 10
    assert (links["bytes"][up], links["waiting_bytes"][up]) == (25_000, 65_000)
    assert links["busy_ps"][up] == 20 * MICROSECOND
    # The switch has had two: the first begins after 7.25 us, the second when it is through.
    assert links["units"][down] == 2
    assert links["busy_ps"][down] == 20 * MICROSECOND - 7_250_000
    assert links["bytes"][down] + links["waiting_bytes"][down] == 18_000


@pytest.mark.parametrize("engine", ENGINES)
def test_a_transfer_without_end_fills_its_access_link_and_no_more(engine: Engine) -> None:
    """Senders of yu2004's path: the access link is the bottleneck, at work from the data on."""
    rates = [GIGABIT, 80 * GIGABIT, GIGABIT]
    edges, hosts, nodes = path_edges(3)
    transport = tcp(segment_bytes=1_000, advertised_window_bytes=10**5, initial_window_bytes=10**5)
    limit = {"time_limit_ps": 4 * MILLISECOND}
    plan = Plan(
        settings(hosts, nodes, burst(time=100 * MICROSECOND), transport, **limit),
        table(edges, hosts, rates=rates, delays=MICROSECOND),
        flow_table((0, 1, 0, 10**8)),
    )
    result = engine(plan)
    links = result["links"]
    # SYN, its answer, and the ACK that goes with the first segment.
    control, fibre = 512_000, 6_400
    answered = 2 * (2 * control + fibre + 100 * MICROSECOND + 3 * MICROSECOND)
    assert links["busy_ps"][0] == control + (4 * MILLISECOND - answered)
    assert (links["busy_ps"] <= 4 * MILLISECOND).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("switch", [all_optical(300_000), burst(time=0, switching_time=300_000)])
def test_a_link_that_is_to_begin_after_the_end_was_not_busy(
    engine: Engine, switch: dict[str, Any]
) -> None:
    """The limit falls into the set-up of the matrix: the link has the unit, but did not begin."""
    whole = one_flow(4, switch, saw(), 100)
    # The middle switch has the head of the SYN after the delays before it, and 1 ps more.
    before = 2 * 50_000 + (51_200 if switch["kind"] == "burst" else 300_000)
    plan = Plan({**whole.settings, "time_limit_ps": START + before + 1}, *whole[1:])
    links = engine(plan)["links"]
    middle = [i for i in range(8) if (plan.links["from"][i], plan.links["to"][i]) == (3, 4)]
    (at,) = middle
    assert links["units"][at] == 1
    assert (links["busy_ps"][at], links["bytes"][at], links["waiting_bytes"][at]) == (0, 0, 64)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_queue_counts_until_the_time_limit(engine: Engine) -> None:
    """Two units at once for one output: the second waits 7.2 us, of which 3 us are within."""
    edges = [(0, 3), (1, 3), (2, 3)]
    flows = flow_table((0, 2, 0, 9_000), (1, 2, 0, 9_000))
    flows |= {
        "departures_ps": np.zeros(2, np.uint64),
        "departure_offsets": np.arange(3, dtype=np.uint64),
    }
    for limit, waited in ((7_250_000 + 3_000_000, 3_000_000), (SECOND, 7_200_000)):
        plan = Plan(
            settings(3, 4, electronic(), datagram(), time_limit_ps=limit), table(edges, 3), flows
        )
        assert engine(plan)["switches"]["buffer_byte_ps"].tolist() == [9_000 * waited]
