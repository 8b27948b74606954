"""Links that go down: exact answers by hand, the twin, and conservation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from outage_plans import hybrid_outage_plan, outage_plan, queued_outage_plan
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    core,
    datagram,
    electronic,
    flow_table,
    one_datagram_each,
    settings,
    star_edges,
    table,
    tcp,
)
from random_disciplines import DISCIPLINES
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: 9,000 B at 10 Gb/s, and a hop: with 50 ns of delay.
TX = 7_200_000
HOP = TX + 50_000


def down(plan: Plan, spans: list[tuple[int, int, int, int]], **more: Any) -> Plan:
    """The plan with links down: rows of source, target, begin and end."""
    source, target = plan.links["from"].tolist(), plan.links["to"].tolist()
    number = {ends: i for i, ends in enumerate(zip(source, target, strict=True))}
    links = sorted([number[a, b], begin, end] for a, b, begin, end in spans)
    return plan._replace(settings={**plan.settings, "outages": {"links": links, **more}})


def datagrams(
    edges: list[tuple[int, int]],
    hosts: int,
    nodes: int,
    rows: list[tuple[int, int, int]],
    queue: dict[str, Any] | None = None,
) -> Plan:
    """One datagram of 9,000 B for each row of source, destination and start."""
    flows = one_datagram_each(flow_table(*((*row, 9000) for row in rows)))
    chosen = settings(hosts, nodes, electronic(None, None, queue), datagram())
    return Plan(chosen, table(edges, hosts), flows)


def arrived(plan: Plan, result: Columns) -> list[int | None]:
    """When each datagram was received; None if it was lost."""
    finished = result["flows"]["status"] == 0
    times = result["flows"]["received_ps"].tolist()
    return [time if there else None for time, there in zip(times, finished, strict=True)]


@engines
@pytest.mark.parametrize(
    ("early", "late", "lost"), [(0, 0, [4]), (1, 0, [3, 4]), (0, 1, [4, 5]), (1, 1, [3, 4, 5])]
)
def test_a_unit_is_lost_if_its_link_is_down_before_its_tail_has_arrived(
    engine: Engine, early: int, late: int, lost: list[int]
) -> None:
    """A datagram every 10 us; the link to the receiver is down from the arrival of number 3 to the
    begin of the transmission of number 5.
    """
    starts = [10 * MICROSECOND * k for k in range(10)]
    plan = datagrams(*star_edges(2), [(0, 1, start) for start in starts])
    begin, end = starts[3] + 2 * HOP - early, starts[5] + HOP + late
    result = engine(down(plan, [(2, 1, begin, end)]))
    expected = [None if k in lost else start + 2 * HOP for k, start in enumerate(starts)]
    assert arrived(plan, result) == expected
    assert result["links"]["lost"].tolist() == [0, 0, 0, len(lost)]
    assert result["flows"]["drops"].sum() == len(lost)


#: Two senders, 0 and 1, at switch 3, whose queue leads to the receiver, 2, over one link or by way
#: of switch 4: switches 3 and 5 are joined directly, and through 4.
DIAMOND = [(0, 3), (1, 3), (2, 5), (3, 5), (3, 4), (4, 5)]


#: No discipline, and some that drop nothing here and keep the order of arrival.
LONG = SECOND
CODEL = {"target_ps": LONG, "interval_ps": LONG, "ecn": False}
QUEUES: list[dict[str, Any] | None] = [
    None,
    {"kind": "drop-tail"},
    {"kind": "codel"} | CODEL,
    {"kind": "fq-codel", "flows": 1, "quantum_bytes": 9000} | CODEL,
    {"kind": "prio", "bands": [0], "buffer": "own"},
    {"kind": "drr", "quanta_bytes": [9000], "buffer": "own"},
    {
        "kind": "dualpi2",
        **dict.fromkeys(("target_ps", "update_ps", "l4s_threshold_ps", "l4s_range_ps"), LONG),
        "alpha": 0.0,
        "beta": 0.0,
        "coupling": 2.0,
        "quantum_bytes": 9000,
        "l4s_weight": 9,
    },
]
queues = pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: str(queue and queue["kind"]))


def incast(queue: dict[str, Any] | None = None) -> Plan:
    """Five datagrams of each sender, back to back."""
    rows = [(sender, 2, TX * k) for k in range(5) for sender in (0, 1)]
    return datagrams(DIAMOND, 3, 6, rows, queue)


@engines
@queues
def test_what_waits_when_the_routes_change_is_lost(
    engine: Engine, queue: dict[str, Any] | None
) -> None:
    """Datagrams arrive in pairs at HOP + k TX, and leave the switch one by one.

    The link is down from 20 us on, and the routes change at 25 us. Of the six datagrams that have
    arrived by then the first got through, two were on the link or sent into it, and three wait. The
    last four go round.
    """
    plan = down(incast(queue), [(3, 5, 20_000_000, SECOND)], restoration_ps=5_000_000)
    result = engine(plan)
    assert result["links"]["lost"].sum() == 2
    assert result["switches"]["dropped_queue_flushed"].tolist() == [3, 0, 0]
    times = sorted(time for time in arrived(plan, result) if time is not None)
    # The pairs arrive at HOP + 3 TX and HOP + 4 TX, and take three more hops.
    there = HOP + 3 * TX
    assert times == [3 * HOP, *(there + i * TX + 3 * HOP for i in range(4))]


@engines
@queues
def test_what_waits_when_the_routes_change_goes_round(
    engine: Engine, queue: dict[str, Any] | None
) -> None:
    """The three that wait at 25 us leave over the other link from that time on."""
    changes = {"restoration_ps": 5_000_000, "reroute": True}
    plan = down(incast(queue), [(3, 5, 20_000_000, SECOND)], **changes)
    result = engine(plan)
    assert result["switches"]["dropped_queue_flushed"].sum() == 0
    assert result["flows"]["drops"].sum() == 2
    times = sorted(time for time in arrived(plan, result) if time is not None)
    assert times == [3 * HOP, *(25_000_000 + i * TX + 3 * HOP for i in range(7))]
    # How long each waits: the first six until they leave or the routes change, then the seven.
    arrivals, change = [HOP + k * TX for k in range(5)], 25_000_000
    before = [0, TX, TX, *(change - arrivals[k] for k in (1, 2, 2))]
    came = [change] * 3 + [arrivals[k] for k in (3, 3, 4, 4)]
    after = [change + i * TX - time for i, time in enumerate(came)]
    area = 9000 * sum(before + after)
    assert result["switches"]["buffer_byte_ps"].tolist() == [area, 0, 0]
    assert result["totals"]["units_in_flight"] == 0


@engines
@pytest.mark.parametrize("reroute", [False, True])
@pytest.mark.parametrize("re_emission", ["after-reception", "cut-through"])
def test_what_waits_in_a_buffer_of_a_hybrid_switch(
    engine: Engine, re_emission: str, reroute: bool
) -> None:
    """The second head comes at 1.05 us, while the first unit is on the direct link.

    That fails at 2 us, with the first unit on it. At 3 us the routes change: the second leaves the
    buffer at once, or when it is received, and goes round; or it is lost.
    """
    delay = HOP - TX
    came = MICROSECOND + delay
    own = {"switching_time_ps": 0, "buffer_ports": 2, "buffer_bytes": None}
    plan = datagrams(DIAMOND, 3, 6, [(0, 2, 0), (1, 2, MICROSECOND)])
    hybrid = {"kind": "hybrid", **own, "re_emission": re_emission}
    plan = plan._replace(settings={**plan.settings, "switches": [hybrid]})
    changes = {"restoration_ps": MICROSECOND, "reroute": reroute}
    result = engine(down(plan, [(3, 5, 2 * MICROSECOND, SECOND)], **changes))
    assert result["links"]["lost"].sum() == 1
    assert result["switches"]["dropped_queue_flushed"].tolist() == [int(not reroute), 0, 0]
    change = 3 * MICROSECOND
    left = came + TX if re_emission == "after-reception" and reroute else change
    assert arrived(plan, result) == [None, left + 2 * delay + HOP if reroute else None]
    assert result["switches"]["buffer_byte_ps"].tolist() == [9000 * (left - came), 0, 0]


@engines
def test_a_flushed_queue_of_fq_codel_is_empty(engine: Engine) -> None:
    """Of three datagrams one is lost with the link and two are flushed; later three come again.

    The last two wait, for less than two units behind each: CoDel, which wants no delay at all,
    drops none of them.
    """
    impatient = {"target_ps": 1, "interval_ps": 1, "ecn": False}
    queue = {"kind": "fq-codel", "flows": 1, "quantum_bytes": 9000} | impatient
    later = 200 * MICROSECOND
    rows = [(sender, 3, start) for start in (0, later) for sender in range(3)]
    plan = datagrams(*star_edges(4), rows, queue)
    begin = HOP + MICROSECOND
    result = engine(down(plan, [(4, 3, begin, begin + MICROSECOND)], restoration_ps=0))
    assert result["switches"]["dropped_queue_flushed"].tolist() == [2]
    assert result["links"]["lost"].sum() == 1
    times = sorted(time for time in arrived(plan, result) if time is not None)
    assert times == [later + 2 * HOP + k * TX for k in range(3)]


@engines
def test_routes_stay_if_a_link_is_up_again_before_they_learn_of_it(engine: Engine) -> None:
    begin = 20_000_000
    short = down(incast(), [(3, 5, begin, begin + 5_000_000)], restoration_ps=5_000_000)
    never = down(incast(), [(3, 5, begin, begin + 5_000_000)])
    results = [engine(plan) for plan in (short, never)]
    assert arrived(short, results[0]) == arrived(never, results[1])
    # Over the direct link: the longer way has a hop more.
    times = [time for time in arrived(short, results[0]) if time is not None]
    assert max(times) == HOP + 9 * TX + 2 * HOP


@engines
def test_without_a_path_units_go_the_old_way_until_it_is_up(engine: Engine) -> None:
    """The link to the receiver is down for 100 us, and there is no other."""
    starts = [50 * MICROSECOND * k for k in range(6)]
    plan = datagrams(*star_edges(2), [(0, 1, start) for start in starts])
    plan = down(plan, [(2, 1, 40_000_000, 140_000_000)], restoration_ps=0, reroute=True)
    result = engine(plan)
    expected = [None if k in (1, 2) else start + 2 * HOP for k, start in enumerate(starts)]
    assert arrived(plan, result) == expected


@engines
def test_a_sender_repairs_a_cut_by_its_timer_over_the_other_way(engine: Engine) -> None:
    """Stop-and-wait of TCP over the diamond, whose direct link is cut for ever.

    The third of five segments is lost. The timer expires 1 s after it was sent, when the routes
    have long changed, and the rest takes the longer way; acknowledgements too.
    """
    law: dict[str, Any] = {
        "congestion_control": {"kind": "stop-and-wait"},
        "acknowledge_every": 1,
    }
    transport = tcp("reno", **law, initial_window_bytes=1500, handshake=False)
    rate, delay = GIGABIT, MILLISECOND
    links = table(DIAMOND, 3, rates=rate, delays=delay)
    flows = flow_table((0, 2, 0, 5 * 1500))
    plan = Plan(settings(3, 6, electronic(), transport), links, flows)

    def way(number: int) -> tuple[int, int]:
        """Time of a segment and of an acknowledgement over so many links."""
        return number * (12 * MICROSECOND + delay), number * (512_000 + delay)

    short, long = way(3), way(4)
    # The third segment is sent after two round trips and is cut on its second link.
    sent = 2 * sum(short)
    cut = sent + 12 * MICROSECOND + delay + 1
    both = [(3, 5, cut, 2**64 - 1), (5, 3, cut, 2**64 - 1)]
    result = engine(down(plan, both, restoration_ps=50 * MILLISECOND))
    expected = sent + SECOND + 2 * sum(long) + long[0]
    assert result["flows"]["received_ps"].tolist() == [expected]
    assert result["flows"]["timeouts"].tolist() == [1]
    assert result["flows"]["retransmissions"].tolist() == [1]
    # With all links up the flow takes the direct way, and that is its ideal time too.
    assert result["flows"]["path_links"].tolist() == [3]
    alone = engine(plan)
    assert result["flows"]["ideal_ps"].tolist() == alone["flows"]["ideal_ps"].tolist()


# Two senders that try again without end, in 50,000 events, for which the twin takes minutes.
WITHOUT_END = {97, 116}


@in_blocks("seed", [seed for seed in range(120) if seed not in WITHOUT_END])
def test_core_equals_twin(seed: int) -> None:
    plan = outage_plan(seed)
    check_equal(plan)


@in_blocks("seed", range(100))
def test_core_equals_twin_with_disciplines(seed: int) -> None:
    plan = queued_outage_plan(seed)
    if core(plan)["totals"]["events"] < 10_000:
        check_equal(plan)


@in_blocks("seed", range(60))
def test_core_equals_twin_with_buffers(seed: int) -> None:
    check_equal(hybrid_outage_plan(seed))


@in_blocks("seed", range(120, 180))
def test_conservation(seed: int) -> None:
    for make in (outage_plan, queued_outage_plan, hybrid_outage_plan):
        plan = make(seed)
        check_conservation(plan, core(plan))


def test_random_plans_flush_the_queues_of_all_disciplines() -> None:
    found: dict[str, int] = {}
    for seed in range(480):
        plan = queued_outage_plan(seed)
        kinds = {own["queue"]["kind"] for own in plan.settings["switches"] if "queue" in own}
        flushed = int(core(plan)["switches"]["dropped_queue_flushed"].sum())
        for kind in kinds:
            found[kind] = found.get(kind, 0) + flushed
    assert len(found) == len(DISCIPLINES) and all(found.values()), found


def test_random_plans_have_outages_of_all_kinds() -> None:
    plans = [outage_plan(seed) for seed in range(120)]
    results = [core(plan) for plan in plans]
    assert sum(bool(result["links"]["lost"].any()) for result in results) > 60
    flushed = sum(int(result["switches"]["dropped_queue_flushed"].sum()) for result in results)
    assert flushed > 15
    assert np.mean([plan.settings["outages"]["reroute"] for plan in plans]) > 0.3
