"""Paths that are protected: exact answers by hand, the twin, and conservation."""

from collections.abc import Callable
from typing import Any

import pytest
from compare import check_conservation, check_equal
from plans import (
    ENGINES,
    MICROSECOND,
    SECOND,
    Plan,
    core,
    path_table,
)
from protection_plans import protected_plan
from test_burst_outages import bursts, there
from test_outages import HOP, arrived, datagrams, down
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: Host 0 at switch 2, host 1 at switch 5: over 3, or over 4 and 6.
EDGES = [(0, 2), (1, 5), (2, 3), (3, 5), (2, 4), (4, 6), (6, 5)]
TO, FRO = (2, 5), (5, 2)


def protected(starts: list[int], turns: list[list[int]], **more: Any) -> Plan:
    """A datagram of 9,000 B at each start, with a working and a backup path both ways."""
    plan = datagrams(EDGES, 2, 7, [(0, 1, start) for start in starts])
    ways = [(2, 3, 5), (2, 4, 6, 5), (5, 3, 2), (5, 6, 4, 2)]
    settings = {**plan.settings, "protection": {"turns": turns, **more}}
    return plan._replace(settings=settings, paths=path_table(plan.links, *ways))


@engines
def test_a_packet_takes_the_path_that_is_selected_when_it_comes_to_its_ingress(
    engine: Engine,
) -> None:
    """The turn is at 100 us: of two packets that come then and 1 ps before the later one turns."""
    turn = 100 * MICROSECOND
    starts = [turn - HOP - 1 - HOP, turn - HOP - 1, turn - HOP + 8 * MICROSECOND]
    plan = protected(starts, [[*TO, turn, 1], [*TO, turn + 50 * MICROSECOND, 0]])
    result = engine(plan)
    # Four hops by the working path, five by the backup.
    assert arrived(plan, result) == [starts[0] + 4 * HOP, starts[1] + 4 * HOP, starts[2] + 5 * HOP]
    exact = protected([turn - HOP], [[*TO, turn, 1]])
    assert arrived(exact, engine(exact)) == [turn - HOP + 5 * HOP]


@engines
def test_the_other_direction_has_turns_of_its_own(engine: Engine) -> None:
    plan = protected([0], [[*FRO, 0, 1]])
    assert arrived(plan, engine(plan)) == [4 * HOP]


@engines
def test_what_leaves_before_the_turn_is_lost_and_what_comes_after_it_is_not(engine: Engine) -> None:
    """The link from 3 to 5 is down from 100 us on, and the ingress turns at 150 us."""
    starts = [20 * MICROSECOND * i for i in range(12)]
    cut, turn = 100 * MICROSECOND, 150 * MICROSECOND
    plan = down(protected(starts, [[*TO, turn, 1]]), [(3, 5, cut, SECOND)])
    result = engine(plan)
    # It is on that link from its second hop's end to its third's.
    expected = [
        start + 5 * HOP
        if start + HOP >= turn
        else (start + 4 * HOP if start + 3 * HOP <= cut else None)
        for start in starts
    ]
    assert expected.count(None) == 4
    assert arrived(plan, result) == expected


@engines
def test_a_burst_takes_the_path_that_is_selected_when_it_is_made(engine: Engine) -> None:
    """The burst of a datagram is made when that is at the ingress, whose turn is then or later."""
    # Over 3, or over 4 and 3.
    edges = [(0, 2), (1, 5), (2, 3), (3, 5), (2, 4), (4, 3)]
    plan = bursts(0, edges=edges)
    paths = path_table(plan.links, (2, 3, 5), (2, 4, 3, 5))
    for turn, fibres in ((HOP, 3), (HOP + 1, 2)):
        settings = {**plan.settings, "protection": {"turns": [[*TO, turn, 1]]}}
        turned = plan._replace(settings=settings, paths=paths)
        assert arrived(turned, engine(turned)) == [there(fibres)]


@in_blocks("seed", range(120))
def test_core_equals_twin(seed: int) -> None:
    plan = protected_plan(seed)
    # Senders that try again without end take the twin minutes.
    if core(plan)["totals"]["events"] < 10_000:
        check_equal(plan)


@in_blocks("seed", range(60))
def test_core_equals_twin_with_bursts(seed: int) -> None:
    check_equal(protected_plan(seed, "headers"))


@in_blocks("seed", range(120, 180))
def test_conservation(seed: int) -> None:
    for kind in ("packets", "headers"):
        plan = protected_plan(seed, kind)
        check_conservation(plan, core(plan))
