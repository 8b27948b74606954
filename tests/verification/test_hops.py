"""The places of losses, and the path of packets from link to link: by hand, in both engines."""

from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    Plan,
    all_optical,
    burst,
    datagram,
    electronic,
    flow_table,
    hybrid,
    loss,
    lossy,
    one_datagram_each,
    path_edges,
    saw,
    settings,
    star_edges,
    table,
)
from twin import Columns

TX = 7_200_000  # 9,000 bytes at 10 Gb/s
DELAY = 40_000
NONE, NOWHERE = 2**64 - 1, 2**32 - 1
LOST = 2
SWITCH = 4


def to_one(switch: dict[str, Any], *starts: int, **changes: Any) -> Plan:
    """Hosts 0, 1, 2 each send one datagram to host 3, at these times."""
    edges, hosts, nodes = star_edges(4)
    flows = one_datagram_each(flow_table(*((i, 3, at, 9_000) for i, at in enumerate(starts))))
    chosen = settings(hosts, nodes, switch, datagram(), trace=list(range(len(starts))), **changes)
    return Plan(chosen, table(edges, hosts, delays=DELAY), flows)


def link(plan: Plan, source: int, target: int) -> int:
    """Number of the link between two nodes."""
    (found,) = np.flatnonzero((plan.links["from"] == source) & (plan.links["to"] == target))
    return int(found)


def losses(found: Columns) -> list[dict[str, int]]:
    """The rows of lost packets."""
    rows = found["trace_segments"]
    return [
        {name: int(column[i]) for name, column in rows.items()}
        for i in np.flatnonzero(rows["event"] == LOST)
    ]


def hops(found: Columns, flow: int) -> list[tuple[int, ...]]:
    """Node, link, coming, held, queued, start and arrival of each hop of a flow."""
    rows = found["trace_hops"]
    mine = np.flatnonzero(rows["flow"] == flow)
    names = ("node", "link", "came_ps", "held_ps", "queued_ps", "start_ps", "arrival_ps")
    return [tuple(int(rows[name][i]) for name in names) for i in mine]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_drop_at_a_busy_output_names_who_had_it(engine: Any) -> None:
    """The second head comes 1 us after the first, whose packet has the output."""
    plan = to_one(all_optical(), 0, 1_000_000)
    found = engine(plan)
    (row,) = losses(found)
    out = link(plan, SWITCH, 3)
    assert (row["flow"], row["time_ps"]) == (1, 1_000_000 + DELAY)
    assert (row["node"], row["link"], row["holder_flow"]) == (SWITCH, out, 0)
    assert row["holder_burst"] == NONE
    first = [
        (0, link(plan, 0, SWITCH), 0, 0, 0, 0, DELAY),
        (SWITCH, out, DELAY, 0, 0, DELAY, DELAY + TX + DELAY),
    ]
    assert hops(found, 0) == first
    assert hops(found, 1) == [(1, link(plan, 1, SWITCH), 10**6, 0, 0, 10**6, 10**6 + DELAY)]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_waits_in_a_buffer_was_held_there(engine: Any) -> None:
    """One passes, one is buffered until it is in and the output is free, one finds no port."""
    plan = to_one(hybrid(1, switching_time=1_000), 0, 1_000_000, 2_000_000)
    found = engine(plan)
    out = link(plan, SWITCH, 3)
    # The second is received into the buffer a microsecond after the first has passed.
    came = 1_000_000 + DELAY
    ready = came + 1_000 + TX
    second = (SWITCH, out, came, ready - came, 0, ready + 1_000, ready + 1_000 + TX + DELAY)
    assert hops(found, 1)[1] == second
    assert hops(found, 0)[1] == (SWITCH, out, DELAY, 0, 0, DELAY + 1_000, 1_000 + TX + 2 * DELAY)
    (row,) = losses(found)
    assert (row["flow"], row["node"], row["link"], row["holder_flow"]) == (2, SWITCH, out, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_waits_for_an_output_was_queued(engine: Any) -> None:
    """The queue has room for two: the third is dropped, and the link has no single holder."""
    plan = to_one(electronic(18_000), 0, 0, 0)
    found = engine(plan)
    out, came = link(plan, SWITCH, 3), TX + DELAY
    (row,) = losses(found)
    assert (row["node"], row["link"]) == (SWITCH, out)
    # The order of simultaneous arrivals is drawn.
    first, second = sorted(hops(found, flow)[1] for flow in {0, 1, 2} - {row["flow"]})
    assert first == (SWITCH, out, came, 0, 0, came, came + TX + DELAY)
    assert second == (SWITCH, out, came, 0, TX, came + TX, came + 2 * TX + DELAY)
    assert (row["holder_flow"], row["holder_burst"]) == (NOWHERE, NONE)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_lost_on_a_link_leaves_and_does_not_arrive(engine: Any) -> None:
    edges, hosts, nodes = path_edges(3)
    chosen = settings(
        hosts, nodes, electronic(), datagram(), trace=[0], loss=loss({"segments": [1, 1]})
    )
    drops = chosen["loss"]["drops"]
    drops[0]["transmission"] = 1
    links = lossy(table(edges, hosts, delays=DELAY), hosts)
    plan = Plan(chosen, links, one_datagram_each(flow_table((0, 1, 0, 9_000))))
    found = engine(plan)
    (row,) = losses(found)
    middle = link(plan, 2, 3)
    came = TX + DELAY
    assert (row["node"], row["link"], row["time_ps"]) == (2, middle, came)
    assert row["holder_flow"] == NOWHERE
    assert hops(found, 0)[-1] == (2, middle, came, 0, 0, came, NONE)


@pytest.mark.parametrize("engine", ENGINES)
def test_at_a_full_interface_it_is_the_host_s_link(engine: Any) -> None:
    edges, hosts, nodes = path_edges(1)
    one = {**datagram(), "access_buffer_bytes": 10_000}
    flows = flow_table((0, 1, 0, 18_000))
    flows |= {
        "departures_ps": np.zeros(2, np.uint64),
        "departure_offsets": np.array([0, 2], np.uint64),
    }
    found = engine(
        Plan(settings(hosts, nodes, electronic(), one, trace=[0]), table(edges, 2), flows)
    )
    (row,) = losses(found)
    assert (row["node"], row["link"], row["time_ps"]) == (0, 0, 0)
    assert len(found["trace_hops"]["flow"]) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_packets_in_a_burst_go_together(engine: Any) -> None:
    """Two datagrams wait at the edge until 20 us after the first; they leave as one burst.

    At the far edge they are there when its tail is.
    """
    edges, hosts, nodes = path_edges(4)
    flows = flow_table((0, 1, 0, 18_000))
    flows |= {
        "departures_ps": np.zeros(2, np.uint64),
        "departure_offsets": np.array([0, 2], np.uint64),
    }
    wait, switching = 20_000_000, 1_000
    switch = burst("timer", time=wait, switching_time=switching)
    chosen = settings(hosts, nodes, switch, datagram(), trace=[0])
    plan = Plan(chosen, table(edges, hosts, delays=DELAY), flows)
    found = engine(plan)
    first, second = TX + DELAY, 2 * TX + DELAY
    closed = first + wait
    core = closed + DELAY
    head = core + switching + DELAY
    tail = head + 2 * TX
    ingress, transit, egress = link(plan, 2, 3), link(plan, 3, 4), link(plan, 4, 1)
    assert hops(found, 0)[2:] == [
        (2, ingress, first, closed - first, 0, closed, core),
        (2, ingress, second, closed - second, 0, closed, core),
        (3, transit, core, 0, 0, core + switching, head),
        (3, transit, core, 0, 0, core + switching, head),
        (4, egress, tail, 0, 0, tail, tail + TX + DELAY),
        (4, egress, tail, 0, TX, tail + TX, tail + 2 * TX + DELAY),
    ]
    assert found["trace_hops"]["burst"].tolist() == [NONE] * 2 + [0] * 4 + [NONE] * 2
    assert found["trace_hops"]["packet"].tolist() == [0, 1] * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lost_burst_knows_where_and_which_held_the_output(engine: Any) -> None:
    """Two edges send to a third over one core, at the same time: the second burst is lost there."""
    # Hosts 0, 1, 2 at the edges 3, 4, 5; the core is 6.
    edges = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6)]
    chosen = settings(3, 7, burst("timer", time=0), datagram(), trace=[0, 1])
    flows = one_datagram_each(flow_table((0, 2, 0, 9_000), (1, 2, 1_000, 9_000)))
    plan = Plan(chosen, table(edges, 3, delays=DELAY), flows)
    found = engine(plan)
    bursts, wanted = found["trace_bursts"], link(plan, 6, 5)
    assert bursts["lost"].tolist() == [0, 1]
    assert bursts["lost_node"].tolist() == [NOWHERE, 6]
    assert bursts["lost_link"].tolist() == [NOWHERE, wanted]
    (row,) = losses(found)
    assert (row["node"], row["link"], row["burst"]) == (6, wanted, 1)
    assert (row["holder_flow"], row["holder_burst"]) == (NOWHERE, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_of_several_busy_outputs_is_named(engine: Any) -> None:
    """Three heads meet two parallel links: the first two take both, and the third names port 0."""
    edges = [(0, 4), (1, 4), (2, 4), (3, 5), (4, 5), (4, 5)]
    chosen = settings(4, 6, all_optical(), datagram(), trace=[2], seed=3)
    flows = one_datagram_each(flow_table(*((i, 3, 1_000 * i, 9_000) for i in range(3))))
    plan = Plan(chosen, table(edges, 4, delays=DELAY), flows)
    found = engine(plan)
    (row,) = losses(found)
    ways = np.flatnonzero((plan.links["from"] == 4) & (plan.links["to"] == 5))
    assert (row["node"], row["link"]) == (4, ways[0])
    assert row["holder_flow"] in (0, 1)


def test_a_flow_s_hops_are_those_of_its_links() -> None:
    """Stop-and-wait over three links: each packet arrives at the time given by its previous hop."""
    edges, hosts, nodes = path_edges(3)
    chosen = settings(hosts, nodes, electronic(), saw(), trace=[0])
    plan = Plan(chosen, table(edges, hosts, delays=DELAY), flow_table((0, 1, 0, 54_000)))
    for engine in ENGINES:
        found = engine(plan)
        rows = found["trace_hops"]
        assert len(rows["flow"]) == found["totals"]["packet_hops"]
        for packet in np.unique(rows["packet"]):
            mine = rows["packet"] == packet
            assert rows["came_ps"][mine][1:].tolist() == rows["arrival_ps"][mine][:-1].tolist()
