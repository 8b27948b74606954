"""Paths by congestion: by hand, and the core equals the twin on random plans."""

from random import Random
from typing import Any

import pytest
from compare import check_conservation, check_equal, differences
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    core,
    electronic,
    flow_table,
    loss,
    lossy,
    settings,
    tcp,
)
from queue_pairs import DCQCN, random_rdma, rdma
from random_transports import random_tcp
from test_choices import spines
from test_rdma import with_telemetry
from test_rdma_exact import Engine, engines
from twin.rng import mix

from blocks import in_blocks


def adaptive(threshold: float = 0.5, rounds: int = 12, idle_rounds: int = 3) -> dict[str, Any]:
    """Settings of the choice."""
    return {
        "kind": "adaptive",
        "threshold": threshold,
        "rounds": rounds,
        "idle_rounds": idle_rounds,
    }


def among_spines(seed: int) -> Plan:
    """Connections over a few spines, with switches that mark and lose soon."""
    random = Random(f"repaths/{seed}")
    pick = random.choice
    hosts, nodes, links = spines(
        pick([2, 3]), pick([2, 3, 4]), pick([1, 2]), rates=GIGABIT, delays=pick([50_000, 10**6])
    )
    transport = random_tcp(random)
    if random.random() < 0.4:
        transport = random_rdma(random, 1086, 62)
    threshold = pick([0, 3_000, 9_000])
    queue = pick([None, {"kind": "drop-tail"}])
    switch = electronic(pick([None, 20_000]), threshold, queue)
    payload = transport["segment_bytes"] - transport["header_bytes"]
    rows = []
    for start in sorted(random.randint(0, 200) * MICROSECOND for _ in range(random.randint(2, 9))):
        source, destination = random.sample(range(hosts), 2)
        rows.append((source, destination, start, random.randint(1, 60 * payload)))
    choice = adaptive(pick([0.05, 0.5, 1.0]), pick([1, 2, 12]), pick([1, 3]))
    chosen = {"choice": choice, "seed": random.getrandbits(64)}
    chosen["time_limit_ps"] = 20 * MILLISECOND if transport["kind"] == "rdma" else SECOND
    made = settings(hosts, nodes, switch, transport, **chosen)
    _, switches = with_telemetry(made["groups"], made["switches"])
    return Plan(made | {"switches": switches}, links, flow_table(*rows))


SEED = 11
#: The leaf of the source, the first of eight spines, and the other leaf.
LEAF, SPINES = 2, 8


def one_message(transport: dict[str, Any], packets: int, **choice: Any) -> Plan:
    """A message from one leaf to another over eight spines, whose every packet is marked."""
    hosts, nodes, links = spines(2, SPINES, 1, rates=GIGABIT, delays=MICROSECOND)
    payload = transport["segment_bytes"] - transport["header_bytes"]
    made = settings(
        hosts, nodes, electronic(None, 0), transport, choice=adaptive(**choice), seed=SEED
    )
    return Plan(made, links, flow_table((0, 1, 0, packets * payload)))


def spine_of(number: int) -> int:
    """The spine of flow 0 on the path with a number, as docs/model.md has it."""
    hashed = mix(mix(SEED) ^ LEAF)
    if number:
        hashed = mix(hashed ^ number)
    return hashed * SPINES >> 64


def taken(plan: Plan, engine: Engine) -> list[int]:
    """Packets that the leaf of the source sent to each spine."""
    units, links = engine(plan)["links"]["units"], plan.links
    up = (links["from"] == LEAF) & (links["to"] > LEAF + 1)
    return [int(n) for n in units[up]]


def expected(numbers: list[int]) -> list[int]:
    """How often each spine is that of these numbers."""
    spines = [spine_of(number) for number in numbers]
    return [spines.count(spine) for spine in range(SPINES)]


#: A window of one segment: each round trip is of one segment, and ends without data in flight.
ONE_BY_ONE = tcp(
    congestion_control={"kind": "dctcp", "g": 0.0, "initial_alpha": 0.0},
    advertised_window_bytes=1500,
    initial_window_bytes=1500,
    acknowledge_every=1,
    handshake=False,
)


@engines
@pytest.mark.parametrize(
    ("rounds", "idle_rounds", "numbers"),
    [
        (2, 9, [0, 0, 1, 1, 2, 2, 3, 3, 4]),
        (3, 9, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        # Nothing is in flight when the acknowledgement comes.
        (9, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (9, 9, [0] * 9),
    ],
)
def test_the_path_changes_after_so_many_congested_rounds(
    engine: Engine, rounds: int, idle_rounds: int, numbers: list[int]
) -> None:
    """The ninth packet acknowledges the FIN of the receiver."""
    plan = one_message(ONE_BY_ONE, 8, rounds=rounds, idle_rounds=idle_rounds)
    assert taken(plan, engine) == expected(numbers)


@engines
def test_notifications_make_rounds_congested(engine: Engine) -> None:
    """A queue pair with one packet in flight; each is answered with a CNP before its ACK."""
    law = DCQCN | {"notification_interval_ps": 1, "g": 0.0, "min_rate_bps": GIGABIT}
    transport = rdma(congestion_control=law, max_inflight_bytes=1024)
    plan = one_message(transport, 8, rounds=2, idle_rounds=9)
    assert taken(plan, engine) == expected([0, 0, 1, 1, 2, 2, 3, 3])
    silent = rdma(congestion_control={"kind": "line-rate"}, max_inflight_bytes=1024)
    assert taken(one_message(silent, 8, rounds=1), engine) == expected([0] * 8)


@engines
def test_a_timeout_changes_the_path_at_once(engine: Engine) -> None:
    """The first packet is lost once, on its way to the spine of path 0."""
    silent = rdma(congestion_control={"kind": "line-rate"}, max_inflight_bytes=1024)
    plan = one_message(silent, 8, rounds=9)
    script = {"flow": 0, "segments": [1, 1], "transmission": 1}
    links = lossy(plan.links, 2)
    plan = Plan(plan.settings | {"loss": loss(script)}, links, plan.flows)
    assert taken(plan, engine) == expected([0] + [1] * 8)


def test_random_plans_change_their_paths() -> None:
    """With the hash of the flow alone most of them have another result."""
    seeds = range(40)
    plans = [among_spines(seed) for seed in seeds]
    kept = [plan._replace(settings=plan.settings | {"choice": "flow-hash"}) for plan in plans]
    pairs = zip(plans, kept, strict=True)
    changed = sum(bool(differences(core(one), core(other))) for one, other in pairs)
    assert changed > 15


@in_blocks("seed", range(200))
def test_the_core_equals_the_twin(seed: int) -> None:
    plan = among_spines(seed)
    check_conservation(plan, check_equal(plan))


@pytest.mark.parametrize("choice", [adaptive(1.5), adaptive(rounds=0), adaptive(idle_rounds=0)])
def test_a_plan_whose_paths_never_or_always_change_is_refused(choice: dict[str, Any]) -> None:
    plan = one_message(ONE_BY_ONE, 1)
    plan.settings["choice"] = choice
    with pytest.raises(ValueError, match="an adaptive choice needs"):
        core(plan)
