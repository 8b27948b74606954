"""Rules of assembly with several queues or changing times, worked out by hand.

The network is that of `test_burst_exact`.
"""

from collections.abc import Callable

import pytest
from plans import ENGINES, MICROSECOND, Plan, core, tcp, traced, window_based
from test_burst_exact import ACCESS, SIZE, on_fibres, path
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
        made, _ = it.birth
        assert made - opened[it.number] == TIMES[pace]
        paces.add(pace)
    assert paces == {0, 1, 2}


def test_who_comes_into_a_shorter_time_overtakes() -> None:
    """Without losses windows only grow, so that it takes times that fall with the window."""
    transport = tcp(initial_window_bytes=SIZE, acknowledge_every=1)
    reordered = []
    for times in (TIMES, (TIMES[1], TIMES[1], TIMES[1]), TIMES[::-1]):
        flows = core(path(window_based(times, (3, 8)), transport, (0, 1, 0, 200 * SIZE)))["flows"]
        assert flows["drops"].tolist() == [0]
        reordered.append(int(flows["reordered"][0]))
    assert reordered[:2] == [0, 0]
    assert reordered[2] > 0
