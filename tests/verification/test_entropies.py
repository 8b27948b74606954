"""Spraying over entropy values: by hand, and the core equals the twin on random plans."""

from random import Random
from typing import Any

import pytest
from compare import check_conservation, check_equal
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    Plan,
    core,
    electronic,
    flow_table,
    loss,
    lossy,
    settings,
)
from queue_pairs import random_rdma, rdma
from random_disciplines import random_trim
from test_choices import spines
from test_rdma import with_telemetry
from test_rdma_exact import Engine, engines
from twin.rng import mix

from blocks import in_blocks


def spray(entropies: int = 8, recycled: int = 0, **changes: int) -> dict[str, Any]:
    """Settings of the choice."""
    own = {"mark_penalty": 1, "trim_penalty": 4, "loss_penalty": 15, "recycled": recycled}
    return {"kind": "entropy-spray", "entropies": entropies} | own | changes


def sprayed(**changes: Any) -> dict[str, Any]:
    """Settings of queue pairs that echo each mark."""
    own = {"congestion_control": {"kind": "line-rate"}, "echo_marks": True}
    return rdma("selective-repeat", **own | changes)


def over_spines(seed: int) -> Plan:
    """Queue pairs over a few spines, with switches that mark, trim and lose soon."""
    random = Random(f"entropies/{seed}")
    pick = random.choice
    leaves, count, each = pick([2, 3]), pick([2, 3, 4]), pick([1, 2])
    rates = [GIGABIT] * (leaves * each) + [
        pick([GIGABIT // 5, GIGABIT // 2, GIGABIT]) for _ in range(leaves * count)
    ]
    delays = pick([50_000, 10**6])
    hosts, nodes, links = spines(leaves, count, each, rates=rates, delays=delays)
    transport = random_rdma(random, 1086, 62)
    recovery = {"kind": "selective-repeat", "reordering": pick([0, 1, 3, 40])}
    transport |= {"recovery": recovery, "echo_marks": True}
    trim = {"kind": "trim"} | random_trim(random)
    queue = pick([None, {"kind": "drop-tail"}, trim])
    switch = electronic(pick([None, 20_000]), pick([0, 0, 3_000, 9_000]), queue)
    payload = transport["segment_bytes"] - transport["header_bytes"]
    rows = []
    for start in sorted(random.randint(0, 200) * MICROSECOND for _ in range(random.randint(2, 9))):
        source, destination = random.sample(range(hosts), 2)
        rows.append((source, destination, start, random.randint(1, 60 * payload)))
    most = pick([0, 2, 15, 15, 255])
    choice = spray(
        pick([1, 2, 3, 5, 16]),
        pick([0, 0, 1, 8]),
        mark_penalty=pick([0, 1, 9]),
        trim_penalty=pick([0, 4]),
        loss_penalty=most,
    )
    chosen = {"choice": choice, "seed": random.getrandbits(64), "time_limit_ps": 20 * MILLISECOND}
    if random.random() < 0.3:
        chosen["fair"] = {"small_queue": pick([None, 1, 2])}
    if random.random() < 0.3:
        chosen["loss"] = loss(p=0.02, of_acknowledgements=0.02)
        links = lossy(links, hosts)
    trim |= pick([{}, {"return_to_sender": True}])
    made = settings(hosts, nodes, switch, transport, **chosen)
    _, switches = with_telemetry(made["groups"], made["switches"])
    return Plan(made | {"switches": switches}, links, flow_table(*rows))


SEED, SPINES = 11, 8
#: The leaf of the source, which is the first node after two hosts, and the other leaf.
NEAR, FAR = 2, 3


def spine_of(value: int, leaf: int = NEAR) -> int:
    """The spine of flow 0 with an entropy value from a leaf, as docs/model.md has it."""
    hashed = mix(mix(SEED) ^ leaf)
    if value:
        hashed = mix(hashed ^ value)
    return hashed * SPINES >> 64


def one_message(
    packets: int, choice: dict[str, Any], scripts: dict[str, Any] | None = None, **changes: Any
) -> Plan:
    """A traced message from one leaf to another over eight spines, one packet at a time."""
    hosts, nodes, links = spines(2, SPINES, 1, rates=GIGABIT, delays=MICROSECOND)
    own = {"max_inflight_bytes": 1024} | changes
    made = settings(hosts, nodes, electronic(), sprayed(**own), choice=choice, seed=SEED, trace=[0])
    given = {key: [{"flow": 0, **row} for row in rows] for key, rows in (scripts or {}).items()}
    made["loss"] = loss() | given
    return Plan(made, lossy(links, hosts), flow_table((0, 1, 0, packets * 1024)))


def taken(plan: Plan, engine: Engine, leaf: int = NEAR) -> list[int]:
    """The spine of each packet that a leaf sends up, in order."""
    hops, to = engine(plan)["trace_hops"], plan.links["to"]
    up = (hops["node"] == leaf) & (to[hops["link"]] > FAR)
    return [int(node) - FAR - 1 for node in to[hops["link"][up]]]


def at(*values: int, leaf: int = NEAR) -> list[int]:
    """The spines of these values."""
    return [spine_of(value, leaf) for value in values]


#: The second packet, which has the value 1.
SECOND = {"segments": [2, 2], "transmission": 1}


def test_the_values_of_this_module_lead_to_different_spines() -> None:
    assert len(set(at(0, 1, 2))) == 3


@engines
def test_packets_take_turns_and_an_answer_has_the_value_of_its_packet(engine: Engine) -> None:
    plan = one_message(7, spray(3))
    assert taken(plan, engine) == at(0, 1, 2, 0, 1, 2, 0)
    assert taken(plan, engine, FAR) == at(0, 1, 2, 0, 1, 2, 0, leaf=FAR)


@engines
def test_a_marked_value_is_passed_over_as_often_as_its_penalty(engine: Engine) -> None:
    marks = {"marks": [SECOND]}
    once = one_message(9, spray(3), marks)
    assert taken(once, engine) == at(0, 1, 2, 0, 2, 0, 1, 2, 0)
    twice = one_message(9, spray(3, mark_penalty=2), marks)
    assert taken(twice, engine) == at(0, 1, 2, 0, 2, 0, 2, 0, 1)
    never = one_message(9, spray(3, mark_penalty=9, loss_penalty=0), marks)
    assert taken(never, engine) == at(0, 1, 2, 0, 1, 2, 0, 1, 2)


@engines
def test_without_an_echo_no_value_is_marked(engine: Engine) -> None:
    plan = one_message(9, spray(3), {"marks": [SECOND]}, echo_marks=False)
    assert taken(plan, engine) == at(0, 1, 2, 0, 1, 2, 0, 1, 2)


@engines
def test_a_packet_that_is_sent_again_blames_the_value_of_its_loss(engine: Engine) -> None:
    """It is sent again with the value whose turn it is, 2, once the timer has expired."""
    plan = one_message(9, spray(3, loss_penalty=2), {"drops": [SECOND]})
    assert taken(plan, engine) == at(0, 1, 2, 0, 2, 0, 2, 0, 1, 2)


@engines
def test_values_of_good_answers_are_taken_again_first(engine: Engine) -> None:
    """Without marks the first value returns each time; a mark leads to the next in turn."""
    assert taken(one_message(5, spray(3, 8)), engine) == at(0, 0, 0, 0, 0)
    plan = one_message(5, spray(3, 8), {"marks": [SECOND]})
    assert taken(plan, engine) == at(0, 0, 1, 1, 1)


@in_blocks("seed", range(200))
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = over_spines(seed)
    check_conservation(plan, check_equal(plan))


def received(plan: Plan) -> list[int]:
    """When each message was received."""
    return [int(at) for at in core(plan)["flows"]["received_ps"]]


def test_in_random_plans_each_setting_matters() -> None:
    """With another value of it many of them have another result."""
    others = {"mark_penalty": 7, "trim_penalty": 7, "loss_penalty": 0, "recycled": 3}
    changed = dict.fromkeys(others, 0)
    for plan in map(over_spines, range(150)):
        for key, value in others.items():
            choice = plan.settings["choice"] | {key: value}
            other = plan._replace(settings=plan.settings | {"choice": choice})
            changed[key] += received(plan) != received(other)
    assert min(changed.values()) >= 8, changed


def test_a_plan_that_cannot_spray_is_refused() -> None:
    plan = one_message(1, spray(0))
    with pytest.raises(ValueError, match="at least one entropy value"):
        core(plan)
    plan = one_message(1, spray(3))
    plan.settings["groups"][0]["transport"]["recovery"] = {"kind": "go-back-n"}
    with pytest.raises(ValueError, match="needs queue pairs that repeat single packets"):
        core(plan)
    plan = one_message(1, spray(3))
    plan.settings["choice"] = "entropy-spray"
    with pytest.raises(ValueError, match="needs a table of its settings"):
        core(plan)
