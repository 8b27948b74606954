"""Connections without a handshake, to the picosecond: the data leaves at the start of the flow.

Times are calculated by hand, over three links of 50 us each.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    all_optical,
    loss,
    lossy,
    one_flow,
    saw,
    tcp,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
M = 1500
TX = 1_200_000
CONTROL = 51_200
DELAY = 50_000_000
FORTH = 3 * DELAY + TX
BACK = 3 * DELAY + CONTROL
SYN, ACK, FIN, FORWARD = 1, 2, 4, 8
TIMEOUT = 20 * MILLISECOND


def flow(transport: dict[str, Any], segments: int, *drops: dict[str, Any]) -> Plan:
    """A traced flow of full segments."""
    bytes_ = segments * (transport["segment_bytes"] - transport["header_bytes"])
    script = loss(*drops)
    plan = one_flow(3, all_optical(), transport, bytes_, metres=10_000, loss=script, trace=[0])
    return plan._replace(links=lossy(plan.links, 2))


def without(**changes: Any) -> dict[str, Any]:
    """TCP without a handshake, with segments of `M` bytes of data."""
    own = {"initial_timeout_ps": TIMEOUT, "min_timeout_ps": MILLISECOND, "acknowledge_every": 1}
    return tcp(handshake=False, **own | changes)


def sent(result: Columns) -> list[tuple[int, int, int]]:
    """Time since the start, flags and first byte of the packets sent."""
    rows = result["trace_segments"]
    columns = (rows[name].tolist() for name in ("time_ps", "flags", "sequence", "event"))
    return [
        (time - START, flags, first)
        for time, flags, first, event in zip(*columns, strict=True)
        if event == 0
    ]


def times(result: Columns) -> list[int]:
    """When the last byte was received and acknowledged, since the start."""
    return [int(result["flows"][f"{name}_ps"][0]) - START for name in ("received", "acknowledged")]


@engines
def test_the_first_window_leaves_at_the_start_and_the_close_stays(engine: Engine) -> None:
    result = engine(flow(without(initial_window_bytes=2 * M), 2))
    assert sent(result) == [
        (0, FORWARD | ACK, 0),
        (TX, FORWARD | ACK | FIN, M),
        (FORTH, ACK, 0),
        (TX + FORTH, ACK | FIN, 0),
        (TX + FORTH + BACK, FORWARD | ACK, 0),
    ]
    assert times(result) == [TX + FORTH, TX + FORTH + BACK]


@engines
def test_the_second_window_follows_the_first_acknowledgement(engine: Engine) -> None:
    # Slow start from two segments: the acknowledgement of each lets two more leave.
    result = engine(flow(without(initial_window_bytes=2 * M), 6))
    data = [time for time, _, first in sent(result) if first or time == 0]
    answered = FORTH + BACK
    assert data == [0, TX, *(answered + i * TX for i in range(4))]
    assert times(result)[0] == answered + 3 * TX + FORTH


@engines
def test_a_lost_first_segment_waits_for_the_initial_timeout(engine: Engine) -> None:
    # RFC 6298, (5.7), triples the initial timeout after a SYN that was lost; there is none here.
    lost = {"segments": [1, 1], "transmission": 1}
    result = engine(flow(without(), 1, lost))
    assert times(result) == [TIMEOUT + FORTH, TIMEOUT + FORTH + BACK]
    assert result["flows"]["timeouts"].tolist() == [1]


@engines
def test_the_second_segment_may_come_first(engine: Engine) -> None:
    # It opens the receiver, whose duplicate acknowledgement has no time stamp to echo.
    lost = {"segments": [1, 1], "transmission": 1}
    result = engine(flow(without(timestamps=True, initial_window_bytes=2 * M), 2, lost))
    assert times(result) == [TIMEOUT + FORTH, TIMEOUT + FORTH + BACK]


@engines
def test_each_lost_acknowledgement_of_the_close_is_repeated(engine: Engine) -> None:
    # The FIN+ACK is lost: the segment with the FIN is sent again, and answered at once.
    lost = {"acknowledgements": [1, 1]}
    result = engine(flow(without(), 1, lost))
    assert times(result) == [FORTH, TIMEOUT + FORTH + BACK]
    assert result["flows"]["duplicates"].tolist() == [1]


@engines
def test_stop_and_wait_begins_with_its_first_segment(engine: Engine) -> None:
    transport = saw(handshake=False, segment_bytes=M, initial_timeout_ps=SECOND)
    result = engine(flow(transport, 2))
    assert [row for row in sent(result) if row[1] & FORWARD][:2] == [
        (0, FORWARD | ACK, 0),
        (FORTH + BACK, FORWARD | ACK, M),
    ]
    assert times(result) == [2 * FORTH + BACK, 2 * (FORTH + BACK)]
