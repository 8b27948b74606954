"""How long outages stop flows: exact answers by hand, and the twin."""

from collections.abc import Callable

import numpy as np
import pytest
from compare import check_equal
from outage_plans import burst_outage_plan, outage_plan
from plans import (
    ENGINES,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    core,
    datagram,
    electronic,
    flow_table,
    settings,
    star_edges,
    table,
    tcp,
)
from test_outages import DIAMOND, HOP, down
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
NEVER = 2**64 - 1


def measured(plan: Plan, length: int) -> Plan:
    """The plan with times to recover, and bins of this length."""
    return plan._replace(settings={**plan.settings, "recovery_bin_ps": length})


def stops(result: Columns) -> list[tuple[int, int, int]]:
    """Packets lost, longest stop and begin of an open one, of each flow."""
    found = result["recovery_flows"]
    columns = (found[name].tolist() for name in ("cut_packets", "longest_ps", "stopped_ps"))
    return list(zip(*columns, strict=True))


def stream(*spans: tuple[int, int]) -> Plan:
    """A flow of ten datagrams, one every 10 us; the link to the receiver is down in the spans."""
    edges, hosts, nodes = star_edges(2)
    flows = {
        **flow_table((0, 1, 0, 90_000)),
        "departures_ps": np.arange(10, dtype=np.uint64) * (10 * MICROSECOND),
        "departure_offsets": np.array([0, 10], np.uint64),
    }
    plan = Plan(settings(hosts, nodes, electronic(), datagram()), table(edges, hosts), flows)
    return measured(down(plan, [(2, 1, *span) for span in spans]), 20 * MICROSECOND)


def sent(number: int) -> int:
    """When a datagram leaves its host."""
    return 10 * MICROSECOND * number


@engines
def test_a_flow_recovers_with_the_first_packet_that_follows_the_lost_one(engine: Engine) -> None:
    """Down while numbers 3 and 4 are on the link: from 1 ps before the arrival of 3."""
    cut = sent(3) + 2 * HOP - 1
    result = engine(stream((cut, sent(5))))
    assert stops(result) == [(2, sent(5) + 2 * HOP - cut, NEVER)]
    # Number k arrives at 14.5 us + k 10 us: the bins of 20 us have 0, then 1 and 2, 5 and 6, ...
    assert result["recovery"]["bytes"].tolist() == [9000, 18_000, 0, 18_000, 18_000, 9000]


@engines
def test_what_is_sent_into_an_outage_counts_from_there(engine: Engine) -> None:
    """The link goes down long before number 3 reaches it; 2 has passed."""
    result = engine(stream((sent(2) + 2 * HOP, sent(4))))
    assert stops(result) == [(1, (sent(4) + 2 * HOP) - (sent(3) + HOP), NEVER)]


@engines
def test_of_several_stops_the_longest_counts(engine: Engine) -> None:
    first, second = sent(1) + HOP, sent(4) + HOP
    result = engine(stream((first, first + 1), (second, sent(6) + HOP)))
    assert stops(result) == [(3, 20 * MICROSECOND + HOP, NEVER)]


@engines
def test_without_a_later_packet_a_stop_stays_open(engine: Engine) -> None:
    cut = sent(8) + HOP + 5
    assert stops(engine(stream((cut, SECOND)))) == [(2, 0, cut)]
    assert stops(engine(stream((SECOND, 2 * SECOND)))) == [(0, 0, NEVER)]


@engines
def test_a_sender_recovers_when_its_retransmission_arrives(engine: Engine) -> None:
    """As in `test_outages`: the third segment of five is lost, and repaired after 1 s, over four
    links in place of three.
    """
    transport = tcp(
        "reno",
        congestion_control={"kind": "stop-and-wait"},
        acknowledge_every=1,
        initial_window_bytes=1500,
        handshake=False,
    )
    links = table(DIAMOND, 3, rates=10**9, delays=MILLISECOND)
    plan = Plan(settings(3, 6, electronic(), transport), links, flow_table((0, 2, 0, 5 * 1500)))
    segment, reply = 12 * MICROSECOND + MILLISECOND, 512_000 + MILLISECOND
    third = 2 * 3 * (segment + reply)
    cut = third + segment + 1
    both = [(3, 5, cut, NEVER), (5, 3, cut, NEVER)]
    result = engine(measured(down(plan, both, restoration_ps=50 * MILLISECOND), SECOND))
    repaired = third + SECOND + 4 * segment
    assert stops(result) == [(1, repaired - cut, NEVER)]
    assert result["recovery"]["bytes"].tolist() == [2 * 1500, 3 * 1500]


def with_bins(plan: Plan, seed: int) -> Plan:
    """The plan with some bins until its time limit."""
    return measured(plan, 1 + plan.settings["time_limit_ps"] // (1 + 7 * seed))


@in_blocks("seed", range(60))
def test_core_equals_twin(seed: int) -> None:
    for plan in (outage_plan(seed), burst_outage_plan(seed)):
        if plan.settings["outages"]["links"]:
            check_equal(with_bins(plan, seed))


def test_random_plans_stop_flows() -> None:
    plans = [make(seed) for seed in range(60) for make in (outage_plan, burst_outage_plan)]
    results = [core(with_bins(plan, 1)) for plan in plans if plan.settings["outages"]["links"]]
    assert sum(int((one["recovery_flows"]["longest_ps"] > 0).sum()) for one in results) > 50
    assert sum(int((one["recovery_flows"]["stopped_ps"] < NEVER).sum()) for one in results) > 50
