"""Switches of several kinds in one network, by hand, to the picosecond.

On `L` links of delay `d` with `e` electronic switches and the others optical, each of these with
`s` of switching time, a unit of `n` bytes is received by the host at the other end after

    one_way(n) = L d + (L - 1 - e) s + (e + 1) tx(n)
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    MICROSECOND,
    Plan,
    all_optical,
    burst,
    datagram,
    electronic,
    flow_table,
    hybrid,
    one_datagram_each,
    one_flow,
    saw,
    settings,
    table,
    tcp,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
D, S = 50_000, 3_000
CONTROL, FULL = 51_200, 7_200_000
KINDS = [electronic(), all_optical(S), hybrid(2, switching_time=S)]
engines = pytest.mark.parametrize("engine", ENGINES)


@engines
@pytest.mark.parametrize(
    "kinds", [[0, 1, 0], [1, 0, 1], [0, 2, 0], [2, 0, 1], [0, 0, 1], [1, 2, 1], [0, 0, 0]]
)
def test_a_unit_through_switches_of_several_kinds(engine: Engine, kinds: list[int]) -> None:
    plan = one_flow(4, electronic(), datagram(), 9000)
    plan = plan._replace(settings={**plan.settings, "switches": KINDS}, kinds=kinds)
    stored = kinds.count(0)
    result = engine(plan)
    took = result["flows"]["received_ps"] - plan.flows["start_ps"]
    assert took.tolist() == [4 * D + (3 - stored) * S + (stored + 1) * FULL]
    assert result["switches"]["oe_bytes"].tolist() == [9000 * (kind == 0) for kind in kinds]


@engines
def test_a_flow_through_electronic_edges_and_a_hybrid_core(engine: Engine) -> None:
    plan = one_flow(4, [electronic(), hybrid(2)], saw(), 9000)._replace(kinds=[0, 1, 0])
    result = engine(plan)
    control, data = (4 * D + 3 * tx for tx in (CONTROL, FULL))
    # SYN and SYN+ACK, the ACK ahead of the segment on the interface, the segment and its ACK.
    took = result["flows"]["acknowledged_ps"] - plan.flows["start_ps"]
    assert took.tolist() == [2 * control + CONTROL + data + control]


@engines
def test_an_electronic_edge_smooths_what_a_bufferless_core_would_lose(engine: Engine) -> None:
    """Two units at one instant for one output: the edge queues one, then light takes both."""
    # Hosts 0 and 1 at switch 3, then switch 4, then host 2.
    links = table([(0, 3), (1, 3), (3, 4), (4, 2)], 3, delays=D)
    flows = one_datagram_each(flow_table((0, 2, 0, 9000), (1, 2, 0, 9000)))
    chosen = settings(3, 5, [electronic(), all_optical()], datagram())
    arrived = 3 * D + 2 * FULL  # a transmission to the electronic switch, and one from it
    result = engine(Plan(chosen, links, flows, [0, 1]))
    # The order of the two is drawn.
    assert sorted(result["flows"]["received_ps"].tolist()) == [arrived, arrived + FULL]
    # In the reverse order one of the two is lost, where there is no buffer.
    result = engine(Plan(chosen, links, flows, [1, 0]))
    assert sorted(result["flows"]["received_ps"].tolist()) == [arrived, 2**64 - 1]
    assert result["switches"]["dropped_contention"].tolist() == [1, 0]


@engines
@pytest.mark.parametrize(("core", "held"), [(1, S), (2, S), (0, None)])
def test_bursts_over_cores_of_each_kind(engine: Engine, core: int, held: int | None) -> None:
    """Host 0, an edge, a core, an edge, host 1: a burst of one packet after the assembly time."""
    links = table([(0, 2), (2, 3), (3, 4), (4, 1)], 2, delays=D)
    flows = one_datagram_each(flow_table((0, 1, 0, 9000)))
    chosen = settings(2, 5, [*KINDS, burst(time=MICROSECOND)], datagram())
    result = engine(Plan(chosen, links, flows, [3, core, 3]))
    # Received whole at both edges and at the host, and where the core is electronic there too.
    expected = 4 * D + 3 * FULL + MICROSECOND + (FULL if held is None else held)
    assert result["flows"]["received_ps"].tolist() == [expected]
    assert result["switches"]["bursts"].tolist() == [1, 0, 0]


@engines
def test_all_bursts_between_two_edges_take_one_way(engine: Engine) -> None:
    """With `flow-hash` no burst overtakes another, for all flows of their first packets."""
    # Hosts 0 to 5 at edge 6, hosts 7.. at edge 12, four cores between them.
    hosts, ways = 12, 4
    first, second = hosts, hosts + 1
    edges = [(host, first if host < 6 else second) for host in range(hosts)]
    edges += [(edge, hosts + 2 + way) for way in range(ways) for edge in (first, second)]
    rows = [(i % 6, 6 + i % 5, 20 * MICROSECOND * i, 3000) for i in range(30)]
    transport: dict[str, Any] = tcp(acknowledge_every=1)
    used = set()
    for seed in range(8):
        chosen = settings(
            hosts,
            hosts + 2 + ways,
            burst(time=5 * MICROSECOND),
            transport,
            choice="flow-hash",
            seed=seed,
        )
        result = engine(Plan(chosen, table(edges, hosts, delays=D), flow_table(*rows)))
        bursts = result["switches"]["arrived"][2:]
        links = table(edges, hosts, delays=D)
        units = result["links"]["units"]
        for edge in (first, second):
            out = units[(links["from"] == edge) & (links["to"] > second)]
            assert np.count_nonzero(out) == 1
            used.add((edge, int(out.argmax())))
        assert bursts.sum() == result["totals"]["bursts_created"] > 30
    assert len(used) > 4  # another seed, another path
