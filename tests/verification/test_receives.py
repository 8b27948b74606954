"""Receives that are matched in the run: by hand on both engines, and the core against the twin."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_equal
from plans import ENGINES, MICROSECOND, Plan, core
from random_plans import random_plan
from test_joins import ONCE, star
from test_work import PAYLOAD, working
from twin import Columns
from twin.joins import NO_JOIN

from blocks import in_blocks
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.workload.flows import Receives

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
ANY = NO_JOIN


def matched(
    plan: Plan, receives: list[tuple[int, int, int]], tags: list[int], **flows: list[int]
) -> Plan:
    """The plan with receives of a join, a source and a tag, and the tags of its flows."""
    join, source, tag = (np.array(column, np.uint32) for column in zip(*receives, strict=True))
    columns = Receives(
        join=join,
        source=source,
        tag=tag,
        tag_of_flow=np.array(tags, np.uint32),
        busy_ps=np.array(flows.get("busy", [0] * len(tags)), np.uint64),
        sent=np.array(flows.get("sent", []), np.uint32),
    ).columns
    return plan._replace(flows=plan.flows | columns)


def two_senders(receives: list[tuple[int, int]], starts: tuple[int, int], **flows: Any) -> Plan:
    """Messages of hosts 0 and 1, with tags 0 and 1, to the receives of host 2.

    The receives are joins 0 and 1. Their postings are joins 3 and 4: the first is posted at 0, the
    second when join 2 is over, a work of 1 ms.
    """
    late = 1000 * MICROSECOND
    rows: list[dict[str, Any]] = [{"cpu": 0, "host": 2}, {"cpu": 0, "host": 2}]
    rows += [{"cpu": 1, "host": 2, "busy": late, "ends": [4]}, {"ends": [0]}, {"ends": [1]}]
    plan = star(3, [(0, 2, starts[0], PAYLOAD), (1, 2, starts[1], PAYLOAD)])
    plan = working(plan, rows, after=[NO_JOIN] * 2, towards=[NO_JOIN] * 2)
    chosen = [(join, source, tag) for join, (source, tag) in enumerate(receives)]
    return matched(plan, chosen, [0, 1], **flows)


@engines
@pytest.mark.parametrize(
    ("receives", "taken"),
    [
        # The first to arrive goes to the receive that is posted first.
        ([(ANY, ANY), (ANY, ANY)], [0, 1]),
        # The second one is posted when both messages are there: it takes the one that is left.
        ([(1, ANY), (ANY, ANY)], [1, 0]),
        ([(ANY, 1), (0, 0)], [1, 0]),
        # A receive from any rank takes the message for which another one was meant.
        ([(ANY, ANY), (0, 0)], [0, NO_JOIN]),
        ([(ANY, ANY), (1, 1)], [0, 1]),
    ],
)
def test_a_message_goes_to_the_first_posted_receive_that_it_fits(
    engine: Engine, receives: list[tuple[int, int]], taken: list[int]
) -> None:
    starts = (0, 100 * MICROSECOND)
    result = engine(two_senders(receives, starts))
    assert np.asarray(result["flows"]["taken_join"]).tolist() == taken
    begun = result["joins"]["begun_ps"].tolist()
    late = 1000 * MICROSECOND
    there = [start + ONCE for start in starts]
    for flow, join in enumerate(taken):
        if join != NO_JOIN:
            assert begun[join] == max(there[flow], late if join == 1 else 0)
    assert begun[3:] == [0, late]


@engines
def test_messages_that_wait_are_taken_in_the_order_of_their_arrival(engine: Engine) -> None:
    """Three messages are there when two receives from any are posted at once, by one join."""
    rows: list[dict[str, Any]] = [{"cpu": 0, "host": 3} for _ in range(2)]
    rows += [{"cpu": 1, "host": 3, "busy": 1000 * MICROSECOND, "ends": [3, 4]}]
    rows += [{"ends": [0]}, {"ends": [1]}]
    senders = [1, 2, 0]
    rows_of_flows = [(host, 3, 10 * k * MICROSECOND, 100) for k, host in enumerate(senders)]
    plan = star(4, rows_of_flows)
    plan = working(plan, rows, after=[NO_JOIN] * 3, towards=[NO_JOIN] * 3)
    result = engine(matched(plan, [(0, ANY, ANY), (1, ANY, ANY)], [5, 5, 5]))
    assert np.asarray(result["flows"]["taken_join"]).tolist() == [0, 1, NO_JOIN]


@engines
def test_a_receive_works_for_the_message_that_it_took(engine: Engine) -> None:
    """Works of 7 and 5 us by one processor; the second message comes after 1 us."""
    busy = [7 * MICROSECOND, 5 * MICROSECOND]
    receives = [(ANY, ANY), (ANY, ANY)]
    plan = two_senders(receives, (1999 * MICROSECOND, 2000 * MICROSECOND), busy=busy)
    result = engine(plan)
    first = 1999 * MICROSECOND + ONCE
    assert result["joins"]["begun_ps"].tolist()[:2] == [first, first + busy[0]]
    assert result["totals"]["end_ps"] >= first + sum(busy)


@engines
@pytest.mark.parametrize("posted", [0, 1000])
def test_a_sender_learns_1_ps_later_that_its_message_was_taken(engine: Engine, posted: int) -> None:
    """Join 1, at the source, opens when the message is there and its receive is posted."""
    rows: list[dict[str, Any]] = [
        {"cpu": 0, "host": 1},
        {},
        {"cpu": 1, "host": 1, "busy": posted * MICROSECOND, "ends": [3]},
        {"ends": [0]},
    ]
    plan = working(star(2, [(0, 1, 0, PAYLOAD)]), rows, after=[NO_JOIN], towards=[NO_JOIN])
    result = engine(matched(plan, [(0, ANY, 0)], [0], sent=[1]))
    taken = max(posted * MICROSECOND, ONCE)
    assert result["joins"]["begun_ps"].tolist()[:2] == [taken, taken + 1]


def graph_plan(seed: int) -> Plan | None:
    """A random plan of connections to receives among random work; None if it has datagrams."""
    random, plan = Random(f"receives/{seed}"), random_plan(seed, "packets")
    if any(group["transport"]["kind"] in OPEN_LOOP for group in plan.settings["groups"]):
        return None
    source, destination = plan.flows["source"].tolist(), plan.flows["destination"].tolist()
    hosts = sorted({*source, *destination})
    times = [0, 0, 1, 100_000, MICROSECOND, 20 * MICROSECOND]
    rows: list[dict[str, Any]] = [{"host": host, "cpu": n} for n, host in enumerate(hosts)]
    posts: list[dict[str, Any]] = []
    after, sent = [NO_JOIN] * len(source), [NO_JOIN] * len(source)
    receives = []

    def add(host: int, **more: Any) -> int:
        row = {"host": host, "busy": random.choice(times), "begins": [], "ends": [], **more}
        here = [one for one in rows if one["host"] == host and "ends" in one]
        for one in random.sample(here, min(len(here), random.randint(0, 2))):
            one[random.choice(["begins", "ends"])].append(len(rows))
        rows.append(row)
        return len(rows) - 1

    def work(host: int) -> int:
        return add(host, cpu=hosts.index(host))

    tags = [random.randint(0, 2) for _ in source]
    for flow, (here, there) in enumerate(zip(source, destination, strict=True)):
        if random.random() < 0.5:
            after[flow] = work(here)
        # Joins that post are numbered at the end: their rows have what leads to them.
        opener = work(there)
        receive = work(there)
        post = {"host": there, "ends": [receive], "begins": [work(there)]}
        posts.append(post | {"opener": opener})
        wanted = random.choice([here, ANY]), random.choice([tags[flow], ANY])
        receives.append((receive, *wanted))
        if random.random() < 0.5:
            sent[flow] = add(here, busy=0)
    for place, post in enumerate(posts):
        rows[post["opener"]]["ends"].append(len(rows) + place)
    kept = {key: value for key, value in plan.settings.items() if key != "synchronisation"}
    towards = [NO_JOIN] * len(source)
    plan = working(plan._replace(settings=kept), rows + posts, after=after, towards=towards)
    return matched(plan, receives, tags, sent=sent, busy=[random.choice(times) for _ in source])


GRAPHS = [seed for seed in range(150) if graph_plan(seed) is not None]


@in_blocks("seed", GRAPHS, 20)
def test_core_equals_twin(seed: int) -> None:
    plan = graph_plan(seed)
    assert plan is not None
    check_equal(plan)


def test_many_plans_have_messages_that_others_take() -> None:
    """In some runs a receive takes a message that arrived after others, or of another flow."""
    assert len(GRAPHS) > 50
    other = 0
    for seed in GRAPHS:
        plan = graph_plan(seed)
        assert plan is not None
        taken = np.asarray(core(plan)["flows"]["taken_join"])
        other += bool(((taken != NO_JOIN) & (taken != plan.flows["receive_join"])).any())
    assert other > 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"receive_tag": [0]}, "columns of receives of different lengths"),
        ({"receive_join": [0, 0]}, "a receive at no join, or at one that has another"),
        ({"receive_join": [0, 4]}, "a receive at no join, or at one that has another"),
        ({"sent_join": [9, 9]}, "a join that there is not"),
        ({"sent_join": [2, NO_JOIN]}, "join 2 at two hosts"),
        ({"towards_join": [0, NO_JOIN]}, "a message that leads to a join and to receives"),
        ({"join_cpu": [0, 0, 1, 1, 1]}, "work where a receive is posted"),
        ({"tag_of_flow": [NO_JOIN, 0], "sent_join": [2, 2]}, "a send that waits for a message"),
        ({"receive_join": []}, "messages without receives"),
    ],
)
def test_the_core_refuses_receives_that_cannot_be(change: dict[str, Any], said: str) -> None:
    plan = two_senders([(ANY, ANY), (ANY, ANY)], (0, 0))
    columns = {name: np.array(values, np.uint32) for name, values in change.items()}
    with pytest.raises(ValueError, match=said):
        core(plan._replace(flows=plan.flows | columns))
