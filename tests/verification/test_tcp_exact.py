"""One TCP flow, to the picosecond, by formulas derived by hand.

A segment takes the interface for `tx`, and its acknowledgement comes `rtt` after it began. The
set-up ends at `START + 2 one_way(control)`; the ACK takes the interface ahead of the first segment.

Without losses the segments of a window are sent in rounds. Let round `k` have `n` segments back to
back, the `j`-th at `t + j tx`, with `n tx <= rtt`. Their acknowledgements come at `t + rtt + j tx`,
and each permits one segment, and one more if it opens the window by one: the first go at `t + rtt`,
and as many as come together take the interface one after the other, so that round `k + 1` is back
to back, too, and begins `rtt` later. It has as many segments as the window after the last
acknowledgement of round `k`.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import count, repeat
from typing import Any

import pytest
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    START,
    Plan,
    Way,
    all_optical,
    electronic,
    loss,
    lossy,
    one_flow,
    path_edges,
    table,
    tcp,
)
from random_transports import BY_TIMER, RECOVERIES
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
recoveries = pytest.mark.parametrize("recovery", RECOVERIES)
M = 1500
TX = 1_200_000  # 1,500 bytes at 10 Gb/s, in ps
CONTROL = 51_200  # 64 bytes
METRES = 10_000
# Of two links of 50 us each.
WAYS = {"cut-through": Way(2, 5000 * METRES), "stored": Way(2, 5000 * METRES, stored=True)}
SWITCHES = {"cut-through": all_optical(), "stored": electronic()}


def flow(segments: int, kind: str = "cut-through", **changes: Any) -> Plan:
    """A flow of full segments over two links; windows in segments, one acknowledgement for each."""
    windows = {
        f"{name}_bytes": changes.pop(name, default) * M
        for name, default in (("initial_window", 1), ("advertised_window", 1000))
    }
    transport = tcp(**{"acknowledge_every": 1, **windows, **changes})
    return one_flow(2, SWITCHES[kind], transport, segments * M, metres=METRES)


def first_segment(way: Way) -> int:
    """When the first segment begins."""
    return START + 2 * way.one_way(CONTROL) + CONTROL


def round_trip(way: Way) -> int:
    """From the beginning of a segment to its acknowledgement."""
    return way.one_way(TX) + way.one_way(CONTROL)


def end_of_rounds(sizes: Iterable[int], segments: int, rtt: int) -> int:
    """When the last segment is acknowledged, from the beginning of the first one."""
    for k, size in enumerate(sizes):
        assert size * TX <= rtt
        if segments <= size:
            return (k + 1) * rtt + (segments - 1) * TX
        segments -= size
    raise AssertionError("rounds without end")


@engines
@recoveries
@pytest.mark.parametrize("initial", [1, 2, 3, 10])
@pytest.mark.parametrize("segments", [1, 2, 4, 30, 31, 62, 63, 150])
def test_slow_start(engine: Engine, recovery: str, initial: int, segments: int) -> None:
    way = WAYS["cut-through"]
    result = engine(flow(segments, recovery=recovery, initial_window=initial))
    doubling = (initial * 2**k for k in count())
    end = first_segment(way) + end_of_rounds(doubling, segments, round_trip(way))
    flows = result["flows"]
    assert flows["acknowledged_ps"].tolist() == [end]
    assert flows["received_ps"].tolist() == [end - way.one_way(CONTROL)]
    assert flows["transmissions"].tolist() == [segments]
    assert flows["timeouts"].tolist() == flows["duplicates"].tolist() == [0]
    # Forward: SYN, ACK, segments, ACK. Back: SYN+ACK and acknowledgements, of which the last is a
    # FIN+ACK.
    assert result["links"]["units"][[0, 1]].tolist() == [segments + 3, segments + 1]


@engines
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("window", [1, 2, 5, 64])
@pytest.mark.parametrize("initial", [1, 2, 3])
def test_slow_start_up_to_the_advertised_window(
    engine: Engine, kind: str, window: int, initial: int
) -> None:
    segments, way = 200, WAYS[kind]
    plan = flow(segments, kind, initial_window=initial, advertised_window=window)
    sizes = (min(initial * 2**k, window) for k in count())
    end = first_segment(way) + end_of_rounds(sizes, segments, round_trip(way))
    assert engine(plan)["flows"]["acknowledged_ps"].tolist() == [end]


@engines
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("segments", [1, 99, 400])
def test_a_window_larger_than_the_path_keeps_the_interface_busy(
    engine: Engine, kind: str, segments: int
) -> None:
    # 400 segments take 480 us, a round trip little more than 200 us.
    way = WAYS[kind]
    assert 2 * round_trip(way) < 400 * TX
    plan = flow(segments, kind, initial_window=400)
    end = first_segment(way) + (segments - 1) * TX + round_trip(way)
    assert engine(plan)["flows"]["acknowledged_ps"].tolist() == [end]


def avoidance(window: float, most: float) -> Iterator[int]:
    """Segments in each round from a window in bytes on: m^2 / cwnd for each acknowledgement."""
    while True:
        size = math.floor(window / M)
        yield size
        for _ in repeat(None, size):
            window = min(window + M * M / window, most)


@engines
@pytest.mark.parametrize("recovery", BY_TIMER)
@pytest.mark.parametrize("advertised", [5, 1000])
@pytest.mark.parametrize("segments", [2, 3, 60, 300])
def test_congestion_avoidance(
    engine: Engine, recovery: str, advertised: int, segments: int
) -> None:
    """The first segment is lost; the timeout leaves a threshold of two segments.

    The one sample is the SYN's, R: the timeout is R + 4 R / 2. The second transmission finds the
    interface free and a window of one segment; its acknowledgement opens it to two.
    """
    links = 3
    _, hosts, _ = path_edges(links)
    way = Way(links, 5000 * METRES)
    transport = tcp(
        recovery,
        acknowledge_every=1,
        initial_window_bytes=M,
        advertised_window_bytes=advertised * M,
        min_timeout_ps=0,
        clock_granularity_ps=0,
    )
    plan = one_flow(
        links,
        all_optical(),
        transport,
        segments * M,
        metres=METRES,
        loss=loss({"segments": [1, 1], "transmission": 1}),
    )
    plan = plan._replace(links=lossy(plan.links, hosts))
    established = START + 2 * way.one_way(CONTROL)
    timeout = 3 * 2 * way.one_way(CONTROL)
    rtt = round_trip(way)
    later = end_of_rounds(avoidance(2.0 * M, float(advertised * M)), segments - 1, rtt)
    result = engine(plan)
    assert result["flows"]["acknowledged_ps"].tolist() == [established + timeout + rtt + later]
    assert result["flows"]["timeouts"].tolist() == [1]
    assert result["flows"]["retransmissions"].tolist() == [1]


@engines
@pytest.mark.parametrize("segments", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("delay", [TX + 1, 70 * MICROSECOND, 40_000 * MICROSECOND])
def test_delayed_acknowledgements(engine: Engine, segments: int, delay: int) -> None:
    # All in one window: two are acknowledged when the second comes. The last carries the FIN: it is
    # acknowledged at once, also if it is left alone.
    way = WAYS["cut-through"]
    plan = flow(segments, initial_window=10, acknowledge_every=2, acknowledgement_delay_ps=delay)
    result = engine(plan)
    end = first_segment(way) + (segments - 1) * TX + round_trip(way)
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["links"]["units"][1] == 1 + -(-segments // 2)


@engines
@pytest.mark.parametrize("segments", [1, 2, 5])
@pytest.mark.parametrize("delay", [1, 70 * MICROSECOND, 40_000 * MICROSECOND])
def test_a_segment_alone_waits_for_its_acknowledgement(
    engine: Engine, segments: int, delay: int
) -> None:
    # A window of one segment: each waits, except the last.
    way = WAYS["cut-through"]
    plan = flow(segments, advertised_window=1, acknowledge_every=2, acknowledgement_delay_ps=delay)
    result = engine(plan)
    end = first_segment(way) + segments * round_trip(way) + (segments - 1) * delay
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["links"]["units"][1] == 1 + segments


@engines
@pytest.mark.parametrize(("delay", "acknowledgements"), [(TX, 2), (TX - 1, 3)])
def test_a_segment_at_the_instant_at_which_the_delay_ends(
    engine: Engine, delay: int, acknowledgements: int
) -> None:
    # Arrivals come before timers: the second segment is in time, or comes 1 ps too late. The first
    # acknowledgement, at `delay`, permits the third, with the FIN.
    way = WAYS["cut-through"]
    plan = flow(
        3,
        initial_window=2,
        advertised_window=2,
        acknowledge_every=2,
        acknowledgement_delay_ps=delay,
    )
    result = engine(plan)
    end = first_segment(way) + delay + 2 * round_trip(way)
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["links"]["units"][1] == 1 + acknowledgements


@engines
@pytest.mark.parametrize(("delay", "alone"), [(10 * MICROSECOND, 1), (40_000 * MICROSECOND, 0)])
def test_slow_start_with_delayed_acknowledgements(engine: Engine, delay: int, alone: int) -> None:
    """RFC 5681 opens the window by one segment for an acknowledgement of two.

    From two segments, acknowledged together: three go; the first two are acknowledged when the
    second came, at which time the third has `delay` still to wait; the sixth, which that
    acknowledgement lets go, comes sooner or later than that.
    """
    way = WAYS["cut-through"]
    second_round = first_segment(way) + TX + round_trip(way)
    for segments, end, units in (
        (5, second_round + 2 * TX + round_trip(way), 3),
        (6, second_round + TX + 2 * round_trip(way), 3 + alone),
    ):
        plan = flow(segments, initial_window=2, acknowledge_every=2, acknowledgement_delay_ps=delay)
        result = engine(plan)
        assert result["flows"]["acknowledged_ps"].tolist() == [end]
        assert result["links"]["units"][1] == 1 + units
    # With a window of two for ever the fifth waits for its turn.
    narrow = flow(
        5,
        initial_window=2,
        advertised_window=2,
        acknowledge_every=2,
        acknowledgement_delay_ps=delay,
    )
    end = second_round + TX + 2 * round_trip(way)
    assert engine(narrow)["flows"]["acknowledged_ps"].tolist() == [end]


@engines
@pytest.mark.parametrize("segment", range(1500, 1507))
def test_the_timeout_after_two_samples(engine: Engine, segment: int) -> None:
    """RFC 6298: the first sample is the SYN's, the second the first segment's; the second is lost.

    It is sent again after SRTT + 4 RTTVAR, rounded to the nearest picosecond, halves upward.
    """
    tx, control = -(-8_000 * segment // 7), -(-8_000 * 64 // 7)  # at 7 Gb/s
    edges, hosts, _ = path_edges(3)
    transport = tcp(
        acknowledge_every=1,
        segment_bytes=segment,
        initial_window_bytes=segment,
        advertised_window_bytes=segment,
        min_timeout_ps=0,
        clock_granularity_ps=0,
    )
    plan = one_flow(
        3,
        all_optical(),
        transport,
        2 * segment,
        loss=loss({"segments": [2, 2], "transmission": 1}),
    )
    delays = [5_000_000, 50_000_001, 7_000_000]
    links = lossy(table(edges, hosts, rates=7 * GIGABIT, delays=delays), hosts)
    r1 = 2 * (sum(delays) + control)
    # The first segment waits for the ACK on the interface.
    r2 = control + sum(delays) + tx + sum(delays) + control
    eight_variances = 3 * r1 + 2 * (r2 - r1)
    eighths = 7 * r1 + r2 + 4 * eight_variances
    assert eighths % 8 == tx % 8
    timeout = (eighths + 4) // 8
    end = START + r1 + r2 + timeout + r2 - control
    result = engine(plan._replace(links=links))
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["flows"]["timeouts"].tolist() == [1]


@engines
@pytest.mark.parametrize(("room", "dropped"), [(3 * M + 64, 0), (3 * M + 63, 1), (2 * M, 2)])
def test_the_access_buffer(engine: Engine, room: int, dropped: int) -> None:
    # The ACK of the set-up and three segments are handed over at once.
    plan = flow(3, initial_window=3, access_buffer_bytes=room)
    plan.settings["time_limit_ps"] = first_segment(WAYS["cut-through"])
    result = engine(plan)
    assert result["flows"]["drops"].tolist() == [dropped]
    assert result["totals"]["units_dropped"] == dropped
    assert result["flows"]["transmissions"].tolist() == [3]
    assert result["links"]["units"][0] == 5 - dropped


def acknowledgements(result: Columns) -> list[tuple[int, list[tuple[int, int]]]]:
    """The receiver's acknowledgements, and its SACK blocks; all in segments, from the trace."""
    rows = result["trace_segments"]
    sent = (rows["event"] == 0) & (rows["flags"] == 2)
    edges = [
        (rows[f"block_start_{i}"][sent] // M, rows[f"block_end_{i}"][sent] // M) for i in range(4)
    ]
    return [
        (int(first) // M, [(int(a[row]), int(b[row])) for a, b in edges[:blocks]])
        for row, (first, blocks) in enumerate(
            zip(rows["acknowledgement"][sent], rows["blocks"][sent], strict=True)
        )
    ]


@engines
@pytest.mark.parametrize("blocks", [1, 2, 4])
@pytest.mark.parametrize("duplicate_sack", [False, True])
def test_sack_blocks(engine: Engine, blocks: int, duplicate_sack: bool) -> None:
    """RFC 2018, section 4, and RFC 2883, section 4: which blocks, in which order.

    Of segments 0 to 9 those numbered 0, 2, 4 and 6 are lost, and all acknowledgements: a timeout.
    Segment 0 comes, then 2 is lost again, and 3, which `sack1` sends again, is held already: first
    the duplicate, if that is reported, then the block of which it is a part, then the others.
    """
    twice: dict[str, Any] = {"segments": [3, 3], "transmission": 2}
    lost: list[dict[str, Any]] = [{"segments": [i, i], "transmission": 1} for i in (1, 3, 5, 7)]
    plan = one_flow(
        3,
        all_optical(),
        tcp(
            "sack1",
            acknowledge_every=1,
            initial_window_bytes=10 * M,
            sack_blocks=blocks,
            duplicate_sack=duplicate_sack,
        ),
        10 * M,
        metres=METRES,
        loss=loss(*lost, twice, {"acknowledgements": [2, 7]}),
        trace=[0],
    )
    sent = acknowledgements(engine(plan._replace(links=lossy(plan.links, 2))))
    others = [(7, 10), (5, 6)]
    expected = [
        (0, [(1, 2)]),
        (0, [(3, 4), (1, 2)]),
        (0, [(5, 6), (3, 4), (1, 2)]),
        (0, [(7, 8), (5, 6), (3, 4), (1, 2)]),
        (0, [(7, 9), (5, 6), (3, 4), (1, 2)]),
        (0, [(7, 10), (5, 6), (3, 4), (1, 2)]),
        (2, [*others, (3, 4)]),
        (2, [*([(3, 4)] if duplicate_sack else []), (3, 4), *others]),
    ]
    assert sent[:8] == [(first, held[:blocks]) for first, held in expected]


@engines
@pytest.mark.parametrize(
    ("lost", "rescue", "timeouts"), [((5, 6), True, 0), ((5, 10), True, 0), ((5, 10), False, 1)]
)
def test_rescue_retransmission(
    engine: Engine, lost: tuple[int, ...], rescue: bool, timeouts: int
) -> None:
    """RFC 6675, section 4, rule (4): for the end of the window, but only with HighACK > RescueRxt.

    First the fifth and sixth of ten segments are lost: both are resent at once, and the
    acknowledgement of the fifth alone causes no rescue. Then the fifth and the tenth, above which
    no segment can be SACKed: it is rescued, or waits for the timer.
    """
    drops: list[dict[str, Any]] = [{"segments": [i, i], "transmission": 1} for i in lost]
    transport = tcp(acknowledge_every=1, initial_window_bytes=10 * M, rescue_retransmission=rescue)
    plan = one_flow(3, all_optical(), transport, 10 * M, metres=METRES, loss=loss(*drops))
    flows = engine(plan._replace(links=lossy(plan.links, 2)))["flows"]
    assert flows["retransmissions"].tolist() == [2]
    assert flows["timeouts"].tolist() == [timeouts]
    assert flows["duplicates"].tolist() == [0]


@engines
def test_no_flow_is_left_without_a_timer(engine: Engine) -> None:
    """RFC 6298, (5.2): the timer is off only when all data sent is acknowledged.

    After a timeout segment 8 is lost again, and most of the acknowledgements that would show that
    others have left the network; then one acknowledges all retransmissions, but not all data ever
    sent. `sack1` takes the network for full and does not send.
    """
    drops: list[dict[str, Any]] = [
        {"segments": [1, 20], "transmission": 1},
        {"segments": [8, 8], "transmission": 2},
        {"acknowledgements": [2, 21]},
        {"acknowledgements": [32, 37]},
    ]
    windows: dict[str, Any] = {
        "initial_window_bytes": 40 * M, "advertised_window_bytes": 40 * M,
    }  # fmt: skip
    plan = one_flow(
        3,
        electronic(),
        tcp("sack1", acknowledge_every=1, bug_fix=False, **windows),
        100 * M,
        metres=METRES,
        loss=loss(*drops),
    )
    result = engine(plan._replace(links=lossy(plan.links, 2)))
    assert result["drops"]["units"].tolist() == [20, 1, 20, 6]
    assert result["flows"]["status"].tolist() == [0]
