"""Pauses of links that go down and come up: exact answers by hand, the twin, and conservation."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from compare import check_conservation, check_equal
from pause_plans import broken_plan
from plans import ENGINES, GIGABIT, MICROSECOND, Plan, core, datagram, settings, table
from test_pauses import datagrams, pausing
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
SEEDS = range(240)


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = broken_plan(seed)
    check_conservation(plan, check_equal(plan))


def test_pauses_are_broken_off_and_units_are_taken_back() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        result = core(broken_plan(seed))
        found["pauses"] += result["links"]["pauses"].sum() > 2
        found["lost"] += result["links"]["lost"].sum() > 0
        found["flushed"] += result["switches"]["dropped_queue_flushed"].sum() > 0
    assert all(n >= 20 for n in found.values()), found


def failing(
    rows: list[tuple[int, int]], outages: list[list[int]], restoration: int | None = None
) -> Plan:
    """Packets of 1,500 B from host 0 at 10 Gb/s to host 1 at 1 Gb/s: so many at each time.

    The links are 0 -> 2, 1 -> 2, 2 -> 0 and 2 -> 1, of 2 us each. A packet is in the switch 3.2 us
    after its transmission began, and the k-th one from 0 leaves it at 3.2 us + 12 k us.
    """
    times = [time for time, number in rows for _ in range(number)]
    links = table([(0, 2), (1, 2)], 2, rates=[10 * GIGABIT, GIGABIT], delays=2 * MICROSECOND)
    of_run: dict[str, Any] = {"links": outages, "reroute": False}
    if restoration is not None:
        of_run["restoration_ps"] = restoration
    chosen = settings(2, 3, pausing(3_000, 0), datagram()) | {"outages": of_run}
    return Plan(chosen, links, datagrams(*[(0, 1, time, 1_500) for time in times]))


@engines
def test_a_link_that_goes_down_ends_its_pause(engine: Engine) -> None:
    # As without an outage the host pauses at 8.8512 us, after packet 8. The link is down from 20 us
    # to 30 us: the pause ends at 20 us, and the packets from then on are lost, nine up to 29.6 us.
    # Packet 18, from 30.8 us on, is in the switch at 34 us, where packets 4 to 8 wait. What was
    # asked for is forgotten, so the switch asks again; the host pauses at 36.0512 us, after packet
    # 22. The last of the 13 packets leaves the switch at 147.2 us.
    down = [20 * MICROSECOND, 30 * MICROSECOND]
    result = engine(failing([(0, 24)], [[0, *down], [2, *down]]))
    assert result["links"]["lost"].tolist() == [9, 0, 0, 0]
    assert result["links"]["pauses"].tolist() == [2, 0, 0, 0]
    first, second = 20_000_000 - 8_851_200, 149_251_200 - 36_051_200
    assert result["links"]["paused_ps"].tolist() == [first + second, 0, 0, 0]
    assert result["totals"]["units_delivered"] == 15


@engines
def test_a_frame_that_is_lost_is_sent_again_after_the_outage(engine: Engine) -> None:
    # The frame of 6.8 us is lost, and all of 20 packets come. The link back is up at 50 us. A
    # packet in the switch at 64.2 us finds 14 others: the host pauses at 66.2512 us, after all five
    # of the second time. The last of 25 leaves the switch at 291.2 us.
    outage = [2, 5 * MICROSECOND, 50 * MICROSECOND]
    result = engine(failing([(0, 20), (61 * MICROSECOND, 5)], [outage]))
    assert result["links"]["pauses"].tolist() == [1, 0, 0, 0]
    assert result["links"]["paused_ps"].tolist() == [293_251_200 - 66_251_200, 0, 0, 0]
    assert result["totals"]["units_delivered"] == 25


@engines
def test_what_is_flushed_counts_no_more(engine: Engine) -> None:
    # At 10 us the link to host 1 goes down for good, which the switch knows at once. Packets 2 to 6
    # wait there and are dropped, so that the host may go on at 12.0512 us. Packet 1, and 7 and 8
    # after it, are lost on the link.
    outage = [3, 10 * MICROSECOND, 2**64 - 1]
    result = engine(failing([(0, 8)], [outage], restoration=0))
    assert result["switches"]["dropped_queue_flushed"].tolist() == [5]
    assert result["links"]["lost"].tolist() == [0, 0, 0, 3]
    assert result["links"]["pauses"].tolist() == [1, 0, 0, 0]
    assert result["links"]["paused_ps"].tolist() == [12_051_200 - 8_851_200, 0, 0, 0]
