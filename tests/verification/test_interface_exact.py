"""Fair interfaces of hosts, by hand, to the picosecond."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    MILLISECOND,
    Arrays,
    Plan,
    core,
    datagram,
    electronic,
    flow_table,
    saw,
    settings,
    table,
    tcp,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
# Of a byte at 10 Gb/s.
BYTE = 800
DELAY = 50_000
UNLIMITED = {"small_queue": None}
FIFO: dict[str, Any] = {}


def pair(
    transports: list[dict[str, Any]], flows: Arrays, fair: dict[str, Any] | None, **more: Any
) -> Plan:
    """Two hosts on one switch that stores and forwards, all flows traced."""
    links = table([(0, 2), (1, 2)], 2, delays=DELAY)
    changes = {"trace": list(range(len(flows["source"]))), "fair": fair or None, **more}
    return Plan(settings(2, 3, electronic(), transports, **changes), links, flows, [0])


def datagrams(*handed_over: tuple[list[int], int], group: list[int] | None = None) -> Arrays:
    """Flows from host 0 to host 1, each of datagrams of `size` bytes handed over at some times."""
    rows = [(0, 1, times[0], len(times) * size) for times, size in handed_over]
    flows = flow_table(*rows)
    if group is not None:
        flows["group"] = np.array(group, np.uint16)
    flows["departures_ps"] = np.array([t for times, _ in handed_over for t in times], np.uint64)
    counts = [len(times) for times, _ in handed_over]
    flows["departure_offsets"] = np.cumsum([0, *counts]).astype(np.uint64)
    return flows


def sent(result: Columns, host: int = 0) -> list[tuple[int, int]]:
    """When the interface of a host begins a transmission, and of which flow."""
    hops = result["trace_hops"]
    own = hops["link"] == host
    pairs = zip(hops["start_ps"][own].tolist(), hops["flow"][own].tolist(), strict=True)
    return sorted(pairs)


@engines
def test_a_packet_waits_for_one_segment_and_not_for_all_that_wait(engine: Engine) -> None:
    tx = 1500 * BYTE
    elephant, mouse = ([0] * 6, 1500), ([1], 1500)
    flows = datagrams(elephant, mouse)
    fair = engine(pair([datagram(1500)], flows, UNLIMITED))
    assert sent(fair) == [(i * tx, flow) for i, flow in enumerate([0, 0, 1, 0, 0, 0, 0])]
    fifo = engine(pair([datagram(1500)], flows, FIFO))
    assert sent(fifo) == [(i * tx, flow) for i, flow in enumerate([0, 0, 0, 0, 0, 0, 1])]


@engines
def test_flows_take_turns(engine: Engine) -> None:
    tx = 1500 * BYTE
    # The first datagram goes at once; the flows then come in the order of their first in the queue.
    flows = datagrams(([0, 10, 10, 10], 1500), ([1, 20, 20], 1500), ([2, 30], 1500))
    order = [0, 1, 2, 0, 1, 2, 0, 1, 0]
    result = engine(pair([datagram(1500)], flows, UNLIMITED))
    assert sent(result) == [(i * tx, flow) for i, flow in enumerate(order)]


@engines
def test_turns_are_of_bytes_where_sizes_differ(engine: Engine) -> None:
    """Deficit round robin with the largest segment as quantum: 1500 B, or twice 700 B."""
    flows = datagrams(([0] * 4, 1500), ([1] * 6, 700), group=[0, 1])
    result = engine(pair([datagram(1500), datagram(700)], flows, UNLIMITED))
    # In its second turn the small one has 100 B left of the first, in its third 200 B.
    order = [0, 0, 1, 1, 0, 1, 1, 0, 1, 1]
    times = np.cumsum([0, *(BYTE * (1500, 700)[flow] for flow in order[:-1])])
    assert sent(result) == list(zip(times.tolist(), order, strict=True))


@engines
def test_what_a_turn_leaves_is_used_in_the_next(engine: Engine) -> None:
    """Segments of 800 B and a quantum of 1500 B: one segment in the first turn, then two."""
    flows = datagrams(([0] * 5, 1500), ([1] * 7, 800), group=[0, 1])
    result = engine(pair([datagram(1500), datagram(800)], flows, UNLIMITED))
    order = [flow for _, flow in sent(result)]
    # Left behind each turn: 700; 2200 - 1600 = 600; 2100 - 1600 = 500; 2000 - 1600 = 400.
    assert order == [0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]


@engines
def test_handshakes_and_acknowledgements_go_before_data(engine: Engine) -> None:
    """A flow in the other direction is answered at once, for any queue: it ends as if it were
    alone.
    """
    start = 20_000_000
    mouse = tcp(initial_window_bytes=1500, acknowledge_every=1)
    elephant = tcp(initial_window_bytes=400 * 1500)
    alone = flow_table((1, 0, start, 15_000))
    took = engine(pair([mouse], alone, UNLIMITED))["flows"]["received_ps"][0]
    flows = flow_table((0, 1, 0, 600_000), (1, 0, start, 15_000))
    flows["group"] = np.array([1, 0], np.uint16)
    fair, fifo = (
        engine(pair([mouse, elephant], flows, kind))["flows"]["received_ps"][1]
        for kind in (UNLIMITED, FIFO)
    )
    # The SYN+ACK and the acknowledgements of 1, 2 and 4 segments may each meet a segment that is
    # being sent, and so may the elephant's acknowledgements of the mouse's data.
    assert took <= fair <= took + 8 * 1500 * BYTE
    assert fifo > took + 100 * 1500 * BYTE


@engines
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_small_queue_holds_so_many_segments_of_a_flow(engine: Engine, most: int) -> None:
    transport = tcp(initial_window_bytes=40 * 1500)
    flows = flow_table((0, 1, 0, 90_000), (0, 1, 0, 90_000))
    result = engine(pair([transport], flows, {"small_queue": most}))
    hops = result["trace_hops"]
    waited = []
    for flow in (0, 1):
        own = (hops["link"] == 0) & (hops["flow"] == flow) & (hops["queued_ps"] > 1500)
        came, start = hops["came_ps"][own], hops["start_ps"][own]
        waited.append(max(int(((came <= t) & (t < start)).sum()) for t in came))
    # The SYN never waits; an acknowledgement of a SYN+ACK may wait for data in transmission.
    assert max(waited) in (most, most + 1)
    assert result["flows"]["retransmissions"].tolist() == [0, 0]


@engines
@pytest.mark.parametrize("transport", [saw(), saw(p=1.0), tcp(), tcp("new-reno")])
def test_one_flow_alone_is_served_as_first_in_first_out(
    engine: Engine, transport: dict[str, Any]
) -> None:
    flows = flow_table((0, 1, 0, 100_000))
    fair, fifo = (engine(pair([transport], flows, kind)) for kind in (UNLIMITED, FIFO))
    for name, column in fifo["flows"].items():
        assert fair["flows"][name].tolist() == column.tolist(), name


@engines
def test_the_clock_of_stop_and_wait_counts_from_the_transmission(engine: Engine) -> None:
    """Ten flows of stop-and-wait beside a long queue: no timer expires, as none waits for it."""
    segment = 9000 * BYTE
    stop = saw(p=3.0, initial_timeout_ps=3 * segment)
    flows = flow_table(*[(0, 1, 0, 45_000) for _ in range(10)])
    result = engine(pair([stop], flows, UNLIMITED))
    # Each segment waits for nine others, longer than its timer would let it.
    assert result["flows"]["timeouts"].tolist() == [0] * 10
    assert result["trace_hops"]["queued_ps"].max() >= 8 * segment


@engines
def test_a_full_interface_drops_what_does_not_fit(engine: Engine) -> None:
    # Room for the acknowledgement of the SYN+ACK and three of the five segments.
    transport = tcp(initial_window_bytes=5 * 1500, access_buffer_bytes=4564)
    flows = flow_table((0, 1, 0, 7_500))
    result = engine(pair([transport], flows, UNLIMITED))
    assert result["flows"]["drops"].tolist() == [2]


def test_long_flows_of_one_host_get_the_same_to_a_segment() -> None:
    transport = tcp(advertised_window_bytes=200 * 1500)
    flows = flow_table(*[(0, 1, i * 1000, 10**9) for i in range(8)])
    plan = pair([transport], flows, {"small_queue": 2}, time_limit_ps=20 * MILLISECOND, trace=None)
    bytes_ = core(plan)["flows"]["delivered_bytes"].astype(np.int64)
    # The first begins alone, and has up to a window more when the second comes.
    later = bytes_[1:]
    assert later.max() - later.min() <= 10 * 1500
    assert 8 * bytes_.sum() >= 0.97 * 10e9 * 20e-3
