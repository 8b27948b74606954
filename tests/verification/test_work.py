"""Work of hosts between messages: processors, interfaces with gaps, and any graph of joins."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_equal
from plans import ENGINES, MICROSECOND, Plan, core, tcp
from random_plans import random_plan
from test_joins import ONCE, in_columns, star
from twin import Columns
from twin.joins import NO_JOIN

from blocks import in_blocks
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.workload.flows import Joins, Work

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
PAYLOAD = tcp()["segment_bytes"] - tcp()["header_bytes"]


def working(plan: Plan, rows: list[dict[str, Any]], **flows: list[int]) -> Plan:
    """The plan whose flows wait for joins with work; each join is a row.

    `flows` are columns of the flows, `rows` have ``cpu``, ``host``, ``busy``, ``delay``, ``nic``,
    ``begins`` and ``ends``; processor i is at the host of the first join that has it.
    """

    def column(name: str, kind: Any, other: int) -> Any:
        given = [row.get(name) for row in rows]
        return np.array([other if one is None else one for one in given], kind)

    cpus = {row["cpu"]: row["host"] for row in rows if "cpu" in row}
    gaps = {row["nic"]: row["gap"] for row in rows if "nic" in row}
    work = Work(
        cpu=column("cpu", np.uint32, NO_JOIN),
        busy_ps=column("busy", np.uint64, 0),
        cpu_host=np.array([cpus[cpu] for cpu in range(len(cpus))], np.uint32),
        nic=column("nic", np.uint32, NO_JOIN) if gaps else np.zeros(0, np.uint32),
        nic_gap_ps=np.array([gaps[nic] for nic in range(len(gaps))], np.uint64),
    )
    ends: dict[str, Any] = {name: np.array(values, np.uint32) for name, values in flows.items()}
    joins = Joins(
        **ends,
        delay_ps=column("delay", np.uint64, 0),
        **in_columns(
            [row.get("begins", []) for row in rows], [row.get("ends", []) for row in rows]
        ),
        work=work,
    )
    return plan._replace(flows=plan.flows | joins.columns)


@engines
def test_a_processor_works_in_the_order_in_which_joins_open(engine: Engine) -> None:
    """Joins 0 and 1 are there at 0, join 2 when the message is; each takes 7 us."""
    work = 7 * MICROSECOND
    rows: list[dict[str, Any]] = [{"cpu": 0, "host": 1, "busy": work} for _ in range(2)]
    last = 3_000_000 * MICROSECOND
    rows += [{"cpu": 0, "host": 1, "busy": 5, "ends": [3]}, {"cpu": 1, "host": 1, "busy": last}]
    plan = working(star(2, [(0, 1, 0, PAYLOAD)]), rows, after=[NO_JOIN], towards=[2])
    result = engine(plan)
    assert 2 * work > ONCE
    assert result["joins"]["begun_ps"].tolist() == [0, work, 2 * work, 2 * work + 5]
    # The run lasts as long as the work.
    assert result["totals"]["end_ps"] == 2 * work + 5 + last


@engines
def test_a_join_may_wait_for_the_begin_of_another(engine: Engine) -> None:
    """Join 2 waits for the begin of join 1, on whose processor join 0 works for 4 us."""
    rows: list[dict[str, Any]] = [
        {"cpu": 0, "host": 0, "busy": 4 * MICROSECOND},
        {"cpu": 0, "host": 0, "busy": 3 * MICROSECOND, "begins": [2], "ends": [3]},
        {"cpu": 1, "host": 0, "busy": 1, "delay": 1},
        {"cpu": 1, "host": 0},
    ]
    plan = working(star(2, [(0, 1, 0, 100)]), rows, after=[2], towards=[NO_JOIN])
    result = engine(plan)
    begun = [us * MICROSECOND for us in (0, 4, 4, 7)]
    assert result["joins"]["begun_ps"].tolist() == begun
    assert result["flows"]["started_ps"].tolist() == [4 * MICROSECOND + 1]


@engines
def test_an_interface_starts_messages_a_gap_apart(engine: Engine) -> None:
    """Three messages, each after 1 us of work, by two interfaces; the gap of one is 3 us."""
    rows: list[dict[str, Any]] = [
        {"cpu": 0, "host": 0, "busy": MICROSECOND, "delay": MICROSECOND, "nic": nic, "gap": gap}
        for nic, gap in ((0, 3 * MICROSECOND), (0, 3 * MICROSECOND), (1, 0), (0, 3 * MICROSECOND))
    ]
    flows = [(0, 1, 0, 100)] * 4
    plan = working(star(2, flows), rows, after=[0, 1, 2, 3], towards=[NO_JOIN] * 4)
    started = engine(plan)["flows"]["started_ps"].tolist()
    assert started == [us * MICROSECOND for us in (1, 4, 3, 7)]


@engines
def test_a_message_may_lead_to_several_joins_and_a_join_to_several_messages(
    engine: Engine,
) -> None:
    """0 -> 1 opens join 0, which opens joins 1 and 2; of these each starts a message at once."""
    rows: list[dict[str, Any]] = [{"begins": [1, 2]}, {"delay": 5}, {"delay": 8}]
    plan = star(3, [(0, 1, 0, PAYLOAD), (1, 2, 0, 100), (1, 0, 0, 100)])
    result = engine(working(plan, rows, after=[NO_JOIN, 1, 2], towards=[0, NO_JOIN, NO_JOIN]))
    assert result["flows"]["started_ps"].tolist() == [0, ONCE + 5, ONCE + 8]


@engines
def test_a_join_that_is_reached_twice_waits_for_both(engine: Engine) -> None:
    """Join 2 waits for 0 -> 1 through joins 0 and 1, of which the second works."""
    rows: list[dict[str, Any]] = [
        {"begins": [1, 2]},
        {"cpu": 0, "host": 1, "busy": 6 * MICROSECOND, "ends": [2]},
        {},
    ]
    plan = star(2, [(0, 1, 0, PAYLOAD), (1, 0, 0, 100)])
    found = engine(working(plan, rows, after=[NO_JOIN, 2], towards=[0, NO_JOIN]))
    assert found["flows"]["started_ps"].tolist() == [0, ONCE + 6 * MICROSECOND]


def graph_plan(seed: int) -> Plan | None:
    """A random plan of connections among random work; None if it has datagrams."""
    random, plan = Random(f"work/{seed}"), random_plan(seed, "packets")
    if any(group["transport"]["kind"] in OPEN_LOOP for group in plan.settings["groups"]):
        return None
    source, destination = plan.flows["source"].tolist(), plan.flows["destination"].tolist()
    hosts = sorted({*source, *destination})
    times = [0, 0, 1, 100_000, MICROSECOND, 20 * MICROSECOND]
    # The order of the rows is an order in which joins can open: each follows what it waits for.
    cpu_of = {
        (host, which): n
        for n, (host, which) in enumerate((host, which) for host in hosts for which in (0, 1))
    }
    rows: list[dict[str, Any]] = []
    gaps = [random.choice(times) for _ in hosts]
    after, towards = [NO_JOIN] * len(source), [NO_JOIN] * len(source)

    def add(host: int) -> int:
        place = hosts.index(host)
        row: dict[str, Any] = {"host": host, "cpu": cpu_of[host, random.randint(0, 1)]}
        row |= {"busy": random.choice(times), "delay": random.choice(times)}
        row |= {"nic": place, "gap": gaps[place], "begins": [], "ends": []}
        here = [one for one in rows if one["host"] == host]
        for one in random.sample(here, min(len(here), random.randint(0, 3))):
            one[random.choice(["begins", "ends"])].append(len(rows))
        rows.append(row)
        return len(rows) - 1

    for flow, (here, there) in enumerate(zip(source, destination, strict=True)):
        for _ in range(random.randint(0, 2)):
            add(random.choice(hosts))
        if random.random() < 0.8:
            after[flow] = add(here)
        if random.random() < 0.8:
            towards[flow] = add(there)
    # Each processor has a join, so that there is no other number of them.
    rows.extend(
        {"host": host, "cpu": cpu_of[host, which], "nic": place, "gap": gaps[place]}
        for place, host in enumerate(hosts)
        for which in (0, 1)
    )
    kept = {key: value for key, value in plan.settings.items() if key != "synchronisation"}
    return working(plan._replace(settings=kept), rows, after=after, towards=towards)


GRAPHS = [seed for seed in range(200) if graph_plan(seed) is not None]


@in_blocks("seed", GRAPHS, 20)
def test_core_equals_twin(seed: int) -> None:
    plan = graph_plan(seed)
    assert plan is not None
    check_equal(plan)


def test_many_plans_have_flows_that_wait_for_work() -> None:
    assert len(GRAPHS) > 60


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"ends": [1]}, {"begins": [0]}], "flows that wait for each other"),
        ([{"busy": 1}], "work without a processor"),
        ([{"ends": [7]}], "a join that there is not"),
        ([{"cpu": 0, "host": 9}], "a processor of no host"),
        ([{"cpu": 0, "host": 0, "ends": [1]}, {"cpu": 1, "host": 1}], "join 1 at two hosts"),
        ([{"cpu": 0, "host": 1}], "join 0 at two hosts"),
        ([{"nic": 0, "gap": 1}], "an interface without a processor"),
        ([{"cpu": 0, "host": 0, "busy": 2**62}, {"cpu": 0, "host": 0, "busy": 2**62}], "too long"),
        (
            [{"cpu": h, "host": h, "nic": 0, "gap": 1} for h in (0, 1)],
            "interface 0 at two hosts",
        ),
    ],
)
def test_the_core_refuses_work_that_cannot_be_done(rows: list[dict[str, Any]], said: str) -> None:
    plan = star(3, [(0, 2, 0, 100)])
    with pytest.raises(ValueError, match=said):
        core(working(plan, rows, after=[0], towards=[NO_JOIN]))
