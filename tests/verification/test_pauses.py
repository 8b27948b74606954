"""Priority flow control: exact answers by hand, the twin, and conservation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from pause_plans import classes_plan, pause_plan
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
    table,
)
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

DROP_TAIL = {"kind": "drop-tail"}
#: Times in ps: 1,500 B and a pause frame at 10 Gb/s, and the delay of the long links.
TX, FRAME, FAR = 1_200_000, 51_200, 2 * MICROSECOND


def pausing(
    xoff: int, xon: int, headroom: int | None = None, queue: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An electronic switch that lets its links pause."""
    pfc = {"xoff_bytes": xoff, "xon_bytes": xon, "headroom_bytes": headroom}
    return electronic(None, None, queue or DROP_TAIL) | {"pfc": pfc}


def datagrams(*rows: tuple[int, int, int, int]) -> dict[str, Any]:
    """Rows of source, destination, start and bytes, of one datagram each."""
    return one_datagram_each(flow_table(*sorted(rows, key=lambda row: row[2])))


def narrowing(
    number: int, switch: dict[str, Any], back: list[tuple[int, int]] | None = None
) -> Plan:
    """So many packets from host 0 at 10 Gb/s to host 1 at 1 Gb/s, over links of 2 us.

    With those of 9,000 B from host 1, at the times and to the host of `back`.
    """
    rows = [(0, 1, 0, 1_500)] * number + [(1, 0, at, size) for at, size in back or []]
    links = table([(0, 2), (1, 2)], 2, rates=[10 * GIGABIT, GIGABIT], delays=FAR)
    return Plan(settings(2, 3, switch, datagram()), links, datagrams(*rows))


def lost(result: Columns) -> int:
    """Packets that found no headroom."""
    return int(result["switches"]["dropped_headroom_full"].sum())


@engines
def test_headroom_is_what_comes_before_the_pause_acts(engine: Engine) -> None:
    # Packet k is in the switch at 2 us + 1.2 k us, and the first one leaves at once, until 15.2 us.
    # The fourth makes the bytes that wait 4,500, above 3,000, at 6.8 us. The frame takes 51.2 ns
    # and 2 us; at 8.8512 us the host sends packet 8 (from 8.4 us on), and then pauses. So packets 2
    # to 8 wait at once: 10,500 B, or 7,500 above xoff.
    enough, less = (engine(narrowing(20, pausing(3_000, 0, room))) for room in (7_500, 7_499))
    assert lost(enough) == 0
    assert enough["totals"]["units_delivered"] == 20
    assert lost(less) == 1


@engines
def test_a_frame_waits_for_the_transmission_under_way(engine: Engine) -> None:
    # A packet of 9,000 B of host 1 (72 us at 1 Gb/s) is in the switch at 6 us, 74 us after its
    # start, and leaves for host 0 until 13.2 us. The frame, due at 6.8 us, follows it and arrives
    # at 15.2512 us, during packet 13. The second packet leaves at 15.2 us, so 3 to 13 wait at once.
    shift = 68 * MICROSECOND
    plans = []
    for room in (13_500, 13_499):
        plan = narrowing(20, pausing(3_000, 0, room), [(0, 9_000)])
        later = np.where(plan.flows["source"] == 0, np.uint64(shift), np.uint64(0))
        flows = {**plan.flows, "start_ps": later, "departures_ps": later.copy()}
        order = np.argsort(later, kind="stable")
        flows = {
            name: column if name == "departure_offsets" else column[order]
            for name, column in flows.items()
        }
        plans.append(plan._replace(flows=flows))
    enough, less = map(engine, plans)
    assert (lost(enough), lost(less)) == (0, 1)
    assert enough["totals"]["units_delivered"] == 21
    # All bytes of a link are counted, those of the frames too.
    back = int(np.flatnonzero((plans[0].links["from"] == 2) & (plans[0].links["to"] == 0))[0])
    frames = 2 * int(enough["links"]["pauses"][0])
    assert enough["links"]["bytes"][back] == 9_000 + 64 * frames
    assert enough["links"]["units"][back] == 1


@engines
def test_pauses_begin_and_end(engine: Engine) -> None:
    # Packets 2 to 8 wait at 11.6 us, and one leaves each 12 us from 15.2 us on: packet 7 at 75.2 us
    # leaves 1,500 B, so that the host sends packet 9 from 77.2512 us on. It is in the switch at
    # 80.4512 us, and packet 10 at 81.6512 us makes 4,500 B: the second frame arrives at 83.7024 us.
    # With packet 9 at 99.2 us 1,500 B are left, which the host knows at 101.2512 us.
    result = engine(narrowing(10, pausing(3_000, 1_500)))
    assert result["links"]["pauses"].tolist() == [2, 0, 0, 0]
    first = 77_251_200 - 8_851_200
    second = 101_251_200 - 83_702_400
    assert result["links"]["paused_ps"].tolist() == [first + second, 0, 0, 0]
    # Packet 10 leaves from 111.2 us to 123.2 us.
    assert result["totals"]["end_ps"] == 125_200_000
    assert len(result["locked"]["link"]) == 0


#: Hosts 0 and 1 at the switch 4, hosts 2 and 3 at the switch 5; the link to host 2 is slow.
FORK = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)]


def fork(pfc: bool, queue: dict[str, Any]) -> Plan:
    """Five packets to a slow host, and a packet to another one, in a group of its own."""
    second = pausing(1_500, 0, queue=queue) if pfc else electronic(None, None, queue)
    switches = [electronic(None, None, queue), second]
    rates = [10 * GIGABIT] * 2 + [GIGABIT] + [10 * GIGABIT] * 2
    chosen = settings(4, 6, switches, [datagram(), datagram()])
    rows = [(0, 2, 0, 1_500)] * 5 + [(1, 3, 5 * MICROSECOND, 1_500)]
    flows = datagrams(*rows) | {"group": np.array([0] * 5 + [1], np.uint16)}
    return Plan(chosen, table(FORK, 4, rates=rates), flows, [0, 1])


@engines
@pytest.mark.parametrize(
    ("pfc", "queue", "arrival"),
    [
        # In the first switch at 6.25 us, behind the last packet of the others until 7.25 us.
        (False, DROP_TAIL, 7_250_000 + 2 * TX + 2 * 50_000),
        # The third packet of the others makes the second switch ask for a pause at 4.9 us, and the
        # last one waits when the victim comes. The fourth leaves the second switch at 38.5 us,
        # after 14.5 us and 26.5 us, and the frame takes 101.2 ns.
        (True, DROP_TAIL, 38_601_200 + 3 * TX + 2 * 50_000),
        # The class of the victim does not pause.
        (True, {"kind": "prio", "bands": [1, 0], "buffer": "own"}, 6_250_000 + 2 * TX + 100_000),
        (True, {"kind": "drr", "quanta_bytes": [1500, 1500], "buffer": "own"}, 8_750_000),
    ],
)
def test_a_pause_blocks_those_behind(
    engine: Engine, pfc: bool, queue: dict[str, Any], arrival: int
) -> None:
    result = engine(fork(pfc, queue))
    assert result["flows"]["received_ps"][5] == arrival


def ring(switches: int, each: int, step: int, switch: dict[str, Any], packets: int) -> Plan:
    """Some hosts at each switch of a ring send as far as `step` switches on, the short way round.

    Each host is slower than the ring, so that the bytes that come around are the first above xoff.
    """
    hosts = each * switches
    access = [(host, hosts + host // each) for host in range(hosts)]
    around = [(hosts + i, hosts + (i + 1) % switches) for i in range(switches)]
    rates = [4 * GIGABIT] * hosts + [10 * GIGABIT] * switches
    links = table(access + around, hosts, rates=rates)
    inner = (links["from"] >= hosts) & (links["to"] >= hosts)
    onward = (links["to"].astype(int) - links["from"]) % switches == 1
    links["delay_ps"][inner & ~onward] = 10 * MICROSECOND
    routing = {"kind": "shortest-path", "metric": "delay"}
    chosen = settings(hosts, hosts + switches, switch, datagram(), routing=routing)
    rows = [
        (host, (host + each * step) % hosts, 0, 1_500)
        for host in range(hosts)
        for _ in range(packets)
    ]
    return Plan(chosen, links, datagrams(*rows))


@engines
@pytest.mark.parametrize(("switches", "each", "step"), [(3, 2, 2), (4, 1, 3)])
def test_a_ring_of_buffers_locks(engine: Engine, switches: int, each: int, step: int) -> None:
    plan = ring(switches, each, step, pausing(6_000, 3_000), 60)
    result = engine(plan)
    hosts = each * switches
    ends = list(zip(plan.links["from"].tolist(), plan.links["to"].tolist(), strict=True))
    number = [ends.index((hosts + i, hosts + (i + 1) % switches)) for i in range(switches)]
    locked = result["locked"]
    # Each link around the ring waits for the next one; the links of hosts wait for them too.
    pairs = set(zip(locked["link"].tolist(), locked["behind"].tolist(), strict=True))
    assert {(number[i], number[(i + 1) % switches]) for i in range(switches)} <= pairs
    assert {behind for _, behind in pairs} == set(number)
    assert result["totals"]["units_dropped"] == 0
    assert result["totals"]["units_in_flight"] > 0
    # Without flow control all arrive.
    free = engine(ring(switches, each, step, electronic(None, None, DROP_TAIL), 60))
    assert free["totals"]["units_in_flight"] == 0


def test_a_light_load_does_not_lock() -> None:
    result = core(ring(4, 1, 3, pausing(6_000, 3_000), 2))
    assert result["totals"]["units_in_flight"] == 0
    assert result["locked"]["link"].size == 0


@pytest.mark.parametrize("block", range(3))
def test_core_equals_twin(block: int) -> None:
    found = {"pauses": 0, "headroom": 0, "classes": 0}
    for seed in range(50 * block, 50 * block + 50):
        plan = pause_plan(seed)
        result = check_equal(plan, stories=seed % 10 == 0)
        check_conservation(plan, result)
        pauses = int(result["links"]["pauses"].sum())
        found["pauses"] += pauses
        found["headroom"] += lost(result)
        queues = {own["queue"]["kind"] for own in plan.settings["switches"]}
        found["classes"] += (
            pauses > 0 and len(plan.settings["groups"]) > 1 and queues <= {"prio", "drr"}
        )
    assert found["pauses"] > 200
    assert found["headroom"] > 5
    assert found["classes"] > 2


def test_core_equals_twin_where_classes_pause_in_their_turn() -> None:
    pauses = 0
    for seed in range(36, 46):
        plan = classes_plan(seed)
        result = check_equal(plan)
        check_conservation(plan, result)
        pauses += int(result["links"]["pauses"].sum())
    assert pauses > 500
