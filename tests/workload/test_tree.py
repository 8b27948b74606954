"""Broadcasts and all-reduces along trees: the data that each rank ends with, and when."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.collective import TREES, Collective
from lightburst.workload.tree import children

TRANSPORT = {
    "kind": "tcp",
    "handshake": False,
    "segment_size": "9 kB",
    "initial_window": 100_000,
    "advertised_window": 100_000,
}


def run(**workload: Any) -> lb.Result:
    """Run an operation among hosts of one switch, sixteen of them."""
    links = [{"source": f"h{host:02}", "target": "s"} for host in range(16)]
    table = {
        "topology": {"kind": "graph", "link_rate": "100 Gb/s", "links": links},
        "switching": {"kind": "electronic"},
        "transport": TRANSPORT,
        "workload": {"kind": "collective", "operation": "all-reduce", "size": "1 MB", **workload},
    }
    return lb.run(lb.Scenario.from_dict(table))


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16])
def test_each_rank_but_the_root_has_one_parent(algorithm: str, ranks: int) -> None:
    found = children(algorithm, ranks)
    assert Counter(one for own in found for one in own) == dict.fromkeys(range(1, ranks), 1)
    depth = {0: 0}
    for rank, own in enumerate(found):
        depth |= dict.fromkeys(own, depth[rank] + 1)
    # Floor(log2 n) for the binary tree; the most bits of a rank that are set for the other.
    most = max(rank.bit_count() for rank in range(ranks))
    assert max(depth.values()) == (ranks.bit_length() - 1 if algorithm == "binary" else most)


def test_the_binomial_tree_of_eight() -> None:
    assert children("binomial", 8) == [[4, 2, 1], [], [3], [], [6, 5], [], [7], []]
    assert children("binary", 6) == [[1, 2], [3, 4], [5], [], [], []]


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("operation", ["all-reduce", "broadcast"])
@pytest.mark.parametrize(("ranks", "chunks"), [(2, 3), (7, 1), (8, 4), (13, 5)])
def test_each_rank_ends_with_its_data(
    algorithm: str, operation: str, ranks: int, chunks: int
) -> None:
    """By the times of a run: a message has what its sender has when it starts."""
    result = run(operation=operation, algorithm=algorithm, ranks=ranks, chunks=chunks, groups=1)
    flows, times = result.plan.flows, result.columns["flows"]
    everyone = frozenset(range(ranks))
    has = {(rank, part): {rank} for rank in everyone for part in range(chunks)}
    # Each pair has its chunks in order.
    part_of: Counter[tuple[int, int]] = Counter()
    events = []
    for flow in range(flows["source"].size):
        pair = int(flows["source"][flow]), int(flows["destination"][flow])
        part, part_of[pair] = part_of[pair], part_of[pair] + 1
        events.append((int(times["started_ps"][flow]), 1, flow, pair, part))
        events.append((int(times["received_ps"][flow]), 0, flow, pair, part))
    sent: dict[int, frozenset[int]] = {}
    for _, starts, flow, (source, destination), part in sorted(events):
        if starts:
            sent[flow] = frozenset(has[source, part])
        elif operation == "broadcast":
            has[destination, part] = set(sent[flow])
        else:
            assert sent[flow] == everyone or not sent[flow] & has[destination, part]
            has[destination, part] |= sent[flow]
    wanted = everyone if operation == "all-reduce" else {0}
    assert list(has.values()) == [wanted] * (ranks * chunks)
    ways = 2 if operation == "all-reduce" else 1
    assert int(flows["bytes"].sum()) == ways * (ranks - 1) * 1_000_000
    assert set(part_of.values()) == {chunks}


def test_groups_and_steps_follow_one_another() -> None:
    keys = {"operation": "all-reduce", "algorithm": "binomial", "ranks": 4, "steps": 3}
    result = run(**keys, chunks=2, computation="30 us", placement="strided")
    made = Collective(**keys, chunks=2, size="1 MB")
    assert result.metrics["flows"] == made.count(16) == 4 * 3 * 2 * 2 * 3
    table = result.collectives
    assert table[["group", "step"]].to_numpy().tolist() == [
        [group, step] for step in range(3) for group in range(4)
    ]
    assert result.metrics["finished"] == result.metrics["flows"]
    starts = table.groupby("group")["start_s"].diff().dropna().to_numpy()
    ends = table.groupby("group")["end_s"].shift().dropna().to_numpy()
    assert (table["start_s"].to_numpy()[4:] >= 30e-6).all()
    assert (starts >= 30e-6).all()
    # A rank that is ready early begins its next step before the last one has ended this one.
    assert (table["start_s"].to_numpy()[4:] < ends + 30e-6 + 1e-9).all()
    share = table["bus_bandwidth_bps"] / table["algorithm_bandwidth_bps"]
    assert np.allclose(share, 2 * 3 / 4)
    path = result.critical_path(1)
    assert path["start_s"].to_numpy()[1:] == pytest.approx(
        path["received_s"].to_numpy()[:-1], abs=3e-12
    )


def test_a_broadcast_is_timed_from_its_first_message() -> None:
    result = run(operation="broadcast", ranks=8, groups=2)
    table, flows = result.collectives, result.flows
    which = result.plan.flows["collective"]
    for group in (0, 1):
        own = flows[which == group]
        ends = own.groupby("destination")["received_s"].max()
        # The root ends with the last one; all begin at 0.
        expected = (ends.sum() + ends.max()) / 8
        assert table["time_s"][group] == pytest.approx(expected, rel=1e-12)
        assert table["time_max_s"][group] == ends.max()
    assert np.allclose(table["bus_bandwidth_bps"], table["algorithm_bandwidth_bps"])


def test_chunks_shorten_a_broadcast() -> None:
    """Whole, the buffer is at rank 2 after two sizes and at rank 6, its second child, after four.

    In chunks two sizes leave the root, and the last chunk is a few chunks on its way.
    """
    keys = {"operation": "broadcast", "algorithm": "binary", "ranks": 8, "groups": 1}
    times = [
        run(**keys, chunks=chunks, size="8 MB").collectives["time_max_s"][0] for chunks in (1, 32)
    ]
    whole = 8e6 * 8 / 100e9
    assert 4 * whole < times[0] < 4.1 * whole
    assert 2 * whole < times[1] < 2.2 * whole


@pytest.mark.parametrize(
    ("keys", "path", "given"),
    [
        ({"chunks": 4}, "workload.chunks", "4 for 'ring'"),
        ({"operation": "broadcast", "steps": 2}, "workload.steps", "2 for 'broadcast'"),
        ({"operation": "broadcast", "algorithm": "ring"}, "workload.algorithm", "'ring' for"),
        ({"algorithm": "binary", "chunks": 9, "size": "8 B", "ranks": 2}, "workload.size", "8 B"),
    ],
)
def test_refusals(keys: dict[str, Any], path: str, given: str) -> None:
    with pytest.raises(InputError) as refused:
        run(**keys)
    (error,) = refused.value.errors
    assert error.path == path
    assert error.given.startswith(given)
