"""Messages of collective operations: the data that each rank ends with, and what waits for what."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.collective import ALGORITHMS, TREES, Collective
from lightburst.workload.collective import _rounds, make_messages
from lightburst.workload.flows import NO_JOIN, Flows

CASES = [
    (operation, algorithm, ranks)
    for operation, algorithms in ALGORITHMS.items()
    for algorithm in algorithms
    if algorithm not in TREES
    for ranks in (2, 3, 4, 7, 8, 16)
    if algorithm != "halving-doubling" or ranks & (ranks - 1) == 0
]


def made(hosts: int, **keys: Any) -> Flows:
    return make_messages(Collective(**keys), hosts, np.random.default_rng(1))


@pytest.mark.parametrize(("operation", "algorithm", "ranks"), CASES)
def test_each_rank_ends_with_its_data(operation: str, algorithm: str, ranks: int) -> None:
    """Each part of a buffer is the set of ranks whose data is in it; a sum is their union.

    In a round all ranks send what they have at its begin, so that data that is not there yet shows.
    """
    everyone = frozenset(range(ranks))
    if operation == "all-to-all":
        ends = {
            (int(a), int(b))
            for one in _rounds(operation, algorithm, ranks)
            for a, b, part in zip(one.source, one.destination, one.first, strict=True)
            if part == b
        }
        assert ends == {(a, b) for a in everyone for b in everyone if a != b}
        return
    gathers = operation == "all-gather"
    has = [
        {part: frozenset({rank}) for part in everyone if not gathers or part == rank}
        for rank in range(ranks)
    ]
    for one in _rounds(operation, algorithm, ranks):
        sent = [
            (int(to), int(part), has[int(of)][int(part)])
            for of, to, first, number in zip(*one, strict=True)
            for part in range(int(first), int(first + number))
        ]
        for to, part, data in sent:
            # What is complete replaces; otherwise nothing is added twice.
            old = has[to].get(part, frozenset())
            assert data == everyone or gathers or not data & old
            has[to][part] = data if data == everyone else data | old
    if gathers:
        assert has == [{part: frozenset({part}) for part in everyone}] * ranks
    elif operation == "all-reduce":
        assert has == [dict.fromkeys(everyone, everyone)] * ranks
    else:
        assert [has[rank][rank] for rank in range(ranks)] == [everyone] * ranks


@pytest.mark.parametrize(("operation", "algorithm", "ranks"), CASES)
def test_each_rank_sends_the_least_bytes(operation: str, algorithm: str, ranks: int) -> None:
    """(n - 1) / n of the buffer, twice for an all-reduce; to a byte for each message."""
    flows = made(ranks, operation=operation, algorithm=algorithm, size="100003 B")
    sent = np.bincount(flows.source, flows.size_bytes.astype(float), ranks)
    least = (2 if operation == "all-reduce" else 1) * 100_003 * (ranks - 1) / ranks
    assert np.abs(sent - least).max() <= 2 * ranks
    assert sent.sum() == least * ranks
    assert flows.size_bytes.min() > 0


@pytest.mark.parametrize("placement", ["consecutive", "strided", "random"])
def test_a_message_waits_for_the_messages_to_its_rank_in_the_round_before(placement: str) -> None:
    keys = {"operation": "all-reduce", "size": "8 kB", "ranks": 4, "steps": 2}
    flows = made(13, **keys, computation="3 us", placement=placement)
    joins = flows.joins
    assert joins is not None
    assert len(flows) == 3 * 4 * 2 * 6 == Collective(**keys).count(13)
    ends, starts = defaultdict(list), defaultdict(list)
    for flow in range(len(flows)):
        ends[int(joins.towards[flow])].append(flow)
        starts[int(joins.after[flow])].append(flow)
    # Those of the first round wait for nothing, and nothing waits for those of the last one.
    assert len(starts.pop(int(NO_JOIN))) == len(ends.pop(int(NO_JOIN))) == 12
    assert set(starts) == set(ends) == set(range(joins.delay_ps.size))
    for join, before in ends.items():
        (one,), (other,) = before, starts[join]
        assert flows.destination[one] == flows.source[other]
        step = flows.told["collective"][other] // 3 - flows.told["collective"][one] // 3
        assert joins.delay_ps[join] == (3_000_000 if step else 0)
    groups = {
        frozenset(flows.source[flows.told["collective"] % 3 == group].tolist())
        for group in range(3)
    }
    assert sum(map(len, groups)) == 12
    if placement == "consecutive":
        assert groups == {frozenset(range(k, k + 4)) for k in (0, 4, 8)}
    if placement == "strided":
        assert groups == {frozenset(range(k, 12, 3)) for k in range(3)}


FLUID = {
    "kind": "tcp",
    "handshake": False,
    "segment_size": "9 kB",
    "initial_window": 100_000,
    "advertised_window": 100_000,
}


def scenario(**workload: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4, "link_rate": "100 Gb/s"},
            "switching": {"kind": "electronic"},
            "transport": FLUID,
            "workload": {
                "kind": "collective",
                "operation": "all-reduce",
                "size": "8 MB",
                **workload,
            },
        }
    )


def test_the_table_of_operations_follows_from_the_messages() -> None:
    """Two groups of eight ranks; time, bandwidths by NCCL's definitions, and the last host."""
    result = lb.run(scenario(ranks=8, steps=3, computation="1 ms"))
    table, flows = result.collectives, result.flows
    assert table[["group", "step"]].to_numpy().tolist() == [
        [g, s] for s in range(3) for g in (0, 1)
    ]
    which = result.plan.flows["collective"]
    for row in table.itertuples():
        own = flows[which == row.Index]
        first, last = (
            own.groupby("source")["start_s"].min(),
            own.groupby("destination")["received_s"].max(),
        )
        assert len(first) == 8
        assert row.time_s == pytest.approx((last - first).mean(), rel=1e-12)
        assert row.time_max_s == pytest.approx((last - first).max(), rel=1e-12)
        assert row.start_s == own["start_s"].min()
        assert row.end_s == own["received_s"].max()
        assert row.last_host in set(own["destination"][own["received_s"] == row.end_s])
    assert np.allclose(table["algorithm_bandwidth_bps"], 64e6 / table["time_s"], rtol=1e-12)
    ratio = table["bus_bandwidth_bps"] / table["algorithm_bandwidth_bps"]
    assert np.allclose(ratio, 2 * 7 / 8, rtol=1e-12)
    assert result.metrics["collective_time_mean_s"] == pytest.approx(table["time_s"].mean())
    assert result.metrics["collective_time_max_s"] == table["time_max_s"].max()
    # A rank computes for a millisecond after its part in a step.
    step = table.groupby("step")
    assert (step["start_s"].min()[1:].to_numpy() >= step["end_s"].min()[:-1] + 0.9e-3).all()


def test_a_ring_is_within_a_percent_or_so_of_the_closed_form() -> None:
    """2 (n - 1) / n S / B + 2 (n - 1) alpha, alpha being a segment's way without its own time."""
    result = lb.run(scenario(ranks=8, groups=1, size="80 MB"))
    longest = 2 * 14 * 80e6 / 16 * 8 / 100e9
    (time,) = result.collectives["time_s"]
    assert longest < time < 1.02 * longest


def test_an_operation_that_does_not_end_takes_for_ever() -> None:
    with pytest.warns(lb.RunWarning, match="208 of 224 flows did not finish"):
        result = lb.run(scenario(ranks=8).with_(measurement__time_limit="100 us"))
    assert np.isinf(result.collectives["time_s"]).all()
    assert result.collectives["end_s"].isna().all()
    assert result.metrics["bus_bandwidth_bps"] == 0
    assert result.metrics["collective_time_mean_s"] == np.inf


@pytest.mark.parametrize(
    ("keys", "path", "given"),
    [
        ({"ranks": 6, "algorithm": "halving-doubling"}, "workload.ranks", "6 with"),
        ({"algorithm": "pairwise"}, "workload.algorithm", "'pairwise' for 'all-reduce'"),
        ({"ranks": 17}, "workload.ranks", "1 x 17 ranks"),
        ({"ranks": 8, "groups": 3}, "workload.ranks", "3 x 8 ranks"),
        ({"size": "7 B"}, "workload.size", "7 B"),
        ({"ranks": 1}, "workload.ranks", "1"),
    ],
)
def test_refusals(keys: dict[str, Any], path: str, given: str) -> None:
    with pytest.raises(InputError) as refused:
        lb.run(scenario(**keys))
    (error,) = refused.value.errors
    assert error.path == path
    assert error.given.startswith(given)


def test_refusals_beside_other_tables() -> None:
    datagrams = {"kind": "datagram", "rate": "1 Gb/s"}
    with pytest.raises(
        InputError, match=r"transport\.kind: given 'datagram' with messages that wait"
    ):
        lb.run(scenario().with_(transport=datagrams))
    with pytest.raises(InputError, match=r"measurement\.synchronisation"):
        lb.run(scenario().with_(measurement__synchronisation={}))
    group = {"workload": dict(scenario().to_dict()["workload"]), "transport": FLUID}
    table = scenario().to_dict()
    del table["workload"], table["transport"]
    with pytest.raises(InputError, match=r"groups\.a\.workload\.kind: given 'collective'"):
        lb.run(lb.Scenario.from_dict({**table, "groups": {"a": group, "b": group}}))
    with pytest.raises(InputError, match=r"workload\.kind: given 'poisson'; allowed: 'collective'"):
        _ = lb.run("examples/electronic.toml").collectives
