"""Bursts to the picosecond: contents, departures, costs, numbers.

Two hosts, an edge at each, a core between them. The access links have 1 Gb/s and 20 us, so that a
packet of 1,500 bytes takes 12 us on them; the fibres 10 Gb/s and 5 us.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_table,
    path_edges,
    settings,
    table,
    tcp,
    traced,
)
from twin import Burst, Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
ACCESS, FIBRE = 20 * MICROSECOND, 5 * MICROSECOND
SIZE = 1500
GAP = 12 * MICROSECOND  # of packets on the access link
INGRESS = 0  # among the switches


def path(switch: dict[str, Any], transport: dict[str, Any], *flows: tuple[int, ...]) -> Plan:
    """Flows of source, destination, start and bytes over host, edge, core, edge, host."""
    edges, hosts, nodes = path_edges(4)
    links = table(
        edges,
        hosts,
        rates=[GIGABIT, 10 * GIGABIT, 10 * GIGABIT, GIGABIT],
        delays=[ACCESS, FIBRE, FIBRE, ACCESS],
    )
    return Plan(settings(hosts, nodes, switch, transport), links, flow_table(*flows))


def stream(switch: dict[str, Any], packets: int) -> Plan:
    """Datagrams that fill the access link."""
    plan = path(switch, datagram(SIZE), (0, 1, 0, packets * SIZE))
    departures = {
        "departures_ps": plan.flows["start_ps"].repeat(packets),
        "departure_offsets": plan.flows["bytes"].cumsum() // SIZE,
    }
    departures["departure_offsets"] = departures["departure_offsets"].repeat(2)
    departures["departure_offsets"][0] = 0
    return plan._replace(flows={**plan.flows, **departures})


def on_fibres(size: int) -> int:
    """From the departure of a burst to its last bit at the other edge."""
    return 2 * FIBRE + 800 * size


@engines
@pytest.mark.parametrize("time", [0, GAP - 1, GAP, GAP + 1, 5 * GAP - 1, 5 * GAP, 100 * GAP])
@pytest.mark.parametrize("packets", [1, 12, 60])
def test_packets_in_a_burst(engine: Engine, time: int, packets: int) -> None:
    """`S = floor(lambda T_b) + 1`: the one that comes when the timer expires is in the burst."""
    result = engine(stream(burst(time=time), packets))
    most = time // GAP + 1
    full, rest = divmod(packets, most)
    contents = [most] * full + [rest] * (rest > 0)
    ingress = {name: column[INGRESS] for name, column in result["switches"].items()}
    assert ingress["bursts"] == result["totals"]["bursts_created"] == len(contents)
    assert ingress["burst_packets"] == packets
    assert ingress["burst_bytes"] == ingress["eo_bytes"] == packets * SIZE
    waited = sum(time - i * GAP for size in contents for i in range(size))
    assert ingress["assembly_wait_ps"] == float(waited)
    # The last burst begins with the arrival of its first packet; at the other edge all its packets
    # are handed to the access link together.
    first = packets - contents[-1]
    closed = ACCESS + (first + 1) * GAP + time
    end = closed + on_fibres(contents[-1] * SIZE) + ACCESS + contents[-1] * GAP
    if len(contents) == 1:
        assert result["flows"]["acknowledged_ps"].tolist() == [end]
    else:
        # Earlier packets may still hold the access link.
        assert result["flows"]["acknowledged_ps"][0] >= end
    assert result["flows"]["status"].tolist() == [0]


@engines
@pytest.mark.parametrize(
    ("size", "most", "contents"),
    [
        (1, None, [1] * 7),
        (2 * SIZE, None, [2, 2, 2]),
        (2 * SIZE + 1, None, [3, 3]),
        (3 * SIZE, 2 * SIZE, [2, 2, 2]),
        (3 * SIZE, SIZE - 1, [1] * 6),
    ],
)
def test_assembly_by_size(engine: Engine, size: int, most: int | None, contents: list[int]) -> None:
    """Closed at `size`, or before the packet that would exceed `most`; the rest is never sent."""
    result = engine(stream(burst("size", size=size, most=most), 7))
    assert result["switches"]["bursts"].tolist() == [len(contents), 0, 0]
    assert result["switches"]["burst_packets"].tolist() == [sum(contents), 0, 0]
    assert result["totals"]["units_in_flight"] == 7 - sum(contents)
    assert result["switches"]["arrived"].tolist() == [7, len(contents), len(contents)]


@engines
@pytest.mark.parametrize(
    ("time", "bursts"), [(GAP - 1, 7), (GAP, 4), (2 * GAP - 1, 4), (2 * GAP, 3), (9 * GAP, 3)]
)
def test_mixed_assembly(engine: Engine, time: int, bursts: int) -> None:
    """Three packets make it full, if they come in time."""
    result = engine(stream(burst("mixed", time=time, size=3 * SIZE), 7))
    assert result["switches"]["bursts"].tolist() == [bursts, 0, 0]


@engines
def test_padding(engine: Engine) -> None:
    result = engine(stream(burst(time=GAP, least=2 * SIZE + 1), 3))
    # Two packets with one byte more, one packet with 1,501.
    assert result["switches"]["burst_bytes"].tolist() == [2 * (2 * SIZE + 1), 0, 0]
    assert result["switches"]["oe_bytes"].tolist() == [0, 0, 2 * (2 * SIZE + 1)]
    assert result["flows"]["delivered_bytes"].tolist() == [3 * SIZE]
    closed = ACCESS + 3 * GAP + GAP
    end = closed + on_fibres(2 * SIZE + 1) + ACCESS + GAP
    assert result["flows"]["acknowledged_ps"].tolist() == [end]


@engines
@pytest.mark.parametrize("time", [0, 50 * MICROSECOND, 1_000 * MICROSECOND])
@pytest.mark.parametrize("assemble", [False, True])
def test_round_trip(engine: Engine, time: int, assemble: bool) -> None:
    """`RTT = RTT_0 + 2 T_b`, and `RTT_0 + T_b` if acknowledgements are not assembled.

    With a window of one segment each round is alone on the path: one segment more takes one round
    trip more.
    """
    transport = tcp(acknowledge_every=1, initial_window_bytes=SIZE, advertised_window_bytes=SIZE)
    switch = burst(time=time, assemble_acknowledgements=assemble)
    ends = [
        int(engine(path(switch, transport, (0, 1, 0, n * SIZE)))["flows"]["acknowledged_ps"][0])
        for n in (3, 4)
    ]
    unloaded = sum(2 * (ACCESS + 8_000 * size) + on_fibres(size) for size in (SIZE, 64))
    assert ends[1] - ends[0] == unloaded + (2 if assemble else 1) * time


@engines
def test_packets_of_one_edge_are_not_assembled(engine: Engine) -> None:
    # Hosts 0 and 1 at switch 3, host 2 at switch 4.
    links = table([(0, 3), (1, 3), (2, 4), (3, 4)], 3, rates=GIGABIT, delays=ACCESS)
    transport = tcp(acknowledge_every=1)
    plan = Plan(settings(3, 5, burst(time=GAP), transport), links, flow_table((0, 1, 0, SIZE)))
    result = engine(plan)
    control, data = 2 * (ACCESS + 8_000 * 64), 2 * (ACCESS + 8_000 * SIZE)
    assert result["flows"]["acknowledged_ps"].tolist() == [
        2 * control + 8_000 * 64 + data + control
    ]
    assert result["totals"]["bursts_created"] == 0


def test_bursts_are_numbered_in_the_order_of_their_closing() -> None:
    """Over all edges, each number once, and none before a lower one."""
    time = 30 * MICROSECOND
    transport = tcp(initial_window_bytes=10 * SIZE)
    plan = path(burst(time=time), transport, (0, 1, 0, 90_000), (1, 0, 7, 90_000))
    plan.settings["trace"] = [0, 1]
    rows = core(plan)["trace_bursts"]
    order = rows["number"].argsort()
    assert rows["number"][order].tolist() == list(range(len(order)))
    closed = (rows["opened_ps"] + time)[order].tolist()
    assert closed == sorted(closed)
    assert len(set(rows["node"][order][:20].tolist())) == 2
    # The twin, with its own assembly, sends the same ones off.
    sent: dict[int, tuple[int, int, int]] = {}
    for entry in traced(plan):
        if isinstance(entry.unit, Burst):
            size = len(entry.unit.packets), entry.unit.size
            sent.setdefault(entry.unit.number, (entry.node, *size))
    columns = (rows[name][order].tolist() for name in ("node", "packets", "bytes"))
    assert list(sent.values()) == list(zip(*columns, strict=True))
