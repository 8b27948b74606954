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
from protection_plans import protected_plan, twofold_plan
from test_burst_outages import bursts, there
from test_outages import HOP, TX, arrived, datagrams, down
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


@engines
def test_of_two_copies_the_first_path_counts_until_the_turn(engine: Engine) -> None:
    """The working path takes 4 hops, the backup path 5; the egress is one hop before the end."""
    turn = 100 * MICROSECOND
    # The first copy comes to the egress 1 ps before the turn, at the turn, or the second one does.
    before, at, between = turn - 1 - 3 * HOP, turn - 3 * HOP, turn - 4 * HOP + 1
    for start, hops in ((before, 4), (at, 5), (between, 4)):
        plan = protected([start], [[*TO, turn, 1]], duplicates=True)
        result = engine(plan)
        assert arrived(plan, result) == [start + hops * HOP]
        totals = result["totals"]
        assert (totals["copies_created"], totals["copies_unselected"]) == (1, 1)
        assert (totals["units_created"], totals["units_delivered"]) == (1, 1)
        # Both copies use their links.
        assert result["links"]["units"].sum() == 1 + 2 + 3 + 1
        check_copies(result)


@engines
def test_a_packet_is_lost_if_no_copy_comes_while_its_path_is_selected(engine: Engine) -> None:
    """On the working path after the turn back to it, so that both come at the wrong time."""
    back = 100 * MICROSECOND
    start = back - 3 * HOP - HOP // 2
    plan = protected([start], [[*TO, 0, 1], [*TO, back, 0]], duplicates=True)
    result = engine(plan)
    assert arrived(plan, result) == [None]
    assert result["flows"]["drops"].tolist() == [1]
    assert result["totals"]["copies_unselected"] == 2
    check_copies(result)


@engines
def test_with_two_copies_only_that_is_lost_which_comes_before_the_selection(
    engine: Engine,
) -> None:
    """The link from 3 to 5 is down from 100 us on, and the egress selects at 110 us: two packets,
    as long as that takes, are lost by the outage, whose loss is that of the copy on its link.
    """
    starts = [5 * MICROSECOND * i for i in range(40)]
    cut, turn = 100 * MICROSECOND, 110 * MICROSECOND
    plan = protected(starts, [[*TO, turn, 1]], duplicates=True)
    plan = down(plan, [(3, 5, cut, SECOND)])
    plan = plan._replace(settings={**plan.settings, "recovery_bin_ps": SECOND})
    result = engine(plan)
    times = arrived(plan, result)
    lost = [i for i, time in enumerate(times) if time is None]
    # A host sends one in 7.2 us; each queues for a while. Departures from its ingress:
    leave: list[int] = []
    for start in starts:
        leave.append(max(start, leave[-1] + TX if leave else 0))
    expected = [i for i, time in enumerate(leave) if time + 3 * HOP > cut and time + 4 * HOP < turn]
    assert lost == expected
    assert len(lost) > 0
    assert result["recovery_flows"]["cut_packets"].tolist() == [int(i in lost) for i in range(40)]
    check_copies(result)


@engines
def test_a_copy_that_is_lost_is_no_loss_of_its_packet(engine: Engine) -> None:
    """The backup path is cut all the time: nothing is lost, and no flow is hit."""
    plan = down(protected([0], [], duplicates=True), [(4, 6, 0, SECOND)])
    plan = plan._replace(settings={**plan.settings, "recovery_bin_ps": SECOND})
    result = engine(plan)
    assert arrived(plan, result) == [4 * HOP]
    assert result["flows"]["drops"].tolist() == [0]
    assert result["recovery_flows"]["cut_packets"].tolist() == [0]
    assert result["links"]["lost"].sum() == 1
    check_copies(result)


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


@in_blocks("seed", range(120))
def test_core_equals_twin_with_copies(seed: int) -> None:
    plan = twofold_plan(seed)
    if core(plan)["totals"]["events"] < 10_000:
        check_equal(plan)


@in_blocks("seed", range(120, 180))
def test_conservation_of_copies(seed: int) -> None:
    plan = twofold_plan(seed)
    # Hosts drop packets that are in no queue of a link.
    if all(g["transport"].get("access_buffer_bytes") is None for g in plan.settings["groups"]):
        check_copies(core(plan))


def check_copies(result: Columns) -> None:
    """Each copy ends once: lost, not selected, or as the last of a packet that is lost."""
    totals = result["totals"]
    packets = totals["units_delivered"] + totals["units_dropped"] + totals["units_in_flight"]
    assert totals["units_created"] == packets
    switches = result["switches"]
    lost = sum(int(column.sum()) for name, column in switches.items() if "dropped" in name)
    lost += int(result["links"]["lost"].sum())
    copies = totals["copies_created"] - totals["copies_in_flight"]
    assert lost + totals["copies_unselected"] == totals["units_dropped"] + copies


def test_random_plans_have_copies_that_end_in_every_way() -> None:
    """Both not selected; lost, with the packet or not; and under way at the end."""
    totals = []
    for seed in range(0, 120, 3):
        plan = twofold_plan(seed)
        totals.append(core(plan)["totals"])
        early = {**plan.settings, "time_limit_ps": max(1, int(totals[-1]["end_ps"]) // 2)}
        early.pop("window", None)
        totals.append(core(plan._replace(settings=early))["totals"])
    assert sum(one["copies_unselected"] > 0 for one in totals) > 30
    assert sum(one["copies_unselected"] > one["copies_created"] for one in totals) > 3
    assert sum(one["copies_unselected"] < one["copies_created"] for one in totals) > 10
    assert sum(one["copies_in_flight"] > 0 for one in totals) > 10
