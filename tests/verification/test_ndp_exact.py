"""Pulls of NDP, each to the picosecond, and an incast that keeps the receiver's link full.

Times are calculated by hand and count from the arrival of the first packet at the switch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    START,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    star_edges,
    table,
)
from queue_pairs import NDP, rdma
from test_outages import down
from test_trim_exact import DELAY, FIRST, TX, M, sent
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
TRIM = {"kind": "trim", "header_bytes": 64, "weight": 10, "tail": 0.0}
#: Flags of a pull.
PULL = 32 + 16
KEYS = ("packet", "time_ps")
#: A packet on the link of the receiver, at 8 Gb/s.
TURN = 1_086_000
#: From the begin of a packet without data at the receiver to its arrival at a sender.
BACK = 66_000 + DELAY + 52_800 + DELAY


def pulled(first_window: int, **changes: Any) -> dict[str, Any]:
    """Settings of messages whose packets are pulled."""
    law = NDP | {"first_window": first_window}
    return rdma("selective-repeat", congestion_control=law, **changes)


def two_messages(packets: int, first_window: int, **changes: Any) -> Plan:
    """Two messages over one switch, of which one packet may wait; one begins 100 ns later."""
    rates = [10 * GIGABIT, 10 * GIGABIT, 8 * GIGABIT]
    links = table([(0, 3), (1, 3), (2, 3)], 3, rates=rates, delays=DELAY)
    queue = TRIM | {"packets": 1, "header_queue_bytes": 1_000} | changes.pop("queue", {})
    switch = electronic(None, None, queue)
    flows = flow_table((0, 2, START, packets * M), (1, 2, START + 100_000, packets * M))
    chosen = settings(3, 4, switch, pulled(first_window, **changes), trace=[0, 1])
    return Plan(chosen, links, flows)


def pulls(result: Columns) -> list[tuple[int, int, int]]:
    """When the transmission of each pull began, the message, and its number."""
    rows = result["trace_segments"]
    those = (rows["event"] == 0) & (rows["flags"] == PULL)
    columns = (rows[name][those].tolist() for name in ("time_ps", "flow", "sequence"))
    return [(time - FIRST, *rest) for time, *rest in zip(*columns, strict=True)]


@engines
def test_each_pull_leaves_at_its_time_and_in_its_turn(engine: Engine) -> None:
    # Messages a and b of three packets, all of them in the first window. As with line rate, a1, b1
    # and b2 are trimmed: at the receiver are a0 at 2,086,000, the header of a1 at 2,150,000, that
    # of b1 at 2,214,000, b0 at 3,300,000, the header of b2 at 3,364,000, a2 at 4,450,000.
    #
    # a0 is pulled at once, behind its acknowledgement of 66,000. The next pull is due a packet's
    # time after 2,086,000: that of a1, then those of b1, b0 (b alone waits until a2 comes), a2, b2.
    result = engine(two_messages(3, 3))
    assert result["switches"]["trimmed"].tolist() == [3]
    due = [2_086_000 + n * TURN for n in range(6)]
    assert pulls(result)[:6] == [
        (due[0] + 66_000, 0, 1),
        (due[1], 0, 2),
        (due[2], 1, 1),
        (due[3], 1, 2),
        (due[4], 0, 3),
        (due[5], 1, 3),
    ]
    # The pull of a0 finds nothing to send, and serves a1 when its NAK comes, which left behind that
    # pull. b1 and b2 have their NAKs before their pulls: they leave when these come.
    assert sent(result, 0)[3:] == [(2_152_000 + 66_000 + BACK, 1)]
    assert sent(result, 1)[3:] == [(due[2] + BACK, 1), (due[3] + BACK, 2)]
    # So b1 and b2 are at the receiver one behind the other: its link is full.
    b1 = due[2] + BACK + TX + DELAY + TURN + DELAY
    ends = [2_218_000 + BACK + TX + DELAY + TURN + DELAY, b1 + TURN]
    assert [time - FIRST for time in result["flows"]["received_ps"].tolist()] == ends
    # b1 is pulled at once, and the packets that complete a message are not.
    assert pulls(result)[6:] == [(b1 + 66_000, 1, 4)]
    assert result["flows"]["timeouts"].tolist() == [0, 0]


@engines
def test_a_message_shorter_than_the_first_window_has_all_of_it_unasked(engine: Engine) -> None:
    # Not more: what was trimmed waits for pulls, as with a first window of all three packets.
    whole, more = (engine(two_messages(3, window)) for window in (3, 30))
    assert whole["trace_segments"]["time_ps"].tolist() == more["trace_segments"]["time_ps"].tolist()
    assert whole["flows"]["received_ps"].tolist() == more["flows"]["received_ps"].tolist()


@engines
def test_a_packet_of_each_message_in_turn(engine: Engine) -> None:
    # One packet unasked, so that each message has at most one in the network: a and b alternate.
    result = engine(two_messages(4, 1))
    assert [flow for _, flow, _ in pulls(result)] == [0, 1] * 3
    assert [len(sent(result, flow)) for flow in (0, 1)] == [4, 4]
    assert result["switches"]["trimmed"].tolist() == [0]
    # The first packet of a is at the receiver at 2,086,000; that of b waits until then for the
    # link, and its pull a packet's time after the other: every packet fills the time of one.
    times = [time for time, *_ in pulls(result)]
    assert times[0] == 2_086_000 + 66_000
    assert times[1] == 2_086_000 + TURN + 66_000
    trip = BACK + TX + DELAY + TURN + DELAY + 66_000
    assert times[2] == times[0] + trip
    # A pull follows a packet's time after the last at the earliest; here the packet is later.
    assert times[3] == times[1] + trip


@engines
def test_a_timeout_makes_up_for_a_lost_pull(engine: Engine) -> None:
    # One message, one packet unasked. Its acknowledgement is at the sender at 2,086,000 + BACK, and
    # the pull 66,000 later, on a link that goes down in between. Nothing is in flight, and yet
    # the timer runs, from the acknowledgement on.
    acknowledged, wait = 2_086_000 + BACK, 20 * MICROSECOND
    plan = two_messages(4, 1, acknowledgement_timeout_ps=wait)
    plan = plan._replace(flows=flow_table((0, 2, START, 4 * M)))
    plan.settings["trace"] = [0]
    plan = down(plan, [(3, 0, FIRST + acknowledged + 1, FIRST + acknowledged + 50_000)])
    result = engine(plan)
    assert result["flows"]["timeouts"].tolist() == [1]
    assert result["flows"]["retransmissions"].tolist() == [0]
    # The first window is sent again: one packet. Its pull is number 2, and asks for two packets.
    second = acknowledged + wait
    arrived = second + TX + DELAY + TURN + DELAY
    third = arrived + 66_000 + BACK
    expected = [(-TX - DELAY, 0), (second, 1), (third, 2), (third + TX, 3)]
    assert sent(result, 0) == expected
    assert pulls(result) == [
        (2_152_000, 0, 1),
        (arrived + 66_000, 0, 2),
        (third + TX + 2 * DELAY + TURN + 66_000, 0, 3),
    ]


#: One header may wait, and the next one returns to its sender.
RETURNS = {"header_queue_bytes": 100, "return_to_sender": True}


@engines
def test_a_returned_packet_waits_for_a_pull_that_is_expected(engine: Engine) -> None:
    # The header of a1 waits when that of b1 comes, at 968,800, and turns back. b expects pulls for
    # b0 and b2: nothing is sent. At the receiver are a0 at 2,086,000, the header of a1 at
    # 2,150,000, b0 at 3,236,000, the header of b2 at 3,300,000, and a2 at 4,386,000.
    result = engine(two_messages(3, 3, queue=RETURNS))
    assert result["switches"]["returned"].tolist() == [1]
    due = [2_086_000 + n * TURN for n in range(5)]
    assert pulls(result) == [
        (due[0] + 66_000, 0, 1),
        (due[1], 0, 2),
        (due[2], 1, 1),
        (due[3], 1, 2),
        (due[4], 0, 3),
        (10_331_600 + 66_000, 1, 3),
    ]
    # The first pull of b asks for b1, and the second for b2, of which a NAK had told.
    assert sent(result, 1)[3:] == [(due[2] + BACK, 1), (due[3] + BACK, 2)]
    # b1 is at the switch at 8,245,600 and leaves at once; b2 comes when it has left, at 9,331,600.
    ends = [8_291_600, 11_417_600]
    assert [time - FIRST for time in result["flows"]["received_ps"].tolist()] == ends
    assert result["flows"]["timeouts"].tolist() == [0, 0]
    assert result["flows"]["spurious_retransmissions"].tolist() == [0, 0]


@engines
def test_a_returned_packet_leaves_at_once_if_no_pull_is_expected(engine: Engine) -> None:
    # a1 waits behind a0, the header of b0 waits as well, and that of c0, at 950,000, turns back: c
    # has sent nothing else. It takes 51,200, and c0 is at the switch again at 3,870,000, behind a2,
    # which leaves at 2,236,000. b0 waits for its pull, which is due a turn after that of a0.
    rates = [10 * GIGABIT] * 3 + [8 * GIGABIT]
    links = table([(host, 4) for host in range(4)], 4, rates=rates, delays=DELAY)
    switch = electronic(None, None, TRIM | {"packets": 1} | RETURNS)
    flows = flow_table((0, 3, START, 3 * M), (1, 3, START + 900_000, M), (2, 3, START + 950_000, M))
    flows["group"] = np.array([0, 1, 1], np.uint16)
    chosen = settings(4, 5, switch, [pulled(3), pulled(1)], trace=[0, 1, 2])
    result = engine(Plan(chosen, links, flows))
    assert result["switches"]["returned"].tolist() == [1]
    again = 950_000 + 51_200 + DELAY
    assert sent(result, 2)[1:] == [(again, 0)]
    assert sent(result, 1)[1:] == [(2_086_000 + TURN + BACK, 0)]
    assert int(result["flows"]["received_ps"][2]) - FIRST == again + TX + 2 * DELAY + TURN
    assert result["flows"]["timeouts"].tolist() == [0] * 3


def star(senders: int, packets: int, first_window: int, **changes: Any) -> Plan:
    """Messages of many hosts to one, over one switch."""
    edges, hosts, nodes = star_edges(senders + 1)
    links = table(edges, hosts, rates=10 * GIGABIT, delays=DELAY)
    queue = TRIM | {"packets": 8, "header_queue_bytes": 72_000, "tail": 0.5} | changes
    rows = [(n, senders, START, packets * M) for n in range(senders)]
    chosen = settings(
        hosts,
        nodes,
        electronic(None, None, queue),
        pulled(first_window, acknowledgement_timeout_ps=67 * MILLISECOND),
        time_limit_ps=100 * MILLISECOND,
        trace=list(range(senders)),
    )
    return Plan(chosen, links, flow_table(*rows))


def test_an_incast_keeps_the_link_of_the_receiver_full() -> None:
    senders, packets = 100, 50
    result = core(star(senders, packets, 10))
    flows = result["flows"]
    received = flows["received_ps"] - START
    ideal = senders * packets * TX + 4 * DELAY + 2 * TX + 2 * 52_800
    assert ideal * 0.99 < received.max() < 1.03 * ideal
    assert result["switches"]["trimmed"][0] > senders
    assert flows["drops"].sum() == flows["timeouts"].sum() == 0
    # Turns are fair: all end within the last turns.
    assert received.min() > 0.9 * received.max()
    # No data waits behind more than eight packets, one under way, and ten headers for each.
    rows = result["trace_segments"]
    data = rows["payload"] > 0
    times = [
        dict(zip(*(rows[key][data & (rows["event"] == event)] for key in KEYS), strict=True))
        for event in (0, 1)
    ]
    took = np.array([came - times[0][packet] for packet, came in times[1].items()])
    most = 2 * TX + 2 * DELAY + 9 * TX + 10 * 10 * 51_200 + 52_800
    assert 8 * TX < took.max() - 2 * DELAY <= most


def test_an_incast_that_overflows_the_headers_has_no_timeout_if_these_return() -> None:
    # 100 first windows of 30 headers of 64 bytes are 192 kB.
    senders, packets = 100, 50
    lost = core(star(senders, packets, 30))
    assert lost["flows"]["timeouts"].sum() > 0
    assert lost["flows"]["received_ps"].max() > 67 * MILLISECOND
    result = core(star(senders, packets, 30, return_to_sender=True))
    flows, switches = result["flows"], result["switches"]
    assert switches["returned"][0] == lost["switches"]["dropped_queue_full"][0] > senders
    assert flows["drops"].sum() == flows["timeouts"].sum() == 0
    ideal = senders * packets * TX + 4 * DELAY + 2 * TX + 2 * 52_800
    assert (flows["received_ps"] - START).max() < 1.05 * ideal
