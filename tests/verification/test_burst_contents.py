"""The contents of bursts: exact, by sums, and with losses and cuts.

Two flows of datagrams from one host to another: host, edge, core, edge, host. Each packet takes
12 us on the access link, which is 20 us long.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plans import (
    ENGINES,
    GIGABIT,
    MICROSECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_table,
    loss,
    path_edges,
    settings,
    table,
    tcp,
    traced,
)
from random_plans import KINDS, random_plan
from test_cut_bursts import TWO_TO_ONE
from twin import Columns

import lightburst as lb
from lightburst.simulation.simulate import simulate

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
SIZE = 1500
EVER = {"from_ps": 0, "until_ps": 2**64 - 1}
MADE, LOST, CUT = range(3)
SEGMENTS, FLOWS = range(2)
#: When the datagrams of the flows are handed to the interface; they are at the edge 32 us later.
DEPARTURES = [0, 100, 200], [12, 400]
#: The first packet of a burst sets its timer: packets at the edge by 182, 382 and 582 us form
#: bursts.
TIMER = 150 * MICROSECOND


def two_flows(made: dict[str, int] = EVER, *drops: dict[str, Any]) -> Plan:
    edges, hosts, nodes = path_edges(4)
    links = table(
        edges,
        hosts,
        rates=[GIGABIT, 10 * GIGABIT, 10 * GIGABIT, GIGABIT],
        delays=[20 * MICROSECOND, 5 * MICROSECOND, 5 * MICROSECOND, 20 * MICROSECOND],
    )
    flows = flow_table((0, 1, 0, 3 * SIZE), (0, 1, 12 * MICROSECOND, 2 * SIZE))
    times = [time * MICROSECOND for flow in DEPARTURES for time in flow]
    flows |= {
        "departures_ps": np.array(times, np.uint64),
        "departure_offsets": np.array([0, 3, 5], np.uint64),
    }
    # A burst is lost on the second fibre, 5 us after it was made.
    links["lossy"] = (links["from"] == 3).astype(np.uint8)
    chosen = {"bursts": made, "loss": loss(*drops)}
    return Plan(settings(hosts, nodes, burst(time=TIMER), datagram(SIZE), **chosen), links, flows)


def numbers(result: Mapping[str, Mapping[str, Any]], fate: int, counted: int) -> dict[int, int]:
    """The number of bursts by number of segments, or of flows."""
    ran = result["bursts"]
    chosen = (ran["fate"] == fate) & (ran["counted"] == counted)
    found = zip(ran["number"][chosen].tolist(), ran["bursts"][chosen].tolist(), strict=True)
    return dict(found)


def of_flows(result: Columns, name: str) -> list[int]:
    found: list[int] = result["bursts_flows"][name].tolist()
    return found


@engines
def test_bursts_of_a_timer_have_the_segments_and_flows_that_come_in_time(engine: Engine) -> None:
    """Of flow 0 at 32 and 132, of flow 1 at 44; of flow 0 at 232; of flow 1 at 432 us."""
    result = engine(two_flows())
    assert numbers(result, MADE, SEGMENTS) == {1: 2, 3: 1}
    assert numbers(result, MADE, FLOWS) == {1: 2, 2: 1}
    assert of_flows(result, "bursts") == [2, 2]
    for fate in (LOST, CUT):
        assert numbers(result, fate, SEGMENTS) == numbers(result, fate, FLOWS) == {}
    assert of_flows(result, "bursts_lost") == of_flows(result, "bursts_cut") == [0, 0]


@engines
@pytest.mark.parametrize(
    ("drop", "segments", "flows", "hit"),
    [
        ({"flow": 0, "burst": 1}, {3: 1}, {2: 1}, [1, 1]),
        ({"flow": 1, "burst": 1}, {3: 1}, {2: 1}, [1, 1]),
        ({"flow": 0, "burst": 2}, {1: 1}, {1: 1}, [1, 0]),
        ({"flow": 1, "burst": 2}, {1: 1}, {1: 1}, [0, 1]),
    ],
)
def test_a_lost_burst_hits_the_flows_that_are_in_it(
    engine: Engine,
    drop: dict[str, Any],
    segments: dict[int, int],
    flows: dict[int, int],
    hit: list[int],
) -> None:
    result = engine(two_flows(EVER, drop))
    assert numbers(result, LOST, SEGMENTS) == segments
    assert numbers(result, LOST, FLOWS) == flows
    assert of_flows(result, "bursts_lost") == hit
    # They count as made nevertheless.
    assert numbers(result, MADE, SEGMENTS) == {1: 2, 3: 1}
    assert of_flows(result, "bursts") == [2, 2]


@engines
@pytest.mark.parametrize(
    ("begin", "end", "made", "lost"),
    [
        (182, 382, {3: 1}, {3: 1}),
        (183, 583, {1: 2}, {3: 1}),
        (0, 182, {}, {}),
        (0, 183, {3: 1}, {}),
        (382, 1000, {1: 2}, {}),
    ],
)
def test_the_distributions_are_of_what_happens_in_time(
    engine: Engine, begin: int, end: int, made: dict[int, int], lost: dict[int, int]
) -> None:
    within = {"from_ps": begin * MICROSECOND, "until_ps": end * MICROSECOND}
    result = engine(two_flows(within, {"flow": 0, "burst": 1}))
    assert numbers(result, MADE, SEGMENTS) == made
    assert numbers(result, LOST, SEGMENTS) == lost
    # The burst is lost where it is handed to its fibre, later than it is made. A flow has all.
    assert of_flows(result, "bursts") == [2, 2]
    assert of_flows(result, "bursts_lost") == [1, 1]


@engines
def test_a_burst_of_acknowledgements_has_no_segments(engine: Engine) -> None:
    """Set-up, one segment, its acknowledgement and close, each packet a separate burst."""
    edges, hosts, nodes = path_edges(4)
    chosen = {"bursts": EVER}
    final = settings(hosts, nodes, burst(time=0), tcp(), **chosen)
    result = engine(Plan(final, table(edges, hosts), flow_table((0, 1, 0, 1000))))
    made = result["totals"]["bursts_created"]
    assert numbers(result, MADE, SEGMENTS) == {0: made - 1, 1: 1}
    assert numbers(result, MADE, FLOWS) == {0: made - 1, 1: 1}
    assert of_flows(result, "bursts") == [1]


def total(counts: dict[int, int]) -> int:
    """The sum of the counts over all of them."""
    return sum(number * bursts for number, bursts in counts.items())


def check_sums(plan: Plan) -> list[int]:
    """Check the properties of any run; returns the number of flows in bursts of each fate."""
    plan = plan._replace(settings={**plan.settings, "bursts": EVER})
    result = core(plan)
    totals, switches = result["totals"], result["switches"]
    for counted in (SEGMENTS, FLOWS):
        assert sum(numbers(result, MADE, counted).values()) == totals["bursts_created"]
        assert sum(numbers(result, LOST, counted).values()) == totals["bursts_lost"]
    names = ("bursts", "bursts_lost", "bursts_cut")
    in_flows = [total(numbers(result, fate, FLOWS)) for fate in (MADE, LOST, CUT)]
    assert in_flows == [sum(of_flows(result, name)) for name in names]
    assembled = [entry.unit for entry in traced(plan) if entry.what == "assemble"]
    without_data = sum(1 for unit in assembled if not unit.packets[0].payload)
    segments = total(numbers(result, MADE, SEGMENTS))
    assert segments == int(switches["burst_packets"].sum()) - without_data
    # Each packet of a burst is lost once, with it or with a piece of it.
    cut = total(numbers(result, CUT, SEGMENTS))
    assert cut <= int(switches["packets_cut"].sum())
    assert cut + total(numbers(result, LOST, SEGMENTS)) <= totals["units_dropped"]
    if all(group["transport"]["kind"] == "bursts" for group in plan.settings["groups"]):
        # Without hosts no other unit could be lost.
        assert cut == int(switches["packets_cut"].sum())
        assert cut + total(numbers(result, LOST, SEGMENTS)) == totals["units_dropped"]
    return in_flows


def test_the_sums_over_flows_and_over_bursts_agree() -> None:
    # A plan of crowds takes the twin five times as long as another.
    seeds = {kind: 10 if kind == "crowds" else 30 for kind in KINDS}
    found = np.array(
        [check_sums(random_plan(seed, kind)) for kind in KINDS for seed in range(seeds[kind])]
    )
    assert (found.sum(axis=0) > [1000, 1000, 30]).all()


@pytest.mark.parametrize(
    ("drop", "later_us", "segments", "flows", "hit"),
    [
        ("head", 3.5, 1, 1, [0, 0, 1, 0]),
        ("head", 2.9, 2, 1, [0, 0, 1, 0]),
        ("head", 1.5, 3, 2, [0, 0, 1, 1]),
        ("tail", 3.5, 1, 1, [0, 1, 0, 0]),
        ("tail", 2.9, 2, 1, [0, 1, 0, 0]),
        ("tail", 1.5, 3, 2, [1, 1, 0, 0]),
    ],
)
def test_a_piece_that_is_cut_off_hits_the_flows_that_are_in_it(
    tmp_path: Path, drop: str, later_us: float, segments: int, flows: int, hit: list[int]
) -> None:
    """From each of two edges a burst of two flows, two packets of 1 us of each."""
    file = tmp_path / "bursts.csv"
    times = (("a", 0.0), ("a", 0.05), ("b", later_us), ("b", later_us + 0.05))
    rows = [f"{source},d,{time}e-6,2500" for source, time in times]
    file.write_text("\n".join(["source,destination,start_s,size_bytes", *rows]), encoding="utf-8")
    scenario = {
        **TWO_TO_ONE,
        "workload": {"kind": "table", "file": str(file)},
        "measurement": {"bursts": {}},
    }
    contention = [{"kind": "segmentation", "drop": drop}]
    scenario["switching"] = {**TWO_TO_ONE["switching"], "contention": contention}
    result = simulate(lb.Scenario.from_dict(scenario), 1)
    assert numbers(result.columns, MADE, SEGMENTS) == {4: 2}
    assert numbers(result.columns, MADE, FLOWS) == {2: 2}
    assert numbers(result.columns, CUT, SEGMENTS) == {segments: 1}
    assert numbers(result.columns, CUT, FLOWS) == {flows: 1}
    assert result.flows["bursts_cut"].tolist() == hit
    assert numbers(result.columns, LOST, SEGMENTS) == {}
    assert result.metrics["cut_piece_mean_flows"] == flows
    assert result.metrics["data_burst_loss"] == 0
