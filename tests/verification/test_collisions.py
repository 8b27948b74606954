"""Units that meet at one switch at a known instant: which one passes, waits, is lost, and when.

A star: every host is 50 ns from the switch, a datagram of 1,250 bytes lasts 1 us at 10 Gb/s. A
datagram sent at `x` has its head at the switch at `x + D` and, if nothing is in its way, is
received at `x + 2 D + T`.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    MILLISECOND,
    UNFINISHED,
    Plan,
    all_optical,
    datagram,
    electronic,
    flow_table,
    hybrid,
    one_datagram_each,
    saw,
    settings,
    star_edges,
    table,
    traced,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
D = 50_000
T = 1_000_000
SIZE = 1250
X, Y = 4, 5
LOST = 3
engines = pytest.mark.parametrize("engine", ENGINES)


def star(switch: dict[str, Any], *rows: tuple[int, ...]) -> Plan:
    """Datagrams of source, destination, time of departure and, if it is not `SIZE`, size."""
    edges, hosts, nodes = star_edges(6)
    rows = tuple(row if len(row) > 3 else (*row, SIZE) for row in rows)
    flows = flow_table(*rows)
    return Plan(
        settings(hosts, nodes, switch, datagram(5 * SIZE)),
        table(edges, hosts, delays=D),
        one_datagram_each(flows),
    )


def ends(result: Columns) -> list[int]:
    """When the flows ended."""
    times: list[int] = result["flows"]["acknowledged_ps"].tolist()
    return times


def counted(result: Columns, name: str) -> int:
    """A counter of the one switch."""
    return int(result["switches"][name][0])


@engines
@pytest.mark.parametrize("x", [0, 1, T - 1])
@pytest.mark.parametrize("switch", [all_optical(), hybrid(0)])
def test_bufferless_loses_the_second(engine: Engine, switch: dict[str, Any], x: int) -> None:
    # At x = 0 both heads come at one instant: first handed over, first served.
    result = engine(star(switch, (0, X, 0), (1, X, x)))
    assert ends(result) == [2 * D + T, UNFINISHED]
    assert result["flows"]["status"].tolist() == [0, LOST]
    assert counted(result, "arrived") == 2
    assert counted(result, "forwarded") == counted(result, "dropped_contention") == 1
    assert result["totals"]["units_dropped"] == 1
    assert result["totals"]["units_in_flight"] == 0


@engines
@pytest.mark.parametrize("switch", [all_optical(), hybrid(0), hybrid(2)])
def test_release_is_in_time(engine: Engine, switch: dict[str, Any]) -> None:
    result = engine(star(switch, (0, X, 0), (1, X, T)))
    assert ends(result) == [2 * D + T, 2 * D + 2 * T]
    assert counted(result, "buffered") == 0


@engines
def test_the_first_to_arrive_wins(engine: Engine) -> None:
    # The second to be sent is nearer to the switch.
    plan = star(all_optical(), (0, X, 0), (1, X, 10))
    plan.links["delay_ps"][0] += 20
    assert ends(engine(plan)) == [UNFINISHED, 10 + 2 * D + T]


@engines
def test_other_outputs_are_not_disturbed(engine: Engine) -> None:
    result = engine(star(all_optical(), (0, X, 0), (1, Y, 0), (2, 3, 0), (3, 2, 0)))
    assert ends(result) == [2 * D + T] * 4


@engines
@pytest.mark.parametrize("x", [0, 1, 400_000, T - 1])
@pytest.mark.parametrize("s", [0, 7_000])
def test_hybrid_after_reception(engine: Engine, x: int, s: int) -> None:
    # The head came at x + D; it is received s + T later, which is after the release at D + s + T.
    result = engine(star(hybrid(1, switching_time=s), (0, X, 0), (1, X, x)))
    assert ends(result) == [2 * D + s + T, x + 2 * D + 2 * (s + T)]
    assert counted(result, "buffered") == 1
    assert counted(result, "forwarded") == 2
    assert counted(result, "oe_bytes") == counted(result, "eo_bytes") == SIZE
    assert counted(result, "buffer_max_bytes") == SIZE
    assert result["switches"]["buffer_byte_ps"][0] == float(SIZE * (s + T))


@engines
@pytest.mark.parametrize("x", [0, 1, 400_000, T - 1])
@pytest.mark.parametrize("s", [0, 7_000])
def test_hybrid_cut_through(engine: Engine, x: int, s: int) -> None:
    # Re-emission begins at the release, D + s + T, whenever the unit came.
    plan = star(hybrid(1, re_emission="cut-through", switching_time=s), (0, X, 0), (1, X, x))
    result = engine(plan)
    assert ends(result) == [2 * D + s + T, 2 * D + 2 * (s + T)]
    assert result["switches"]["buffer_byte_ps"][0] == float(SIZE * (s + T - x))


@engines
def test_the_buffered_unit_goes_first_at_its_instant(engine: Engine) -> None:
    # The second is re-emitted at x + T + D, the very instant at which the head of the third comes;
    # the third finds the output busy and the input port just free.
    x = 400_000
    result = engine(star(hybrid(1), (0, X, 0), (1, X, x), (2, X, x + T)))
    assert ends(result) == [2 * D + T, 2 * D + x + 2 * T, 2 * D + x + 3 * T]
    assert counted(result, "buffered") == 2


@engines
def test_an_arrival_overtakes_what_is_not_yet_received(engine: Engine) -> None:
    # One picosecond earlier the output is free and the buffered unit not yet ready: the third
    # passes, and the second waits for it.
    x = 400_000
    result = engine(star(hybrid(1), (0, X, 0), (1, X, x), (2, X, x + T - 1)))
    assert ends(result) == [2 * D + T, 2 * D + x + 3 * T - 1, 2 * D + x - 1 + 2 * T]
    assert counted(result, "buffered") == 1


@engines
def test_input_ports(engine: Engine) -> None:
    rows = [(0, X, 0), (1, X, 1), (2, X, 2)]
    result = engine(star(hybrid(1), *rows))
    assert ends(result) == [2 * D + T, 2 * D + 1 + 2 * T, UNFINISHED]
    assert counted(result, "dropped_no_input_port") == 1
    # A second port: first in, first out, one after the other.
    result = engine(star(hybrid(2), *rows))
    assert ends(result) == [2 * D + T, 2 * D + 1 + 2 * T, 2 * D + 1 + 3 * T]
    assert counted(result, "buffer_max_bytes") == 2 * SIZE
    assert result["switches"]["buffer_byte_ps"][0] == float(SIZE * (T + (2 * T - 1)))


@engines
def test_buffer_size(engine: Engine) -> None:
    rows = [(0, X, 0), (1, X, 1), (2, X, 2)]
    result = engine(star(hybrid(2, buffer_bytes=2 * SIZE - 1), *rows))
    assert ends(result) == [2 * D + T, 2 * D + 1 + 2 * T, UNFINISHED]
    assert counted(result, "dropped_buffer_full") == 1
    assert counted(engine(star(hybrid(2, buffer_bytes=2 * SIZE), *rows)), "buffered") == 2
    # With neither a port nor room it is the port that is missing.
    neither = engine(star(hybrid(1, buffer_bytes=SIZE), *rows))
    assert counted(neither, "dropped_no_input_port") == 1
    assert counted(neither, "dropped_buffer_full") == 0


@engines
def test_room_is_free_again_at_re_emission(engine: Engine) -> None:
    # The second leaves the buffer at 1 + T + D, when the head of the third comes.
    rows = [(0, X, 0), (1, X, 1), (2, X, 1 + T)]
    result = engine(star(hybrid(2, buffer_bytes=SIZE), *rows))
    assert ends(result) == [2 * D + T, 2 * D + 1 + 2 * T, 2 * D + 1 + 3 * T]


@engines
@pytest.mark.parametrize(("early", "passed"), [(1, False), (0, True)])
def test_input_port_with_switching_time(engine: Engine, early: int, passed: bool) -> None:
    # The output is busy to 5 us and more; the port is held for the switching and the reception.
    s = 7_000
    rows = [(0, X, 0, 5 * SIZE), (1, X, 0, SIZE), (2, X, s + T - early, SIZE)]
    result = engine(star(hybrid(1, switching_time=s), *rows))
    assert (ends(result)[2] != UNFINISHED) == passed


@engines
@pytest.mark.parametrize("s", [0, 7_000])
@pytest.mark.parametrize("ports", [1, 2])
def test_output_ports(engine: Engine, ports: int, s: int) -> None:
    # To X: one passes at 0; one waits from 0.5 us to T + s, leaves s later, and holds an output
    # port to 2 T + 2 s. To Y: one passes at 0.9 us; one comes at 1.6 us, finds Y busy to
    # 1.9 us + s, and an output port, if there is but one, to 2 T + 2 s.
    rows = [(0, X, 0), (1, X, 500_000), (2, Y, 900_000), (3, Y, 1_600_000)]
    result = engine(star(hybrid(ports, re_emission="cut-through", switching_time=s), *rows))
    re_emitted = 2 * T + 2 * s if ports == 1 else 1_900_000 + s
    assert ends(result) == [
        2 * D + s + T,
        2 * D + 2 * s + 2 * T,
        2 * D + 900_000 + s + T,
        2 * D + re_emitted + s + T,
    ]


@engines
def test_first_buffered_not_first_ready(engine: Engine) -> None:
    """X and Y are released at 5 us, when one of two output ports is held by a unit to host 0.

    A long unit to X was buffered first and ready at 3 us, a short one to Y was ready at 2.2 us. The
    long one leaves first, the other one when the unit to host 0 has left, at 5.5 us.
    """
    rows = [(0, X, 0, 5 * SIZE), (1, Y, 0, 5 * SIZE)]
    rows += [(2, X, T, 2 * SIZE), (3, Y, 1_200_000, SIZE)]
    rows += [(4, 0, 3 * T, SIZE), (5, 0, 3_500_000, SIZE)]
    result = engine(star(hybrid(2), *rows))
    assert ends(result) == [
        2 * D + time for time in (5 * T, 5 * T, 7 * T, 6_500_000, 4 * T, 5_500_000)
    ]


@engines
@pytest.mark.parametrize(("first", "second"), [(X, Y), (Y, X)])
def test_first_buffered_first_served(engine: Engine, first: int, second: int) -> None:
    # X and Y are busy to 5 us; a unit for each waits when they are released together, and there is
    # one output port: the one that was buffered first takes it, for any order of the ports.
    long = [(0, X, 0, 5 * SIZE), (1, Y, 0, 5 * SIZE)]
    short = [(2, first, T, SIZE), (3, second, 2 * T, SIZE)]
    result = engine(star(hybrid(1, re_emission="cut-through"), *long, *short))
    assert ends(result) == [2 * D + i * T for i in (5, 5, 6, 7)]


@engines
@pytest.mark.parametrize("blocked", ["the first", "the second"])
def test_sets_that_share_an_output_have_queues_of_their_own(engine: Engine, blocked: str) -> None:
    """Two paths lead from one switch to X, by A and by B, and one to a host of A or of B.

    A long datagram to that host has the one output until D + 5 T. The next to it waits for that.
    The next one to X may take the other output, which is free at 10 + D + T: it is not delayed by
    the unit that waits for the first, though both wait for that one, too.
    """
    hosts, s, a, b, z = 7, 7, 8, 9, 10
    of_a, x, of_b = 4, 5, 6
    edges = [*((host, s) for host in range(4)), (s, a), (s, b), (of_a, a), (x, z), (of_b, b)]
    edges += [(a, z), (b, z)]
    near = of_a if blocked == "the first" else of_b
    rows = ((0, near, 0, 5 * SIZE), (1, x, 10, SIZE), (2, near, 20, SIZE), (3, x, 30, SIZE))
    plan = Plan(
        settings(hosts, z + 1, hybrid(2), datagram(5 * SIZE)),
        table(edges, hosts, delays=D),
        one_datagram_each(flow_table(*rows)),
    )
    times = [3 * D + 5 * T, 10 + 4 * D + T, 3 * D + 6 * T, 30 + 4 * D + 2 * T]
    assert ends(engine(plan)) == times


@engines
def test_first_in_first_out_for_an_output(engine: Engine) -> None:
    # X is busy to 5 us; five units wait for it. The longest came first and leaves first.
    rows = [(0, X, 0, 5 * SIZE), (1, X, 1, 2 * SIZE)]
    rows += [(source, X, 2 + i, SIZE) for i, source in enumerate((2, 3, 5))]
    result = engine(star(hybrid(4), *rows))
    assert ends(result) == [2 * D + i * T for i in (5, 7, 8, 9, 10)]


@engines
def test_electronic_queues(engine: Engine) -> None:
    # The tails come at x + D + T; the output is busy from D + T, one after the other.
    result = engine(star(electronic(), (0, X, 0), (1, X, 0), (2, X, 1)))
    assert ends(result) == [2 * (D + T), 2 * (D + T) + T, 2 * (D + T) + 2 * T]
    # The second waits T, the third 2 T - 1; then two and a little more than one byte less are held.
    assert counted(result, "buffered") == 2
    assert result["switches"]["buffer_byte_ps"][0] == float(SIZE * (T + 2 * T - 1))
    assert counted(result, "buffer_max_bytes") == 3 * SIZE
    assert counted(result, "oe_bytes") == counted(result, "eo_bytes") == 3 * SIZE


@engines
@pytest.mark.parametrize(
    ("x", "backlog"), [(0, 1250), (1, 1250), (799, 1250), (800, 1249), (T - 1, 1), (T, 0)]
)
def test_backlog_is_rounded_up(engine: Engine, x: int, backlog: int) -> None:
    # 800 ps for each byte: at 800 the output has sent one byte of the first, at 799 not quite.
    rows = [(0, X, 0), (1, X, x)]
    full = engine(star(electronic(queue=backlog + SIZE - 1), *rows))
    # Without a backlog that is less than one packet: room for neither.
    assert counted(full, "dropped_queue_full") == (1 if backlog else 2)
    room = engine(star(electronic(queue=backlog + SIZE, threshold=backlog), *rows))
    assert counted(room, "dropped_queue_full") == 0
    assert counted(room, "marked") == (1 if backlog else 2)
    above = engine(star(electronic(threshold=backlog + 1), *rows))
    assert counted(above, "marked") == 0


@engines
@pytest.mark.parametrize(
    ("transport", "waits"),
    [
        (saw(), [1_000_000_000, 1_100_000_000, 1_210_000_000]),
        (saw(p=0.5), [1_003_600_000, 1_103_600_000, 1_213_600_000]),
        (saw(max_timeout_ps=1_150_000_000), [1_000_000_000, 1_100_000_000, 1_150_000_000]),
    ],
)
def test_a_syn_lost_thrice(engine: Engine, transport: dict[str, Any], waits: list[int]) -> None:
    # Three times a SYN of another host comes 10 ns before that of host 0 to the output of X.
    times = [10_000, 10_000 + waits[0], 10_000 + waits[0] + waits[1]]
    edges, hosts, nodes = star_edges(6)
    rows = [(1, X, times[0] - 10_000, 100), (0, X, times[0], 9000)]
    rows += [
        (source, X, time - 10_000, 100) for source, time in zip((2, 3), times[1:], strict=True)
    ]
    plan = Plan(
        settings(hosts, nodes, all_optical(), transport),
        table(edges, hosts, delays=D),
        flow_table(*rows),
    )
    result = engine(plan)
    control, full = 2 * D + 51_200, 2 * D + 7_200_000
    assert ends(result)[1] == times[-1] + waits[-1] + 2 * control + 51_200 + full + control
    assert result["flows"]["timeouts"].tolist()[1] == 3
    assert result["flows"]["transmissions"].tolist()[1] == 1
    assert counted(result, "dropped_contention") == 3


@engines
def test_the_timeout_after_two_samples(engine: Engine) -> None:
    """The second of two segments is lost; the time of its retransmission gives `T` to the
    picosecond.

    It begins at 1,000,000,001. The SYN takes 302,400: 500,151,200.5, rounded to 500,151,201. The
    first segment waits 51,200 behind the ACK, begins at 353,600 and is acknowledged after
    7,451,200, at 7,804,800: 253,801,200.5, rounded to 253,801,201. The second begins then, 10 ns
    after the SYN of another flow to the same output.
    """
    edges, hosts, nodes = star_edges(6)
    plan = Plan(
        settings(hosts, nodes, all_optical(), saw(initial_timeout_ps=1_000_000_001)),
        table(edges, hosts, delays=D),
        flow_table((0, X, 0, 18_000), (1, X, 7_804_800 - 10_000, 100)),
    )
    result = engine(plan)
    assert ends(result)[0] == 7_804_800 + 253_801_201 + 7_451_200
    assert result["flows"]["timeouts"].tolist() == [1, 0]


@engines
@pytest.mark.parametrize(
    ("p", "transmissions"), [(None, 2), (0.0, 2), (0.5, 2), (1.0, 1), (4.0, 1)]
)
def test_waiting_longer_spares_the_buffered(
    engine: Engine, p: float | None, transmissions: int
) -> None:
    """The point of the paper, in one packet.

    The other flow's data has the output from 403,600 to 7,603,600. Our ACK comes at 452,400, our
    data, sent at 453,600, at 503,600: both are buffered; the data is received at 7,703,600 and
    leaves; it is acknowledged at 15,104,800, after 14,651,200. `T` is then the mean of 20,000,000
    and 302,400, 10,151,200: too short without at least 0.625 tau more.
    """
    edges, hosts, nodes = star_edges(6)
    plan = Plan(
        settings(hosts, nodes, hybrid(1), saw(p=p, initial_timeout_ps=20_000_000)),
        table(edges, hosts, delays=D),
        flow_table((1, X, 0, 9000), (0, X, 100_000, 9000)),
    )
    result = engine(plan)
    assert ends(result)[1] == 15_104_800
    assert result["flows"]["transmissions"].tolist() == [1, transmissions]


@engines
@pytest.mark.parametrize("seed", [24, 52, 55])
@pytest.mark.parametrize("receiver_timers", [False, True])
def test_no_fin_stays_unanswered(engine: Engine, seed: int, receiver_timers: bool) -> None:
    """An ACK of a second SYN+ACK that comes after the FIN must not close the receiver.

    Two paths of unequal length between two switches, chosen at random, change the order of packets;
    with these seeds the ACK is late and the FIN+ACK is lost.
    """
    edges = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5), (4, 5)]
    transport = saw(initial_timeout_ps=3 * T, receiver_timers=receiver_timers)
    plan = Plan(
        settings(4, 6, all_optical(), transport, choice="random", seed=seed),
        table(edges, 4, delays=[D] * 5 + [3 * T]),
        flow_table((0, 2, 0, 64), (1, 2, 0, 200), (3, 0, 0, 3000)),
    )
    result = engine(plan)
    assert result["flows"]["status"].tolist() == [0, 0, 0]
    # A FIN without an answer would be repeated, with growing intervals, to the time limit.
    assert result["totals"]["end_ps"] < MILLISECOND


def test_the_trace_tells_the_story() -> None:
    trace = traced(star(hybrid(1), (0, X, 0), (1, X, 1), (2, X, 2)))
    story = [
        (entry.time, entry.what, entry.unit.packets[0].flow) for entry in trace if entry.node == 6
    ]
    assert story == [
        (D, "arrive", 0),
        (D, "send", 0),
        (D + 1, "arrive", 1),
        (D + 1, "buffer", 1),
        (D + 2, "arrive", 2),
        (D + 2, "drop no_input_port", 2),
        (D + 1 + T, "re-emit", 1),
        (D + 1 + T, "send", 1),
    ]
