"""Packets that are trimmed, to the picosecond: two messages to one host over a slower link.

Times are calculated by hand and count from the arrival of the first packet at the switch.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    START,
    Plan,
    electronic,
    flow_table,
    settings,
    table,
)
from queue_pairs import rdma
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
M = 1024
DELAY = MICROSECOND
#: A packet of 1086 bytes at 10 Gb/s.
TX = 868_800
#: The first packet is at the switch.
FIRST = START + TX + DELAY


def two_messages(**changes: Any) -> Plan:
    """Two messages of three packets; the second one begins 100 ns later. One packet may wait."""
    rates = [10 * GIGABIT, 10 * GIGABIT, 8 * GIGABIT]
    links = table([(0, 3), (1, 3), (2, 3)], 3, rates=rates, delays=DELAY)
    queue = {"kind": "trim", "packets": 1, "header_bytes": 64, "header_queue_bytes": 1_000}
    switch = electronic(None, None, queue | {"weight": 10, "tail": 0.0} | changes)
    flows = flow_table((0, 2, START, 3 * M), (1, 2, START + 100_000, 3 * M))
    law = {"congestion_control": {"kind": "line-rate"}}
    return Plan(settings(3, 4, switch, rdma("selective-repeat", **law), trace=[0, 1]), links, flows)


def sent(result: Columns, flow: int) -> list[tuple[int, int]]:
    """When each packet of a message left its host, and its number from 0."""
    rows = result["trace_segments"]
    those = (rows["event"] == 0) & (rows["payload"] > 0) & (rows["flow"] == flow)
    times, numbers = rows["time_ps"][those].tolist(), rows["sequence"][those].tolist()
    return [(time - FIRST, number // M) for time, number in zip(times, numbers, strict=True)]


@engines
def test_a_header_asks_for_its_packet_at_once(engine: Engine) -> None:
    # The packets of the first message, a0, a1, a2, come at 0, 868,800 and 1,737,600; those of the
    # second, b0, b1, b2, 100,000 later. A packet takes 1,086,000 to the receiver, a header of 64
    # bytes 64,000. a0 leaves at once and b0 waits; a1 and b1 are trimmed, and leave at 1,086,000
    # and 1,150,000, then b0 at 1,214,000. Now a2 waits, b2 is trimmed and leaves at 2,300,000, and
    # a2 at 2,364,000.
    result = engine(two_messages())
    assert result["switches"]["trimmed"].tolist() == [3]
    assert result["switches"]["dropped_queue_full"].tolist() == [0]
    rows = result["trace_segments"]
    cut = rows["event"] == 3
    columns = (rows[name][cut].tolist() for name in ("time_ps", "flow", "sequence", "payload"))
    assert [(time - FIRST, *rest) for time, *rest in zip(*columns, strict=True)] == [
        (TX, 0, M, M),
        (TX + 100_000, 1, M, M),
        (2 * TX + 100_000, 1, 2 * M, M),
    ]
    # Node 3 is the switch, and the last link leads from it to the receiver, host 2.
    assert set(rows["node"][cut].tolist()) == {3}
    assert set(rows["link"][cut].tolist()) == {len(two_messages().links["to"]) - 1}
    # The receiver acknowledges a0 at 2,086,000, which takes 66,000; the answer to the header of a1,
    # at 2,150,000, waits for it until 2,152,000, and is at the first host after 66,000 + 1,000,000
    # + 52,800 + 1,000,000. That to b1, at 2,214,000, waits until 2,218,000. The answer to b2, at
    # 3,364,000, waits for the acknowledgement of b0, until 3,366,000.
    back = 66_000 + DELAY + 52_800 + DELAY
    beginnings = [-TX - DELAY + n * TX for n in range(3)]
    assert sent(result, 0) == [*zip(beginnings, range(3), strict=True), (2_152_000 + back, 1)]
    again = [(2_218_000 + back, 1), (3_366_000 + back, 2)]
    others = [(at + 100_000, n) for n, at in enumerate(beginnings)]
    assert sent(result, 1) == [*others, *again]
    # a1 is at the switch at 6,139,600 and leaves at once; b1 comes at 6,205,600 and waits until
    # 7,225,600; b2 comes at 7,353,600 and waits until 8,311,600. a2 had come before a1: the sender
    # does not take a1 for lost a second time.
    received = [FIRST + 7_225_600 + DELAY, FIRST + 9_397_600 + DELAY]
    assert result["flows"]["received_ps"].tolist() == received
    expected = {
        "retransmissions": [1, 2],
        "timeouts": [0, 0],
        "fast_retransmits": [0, 0],
        "spurious_retransmissions": [0, 0],
        "drops": [0, 0],
    }
    assert {name: result["flows"][name].tolist() for name in expected} == expected


@engines
def test_a_header_without_room_is_lost_and_its_packet_is_repaired_as_a_lost_one(
    engine: Engine,
) -> None:
    # The header of a1 waits, and that of b1 finds no room. b0 leaves at 1,150,000, and the header
    # of b2 at 2,236,000, whose answer waits for the acknowledgement of b0, until 3,302,000: b2 is
    # sent again at 5,420,800. It is at the receiver at 9,375,600; the answer tells of b1.
    result = engine(two_messages(header_queue_bytes=100))
    assert result["switches"]["trimmed"].tolist() == [3]
    assert result["switches"]["dropped_queue_full"].tolist() == [1]
    back = 66_000 + DELAY + 52_800 + DELAY
    assert sent(result, 1)[3:] == [(3_302_000 + back, 2), (9_375_600 + back, 1)]
    expected = {
        "retransmissions": [1, 2],
        "timeouts": [0, 0],
        "fast_retransmits": [0, 1],
        "spurious_retransmissions": [0, 0],
        "drops": [0, 1],
        "delivered_bytes": [3 * M, 3 * M],
    }
    assert {name: result["flows"][name].tolist() for name in expected} == expected


@engines
def test_a_header_without_room_returns_and_its_packet_leaves_at_once(engine: Engine) -> None:
    # Nine packets and eight answers arrive at the switch. As above the header of b1 finds no room
    # when b1 comes, at 968,800. It takes 51,200 on the link to its sender, which sends b1 again at
    # 2,020,000. b1 is at the switch at 3,888,800, after a2, which leaves from 2,300,000 on. b2 is
    # sent again as above, at 5,420,800, and at the switch at 7,289,600, after a1, whose answer is
    # that of the first test.
    result = engine(two_messages(header_queue_bytes=100, return_to_sender=True))
    switches = {"trimmed": [3], "returned": [1], "dropped_queue_full": [0], "arrived": [17]}
    assert {name: result["switches"][name].tolist() for name in switches} == switches
    back = 66_000 + DELAY + 52_800 + DELAY
    returned = TX + 100_000
    came = returned + 51_200 + DELAY
    assert sent(result, 0)[3:] == [(2_152_000 + back, 1)]
    assert sent(result, 1)[3:] == [(came, 1), (3_302_000 + back, 2)]
    rows = result["trace_segments"]
    those = (rows["event"] == 4) | (rows["flags"] == 33)
    names = ("time_ps", "event", "flow", "sequence", "payload", "flags", "node", "retransmission")
    columns = (rows[name][those].tolist() for name in names)
    # The switch is node 3. The header has the flags of its packet until it turns back, with 33.
    assert [(time - FIRST, *rest) for time, *rest in zip(*columns, strict=True)] == [
        (returned, 4, 1, M, 0, 8 + 2, 3, 0),
        (came, 1, 1, M, 0, 33, 1, 0),
    ]
    received = [FIRST + 7_225_600 + DELAY, FIRST + 8_375_600 + DELAY]
    assert result["flows"]["received_ps"].tolist() == received
    expected = {
        "retransmissions": [1, 2],
        "timeouts": [0, 0],
        "fast_retransmits": [0, 0],
        "spurious_retransmissions": [0, 0],
        "drops": [0, 0],
    }
    assert {name: result["flows"][name].tolist() for name in expected} == expected
