"""Links that go down under bursts without headers: exact answers by hand, and the twin."""

from collections.abc import Callable

import pytest
from compare import check_conservation, check_equal
from outage_plans import assembled_outage_plan
from plans import (
    ENGINES,
    SECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_table,
    one_datagram_each,
    settings,
    table,
)
from test_burst_outages import HOP, LINKS, TX, D
from test_outages import arrived, down
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
SEEDS = range(200)


def bursts(*starts: int) -> Plan:
    """A datagram at each start, each a burst: from edge 2 over 3 to 5, or from there over 4."""
    flows = one_datagram_each(flow_table(*((0, 1, start, 9000) for start in starts)))
    return Plan(settings(2, 6, burst("size", size=9000), datagram()), table(LINKS, 2), flows)


#: When the burst of a datagram sent at 0 is on the link from 3 to 5, and when that is received.
BEGIN, END = HOP + D, HOP + 2 * D + TX
THERE = END + HOP


@engines
@pytest.mark.parametrize(
    ("begin", "end", "is_lost"),
    [
        (0, BEGIN, False),
        (BEGIN, BEGIN + 1, True),
        (END - 1, END, True),
        (END, SECOND, False),
    ],
)
def test_a_burst_is_lost_with_the_link_under_it(
    engine: Engine, begin: int, end: int, is_lost: bool
) -> None:
    plan = down(bursts(0), [(3, 5, begin, end)])
    result = engine(plan)
    assert arrived(plan, result) == [None if is_lost else THERE]
    assert result["totals"]["bursts_lost"] == int(is_lost)
    assert result["links"]["lost"].sum() == int(is_lost)


@engines
def test_bursts_take_the_new_way_when_the_routes_have_changed(engine: Engine) -> None:
    """The link is down from 15 us on, which the routes learn at 25 us."""
    starts = [0, 10_000_000, 20_000_000]
    plan = down(bursts(*starts), [(3, 5, 15_000_000, SECOND)], restoration_ps=10_000_000)
    result = engine(plan)
    # The burst that is made at 17.25 us is lost; that of 27.25 us takes a fibre more.
    assert arrived(plan, result) == [THERE, None, starts[2] + THERE + D]


@in_blocks("seed", SEEDS)
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = assembled_outage_plan(seed)
    check_conservation(plan, check_equal(plan))


def test_bursts_are_lost_in_random_plans() -> None:
    # Without seed 181, whose senders try again for five million events.
    seeds = SEEDS[:180]
    lost = [core(assembled_outage_plan(seed))["links"]["lost"].sum() > 0 for seed in seeds]
    assert sum(lost) > 100
