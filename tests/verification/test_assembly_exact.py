"""Rules of assembly with several queues or changing times, calculated by hand.

The network is that of `test_burst_exact`.
"""

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from compare import differences
from plans import (
    ENGINES,
    MICROSECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_columns,
    multi_queue,
    tcp,
    traced,
    twin,
    window_based,
)
from scipy import stats
from test_burst_exact import ACCESS, SIZE, on_fibres, path, stream
from twin import Burst, Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
PACES = ("slow", "medium", "fast")
TIMES = (70 * MICROSECOND, 300 * MICROSECOND, 1_000 * MICROSECOND)


@engines
@pytest.mark.parametrize("acknowledgements", range(3))
@pytest.mark.parametrize(("windows", "pace"), [((2, 3), 0), ((1, 2), 1), ((1, 1), 2), ((2, 2), 0)])
def test_round_trip_of_each_pace(
    engine: Engine, windows: tuple[int, int], pace: int, acknowledgements: int
) -> None:
    """`RTT = RTT_0 + T(window) + T(acknowledgements)`, here for a window of one segment."""
    transport = tcp(acknowledge_every=1, initial_window_bytes=SIZE, advertised_window_bytes=SIZE)
    switch = window_based(TIMES, windows, acknowledgements=PACES[acknowledgements])
    ends = [
        int(engine(path(switch, transport, (0, 1, 0, n * SIZE)))["flows"]["acknowledged_ps"][0])
        for n in (3, 4)
    ]
    unloaded = sum(2 * (ACCESS + 8_000 * size) + on_fibres(size) for size in (SIZE, 64))
    assert ends[1] - ends[0] == unloaded + TIMES[pace] + TIMES[acknowledgements]


def test_each_burst_has_the_time_of_the_windows_in_it() -> None:
    """A window that grows from 1 to beyond 8 segments."""
    transport = tcp(initial_window_bytes=SIZE, acknowledge_every=1)
    plan = path(window_based(TIMES, (3, 8)), transport, (0, 1, 0, 200 * SIZE))
    plan.settings["trace"] = [0]
    rows = core(plan)["trace_bursts"]
    opened = dict(zip(rows["number"].tolist(), rows["opened_ps"].tolist(), strict=True))
    paces = set[int]()
    for entry in traced(plan):
        if entry.what == "take apart" or not isinstance(entry.unit, Burst):
            continue
        it = entry.unit
        found = {sum(packet.window >= bound for bound in (3, 8)) for packet in it.packets}
        (pace,) = found
        made, _ = it.identity
        assert made - opened[it.number] == TIMES[pace]
        paces.add(pace)
    assert paces == {0, 1, 2}


def test_who_comes_into_a_shorter_time_overtakes() -> None:
    """Without losses windows only grow, so overtaking needs times that fall with the window."""
    transport = tcp(initial_window_bytes=SIZE, acknowledge_every=1)
    reordered = []
    for times in (TIMES, (TIMES[1], TIMES[1], TIMES[1]), TIMES[::-1]):
        flows = core(path(window_based(times, (3, 8)), transport, (0, 1, 0, 200 * SIZE)))["flows"]
        assert flows["drops"].tolist() == [0]
        reordered.append(int(flows["reordered"][0]))
    assert reordered[:2] == [0, 0]
    assert reordered[2] > 0


@engines
@pytest.mark.parametrize(
    ("time", "packets", "bursts"), [(0, 2, 2), (11, 2, 2), (12, 4, 2), (17, 4, 2), (18, 6, 2)]
)
def test_the_packets_of_a_burst_wait_so_long_in_the_mean(
    engine: Engine, time: int, packets: int, bursts: int
) -> None:
    """Packets come 12 us apart: `n` of them are closed `time + (n - 1) 6 us` after the first.

    One more joins them if that is `n 12 us` or more.
    """
    result = engine(stream(burst("average-delay", time=time * MICROSECOND), packets))
    ingress = {name: column[0] for name, column in result["switches"].items()}
    assert ingress["bursts"] == bursts
    assert ingress["assembly_wait_ps"] == packets * time * MICROSECOND


def in_cycles(flows: int, cycles: int, switch: dict[str, Any]) -> Plan:
    """Each flow sends a packet every 100 us, 1 us after another."""
    starts = [
        (cycle * 100 + flow) * MICROSECOND for cycle in range(cycles) for flow in range(flows)
    ]
    columns = flow_columns(*np.array([(0, 1, 0, cycles * 64)] * flows).T)
    columns["start_ps"] = np.array(starts[:flows], np.uint64)
    columns["departures_ps"] = np.array(sorted(starts), np.uint64).reshape(cycles, flows).T.ravel()
    columns["departure_offsets"] = np.arange(flows + 1, dtype=np.uint64) * cycles
    return path(switch, datagram(64), (0, 1, 0, 64))._replace(flows=columns)


def bursts_of(plan: Plan) -> list[list[int]]:
    """The flows in each burst, a number for each packet."""
    made: dict[int, list[int]] = {}
    for entry in traced(plan):
        if isinstance(entry.unit, Burst):
            made.setdefault(entry.unit.number, [packet.flow for packet in entry.unit.packets])
    assert differences(twin(plan), core(plan)) == []
    return list(made.values())


def delivered(plan: Plan) -> bool:
    """Whether all data has arrived."""
    return bool((core(plan)["flows"]["drops"] == 0).all())


def test_flows_of_one_block_share_no_burst() -> None:
    """Four flows and three queues: the fourth begins a block, and shares a queue with one of the
    three.
    """
    cycles = 300
    plan = in_cycles(4, cycles, multi_queue(50 * MICROSECOND, "a-priori", 3))
    made = bursts_of(plan)
    assert delivered(plan)
    assert len(made) == 3 * cycles
    partners = Counter[int]()
    for cycle in range(cycles):
        bursts = made[3 * cycle : 3 * cycle + 3]
        assert sorted(flow for flows in bursts for flow in flows) == [0, 1, 2, 3]
        assert all(len({0, 1, 2} & set(flows)) == 1 for flows in bursts)
        partners.update(flows[0] for flows in bursts if flows[-1] == 3)
    assert stats.chisquare([partners[flow] for flow in range(3)]).pvalue > 1e-3


def test_each_permutation_of_the_queues_is_as_likely() -> None:
    """Six flows and three queues: the partner in the second block of each flow of the first."""
    cycles = 300
    made = bursts_of(in_cycles(6, cycles, multi_queue(50 * MICROSECOND, "a-priori", 3)))
    assert len(made) == 3 * cycles
    drawn = Counter[tuple[int, ...]]()
    for cycle in range(cycles):
        pairs = sorted(made[3 * cycle : 3 * cycle + 3])
        assert [flows[0] for flows in pairs] == [0, 1, 2]
        drawn[tuple(flows[1] for flows in pairs)] += 1
    expected = list(permutations((3, 4, 5)))
    assert set(drawn) <= set(expected)
    assert stats.chisquare([drawn[one] for one in expected]).pvalue > 1e-3


def test_where_each_flow_draws_for_itself_two_may_meet() -> None:
    cycles = 300
    made = bursts_of(in_cycles(2, cycles, multi_queue(50 * MICROSECOND, "printed", 3)))
    together = sum(len(flows) == 2 for flows in made)
    assert stats.binomtest(together, cycles, 1 / 3).pvalue > 1e-3


def test_each_flow_has_a_queue_of_its_own() -> None:
    made = bursts_of(in_cycles(4, 10, multi_queue(250 * MICROSECOND, "per-flow")))
    assert all(len(set(flows)) == 1 for flows in made)
    # Three packets come within 250 us: ten make four bursts.
    assert len(made) == 4 * 4


def test_the_printed_formula_does_not_sum_to_one() -> None:
    """`rho^0 = p`, `rho^k = p (1 - rho^(k - 1))`, the last row `1 - rho^(n - 2)`, with `p = 1/n`.

    All queues have the same probability in a row, so a row normalised to 1 is a uniform draw.
    """
    for n in range(2, 9):
        rows = [1 / n]
        for _ in range(n - 2):
            rows.append((1 - rows[-1]) / n)
        # `j mod (n - 1)` takes the rows before the last one only.
        assert len(rows) == n - 1
        assert n * rows[0] == 1
        assert all(n * row < 1 for row in rows[1:])
