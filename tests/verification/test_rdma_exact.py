"""Messages over queue pairs, to the picosecond: repairs of losses, notifications and DCQCN's rates.

Times are calculated by hand, over three links of 10 Gb/s and 50 us each and switches without
buffers: a data packet arrives `FORTH` after its transmission begins, an answer `BACK`.
"""

from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import Any

import pytest
from plans import (
    ENGINES,
    MICROSECOND,
    MILLISECOND,
    START,
    Plan,
    all_optical,
    loss,
    lossy,
    one_flow,
)
from queue_pairs import DCQCN, rdma
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
#: Useful bytes of a packet, and the time of the packet with its 62 bytes of headers.
M = 1024
TX = 1086 * 800
CONTROL = 66 * 800
DELAY = 50 * MICROSECOND
FORTH = 3 * DELAY + TX
BACK = 3 * DELAY + CONTROL
TIMEOUT = MILLISECOND
ACK, FIN, FORWARD, NOTICE = 2, 4, 8, 32
DATA, LAST, NAK = FORWARD | ACK, FORWARD | ACK | FIN, ACK | NOTICE


def message(packets: int, *scripts: dict[str, Any], **changes: Any) -> Plan:
    """A traced message of full packets; by default at the rate of the link."""
    law = {"congestion_control": {"kind": "line-rate"}}
    transport = rdma(**(law | changes))
    plan = one_flow(
        3, all_optical(), transport, packets * M, metres=10_000, loss=loss(*scripts), trace=[0]
    )
    return plan._replace(links=lossy(plan.links, 2))


def lost(*numbers: int, transmission: int = 1) -> list[dict[str, Any]]:
    return [{"flow": 0, "segments": [n, n], "transmission": transmission} for n in numbers]


def sent(result: Columns, *, data: bool) -> list[tuple[int, int, int]]:
    """Time since the start, flags and number of the data packets, or of the answers, when sent.

    The number is that of the packet, from 0, or of the packets that an answer acknowledges.
    """
    rows = result["trace_segments"]
    number = "sequence" if data else "acknowledgement"
    columns = (rows[name].tolist() for name in ("time_ps", "flags", number, "event", "payload"))
    return [
        (time - START, flags, at // M)
        for time, flags, at, event, payload in zip(*columns, strict=True)
        if event == 0 and (payload > 0) == data
    ]


def ends(result: Columns) -> list[int]:
    """When the last byte was received and acknowledged, since the start."""
    return [int(result["flows"][f"{name}_ps"][0]) - START for name in ("received", "acknowledged")]


@engines
def test_a_message_has_neither_set_up_nor_close(engine: Engine) -> None:
    result = engine(message(3))
    assert sent(result, data=True) == [(0, DATA, 0), (TX, DATA, 1), (2 * TX, LAST, 2)]
    answers = [(FORTH, ACK, 1), (FORTH + TX, ACK, 2), (FORTH + 2 * TX, ACK, 3)]
    assert sent(result, data=False) == answers
    assert ends(result) == [FORTH + 2 * TX, FORTH + 2 * TX + BACK]


@engines
def test_acknowledgements_are_of_several_packets_and_of_the_last(engine: Engine) -> None:
    result = engine(message(5, acknowledge_every=2))
    answers = [(FORTH + TX, ACK, 2), (FORTH + 3 * TX, ACK, 4), (FORTH + 4 * TX, ACK, 5)]
    assert sent(result, data=False) == answers


@engines
def test_go_back_n_repeats_all_from_the_refused_packet(engine: Engine) -> None:
    """Packet 2 is lost. Packet 3 is refused at `FORTH + 3 TX`, once: 4 and 5 get no answer."""
    result = engine(message(6, *lost(3)))
    refused = FORTH + 3 * TX
    back = refused + BACK
    first = [(n * TX, DATA, n) for n in range(5)] + [(5 * TX, LAST, 5)]
    again = [(back + n * TX, DATA, 2 + n) for n in range(3)] + [(back + 3 * TX, LAST, 5)]
    assert sent(result, data=True) == first + again
    begins = [(FORTH, ACK, 1), (FORTH + TX, ACK, 2), (refused, NAK, 2)]
    repaired = [(back + FORTH + n * TX, ACK, 3 + n) for n in range(4)]
    assert sent(result, data=False) == begins + repaired
    flows = result["flows"]
    counts = {name: int(flows[name][0]) for name in ("retransmissions", "fast_retransmits")}
    assert counts == {"retransmissions": 4, "fast_retransmits": 1}
    # Three of the four had arrived, in vain.
    assert int(flows["spurious_retransmissions"][0]) == 3
    assert ends(result)[0] == back + FORTH + 3 * TX


@engines
def test_a_repeated_packet_that_is_lost_waits_for_the_timeout(engine: Engine) -> None:
    """No second NAK for packet 2. The timeout counts from the NAK, which was the last news."""
    result = engine(message(6, *lost(3), *lost(3, transmission=2)))
    back = FORTH + 3 * TX + BACK
    times = [time for time, _, number in sent(result, data=True) if number == 2]
    assert times == [2 * TX, back, back + TIMEOUT]
    assert [flags for _, flags, _ in sent(result, data=False)].count(NAK) == 1
    assert int(result["flows"]["timeouts"][0]) == 1


@engines
def test_selective_repeat_repeats_the_missing_packets(engine: Engine) -> None:
    """Packets 1 and 3 of 6 are lost. Packet 2 shows the first loss, packet 4 the second."""
    result = engine(message(6, *lost(2), *lost(4), recovery="selective-repeat"))
    answers = sent(result, data=False)
    begins = [(FORTH, ACK, 1), (FORTH + 2 * TX, NAK, 1)]
    begins += [(FORTH + 4 * TX, NAK, 1), (FORTH + 5 * TX, NAK, 1)]
    assert answers[:4] == begins
    first, second = FORTH + 2 * TX + BACK, FORTH + 4 * TX + BACK
    assert sent(result, data=True)[6:] == [(first, DATA, 1), (second, DATA, 3)]
    assert answers[4:] == [(first + FORTH, ACK, 3), (second + FORTH, ACK, 6)]
    rows = result["trace_segments"]
    blocks = zip(rows["block_start_0"].tolist(), rows["block_end_0"].tolist(), strict=True)
    named = [(begin // M, end // M) for begin, end in blocks if end]
    # Each is in the trace when sent and when it arrives.
    assert sorted(set(named)) == [(2, 3), (4, 5), (5, 6)]


@engines
@pytest.mark.parametrize(("reordering", "last"), [(0, 2), (1, 3), (2, 4), (4, 6)])
def test_a_packet_may_be_overtaken_by_some(engine: Engine, reordering: int, last: int) -> None:
    """Packet 1 of 8 is lost, and sent again once one more than `reordering` have overtaken it.

    The last packet is shorter than the others.
    """
    plan = message(8, *lost(2), recovery="selective-repeat")
    transport = plan.settings["groups"][0]["transport"]
    transport["recovery"] = {"kind": "selective-repeat", "reordering": reordering}
    plan.flows["bytes"][0] -= M - 1
    again = FORTH + last * TX + BACK
    assert sent(engine(plan), data=True)[8:] == [(again, DATA, 1)]


@engines
def test_a_packet_that_too_few_can_overtake_waits_for_the_timer(engine: Engine) -> None:
    plan = message(8, *lost(2), recovery="selective-repeat")
    transport = plan.settings["groups"][0]["transport"]
    transport["recovery"] = {"kind": "selective-repeat", "reordering": 6}
    plan.flows["bytes"][0] -= M - 1
    expired = FORTH + BACK + TIMEOUT
    assert sent(engine(plan), data=True)[8:] == [(expired, DATA, 1)]


@engines
def test_selective_repeat_takes_a_silent_tail_for_lost_at_a_timeout(engine: Engine) -> None:
    result = engine(message(5, *lost(3, 4, 5), recovery="selective-repeat"))
    # The acknowledgement of packet 1 restarts the timeout.
    expired = FORTH + TX + BACK + TIMEOUT
    again = [(expired, DATA, 2), (expired + TX, DATA, 3), (expired + 2 * TX, LAST, 4)]
    assert sent(result, data=True)[5:] == again


@engines
def test_a_bound_of_the_data_in_flight(engine: Engine) -> None:
    """Two and a half packets are two: each acknowledgement lets one more go."""
    result = engine(message(4, max_inflight_bytes=2 * M + M // 2))
    round_trip = FORTH + BACK
    times = [time for time, _, _ in sent(result, data=True)]
    assert times == [0, TX, round_trip, round_trip + TX]


def marked(*numbers: int) -> dict[str, Any]:
    """Scripted marks of packets, from 1."""
    return {"marks": [{"flow": 0, "segments": [n, n], "transmission": 1} for n in numbers]}


def with_marks(packets: int, *numbers: int, **changes: Any) -> Plan:
    """A message with DCQCN, of which some packets are marked."""
    plan = message(packets, congestion_control=DCQCN | changes)
    losses = {**loss(), **marked(*numbers)}
    return plan._replace(settings={**plan.settings, "loss": losses})


@engines
def test_at_most_one_notification_an_interval(engine: Engine) -> None:
    """The first mark is notified at once; two more give one at the end of the 50 us."""
    result = engine(with_marks(200, 1, 5, 50))
    times = [time for time, flags, _ in sent(result, data=False) if flags == NOTICE]
    assert times == [FORTH, FORTH + 50 * MICROSECOND]


@engines
def test_a_mark_after_the_interval_is_notified_at_once(engine: Engine) -> None:
    # Packet 58 is the first that arrives 50 us after packet 0: 57.55 transmissions.
    for number, expected in ((58, FORTH + 50 * MICROSECOND), (59, FORTH + 58 * TX)):
        result = engine(with_marks(200, 1, number))
        times = [time for time, flags, _ in sent(result, data=False) if flags == NOTICE]
        assert times == [FORTH, expected]


@engines
def test_the_rates_after_one_notification(engine: Engine) -> None:
    """Halved at the notification; every 55 us half of the way back to 10 Gb/s.

    Each packet is followed after its time at the rate that there is when it is sent.
    """
    result = engine(with_marks(1200, 1))
    cut = FORTH + BACK
    # R_C is 5 Gb/s, and then (R_T + R_C) / 2; R_T stays at 10 Gb/s, the rate of the link.
    rates = [5_000, 7_500, 8_750, 9_375, 9_687.5, 9_843.75, 9_921.875]
    times = [0]
    while times[-1] < cut + 385 * MICROSECOND:
        step = (times[-1] - cut) // (55 * MICROSECOND)
        rate = 10_000 if step < 0 else rates[step]
        times.append(times[-1] + ceil(1086 * 8 * 10**6 / rate))
    found = [time for time, _, _ in sent(result, data=True)]
    assert found[: len(times)] == times
    # Packet 346 is the last before the notification, at 346 * 868.8 ns < 300.9216 us.
    assert cut == 300_921_600
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[345:349] == [868_800, 868_800, 1_737_600, 1_737_600]
    assert {1_158_400, 992_915, 926_720} <= set(gaps)
