"""Links that go down under bursts and their headers: exact answers by hand, and the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from outage_plans import burst_outage_plan
from plans import (
    ENGINES,
    MICROSECOND,
    SECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_table,
    obs,
    one_datagram_each,
    settings,
    table,
)
from test_outages import arrived, down
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: A datagram of 9,000 B at 10 Gb/s makes a burst; D is the delay of a link.
TX, D = 7_200_000, 50_000
HOP = TX + D
#: Time to process a header, and the offset time for two fibres.
P, OFFSET = MICROSECOND, 10 * MICROSECOND
#: Sender 0 at edge 2, receiver 1 at edge 5: over 3 directly, or from there over 4.
LINKS = [(0, 2), (1, 5), (2, 3), (3, 5), (3, 4), (4, 5)]


def bursts(*starts: int, edges: list[tuple[int, int]] = LINKS, **changes: Any) -> Plan:
    """A datagram at each start, each a burst of its own."""
    node = obs(
        burst("size", size=9000)["assembly"],
        header_processing_time_ps=P,
        offset_time_ps=OFFSET - 2 * P,
        **changes,
    )
    flows = one_datagram_each(flow_table(*((0, 1, start, 9000) for start in starts)))
    links = table(edges, 2)
    links["channels"] = np.ones(len(links["from"]), np.uint16)
    return Plan(settings(2, 6, node, datagram()), links, flows)


def there(fibres: int) -> int:
    """When a datagram that is sent at 0 is received: the burst is made of it at `HOP`."""
    return HOP + OFFSET + (fibres - 2) * P + fibres * D + TX + HOP


def of(plan: Plan, result: Columns, name: str, source: int, target: int) -> int:
    """A count of a link."""
    here = (plan.links["from"] == source) & (plan.links["to"] == target)
    return int(result["links"][name][here][0])


#: Times after the burst was made, when its header leaves the ingress. The header is on the link
#: from 3 to 5 in [D + P, 2 D + P), and the burst in [OFFSET + D, OFFSET + 2 D + TX).
HEADER = D + P, 2 * D + P
DATA = OFFSET + D, OFFSET + 2 * D + TX


@engines
@pytest.mark.parametrize(
    ("begin", "end", "fate"),
    [
        (0, D, None),
        # The header arrives at node 3: no channel is reserved on a link that is down then.
        (D, D + 1, "at node"),
        (D + 1, HEADER[0], None),
        (HEADER[0] - 1, HEADER[0] + 1, "on link"),
        (HEADER[1] - 1, HEADER[1], "on link"),
        # Between header and burst nothing is on the link.
        (HEADER[1], DATA[0], None),
        (HEADER[1], DATA[0] + 1, "on link"),
        (DATA[1] - 1, DATA[1], "on link"),
        (DATA[1], SECOND, None),
    ],
)
def test_a_burst_is_lost_with_the_link_under_its_header_or_itself(
    engine: Engine, begin: int, end: int, fate: str | None
) -> None:
    plan = down(bursts(0), [(3, 5, HOP + begin, HOP + end)])
    result = engine(plan)
    assert arrived(plan, result) == [there(2) if fate is None else None]
    assert result["switches"]["dropped_link_down"].tolist() == [0, int(fate == "at node"), 0, 0]
    assert of(plan, result, "dropped", 3, 5) == int(fate == "at node")
    assert of(plan, result, "lost", 3, 5) == int(fate == "on link")
    assert of(plan, result, "units", 3, 5) == int(fate != "at node")
    assert result["totals"]["bursts_lost"] == int(fate is not None)


@engines
def test_a_lost_burst_reserves_nothing_beyond_its_link(engine: Engine) -> None:
    """The first link is down when the tail of the burst crosses it, long after its header."""
    begin = HOP + OFFSET + TX
    plan = down(bursts(0), [(2, 3, begin, begin + 1)])
    result = engine(plan)
    assert arrived(plan, result) == [None]
    assert (of(plan, result, "units", 2, 3), of(plan, result, "lost", 2, 3)) == (1, 1)
    assert of(plan, result, "units", 3, 5) == 0
    # Its channel stays reserved: the next burst, for which the matrix would be set while the tail
    # of the first passes, finds none.
    later = down(bursts(0, 0, switching_time_ps=P), [(2, 3, begin, begin + 1)])
    assert engine(later)["switches"]["dropped_no_channel"].tolist() == [1, 0, 0, 0]


@engines
def test_a_header_before_a_link_that_is_down_is_deflected(engine: Engine) -> None:
    contention = [{"kind": "deflection", "hop_limit": 3, "loops": False}]
    plan = down(bursts(0, contention=contention), [(3, 5, HOP + D, SECOND)])
    result = engine(plan)
    # A fibre more, with the offset of the shorter way.
    assert arrived(plan, result) == [there(2) + D]
    assert result["switches"]["bursts_deflected"].tolist() == [0, 1, 0, 0]
    assert result["totals"]["bursts_lost"] == 0


@engines
def test_bursts_take_the_new_way_when_the_routes_have_changed(engine: Engine) -> None:
    """Down at 100 us, noticed at 150 us: the header of the second burst arrives between."""
    starts = [0, 120 * MICROSECOND, 200 * MICROSECOND]
    cut = 100 * MICROSECOND
    plan = down(bursts(*starts), [(3, 5, cut, SECOND)], restoration_ps=50 * MICROSECOND)
    result = engine(plan)
    # The third has the offset time of three fibres.
    assert arrived(plan, result) == [there(2), None, starts[2] + there(3)]
    assert result["switches"]["dropped_link_down"].tolist() == [0, 1, 0, 0]


@engines
@pytest.mark.parametrize("ingress", ["lose", "delay"])
def test_an_ingress_does_not_wait_for_a_link_that_is_down(engine: Engine, ingress: str) -> None:
    plan = down(bursts(0, ingress=ingress), [(2, 3, 0, 2 * HOP)])
    result = engine(plan)
    assert arrived(plan, result) == [None]
    assert result["switches"]["dropped_link_down"].tolist() == [1, 0, 0, 0]
    assert result["switches"]["dropped_no_channel"].sum() == 0


@engines
def test_of_two_ways_that_is_taken_whose_link_is_up(engine: Engine) -> None:
    """Two ways of equal length, over 3 and over 4; the first is down all the time."""
    edges = [(0, 2), (1, 5), (2, 3), (3, 5), (2, 4), (4, 5)]
    starts = [50 * MICROSECOND * k for k in range(8)]
    plan = bursts(*starts, edges=edges, ingress="delay")
    result = engine(down(plan, [(2, 3, 0, SECOND)]))
    assert arrived(plan, result) == [start + there(2) for start in starts]
    assert of(plan, result, "units", 2, 4) == 8
    # Otherwise both are used.
    assert 0 < of(plan, engine(plan), "units", 2, 4) < 8


@in_blocks("seed", range(120))
def test_core_equals_twin(seed: int) -> None:
    check_equal(burst_outage_plan(seed))


@in_blocks("seed", range(120, 180))
def test_conservation(seed: int) -> None:
    plan = burst_outage_plan(seed)
    check_conservation(plan, core(plan))


def test_random_plans_lose_bursts_on_links_and_at_nodes() -> None:
    results = [core(burst_outage_plan(seed)) for seed in range(120)]
    assert sum(bool(result["links"]["lost"].any()) for result in results) > 60
    assert sum(int(result["switches"]["dropped_link_down"].sum()) for result in results) > 100
    assert sum(int(result["switches"]["bursts_deflected"].sum()) for result in results) > 50
