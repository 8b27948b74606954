"""The channels of bursts with times, and the holders at losses: by hand, in both engines."""

from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    Edge,
    Plan,
    burst,
    datagram,
    flow_table,
    obs,
    one_datagram_each,
    settings,
    table,
)
from twin import Columns

engines = pytest.mark.parametrize("engine", ENGINES)
TX = 7_200_000  # 9,000 bytes at 10 Gb/s
DELAY = 40_000
NONE, NOWHERE = 2**64 - 1, 2**32 - 1
# A packet has reached its edge, and is a burst, which may leave a given time later.
MADE = TX + DELAY
OFFSET = 5_000_000
# Hosts 0, 1, 2 at the edges 3, 4, 5, all of them linked to the core 6.
EDGES = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6)]
AT_ONCE = burst("timer", time=0)
NO_CHANNEL, LATE_HEADER, CONTENTION = 4, 5, 0


def two_to_one(
    switch: dict[str, Any], channels: int = 1, edges: list[Edge] = EDGES, **reservations: Any
) -> Plan:
    """Two datagrams to host 2, the second a microsecond behind the first."""
    links = table(edges, 3, delays=DELAY)
    if switch["kind"] == "obs":
        links["channels"] = np.full(len(links["from"]), channels, np.uint16)
    wanted = {
        "links": list(range(len(links["from"]))),
        "from_ps": 0,
        "until_ps": NONE,
        **reservations,
    }
    flows = one_datagram_each(flow_table((0, 2, 0, 9_000), (1, 2, 1_000_000, 9_000)))
    return Plan(settings(3, 7, switch, datagram(), bookings=wanted), links, flows)


def reserve(**changes: Any) -> dict[str, Any]:
    """A node that reserves channels for bursts of one packet."""
    return obs(AT_ONCE["assembly"], offset_time_ps=OFFSET, **changes)


def link(plan: Plan, source: int, target: int) -> int:
    """Number of the link between two nodes."""
    (found,) = np.flatnonzero((plan.links["from"] == source) & (plan.links["to"] == target))
    return int(found)


def rows(columns: Columns, name: str, *of: str) -> list[tuple[int, ...]]:
    """The rows of some columns of a table."""
    return list(zip(*(columns[name][column].tolist() for column in of), strict=True))


RESERVED = ("link", "channel", "start_ps", "end_ps", "made_ps", "burst")
LOSS = (
    "number", "node", "of_node", "egress", "lost", "reason", "lost_node", "lost_link", "lost_ps",
    "lost_start_ps", "holder_burst", "arrival_ps",
)  # fmt: skip


@engines
def test_the_table_says_who_held_the_channel(engine: Any) -> None:
    plan = two_to_one(reserve())
    found, late = engine(plan), 1_000_000
    first, second, out = link(plan, 3, 6), link(plan, 4, 6), link(plan, 6, 5)
    head = MADE + OFFSET
    assert rows(found, "trace_bookings", *RESERVED) == [
        (first, 0, head, head + TX, MADE, 0),
        # The header is handled when it arrives, and reserves the next fibre at once.
        (out, 0, head + DELAY, head + DELAY + TX, MADE + DELAY, 0),
        (second, 0, head + late, head + late + TX, MADE + late, 1),
    ]
    lost = MADE + late + DELAY
    assert rows(found, "trace_bursts", *LOSS) == [
        (0, 3, 1, 5, 0, 255, NOWHERE, NOWHERE, NONE, NONE, NONE, head + 2 * DELAY + TX),
        (1, 4, 1, 5, 1, NO_CHANNEL, 6, out, lost, head + late + DELAY, 0, NONE),
    ]
    assert len(found["trace_segments"]["time_ps"]) == 0


@engines
def test_with_a_channel_more_both_pass_side_by_side(engine: Any) -> None:
    plan = two_to_one(reserve(), channels=2)
    found = engine(plan)
    out = link(plan, 6, 5)
    on_it = [row[1:] for row in rows(found, "trace_bookings", "link", "channel", "burst")
             if row[0] == out]  # fmt: skip
    assert on_it == [(0, 0), (1, 1)]
    assert found["trace_bursts"]["lost"].tolist() == [0, 0]


@engines
def test_a_burst_lost_where_it_is_made_was_to_leave_there(engine: Any) -> None:
    """Both are from one edge, whose fibre has one channel."""
    plan = two_to_one(reserve(), edges=[(0, 3), (1, 3), *EDGES[2:]])
    found, late = engine(plan), 1_000_000
    names = ("of_node", "lost_node", "lost_link", "lost_ps", "lost_start_ps", "holder_burst")
    assert rows(found, "trace_bursts", *names)[1:] == [
        (2, 3, link(plan, 3, 6), MADE + late, MADE + late + OFFSET, 0)
    ]


@engines
@pytest.mark.parametrize(("slow", "ends"), [(6, (3, 6)), (5, (6, 5))])
def test_a_late_header_is_lost_on_the_link_over_which_it_came(
    engine: Any, slow: int, ends: tuple[int, int]
) -> None:
    """At the core, and at the egress: 5 us before its burst, and one takes a little more."""
    switches = [reserve(header_processing_time_ps=OFFSET + 1), reserve()]
    kinds = [int(node != slow) for node in range(3, 7)]
    plan = two_to_one(reserve())
    plan = plan._replace(settings={**plan.settings, "switches": switches}, kinds=kinds)
    found = engine(plan)
    names = ("lost_node", "lost_link", "lost_ps", "lost_start_ps", "reason")
    came = MADE + DELAY * (1 if slow == 6 else 2)
    assert rows(found, "trace_bursts", *names)[0] == (
        slow, link(plan, *ends), came, came + OFFSET, LATE_HEADER,
    )  # fmt: skip


@engines
def test_without_headers_a_burst_that_finds_its_output_busy_was_to_leave_then(engine: Any) -> None:
    plan = two_to_one(AT_ONCE)
    found, late = engine(plan), 1_000_000
    out, came = link(plan, 6, 5), MADE + DELAY
    assert rows(found, "trace_bookings", "link", "start_ps", "end_ps", "burst") == [
        (link(plan, 3, 6), MADE, MADE + TX, 0),
        (out, came, came + TX, 0),
        (link(plan, 4, 6), MADE + late, MADE + late + TX, 1),
    ]
    lost = (
        found["trace_bursts"]["reason"][1],
        *(
            int(found["trace_bursts"][name][1])
            for name in ("lost_link", "lost_ps", "lost_start_ps", "holder_burst")
        ),
    )
    assert lost == (CONTENTION, out, came + late, came + late, 0)


@engines
@pytest.mark.parametrize(
    ("window", "there"),
    [
        ({"links": []}, []),
        # The first fibre is used from 12.24 to 19.44 us, the others 0.04 and 1 us later.
        ({"until_ps": MADE + OFFSET + 1}, [0]),
        ({"from_ps": MADE + OFFSET + TX}, [0, 1]),
        ({"from_ps": MADE + OFFSET + TX + DELAY}, [1]),
    ],
)
def test_only_what_is_asked_for_is_kept(
    engine: Any, window: dict[str, Any], there: list[int]
) -> None:
    found = engine(two_to_one(reserve(), **window))
    assert found["trace_bookings"]["burst"].tolist() == there
    # The number of a burst does not depend on the traced links.
    assert found["trace_bursts"]["number"].tolist() == [0, 1]
