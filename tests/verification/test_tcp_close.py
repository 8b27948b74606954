"""The close of a TCP connection, to the picosecond: the FIN goes with the last data.

Times are calculated by hand, over three links of 50 us each. A data segment arrives `FORTH` after
the interface is free, an acknowledgement `BACK`. The set-up ends at `OPEN`; the ACK that ends it
takes the interface for `CONTROL` ahead of the first segment.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    SECOND,
    START,
    Plan,
    Way,
    all_optical,
    electronic,
    flow_table,
    loss,
    lossy,
    one_flow,
    path_edges,
    settings,
    table,
    tcp,
)
from random_transports import BY_TIMER
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
timers = pytest.mark.parametrize("timers", [False, True], ids=["no-timers", "timers"])
M = 1500
TX = 1_200_000
CONTROL = 51_200
DELAY = 50_000_000
FORTH = 3 * DELAY + TX
BACK = 3 * DELAY + CONTROL
OPEN = START + 2 * BACK
FIRST = OPEN + CONTROL
SYN, ACK, FIN, FORWARD = 1, 2, 4, 8


def flow(segments: int, *drops: dict[str, Any], **changes: Any) -> Plan:
    """A traced flow of full segments, all in one window, with the given losses."""
    plan = one_flow(
        3,
        all_optical(),
        tcp(**changes),
        segments * M,
        metres=10_000,
        loss=loss(*drops),
        trace=[0],
    )
    return plan._replace(links=lossy(plan.links, 2))


def first_transmission(segment: int) -> dict[str, Any]:
    """The loss of a segment, counted from 1, when it is first sent."""
    return {"segments": [segment, segment], "transmission": 1}


def sent(result: Columns) -> list[tuple[int, int, int, int]]:
    """Time, flags, first segment and acknowledged segments of packets sent, after the SYNs."""
    rows = result["trace_segments"]
    names = ("time_ps", "flags", "sequence", "acknowledgement", "event")
    return [
        (time, flags, sequence // M, acknowledged // M if not flags & FORWARD else acknowledged)
        for time, flags, sequence, acknowledged, event in zip(
            *(rows[name].tolist() for name in names), strict=True
        )
        if event == 0 and not flags & SYN
    ]


def times(result: Columns) -> tuple[int, int]:
    """When the last byte was received, and when it was acknowledged."""
    flows = result["flows"]
    return int(flows["received_ps"][0]), int(flows["acknowledged_ps"][0])


@engines
@timers
def test_one_segment(engine: Engine, timers: bool) -> None:
    # Two segments for each acknowledgement: none waits for a second one.
    result = engine(flow(1, acknowledge_every=2, receiver_timers=timers))
    received = FIRST + FORTH
    acknowledged = received + BACK
    assert times(result) == (received, acknowledged)
    assert sent(result) == [
        (OPEN, ACK | FORWARD, 0, 1),
        (FIRST, ACK | FIN | FORWARD, 0, 0),
        (received, FIN | ACK, 0, 1),
        (acknowledged, ACK | FORWARD, 0, 2),
    ]


@engines
@pytest.mark.parametrize("links", [1, 6])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("size", [1, 1400, 1500, 13_337])
def test_received_is_when_the_last_byte_arrives(
    engine: Engine, links: int, stored: bool, size: int
) -> None:
    way = Way(links, stored=stored)
    plan = one_flow(links, electronic() if stored else all_optical(), tcp(), size)
    full, rest = divmod(size, M)
    wires = [TX] * full + [max(800 * rest, CONTROL)] * (rest > 0)
    control = way.one_way(CONTROL)
    # Back to back: where each link takes them whole, the rest catches up behind the first.
    begun = START + 2 * control + CONTROL
    received = begun + sum(wires) + links * way.delay + (links - 1) * wires[0] * stored
    assert times(engine(plan)) == (received, received + control)


@engines
@pytest.mark.parametrize("recovery", BY_TIMER)
def test_a_lost_fin_comes_with_its_segment_again(engine: Engine, recovery: str) -> None:
    # The timer began anew when the second of three was acknowledged.
    result = engine(flow(3, first_transmission(3), recovery=recovery, acknowledge_every=1))
    again = FIRST + TX + FORTH + BACK + SECOND
    assert times(result) == (again + FORTH, again + FORTH + BACK)
    assert sent(result)[-3:] == [
        (again, ACK | FIN | FORWARD, 2, 0),
        (again + FORTH, FIN | ACK, 0, 3),
        (again + FORTH + BACK, ACK | FORWARD, 0, 2),
    ]
    assert result["flows"]["timeouts"].tolist() == [1]


@engines
@pytest.mark.parametrize("recovery", BY_TIMER)
@pytest.mark.parametrize("every", [1, 2])
def test_a_fin_that_comes_ahead_of_data_waits_for_it(
    engine: Engine, recovery: str, every: int
) -> None:
    # Of two segments the first is lost: the FIN is out of order, answered with a plain ACK. When
    # the first comes again, the answer acknowledges both and the FIN, at once.
    changes = {"recovery": recovery, "acknowledge_every": every, "limited_transmit": False}
    result = engine(flow(2, first_transmission(1), **changes))
    again = OPEN + SECOND
    received = again + FORTH
    assert times(result) == (received, received + BACK)
    assert sent(result)[1:] == [
        (FIRST, ACK | FORWARD, 0, 0),
        (FIRST + TX, ACK | FIN | FORWARD, 1, 0),
        (FIRST + TX + FORTH, ACK, 0, 0),
        (again, ACK | FORWARD, 0, 0),
        (received, FIN | ACK, 0, 2),
        (received + BACK, ACK | FORWARD, 0, 2),
    ]


@engines
@timers
@pytest.mark.parametrize("hasty", ["sender", "receiver"])
def test_a_lost_fin_ack(engine: Engine, timers: bool, hasty: str) -> None:
    """The endpoint whose timer expires first repeats: the sender its segment, the receiver its
    FIN+ACK.

    The sender's timer is its minimum; the receiver's, which has no sample, the initial second. At
    equal times the sender is ahead, because its timer began when the segment was sent.
    """
    minimum = SECOND if hasty == "sender" else 2 * SECOND
    changes = {"receiver_timers": timers, "min_timeout_ps": minimum}
    result = engine(flow(1, {"acknowledgements": [2, 2]}, **changes))
    received = FIRST + FORTH
    repeats = timers and hasty == "receiver"
    answered = received + SECOND if repeats else OPEN + minimum + FORTH
    assert times(result) == (received, answered + BACK)
    flows = result["flows"]
    for name in ("timeouts", "retransmissions", "duplicates"):
        assert flows[name].tolist() == [0 if repeats else 1]
    *_, answer, last = sent(result)
    assert answer == (answered, FIN | ACK, 0, 1)
    assert last == (answered + BACK, ACK | FORWARD, 0, 2)
    assert result["totals"]["units_in_flight"] == 0


@engines
@timers
def test_a_duplicate_in_last_ack(engine: Engine, timers: bool) -> None:
    """Data that comes again is acknowledged; the FIN+ACK is repeated for a FIN, or by the timer.

    Both acknowledgements of two segments are lost, the timer lets the first one come again: its ACK
    covers all data. It then waits for a FIN+ACK, which comes if the receiver has a timer; that
    began when it first sent it.
    """
    changes = {"receiver_timers": timers, "acknowledge_every": 1, "min_timeout_ps": SECOND // 2}
    plan = flow(2, {"acknowledgements": [2, 3]}, recovery="reno", **changes)
    result = engine(plan)
    received, again = FIRST + TX + FORTH, OPEN + SECOND // 2
    assert times(result) == (received, again + FORTH + BACK)
    repeated = received + SECOND
    assert sent(result)[5:] == [
        (again, ACK | FORWARD, 0, 0),
        (again + FORTH, ACK, 0, 2),
        *([(repeated, FIN | ACK, 0, 2)] if timers else []),
        *([(repeated + BACK, ACK | FORWARD, 0, 2)] if timers else []),
    ]
    assert result["flows"]["status"].tolist() == [0]
    assert result["totals"]["units_in_flight"] == 0


@engines
@timers
def test_a_lost_last_ack(engine: Engine, timers: bool) -> None:
    """The receiver repeats its FIN+ACK if it has a timer, and a closed sender answers again.

    At the switch before the destination the last ACK meets the SYN of another flow, from a host
    that is linked to that switch, which came 1 ps before it.
    """
    edges, _, _ = path_edges(3)
    edges = [(a + (a >= 2), b + (b >= 2)) for a, b in edges] + [(2, 4)]
    hosts, nodes = 3, 5
    received = FIRST + FORTH
    acknowledged = received + BACK
    # The last ACK has two links to that switch, the SYN one.
    other = acknowledged + DELAY - 1
    chosen = settings(
        hosts, nodes, all_optical(), tcp(receiver_timers=timers), trace=[0], time_limit_ps=10**14
    )
    flows = flow_table((0, 1, START, M), (2, 1, other, M))
    result = engine(Plan(chosen, table(edges, hosts, delays=DELAY), flows))
    assert times(result) == (received, acknowledged)
    assert result["switches"]["dropped_contention"].tolist() == [0, 1]
    assert sent(result)[4:] == (
        [
            (received + SECOND, FIN | ACK, 0, 1),
            (received + SECOND + BACK, ACK | FORWARD, 0, 2),
        ]
        if timers
        else []
    )
    assert result["flows"]["status"].tolist() == [0, 0]
    assert result["totals"]["units_in_flight"] == 0
