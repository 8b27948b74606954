"""Connections with several subflows: exact answers by hand, the twin, conservation, and theory."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from multipath_plans import multipath_plan
from plans import (
    ENGINES,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    core,
    electronic,
    flow_table,
    path_table,
    settings,
    table,
    tcp,
)
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: Host 0 at switch 2, host 1 at switch 5: over 3 or over 4.
EDGES = [(0, 2), (1, 5), (2, 3), (3, 5), (2, 4), (4, 5)]
WAYS = [(2, 3, 5), (2, 4, 5), (5, 3, 2), (5, 4, 2)]
#: 1,500 B at 10 Gb/s, and the delay of a link.
TX, DELAY = 1_200_000, 50_000
SEGMENT = 1500
#: 64 B.
CONTROL = 51_200


def over_two(size: int, **changes: Any) -> Plan:
    """A flow with two subflows, each on a path of its own."""
    links = table(EDGES, 2)
    transport = tcp(**{"subflows": 2, "handshake": False, "acknowledge_every": 1, **changes})
    chosen = {"label": "subflow", "routing": {"kind": "shortest-path", "metric": "hops"}}
    final = settings(2, 6, electronic(), transport, **chosen)
    flows = flow_table((0, 1, START, size))
    return Plan(final, links, flows, None, path_table(links, *WAYS))


def units(plan: Plan, result: Columns, source: int, target: int) -> int:
    """Packets that a link carried."""
    links = plan.links
    (link,) = np.flatnonzero((links["from"] == source) & (links["to"] == target))
    return int(result["links"]["units"][link])


@engines
def test_each_subflow_has_a_window_of_its_own(engine: Engine) -> None:
    """Four segments, an initial window of two: the first subflow takes two, the other the rest.

    All leave the host one after another; with one window the last two would wait for a round trip.
    The FIN of the first subflow comes to the last switch while that sends the third segment, and
    leaves it ahead of the fourth.
    """
    plan = over_two(4 * SEGMENT, initial_window_bytes=2 * SEGMENT)
    result = engine(plan)
    # Store and forward over four links, behind three others at the host.
    last = START + 3 * TX + 4 * (TX + DELAY) + CONTROL
    assert int(result["flows"]["received_ps"][0]) == last
    assert int(result["flows"]["transmissions"][0]) == 4
    # Two segments, the FIN and the last ACK over either path; each way back two ACKs and a FIN+ACK.
    assert units(plan, result, 2, 3) == units(plan, result, 2, 4) == 4
    assert units(plan, result, 3, 2) == units(plan, result, 4, 2) == 3


@engines
def test_the_last_acknowledgement_ends_the_flow_and_each_subflow_closes(engine: Engine) -> None:
    """Each over four links, in the order ACK, FIN, FIN+ACK, ACK."""
    plan = over_two(4 * SEGMENT, initial_window_bytes=2 * SEGMENT)
    result = engine(plan)
    back = 4 * (CONTROL + DELAY)
    received = int(result["flows"]["received_ps"][0])
    assert int(result["flows"]["acknowledged_ps"][0]) == received + back
    assert int(result["totals"]["transmitted_until_ps"]) == received + 4 * back - DELAY


@engines
def test_a_further_subflow_opens_when_the_first_is_established(engine: Engine) -> None:
    """Its SYN waits behind the ACK and the first two segments; the answer comes before their ACKs.

    So it takes the third and the fourth segment, and the first subflow the fifth with its first
    ACK, which comes while the host still sends those two.
    """
    plan = over_two(5 * SEGMENT, initial_window_bytes=2 * SEGMENT, handshake=True)
    result = engine(plan)
    there_and_back = 8 * (CONTROL + DELAY)
    joined = START + there_and_back + CONTROL + 2 * TX + there_and_back
    received = joined + CONTROL + 2 * TX + 4 * (TX + DELAY)
    assert int(result["flows"]["received_ps"][0]) == received
    # Over each path SYN, ACK, segments, FIN, ACK.
    assert units(plan, result, 2, 3) == 3 + 4
    assert units(plan, result, 2, 4) == 2 + 4


@engines
def test_a_further_subflow_without_data_is_not_opened(engine: Engine) -> None:
    plan = over_two(2 * SEGMENT, initial_window_bytes=2 * SEGMENT)
    result = engine(plan)
    assert units(plan, result, 2, 4) == units(plan, result, 4, 2) == 0
    assert int(result["flows"]["delivered_bytes"][0]) == 2 * SEGMENT


@engines
def test_a_loss_on_one_path_halves_one_window_only(engine: Engine) -> None:
    """The first segment of the first subflow is lost and repeated on its own path.

    Eight segments, windows of four: three duplicates repeat it, the other subflow goes on.
    """
    plan = over_two(8 * SEGMENT, initial_window_bytes=4 * SEGMENT)
    drop = {"flow": 0, "segments": [1, 1], "transmission": 1}
    lost = {"probability": 0.0, "acknowledgement_probability": 0.0, "drops": [drop]}
    links = {**plan.links, "lossy": np.ones(len(plan.links["from"]), np.uint8)}
    plan = plan._replace(settings={**plan.settings, "loss": lost}, links=links)
    flows = engine(plan)["flows"]
    names = ("transmissions", "retransmissions", "fast_retransmits", "timeouts", "drops")
    assert [int(flows[name][0]) for name in names] == [9, 1, 1, 0, 1]
    assert int(flows["delivered_bytes"][0]) == 8 * SEGMENT


@in_blocks("seed", range(120))
def test_core_equals_twin_with_subflows(seed: int) -> None:
    check_equal(multipath_plan(seed, ["packets", "bursts", "headers"][seed % 3]))


@pytest.mark.parametrize("kind", ["packets", "bursts"])
def test_each_byte_arrives_once_over_some_subflow(kind: str) -> None:
    finished = 0
    for seed in range(150):
        plan = multipath_plan(seed, kind)
        result = core(plan)
        check_conservation(plan, result)
        rows = result["flows"]
        size = plan.flows["bytes"]
        delivered = rows["delivered_bytes"].astype(np.uint64)
        assert (delivered <= size).all()
        assert ((rows["status"] == 0) == (delivered == size)).all()
        finished += int((rows["status"] == 0).sum())
    assert finished > 200


def endless(laws: list[dict[str, Any]], losses: tuple[int, int], p: float, seed: int) -> Plan:
    """Flows without end between the hosts, each from a host of its own, one per transport.

    Over the first path `losses[0]` links lose packets with probability `p`, over the other
    `losses[1]` links do; each path has six links of equal delay, none is full. The round trip is
    100 ms.
    """
    count, hops = len(laws), 5
    first, last = 2 * count, 2 * count + 1
    ways = [
        [first, *(last + 1 + way * (hops - 1) + i for i in range(hops - 1)), last]
        for way in range(2)
    ]
    edges = [(host, first) for host in range(count)]
    edges += [(count + host, last) for host in range(count)]
    edges += [pair for way in ways for pair in pairwise(way)]
    nodes = 2 * count + 2 + 2 * (hops - 1)
    links = table(edges, 2 * count, delays=50 * MILLISECOND // 7)
    lossy = np.zeros(len(links["from"]), np.uint8)
    for way, number in zip(ways, losses, strict=True):
        for a, b in list(pairwise(way))[:number]:
            lossy |= ((links["from"] == a) & (links["to"] == b)).astype(np.uint8)
    transports = [
        tcp(**{"acknowledge_every": 1, "rtt_samples": "every-acknowledgement", **law})
        for law in laws
    ]
    final = settings(
        2 * count,
        nodes,
        electronic(),
        transports,
        label="subflow",
        routing={"kind": "shortest-path", "metric": "hops"},
        seed=seed,
        time_limit_ps=400 * SECOND,
        loss={"probability": p, "acknowledgement_probability": 0.0},
    )
    rows = [(host, count + host, 0, 10**12) for host in range(count)]
    flows = {**flow_table(*rows), "group": np.arange(count, dtype=np.uint16)}
    both = [tuple(way) for way in ways] + [tuple(reversed(way)) for way in ways]
    return Plan(final, {**links, "lossy": lossy}, flows, None, path_table(links, *both))


def law(kind: str, subflows: int = 2) -> dict[str, Any]:
    """A transport with this law, alone or with subflows."""
    own = {"congestion_control": {"kind": kind, "halving": "flight-size"}}
    return own if subflows == 1 else own | {"subflows": subflows}


def rates(laws: list[dict[str, Any]], losses: tuple[int, int], p: float) -> list[float]:
    """Mean segments a second of each flow, over seeds."""
    each = [core(endless(laws, losses, p, seed))["flows"]["delivered_bytes"] for seed in range(6)]
    return [float(mean) / SEGMENT / 400 for mean in np.mean(each, axis=0)]


def shares(kind: str, losses: tuple[int, int], p: float) -> float:
    """Part of the packets of a flow that take the other path, over seeds."""
    found = []
    for seed in range(6):
        plan = endless([law(kind)], losses, p, seed)
        result = core(plan)
        one, other = units(plan, result, 2, 4), units(plan, result, 2, 8)
        found.append(other / (one + other))
    return float(np.mean(found))


def test_where_all_lose_alike_lia_takes_what_one_flow_takes_and_uncoupled_subflows_twice() -> None:
    """RFC 6356, section 2, goal 2: with equal loss and round trips.

    Windows of about 17 segments grow and fall in whole segments: the tolerance is 12 %.
    """
    one, lia, olia, two = rates(
        [law("reno", 1), law("lia"), law("olia"), law("reno")], (1, 1), 0.005
    )
    assert lia / one == pytest.approx(1, abs=0.12)
    assert olia / one == pytest.approx(1, abs=0.12)
    assert two / one == pytest.approx(2, abs=0.12)


def shared(own: dict[str, Any], seed: int, others: int = 4) -> Plan:
    """A connection of this transport beside several of Reno, over one link of 20 Mb/s with RED.

    The round trip is 100 ms without the queue. Random drops hit each packet alike, as the equations
    assume; a full queue without RED spares those whose windows grow slowly.
    """
    count = others + 1
    first, last = 2 * count, 2 * count + 1
    edges = [(host, first) for host in range(count)]
    edges += [(count + host, last) for host in range(count)] + [(first, last)]
    rates = [10**9] * (2 * count) + [20 * 10**6]
    links = table(edges, 2 * count, rates=rates, delays=50 * MILLISECOND // 3)
    red = {
        "kind": "red",
        "min_threshold_bytes": 30_000,
        "max_threshold_bytes": 200_000,
        "max_probability": 0.05,
        "weight": 0.002,
        "mean_packet_bytes": SEGMENT,
        "gentle": True,
        "ecn": False,
    }
    transports = [
        tcp(**{"acknowledge_every": 1, "rtt_samples": "every-acknowledgement", **one})
        for one in [own, *(law("reno", 1) for _ in range(others))]
    ]
    final = settings(
        2 * count,
        2 * count + 2,
        electronic(1_000_000, None, red),
        transports,
        seed=seed,
        time_limit_ps=250 * SECOND,
    )
    random = np.random.default_rng(seed)
    starts = np.sort(random.integers(0, SECOND, count))
    rows = [(host, count + host, int(start), 10**12) for host, start in enumerate(starts)]
    flows = {**flow_table(*rows), "group": np.arange(count, dtype=np.uint16)}
    return Plan(final, links, flows)


@pytest.mark.parametrize(
    ("own", "expected"), [(law("lia"), 1), (law("olia"), 1), (law("reno"), 2)], ids=str
)
def test_over_one_bottleneck_coupled_subflows_have_one_share(
    own: dict[str, Any], expected: int
) -> None:
    """RFC 6356, section 2, goal 2: beside four flows of Reno, whose mean is one share; +- 0.25."""
    found = []
    for seed in range(4):
        delivered = core(shared(own, seed))["flows"]["delivered_bytes"].astype(float)
        found.append(delivered[0] / delivered[1:].mean())
    assert np.mean(found) == pytest.approx(expected, abs=0.25)


def test_lia_takes_at_least_what_one_flow_takes_on_the_best_path() -> None:
    """RFC 6356, section 2, goal 1: losses of p and 4 p on the paths.

    They are so rare that windows have tens of segments, as the equations assume: otherwise timeouts
    on the worse path slow it.
    """
    best, lia = rates([law("reno", 1), law("lia")], (1, 4), 0.0005)
    assert lia > 0.95 * best


def test_lia_divides_its_traffic_by_the_inverse_of_loss_and_olia_leaves_the_worse_path() -> None:
    """With equal round trips the fixed point of LIA has windows in the ratio p_2 : p_1.

    For p and 4 p the worse path has a fifth of the traffic (Khalili et al. 2013, section II); with
    OLIA only what a window of about a segment brings.
    """
    lia = shares("lia", (1, 4), 0.0005)
    assert lia == pytest.approx(0.2, abs=0.05)
    assert shares("olia", (1, 4), 0.0005) < 0.75 * lia
    assert shares("reno", (1, 4), 0.0005) == pytest.approx(1 / 3, abs=0.04)
