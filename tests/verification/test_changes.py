"""Links whose rate or loss changes: exact answers by hand, the twin, and conservation."""

from collections.abc import Callable
from typing import Any

import pytest
from change_plans import loss_plan, rate_plan
from compare import check_conservation, check_equal
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    Plan,
    core,
    datagram,
    electronic,
    flow_table,
    one_datagram_each,
    settings,
    star_edges,
    table,
)
from test_outages import HOP, TX, arrived
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: 9,000 B at 1 Gb/s.
SLOW = 72 * MICROSECOND
DELAY = 50_000
#: The third of some datagrams that a host sends back to back begins on the second link then.
THIRD = HOP + 2 * TX
#: Seeds of plans with losses whose senders try again for millions of events.
PERSISTENT = {13, 186}
#: Never drops a unit, but has an explicit queue.
PATIENT = {"kind": "codel", "target_ps": 10**15, "interval_ps": 10**15, "ecn": False}


def star(starts: list[int], switch: dict[str, Any], **changes: Any) -> Plan:
    """Datagrams of 9,000 B from host 0 over switch 2 to host 1: link 3 is the second."""
    edges, hosts, nodes = star_edges(2)
    flows = one_datagram_each(flow_table(*((0, 1, start, 9000) for start in starts)))
    chosen = settings(hosts, nodes, switch, datagram(), changes=changes)
    return Plan(chosen, table(edges, hosts), flows)


@engines
@pytest.mark.parametrize("queue", [None, PATIENT])
@pytest.mark.parametrize(("early", "third"), [(0, SLOW), (-1, SLOW), (1, TX)])
def test_a_unit_has_the_rate_at_the_begin_of_its_transmission(
    engine: Engine, queue: dict[str, Any] | None, early: int, third: int
) -> None:
    """The link is slow from the begin of the third of five transmissions on, for 100 us.

    The third keeps its rate if it has begun before. The fourth is under way when the slow time
    ends; the fifth, which waits, is fast again.
    """
    slow = [[3, THIRD + early, GIGABIT], [3, THIRD + 100 * MICROSECOND, 10 * GIGABIT]]
    plan = star([TX * k for k in range(5)], electronic(None, None, queue), rates=slow)
    result = engine(plan)
    times = [TX, TX, third, SLOW, SLOW if third == TX else TX]
    ends = [HOP + sum(times[: k + 1]) + DELAY for k in range(5)]
    assert arrived(plan, result) == ends
    assert result["links"]["busy_ps"].tolist()[3] == sum(times)
    # No slower than alone, where the link has its highest rate.
    assert result["flows"]["ideal_ps"].tolist() == [2 * HOP] * 5


@engines
@pytest.mark.parametrize(("room", "is_lost"), [(22_500, False), (22_499, True)])
def test_the_backlog_counts_the_bytes_of_each_rate(
    engine: Engine, room: int, is_lost: bool
) -> None:
    """The fourth of six is under way slowly, for 36 us more (4,500 B); the fifth waits (9,000 B).

    The sixth arrives then. Before, the fifth found 8,000 B of the fourth.
    """
    after = [THIRD + late * MICROSECOND - HOP for late in (60, 80, 108)]
    slow = [[3, THIRD, GIGABIT], [3, THIRD + 100 * MICROSECOND, 10 * GIGABIT]]
    plan = star([0, TX, 2 * TX, *after], electronic(room), rates=slow)
    result = engine(plan)
    last = THIRD + 2 * SLOW + 2 * TX + DELAY
    assert arrived(plan, result)[5] == (None if is_lost else last)
    assert result["switches"]["dropped_queue_full"].tolist() == [int(is_lost)]
    assert result["switches"]["buffer_max_bytes"].tolist() == [17_000 if is_lost else 22_500]


@engines
def test_a_flow_is_measured_against_the_highest_rates(engine: Engine) -> None:
    """The second link becomes ten times as fast after the only datagram has left."""
    plan = star([0], electronic(), rates=[[3, 100 * MICROSECOND, 100 * GIGABIT]])
    result = engine(plan)
    assert result["flows"]["received_ps"].tolist() == [2 * HOP]
    assert result["flows"]["ideal_ps"].tolist() == [HOP + TX // 10 + DELAY]


@engines
def test_a_loss_is_of_transmissions_that_begin_while_it_lasts(engine: Engine) -> None:
    """From the begin of the third to that of the fifth every unit is lost.

    All of them wait at the host from the begin of the run on.
    """
    lost = [[0, 2 * TX, 1.0, 1.0], [0, 4 * TX, 0.0, 0.0]]
    plan = star([0] * 6, electronic(), losses=lost)
    result = engine(plan)
    times = sorted(time for time in arrived(plan, result) if time is not None)
    assert times == [2 * HOP + k * TX for k in (0, 1, 4, 5)]
    assert result["links"]["lost"].tolist() == [2, 0, 0, 0]


def check_if_brief(plan: Plan) -> None:
    """Compare with the twin, unless senders try again so often that it takes minutes."""
    if core(plan)["totals"]["events"] < 10_000:
        check_equal(plan)


@engines
def test_what_is_taken_back_leaves_no_rate_behind(engine: Engine) -> None:
    """The first of five is slow; two wait when the link fails, and are flushed.

    The third would have been faster, from 144 us on. The fourth comes later, finds the link free
    and has 5 Gb/s too: the fifth finds 4,500 B of it and is not marked, as the second and third.
    """
    starts = [0, TX, 2 * TX, 80 * MICROSECOND, 80 * MICROSECOND + TX]
    rates = [[3, 0, GIGABIT], [3, HOP + 75 * MICROSECOND, 5 * GIGABIT]]
    plan = star(starts, electronic(None, 5000), rates=rates)
    down = [[3, HOP + 20 * MICROSECOND, HOP + 30 * MICROSECOND]]
    outages = {"links": down, "restoration_ps": 0}
    result = engine(plan._replace(settings={**plan.settings, "outages": outages}))
    assert result["switches"]["marked"].tolist() == [2]
    assert result["switches"]["dropped_queue_flushed"].tolist() == [2]
    last = HOP + starts[3] + 2 * TX
    assert arrived(plan, result) == [None, None, None, last + DELAY, last + 2 * TX + DELAY]


@in_blocks("seed", range(120))
def test_core_equals_twin_with_rates(seed: int) -> None:
    check_if_brief(rate_plan(seed))


@in_blocks("seed", range(75))
def test_core_equals_twin_with_losses(seed: int) -> None:
    check_if_brief(loss_plan(seed, ["packets", "bursts", "headers"][seed % 3]))


@in_blocks("seed", sorted({*range(150, 201)} - PERSISTENT))
def test_conservation(seed: int) -> None:
    kind = ["packets", "bursts", "headers"][seed % 3]
    for plan in (rate_plan(seed), loss_plan(seed, kind)):
        check_conservation(plan, core(plan))


def test_random_plans_have_changes_that_matter() -> None:
    plans = [rate_plan(seed) for seed in range(60)]
    still = [
        plan._replace(settings={k: v for k, v in plan.settings.items() if k != "changes"})
        for plan in plans
    ]
    ends = [
        [core(one)["totals"]["transmitted_until_ps"] for one in (plan, other)]
        for plan, other in zip(plans, still, strict=True)
    ]
    assert sum(one != other for one, other in ends) > 40
    seeds = sorted({*range(41)} - PERSISTENT)
    lost = [int(core(loss_plan(seed, "packets"))["links"]["lost"].sum()) for seed in seeds]
    assert sum(number > 0 for number in lost) > 20
