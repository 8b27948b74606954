"""Flows that wait for others: exact answers by hand, the twin, and collectives without a queue."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_equal
from plans import (
    ENGINES,
    MICROSECOND,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    star_edges,
    table,
    tcp,
)
from random_plans import random_plan
from twin import Columns
from twin.joins import NO_JOIN

from blocks import in_blocks
from lightburst.scenario.tables.collective import Collective
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.workload.collective import make_messages
from lightburst.workload.flows import Joins

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
#: 1,500 B and 64 B at 10 Gb/s, and the delay of a link.
TX, CONTROL, DELAY = 1_200_000, 51_200, 50_000
PAYLOAD = tcp()["segment_bytes"] - tcp()["header_bytes"]
#: A segment over two links of a switch that stores it.
ONCE = 2 * (TX + DELAY)


def waiting(
    plan: Plan,
    after: list[int],
    towards: list[int],
    delays: list[int],
    beyond: list[int] | None = None,
) -> Plan:
    """The plan whose flows wait for joins; -1 stands for none."""

    def numbers(joins: list[int]) -> Any:
        return np.array([NO_JOIN if one < 0 else one for one in joins], np.uint32)

    begins = [[] if one < 0 else [one] for one in beyond or [-1] * len(delays)]
    joins = Joins(
        after=numbers(after),
        towards=numbers(towards),
        delay_ps=np.array(delays, np.uint64),
        **in_columns(begins, [[] for _ in delays]),
    )
    return plan._replace(flows=plan.flows | joins.columns)


def in_columns(begins: Sequence[Sequence[int]], ends: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Joins to which each leads when it begins and when it ends, as columns."""
    leads = [one for pair in zip(begins, ends, strict=True) for one in pair]
    return {
        "leads": np.array([join for one in leads for join in one], np.uint32),
        "lead_offsets": np.cumsum([0, *map(len, leads)]).astype(np.uint32),
    }


def star(hosts: int, rows: Sequence[tuple[int, ...]]) -> Plan:
    """Connections without a handshake, whose window takes any message whole."""
    edges, number, nodes = star_edges(hosts)
    windows: dict[str, Any] = {"initial_window_bytes": 10**6, "advertised_window_bytes": 10**6}
    transport = tcp(handshake=False, acknowledge_every=1, control_bytes=64, **windows)
    chosen = settings(number, nodes, electronic(), transport)
    return Plan(chosen, table(edges, number), flow_table(*rows))


@engines
@pytest.mark.parametrize("delay", [0, 1, 7 * MICROSECOND])
def test_a_message_starts_when_the_last_of_those_before_it_has_arrived(
    engine: Engine, delay: int
) -> None:
    """1 -> 0 and, later, 2 -> 0 arrive; 0 -> 3 waits for both, and not for 3 -> 0."""
    payload = tcp()["segment_bytes"] - tcp()["header_bytes"]
    rows = [(1, 0, 0, payload), (2, 0, 5 * MICROSECOND, payload), (3, 0, 40 * MICROSECOND, payload)]
    first, second, other = rows
    plan = star(4, [first, (0, 3, 0, payload), second, other])
    plan = waiting(plan, [-1, 0, -1, -1], [0, -1, 0, -1], [delay])
    found = engine(plan)["flows"]
    last = 5 * MICROSECOND + ONCE
    assert found["started_ps"].tolist() == [0, last + delay, 5 * MICROSECOND, 40 * MICROSECOND]
    # The acknowledgement of the second message is ahead at the interface if nothing is computed.
    ahead = max(CONTROL - delay, 0)
    assert found["received_ps"].tolist()[1] == last + delay + ahead + ONCE


@engines
def test_a_join_waits_for_the_join_before_it(engine: Engine) -> None:
    """2 -> 0 arrives before 1 -> 0; the join of the latter leads to that of the former."""
    payload = tcp()["segment_bytes"] - tcp()["header_bytes"]
    rows = [(0, 3, 0, 1), (2, 0, 0, payload), (1, 0, 5 * MICROSECOND, payload)]
    plan = waiting(star(4, rows), [1, -1, -1], [-1, 1, 0], [0, 9], [1, -1])
    assert engine(plan)["flows"]["started_ps"].tolist()[0] == 5 * MICROSECOND + ONCE + 9


@engines
def test_a_message_keeps_its_own_start_if_that_is_later(engine: Engine) -> None:
    plan = star(2, [(0, 1, 0, 100), (1, 0, 90 * MICROSECOND, 100)])
    found = engine(waiting(plan, [-1, 0], [0, -1], [3 * MICROSECOND]))
    assert found["flows"]["started_ps"].tolist() == [0, 90 * MICROSECOND]


@engines
def test_a_message_of_which_the_one_before_never_arrives_does_not_start(engine: Engine) -> None:
    plan = star(2, [(0, 1, 0, 10**9), (1, 0, 0, 100)])
    plan = plan._replace(settings={**plan.settings, "time_limit_ps": 10 * MICROSECOND})
    found = engine(waiting(plan, [-1, 0], [0, -1], [0]))["flows"]
    assert found["started_ps"].tolist() == [0, 2**64 - 1]
    assert found["status"].tolist() == [1, 2]


@engines
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_ring_without_queues_takes_its_rounds(engine: Engine, ranks: int) -> None:
    """All-reduce of one segment a message: 2 (n - 1) rounds, each a segment's way; before each but
    the first the host acknowledges the segment of the round before.
    """
    payload = tcp()["segment_bytes"] - tcp()["header_bytes"]
    plan = collective(ranks, operation="all-reduce", size=f"{payload * ranks} B")
    rounds = 2 * (ranks - 1)
    found = engine(plan)["flows"]["received_ps"]
    assert found.max() == rounds * ONCE + (rounds - 1) * CONTROL


def collective(ranks: int, **keys: Any) -> Plan:
    """The messages of an operation among all hosts of a star."""
    messages = make_messages(Collective(**keys), ranks, np.random.default_rng(1))
    assert messages.joins is not None
    return star(ranks, [(0, 1, 0, 1)])._replace(
        flows={
            "source": messages.source,
            "destination": messages.destination,
            "start_ps": messages.start_ps,
            "bytes": messages.size_bytes,
            **messages.joins.columns,
        }
    )


@engines
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_all_reduce_by_a_binary_tree_takes_the_way_up_and_down(
    engine: Engine, depth: int
) -> None:
    """Of one segment, in a complete tree: 2 h (ONCE + TX) and 2 h - 1 acknowledgements.

    On each level the second child's message follows the first one's over the link of the parent, up
    as down, and a rank acknowledges what it received before it sends.
    """
    plan = collective(2 ** (depth + 1) - 1, operation="all-reduce", algorithm="binary",
                      size=f"{PAYLOAD} B")  # fmt: skip
    found = engine(plan)["flows"]["received_ps"]
    assert found.max() == 2 * depth * (ONCE + TX) + (2 * depth - 1) * CONTROL


@engines
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_binomial_broadcast_takes_a_round_for_each_power_of_two(
    engine: Engine, ranks: int
) -> None:
    """log2 n ways of a segment; each rank but the root first acknowledges what it received.

    The child with the largest subtree is served first: its way decides.
    """
    plan = collective(ranks, operation="broadcast", size=f"{PAYLOAD} B")
    found = engine(plan)["flows"]["received_ps"]
    rounds = ranks.bit_length() - 1
    assert found.max() == rounds * ONCE + (rounds - 1) * CONTROL


@engines
def test_chunks_of_a_broadcast_follow_one_another(engine: Engine) -> None:
    """The root sends each of five chunks of a segment to two leaves; then to a chain of ranks.

    With one rank below another, a chunk is passed on while the next one comes.
    """
    keys = {"operation": "broadcast", "size": f"{5 * PAYLOAD} B", "chunks": 5}
    found = engine(collective(3, algorithm="binary", **keys))["flows"]["received_ps"]
    assert found.max() == 9 * TX + ONCE
    chain = engine(collective(2, **keys))["flows"]["received_ps"]
    assert sorted(chain.tolist()) == [ONCE + chunk * TX for chunk in range(5)]


@engines
def test_ranks_of_a_tree_compute_between_steps(engine: Engine) -> None:
    """Two ranks: the root has the sum after one way, the other after two; then each computes."""
    compute = 900 * MICROSECOND
    keys = {"operation": "all-reduce", "algorithm": "binary", "size": f"{PAYLOAD} B"}
    plan = collective(2, **keys, steps=2, computation="900 us")
    found = engine(plan)["flows"]
    back = 2 * ONCE + CONTROL
    assert found["received_ps"].tolist()[:2] == [ONCE, back]
    assert found["started_ps"].tolist()[2] == back + compute


def joined_plan(seed: int) -> Plan | None:
    """A random plan of connections of which some wait for others; None if none could."""
    random, plan = Random(f"joins/{seed}"), random_plan(seed, "packets")
    if any(group["transport"]["kind"] in OPEN_LOOP for group in plan.settings["groups"]):
        return None
    source, destination = plan.flows["source"].tolist(), plan.flows["destination"].tolist()
    after, towards = [-1] * len(source), [-1] * len(source)
    delays: list[int] = []
    of_host: dict[int, list[int]] = {}
    for flow, host in enumerate(source):
        before = [k for k in range(flow) if destination[k] == host and towards[k] < 0]
        if before and random.random() < 0.8:
            after[flow] = len(delays)
            for one in random.sample(before, random.randint(1, len(before))):
                towards[one] = len(delays)
            delays.append(random.choice([0, 1, 100_000, MICROSECOND]))
            # The join of the host before, if there is one, leads to this one in every other plan.
            of_host.setdefault(host, []).append(len(delays) - 1)
    beyond = [-1] * len(delays)
    for joins in of_host.values() if random.random() < 0.5 else ():
        for one, other in pairwise(joins):
            beyond[one] = other
    # The statistics of synchronisation go by planned starts.
    kept = {key: value for key, value in plan.settings.items() if key != "synchronisation"}
    plan = plan._replace(settings=kept)
    return waiting(plan, after, towards, delays, beyond) if delays else None


#: Seeds whose plans have a flow that waits.
WAITING = [seed for seed in range(250) if joined_plan(seed) is not None]


@in_blocks("seed", WAITING, 20)
def test_core_equals_twin(seed: int) -> None:
    plan = joined_plan(seed)
    assert plan is not None
    check_equal(plan)


def test_many_plans_have_flows_that_wait() -> None:
    assert len(WAITING) > 40


@pytest.mark.parametrize(
    ("after", "towards", "delays", "said"),
    [
        ([0, -1], [-1, 0], [0], "flows that wait for each other|at two hosts"),
        ([0, 1], [1, 0], [0, 0], "flows that wait for each other"),
        ([-1, 0], [5, -1], [0], "a join that there is not"),
        ([-1], [0], [0], "different lengths"),
        ([-1, 0], [0, -1], [2**63], "waits for too long"),
    ],
)
def test_the_core_refuses_joins_that_cannot_open(
    after: list[int], towards: list[int], delays: list[int], said: str
) -> None:
    plan = star(3, [(0, 1, 0, 100), (1, 0, 0, 100)])
    if after == [0, -1]:
        plan = star(3, [(0, 1, 0, 100), (1, 2, 0, 100)])
    with pytest.raises(ValueError, match=said):
        core(waiting(plan, after, towards, delays))
