"""Two paths by load, and the order of bursts on them, to the picosecond.

Hosts 0 and 1 at the edges 2 and 3; one path over 4 with fibres of 5 us, one over 5 with fibres of
50 us. A datagram of 1,250 bytes takes 1 us on each link and is a burst, made 2 us after its start.
The load is reported each 100 us, and a path with any load is left for the other.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    MICROSECOND,
    Plan,
    burst,
    datagram,
    flow_table,
    loss,
    lossy,
    obs,
    one_datagram_each,
    parallel,
    path_table,
    settings,
    table,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
US = MICROSECOND
EDGES = [(0, 2), (1, 3), (2, 4), (4, 3), (2, 5), (5, 3)]
DELAYS = [US, US, 5 * US, 5 * US, 50 * US, 50 * US]
SHORT, LONG = (2, 4, 3), (2, 5, 3)
BALANCE = {
    "interval_ps": 100 * US,
    "delay_ps": 0,
    "threshold": 0.0,
    "threshold_on": "link",
    "capacity_bps": None,
}
SOURCE = {"kind": "source"}


def egress(hold_back: int) -> dict[str, Any]:
    """Ordering at the destination."""
    return {"kind": "destination", "hold_back_ps": hold_back}


def plan_of(
    ordering: dict[str, Any],
    *starts: int | tuple[int, int],
    kind: str = "obs",
    wavelengths: int = 1,
    **changes: Any,
) -> Plan:
    """Datagrams that start at some times (us), some with their bytes."""
    edge = burst(time=0, ordering=ordering)
    if kind == "obs":
        edge = obs(edge["assembly"], ordering=ordering, ingress="delay", **changes)
    rows = [start if isinstance(start, tuple) else (start, 1250) for start in starts]
    flows = one_datagram_each(flow_table(*((0, 1, start * US, size) for start, size in rows)))
    number = wavelengths if kind == "burst" else 1
    edges = parallel(EDGES, 2, number)
    delays = [d for d, edge in zip(DELAYS, EDGES, strict=True) for _ in range(edges.count(edge))]
    links = table(edges, 2, delays=delays)
    if kind == "obs":
        links["channels"] = links["from"].astype("u2") * 0 + wavelengths
    ways = path_table(links, SHORT, LONG)
    made = settings(2, 6, edge, datagram(12_500), label="load", balance=BALANCE)
    return Plan(made, links, flows, None, ways)


def received(columns: Columns) -> list[float]:
    """When the datagrams came, in us."""
    times: list[float] = (columns["flows"]["received_ps"] / US).tolist()
    return times


def count(columns: Columns, name: str) -> float:
    """A count over all switches."""
    return float(columns["switches"][name].sum())


kinds = pytest.mark.parametrize("kind", ["burst", "obs"])


@engines
@kinds
def test_each_report_moves_the_path(engine: Engine, kind: str) -> None:
    # Made at 92, 197, 207 and 208: before the first report over 4, then over 5, then over 4.
    result = engine(plan_of({"kind": "none"}, 90, 195, 205, kind=kind))
    assert received(result) == [92 + 10 + 3, 197 + 100 + 3, 207 + 10 + 3]
    assert result["switches"]["path_switches"].tolist() == [2, 0, 0, 0]
    assert count(result, "bursts_held") == count(result, "held_ps") == 0


@engines
@kinds
def test_what_is_offered_at_the_boundary_belongs_to_what_begins(engine: Engine, kind: str) -> None:
    # Made at 100: no load was offered before. Reported at 200, and read by the burst made then.
    result = engine(plan_of({"kind": "none"}, 98, 197, 198, kind=kind))
    assert received(result) == [100 + 13, 199 + 13, 200 + 103]


@engines
@kinds
def test_a_burst_waits_for_the_one_on_the_longer_path(engine: Engine, kind: str) -> None:
    # That has its last bit at the egress at 197 + 101. The next one begins there then: it leaves
    # 10 us before.
    result = engine(plan_of(SOURCE, 90, 195, 205, kind=kind))
    assert received(result) == [105, 300, 288 + 13]
    assert count(result, "bursts_held") == 1
    assert count(result, "held_ps") == (288 - 207) * US


@engines
def test_held_bursts_leave_first_in_first_out_by_their_last_bits(engine: Engine) -> None:
    # After the one that leaves at 288 with its last bit at the egress at 299 come one of half its
    # length, which leaves half a microsecond later over the other channel, and one that is longer,
    # for which no channel is free before 288.5 + 0.5.
    starts = 90, 195, 205, (206, 625), (207, 2500)
    result = engine(plan_of(SOURCE, *starts, wavelengths=2))
    # On the link of the host they take 1, 0.5 and 2 us, one after the other.
    assert received(result) == [105, 300, 301, 301.5, 289 + 12 + 2 + 1]
    assert count(result, "bursts_held") == 3


@engines
def test_over_parallel_links_last_bits_do_not_come_at_one_instant(engine: Engine) -> None:
    starts = 90, 195, 205, (206, 625)
    result = engine(plan_of(SOURCE, *starts, kind="burst", wavelengths=2))
    held = [(288 - 207) * US, int(288.5 * US) + 1 - int(207.5 * US)]
    assert count(result, "held_ps") == sum(held)


@engines
@kinds
def test_the_delay_counts_from_the_last_burst_on_the_longer_path(engine: Engine, kind: str) -> None:
    # One of 10 us is made at 191 and has its last bit at the egress at 301; one of 1 us is made
    # behind it at 192, held until 200, leaves at 201, and has its last bit there at 302. So the one
    # after the change of path leaves at 292, and not at 288.
    result = engine(plan_of(SOURCE, 90, (180, 12_500), (182, 1250), 205, kind=kind))
    # The link of the host is busy from 301 on.
    assert received(result) == [105, 312, 313, 314]
    assert count(result, "held_ps") == (200 - 192 + 292 - 207) * US


@engines
@kinds
def test_from_the_shorter_to_the_longer_path_nothing_waits(engine: Engine, kind: str) -> None:
    result = engine(plan_of(SOURCE, 90, 99, kind=kind))
    assert received(result) == [105, 101 + 103]
    assert count(result, "bursts_held") == 0


@engines
@kinds
def test_an_egress_holds_what_comes_too_early(engine: Engine, kind: str) -> None:
    # The last bit of the third is there at 218, of the second at 298.
    result = engine(plan_of(egress(100 * US), 90, 195, 205, kind=kind))
    assert received(result) == [105, 300, 301]
    assert count(result, "bursts_held") == 1
    assert count(result, "held_ps") == 80 * US
    assert result["switches"]["bursts_held"].tolist() == [0, 1, 0, 0]
    assert count(result, "hold_back_timeouts") == 0


@engines
@kinds
def test_but_not_for_longer_than_it_may(engine: Engine, kind: str) -> None:
    result = engine(plan_of(egress(50 * US), 90, 195, 205, kind=kind))
    assert received(result) == [105, 300, 268 + 2]
    assert count(result, "held_ps") == 50 * US
    assert count(result, "hold_back_timeouts") == 1


@engines
@kinds
def test_an_egress_waits_in_vain_for_what_is_lost(engine: Engine, kind: str) -> None:
    """The paper's argument against it: the egress cannot know that no burst will come."""
    plan = plan_of(egress(100 * US), 90, 195, 205, kind=kind)
    script = loss({"flow": 1, "burst": 1})
    plan = Plan({**plan.settings, "loss": script}, lossy(plan.links, 2), *plan[2:])
    result = engine(plan)
    assert received(result)[2] == 218 + 100 + 2
    assert count(result, "hold_back_timeouts") == 1
    source = {**plan.settings, "switches": [{**plan.settings["switches"][0], "ordering": SOURCE}]}
    # The ingress holds it as if the other came: it does not know either, but loses no further time.
    assert received(engine(plan._replace(settings=source)))[2] == 301
