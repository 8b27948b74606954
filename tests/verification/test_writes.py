"""Applications that write in parts, to the picosecond, in both engines.

Times are calculated by hand, over three links of 50 us each, as in `test_tcp_close`: a data segment
arrives `FORTH` after its transmission begins, an acknowledgement `BACK`. The set-up ends at `OPEN`,
which is the time of the first write; the ACK that ends it takes the interface for `CONTROL`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from followed import follow, spans_of, totals
from plans import (
    ENGINES,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    START,
    Plan,
    all_optical,
    core,
    loss,
    lossy,
    one_flow,
    saw,
    tcp,
)
from random_transports import RECOVERIES
from twin import Columns

from lightburst.trace.division import APPLICATION, INTERFACE, WAY, set_up

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
M = 1500
TX = 1_200_000
CONTROL = 51_200
DELAY = 50_000_000
FORTH = 3 * DELAY + TX
BACK = 3 * DELAY + CONTROL
OPEN = START + 2 * BACK
FIRST = OPEN + CONTROL
GAP = MILLISECOND
SENT, FORWARD, FIN = 0, 8, 4


def flow(size: int, writes: dict[str, int] | None, *drops: dict[str, Any], **changes: Any) -> Plan:
    """A traced flow whose application writes in parts, with a window for all of its data."""
    windows = {"initial_window_bytes": 100 * M, "advertised_window_bytes": 100 * M}
    transport = tcp(**{"acknowledge_every": 1, **windows, **changes})
    more: dict[str, Any] = {"metres": 10_000, "loss": loss(*drops), "trace": [0]}
    plan = one_flow(3, all_optical(), transport, size, **more)
    group = {"transport": transport} | ({} if writes is None else {"writes": writes})
    settings = {**plan.settings, "groups": [group]}
    return plan._replace(settings=settings, links=lossy(plan.links, 2))


def every(size: int, gap: int = GAP) -> dict[str, int]:
    return {"bytes": size, "interval_ps": gap}


def sent(columns: Columns) -> list[tuple[int, int, int, bool]]:
    """Time, first byte, payload and FIN of each data segment of the sender."""
    table = columns["trace_segments"]
    own = (table["event"] == SENT) & (table["payload"] > 0) & (table["flags"] & FORWARD > 0)
    names = ("time_ps", "sequence", "payload", "flags")
    rows = zip(*(table[name][own].tolist() for name in names), strict=True)
    return [(time, first, payload, bool(flags & FIN)) for time, first, payload, flags in rows]


@engines
def test_each_write_leaves_at_its_time(engine: Engine) -> None:
    columns = engine(flow(5 * M, every(2 * M)))
    second, third = OPEN + GAP, OPEN + 2 * GAP
    assert sent(columns) == [
        (FIRST, 0, M, False),
        (FIRST + TX, M, M, False),
        (second, 2 * M, M, False),
        (second + TX, 3 * M, M, False),
        (third, 4 * M, M, True),
    ]
    assert columns["flows"]["received_ps"].tolist() == [third + FORTH]
    assert columns["flows"]["acknowledged_ps"].tolist() == [third + FORTH + BACK]


@engines
def test_a_segment_leaves_when_all_of_it_is_written(engine: Engine) -> None:
    """Writes of one and a half segments: one, two, one, two; the rest with the last."""
    columns = engine(flow(4 * M + 100, every(M + M // 2)))
    assert sent(columns) == [
        (FIRST, 0, M, False),
        (OPEN + GAP, M, M, False),
        (OPEN + GAP + TX, 2 * M, M, False),
        (OPEN + 2 * GAP, 3 * M, M, False),
        (OPEN + 2 * GAP + TX, 4 * M, 100, True),
    ]


@engines
def test_a_write_waits_for_the_window(engine: Engine) -> None:
    """With a window of one segment the second of a write follows the acknowledgement."""
    alone = {"initial_window_bytes": M, "advertised_window_bytes": M}
    times = [time for time, *_ in sent(engine(flow(4 * M, every(2 * M), **alone)))]
    round_trip = FORTH + BACK
    second = OPEN + GAP
    assert times == [FIRST, FIRST + round_trip, second, second + round_trip]


@engines
def test_data_that_waits_leaves_before_the_next_write(engine: Engine) -> None:
    """Writes that come faster than acknowledgements fill the window as one write does."""
    alone = {"initial_window_bytes": M, "advertised_window_bytes": M}
    found = [sent(engine(flow(6 * M, given, **alone))) for given in (every(2 * M, 1), None)]
    assert found[0] == found[1]


@engines
def test_the_writes_begin_when_the_connection_is_open(engine: Engine) -> None:
    """A lost SYN+ACK delays all of them; without a handshake the first is at the start."""
    late = {"initial_timeout_ps": SECOND, "initial_window_bytes": M}
    lost = engine(flow(2 * M, every(M), {"acknowledgements": [1, 1]}, **late))
    assert [time for time, *_ in sent(lost)] == [FIRST + SECOND, OPEN + SECOND + GAP]
    none = engine(flow(2 * M, every(M), handshake=False))
    assert [time for time, *_ in sent(none)] == [START, START + GAP]


@engines
def test_the_timer_runs_while_the_application_waits(engine: Engine) -> None:
    """The only segment of the first write is lost: the timer repeats it before the second write."""
    rto = {"initial_timeout_ps": SECOND, "min_timeout_ps": 0, "clock_granularity_ps": 0}
    gap = 5 * SECOND
    drop = {"segments": [1, 1], "transmission": 1}
    columns = engine(flow(2 * M, every(M, gap), drop, **rto))
    # The handshake is the first sample: R + 4 R / 2 (RFC 6298, 2.2).
    timeout = 3 * 2 * BACK
    assert [time for time, *_ in sent(columns)] == [FIRST, OPEN + timeout, OPEN + gap]
    assert columns["flows"]["timeouts"].tolist() == [1]
    assert follow(flow(2 * M, every(M, gap), drop, **rto), 0)[0].timeouts_ps().tolist() == [
        OPEN + timeout
    ]


@engines
@pytest.mark.parametrize("size", [5 * M, 4 * M + 100, 2 * M, 1])
def test_the_ideal_time_is_that_of_all_data_or_of_the_last_write(engine: Engine, size: int) -> None:
    writes = -(-size // (2 * M))
    rest = size - (writes - 1) * 2 * M

    def alone(data: int) -> int:
        full, part = divmod(data, M)
        sizes = full * [TX] + ([max(part, 64) * 800] if part else [])
        return sum(sizes) + 3 * DELAY

    for gap in (1, GAP):
        (found,) = engine(flow(size, every(2 * M, gap), header_bytes=0))["flows"]["ideal_ps"]
        assert found == max(alone(size), (writes - 1) * gap + alone(rest))


@engines
def test_no_flow_is_faster_than_its_ideal_time(engine: Engine) -> None:
    """Without a handshake and with a window for all of it, a flow is as fast."""
    columns = engine(flow(5 * M, every(2 * M), handshake=False))
    assert columns["flows"]["received_ps"] - START == columns["flows"]["ideal_ps"]


@engines
def test_a_write_of_all_data_is_no_part(engine: Engine) -> None:
    """The same results, to the last event."""
    whole, none = (engine(flow(7 * M, given)) for given in (every(7 * M), None))
    for name, column in none["flows"].items():
        assert np.array_equal(whole["flows"][name], column), name
    assert whole["totals"] == none["totals"]


def test_the_wait_for_a_write_is_that_for_the_application() -> None:
    """The second write has the end of the second segment, and the third."""
    spans, *_ = spans_of(flow(3 * M, every(2 * M - 1)), 0)
    assert totals(spans) == {
        set_up(WAY): 2 * BACK,
        INTERFACE: CONTROL,
        WAY: 2 * FORTH + TX,
        APPLICATION: GAP - CONTROL - FORTH,
    }


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_no_write_is_a_timeout_in_the_trace(recovery: str) -> None:
    plan = flow(20 * M, every(2 * M, 10 * MILLISECOND), recovery=recovery)
    trace, columns = follow(plan, 0)
    assert columns["flows"]["timeouts"].tolist() == [0]
    assert trace.timeouts_ps().size == trace.looks_ps().size == 0


@pytest.mark.parametrize(
    ("writes", "transport"),
    [
        ({"bytes": 0, "interval_ps": 1}, tcp()),
        ({"bytes": 1, "interval_ps": 0}, tcp()),
        ({"bytes": 1, "interval_ps": 2**63}, tcp()),
        ({"bytes": 1, "interval_ps": MICROSECOND}, saw()),
    ],
)
def test_the_core_refuses_other_writes(writes: dict[str, int], transport: dict[str, Any]) -> None:
    plan = flow(M, None)
    plan.settings["groups"] = [{"transport": transport, "writes": writes}]
    with pytest.raises(ValueError, match="unreadable plan: writes of"):
        core(plan)
