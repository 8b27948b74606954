"""Synchronisation of connections: by hand, by theory, and against traces."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from compare import differences
from plans import (
    ENGINES,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    all_optical,
    burst,
    core,
    electronic,
    flow_table,
    loss,
    lossy,
    multi_queue,
    path_edges,
    settings,
    table,
    tcp,
)
from random_plans import KINDS, random_plan
from twin import Columns

from lightburst.measurement.synchronisation import metrics_of

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
M = 1500
TX = 1_200_000  # 1,500 bytes at 10 Gb/s, in ps
CONTROL = 51_200  # 64 bytes
DELAY = 50 * MICROSECOND
BIN = 100 * MICROSECOND
# A segment or a control packet passes one switch by its head, and its acknowledgement comes back.
FIRST = 4 * DELAY + 3 * CONTROL
ROUND_TRIP = 4 * DELAY + TX + CONTROL


def bins(length: int, begin: int = 0, until: int = 2**63, *, series: bool = True) -> dict[str, Any]:
    return {"bin_ps": length, "from_ps": begin, "until_ps": until, "series": series}


def one(segments: int, begin: int = 0, drops: dict[str, Any] | None = None, **changes: Any) -> Plan:
    """One flow of full segments over two links of 50 us, in nine bins of 100 us."""
    edges, hosts, nodes = path_edges(2)
    transport = tcp(acknowledge_every=1, **changes)
    links = table(edges, hosts, delays=DELAY)
    chosen: dict[str, Any] = {"synchronisation": bins(BIN, begin, 9 * BIN)}
    if drops is not None:
        chosen["loss"] = loss(drops)
        links["lossy"] = (links["from"] == 0).astype(np.uint8)
    given = settings(hosts, nodes, all_optical(), transport, **chosen)
    return Plan(given, links, flow_table((0, 1, 0, segments * M)))


@engines
def test_a_flow_in_slow_start(engine: Engine) -> None:
    """1, 2 and 4 segments, a round trip of 201 us apart, from 200 us on; each arrives in 101 us."""
    assert FIRST == 200_153_600
    assert ROUND_TRIP == 201_251_200
    found = engine(one(7, initial_window_bytes=M))
    seen = found["synchronisation_bins"]
    assert seen["time_ps"].tolist() == [BIN * k for k in range(1, 10)]
    # Established at 200.1 us, and all is acknowledged at 807.5 us.
    assert seen["connections"].tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 0]
    assert seen["window"].tolist() == [0, 0, 1000, 1000, 2000, 2000, 4000, 4000, 0]
    assert seen["bytes"].tolist() == [0, 0, 0, M, 0, 2 * M, 0, 4 * M, 0]
    assert seen["reductions"].tolist() == 9 * [0]
    assert found["synchronisation"] == {
        "bins": 9,
        "connections": 6,
        "reductions": 0,
        "pairs": 0,
        "pairs_one": 0,
        "pairs_both": 0,
        "window_sum": 14_000,
        "window_squares": 42 * 10**6,
        "window_own_squares": 42 * 10**6,
        "window_squared_sums": 14_000**2,
        "bytes_sum": 7 * M,
        "bytes_squares": 21 * M * M,
        "bytes_own_squares": 21 * M * M,
        "bytes_squared_sums": 49 * M * M,
    }


@engines
def test_the_first_bins_do_not_count(engine: Engine) -> None:
    """From 350 us on: the bin in progress then does not count; bytes from before are not new."""
    found = engine(one(7, 350 * MICROSECOND, initial_window_bytes=M))
    seen = found["synchronisation_bins"]
    assert seen["time_ps"].tolist() == [BIN * k for k in range(5, 10)]
    assert seen["bytes"].tolist() == [0, 2 * M, 0, 4 * M, 0]
    assert found["synchronisation"]["bytes_squared_sums"] == 36 * M * M


@engines
def test_a_bin_counts_that_ends_with_the_run(engine: Engine) -> None:
    """The last instant belongs to the bin; a run that ends 1 ps earlier does not have the bin."""
    plan = one(7, initial_window_bytes=M)
    for limit, number in ((6 * BIN, 6), (6 * BIN - 1, 5)):
        found = engine(plan._replace(settings={**plan.settings, "time_limit_ps": limit}))
        assert found["synchronisation"]["bins"] == number
        assert found["synchronisation"]["bytes_sum"] == (3 * M if number == 6 else M)


@engines
def test_a_fast_retransmission(engine: Engine) -> None:
    """The third of ten segments is lost, and the sixth brings the third duplicate.

    The first two let four more go, so that 12 are outstanding then, and the window is halved.
    """
    lost = {"segments": [3, 3], "transmission": 1}
    found = engine(one(40, drops=lost, initial_window_bytes=10 * M, min_timeout_ps=SECOND))
    seen = found["synchronisation_bins"]
    reduced = FIRST + ROUND_TRIP + 5 * TX
    assert reduced // BIN == 4
    assert seen["reductions"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    # Two acknowledgements have opened the window to 12 by then; the recovery ends at 608.6 us.
    assert seen["window"][:6].tolist() == [0, 0, 10_000, 10_000, 6_000, 6_000]
    # All but the lost one of the first ten have arrived at 313 us, in order or not.
    assert seen["bytes"][:4].tolist() == [0, 0, 0, 9 * M]


def together(flows: int, p: float, seed: int, length: int) -> Plan:
    """Flows between hosts of two edges, which all start at once, over one fibre with losses."""
    hosts, ingress, egress = 2 * flows, 2 * flows, 2 * flows + 1
    edges = [(host, ingress if host < flows else egress) for host in range(hosts)]
    links = lossy(table([*edges, (ingress, egress)], hosts, delays=DELAY), hosts)
    rows = [(host, flows + host, 0, 2000 * M) for host in range(flows)]
    given = settings(
        *(hosts, hosts + 2, burst("timer", time=100 * MICROSECOND)),
        tcp(min_timeout_ps=MILLISECOND, advertised_window_bytes=40 * M),
        loss=loss(p=p, of_acknowledgements=p / 4),
        seed=seed,
        time_limit_ps=100 * MILLISECOND,
        synchronisation=bins(length, series=False),
    )
    return Plan(given, links, flow_table(*rows))


@engines
def test_flows_that_share_every_burst_have_the_root_of_their_number(engine: Engine) -> None:
    """All have the same state at every instant: exactly, for any losses."""
    flows = 3
    found = engine(together(flows, 0.05, 3, MILLISECOND))["synchronisation"]
    assert found["pairs_both"] == found["pairs_one"] > 0
    assert found["connections"] % flows == found["window_sum"] % flows == 0
    for name in ("window", "bytes"):
        assert found[f"{name}_squares"] == flows * found[f"{name}_own_squares"] > 0
        assert found[f"{name}_sum"] ** 2 == flows * found[f"{name}_squared_sums"]
    seen = metrics_of({"synchronisation": found}, MILLISECOND)
    assert seen["aggregate_window_std_ratio"] == pytest.approx(sqrt(flows), abs=1e-12)
    assert seen["aggregate_throughput_std_ratio"] == pytest.approx(sqrt(flows), abs=1e-12)
    assert seen["window_reduction_correlation"] == 1.0


def apart(rows: list[tuple[int, int, int]], ways: int, p: float, seed: int) -> Plan:
    """Flows (path, start, segments) over separate paths, with random losses only.

    Round trips take 10 ms and, by path, a little more: flows of one round trip keep their phases.
    """
    hosts = 2 * ways
    middle = hosts + ways
    edges = [(host, hosts + host) if host < ways else (host, middle) for host in range(hosts)]
    edges += [(hosts + way, middle) for way in range(ways)]
    delays = [(5000 + 73 * (host % ways)) * MICROSECOND // 3 for host, _ in edges]
    links = table(edges, hosts, delays=delays)
    links["lossy"] = ((links["from"] >= hosts) & (links["to"] == middle)).astype(np.uint8)
    flows = flow_table(*((way, ways + way, start, size * M) for way, start, size in rows))
    given = settings(
        *(hosts, middle + 1, electronic(), tcp(min_timeout_ps=200 * MILLISECOND)),
        loss=loss(p=p),
        seed=seed,
        time_limit_ps=40 * SECOND,
        synchronisation=bins(13 * MILLISECOND, 2 * SECOND, 40 * SECOND, series=False),
    )
    return Plan(given, links, flows)


def mean_ratios(plans: list[Plan]) -> tuple[float, float, float]:
    """Over several runs: the ratios of windows and of throughput, the correlation of reductions."""
    seen = [metrics_of(core(plan), 13 * MILLISECOND) for plan in plans]
    names = (
        *("aggregate_window_std_ratio", "aggregate_throughput_std_ratio"),
        "window_reduction_correlation",
    )
    window, throughput, correlation = (np.mean([one[name] for one in seen]) for name in names)
    return float(window), float(throughput), float(correlation)


def test_flows_that_share_nothing_vary_as_independent_ones() -> None:
    """Twelve that last: some 400 loss cycles each in 38 s, so that a ratio is known to 2 %."""
    rows = [(way, 0, 10**9) for way in range(12)]
    window, throughput, correlation = mean_ratios([apart(rows, 12, 0.01, s) for s in range(4)])
    assert window == pytest.approx(1, abs=0.05)
    assert throughput == pytest.approx(1, abs=0.05)
    assert correlation == pytest.approx(0, abs=0.01)


def test_flows_that_come_and_go_vary_as_independent_ones() -> None:
    """A Poisson process of flows that last a hundredth of the run: Campbell's theorem."""
    plans = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        starts = np.sort(random.integers(0, 40 * SECOND, 2000)).tolist()
        sizes = random.integers(50, 400, 2000).tolist()
        rows = [(i % 40, starts[i], sizes[i]) for i in range(2000)]
        plans.append(apart(rows, 40, 0.01, seed))
    window, throughput, correlation = mean_ratios(plans)
    assert window == pytest.approx(1, abs=0.06)
    assert throughput == pytest.approx(1, abs=0.06)
    assert correlation == pytest.approx(0, abs=0.01)


def test_looking_changes_nothing() -> None:
    seen = 0
    for seed in range(200):
        plan = random_plan(seed, KINDS[seed % 4])
        own = plan.settings.get("synchronisation")
        if own is None:
            continue
        found = core(plan)
        bare = core(plan._replace(settings={**plan.settings, "synchronisation": None}))
        sums = found.pop("synchronisation")
        series = found.pop("synchronisation_bins", None)
        assert differences(bare, found) == []
        seen += sums["bins"]
        if series is not None:
            assert series["time_ps"].size == sums["bins"]
            names = ("connections", "reductions", "window_sum", "bytes_sum")
            for name in names:
                column = series[name.removesuffix("_sum")]
                assert int(column.sum(dtype=np.uint64)) == sums[name]
    assert seen > 500


def one_segment_each(allocation: str, queues: int, seed: int) -> Plan:
    """Twelve flows of one edge; each has one segment in each cycle of 10 ms, and times out alone.

    An acknowledgement comes back, and the next segment to the edge, in half a millisecond.
    """
    flows = 12
    hosts, ingress, egress = 2 * flows, 2 * flows, 2 * flows + 1
    edges = [(host, ingress if host < flows else egress) for host in range(hosts)]
    links = lossy(table([*edges, (ingress, egress)], hosts, delays=DELAY), hosts)
    switch = multi_queue(10 * MILLISECOND, allocation, queues)
    switch["assemble_acknowledgements"] = False
    transport = tcp(advertised_window_bytes=M, acknowledge_every=1, min_timeout_ps=30 * MILLISECOND)
    given = settings(
        *(hosts, hosts + 2, switch, transport),
        loss=loss(p=0.01),
        seed=seed,
        time_limit_ps=100 * SECOND,
        synchronisation=bins(10 * MILLISECOND, SECOND),
    )
    rows = [(host, flows + host, 0, 10**9 * M) for host in range(flows)]
    return Plan(given, links, flow_table(*rows))


@pytest.mark.parametrize(
    ("allocation", "queues", "shared"),
    [
        ("printed", 2, 1 / 2),
        ("printed", 4, 1 / 4),
        # No two flows of a block share a burst: a flow shares one with 12 / n flows of other
        # blocks.
        ("a-priori", 2, 5 / 11),
        ("a-priori", 4, 2 / 11),
        ("a-priori", 1, 1.0),
    ],
)
def test_with_several_queues_a_part_of_the_losses_is_shared(
    allocation: str, queues: int, shared: float
) -> None:
    """The share of common bursts of two flows is the correlation of their losses.

    So the number of flows that lose in a cycle has a standard deviation that, against one queue, is
    sqrt(1 / N + (1 - 1 / N) c), for `printed` with c = 1 / n.
    """
    seen = [core(one_segment_each(allocation, queues, seed)) for seed in range(3)]
    metrics = [metrics_of(one, 10 * MILLISECOND) for one in seen]
    correlations = [one["window_reduction_correlation"] for one in metrics]
    assert np.mean(np.array(correlations, float)) == pytest.approx(shared, abs=0.03)
    lost = np.concatenate([one["synchronisation_bins"]["reductions"] for one in seen])
    p = lost.mean() / 12
    found = lost.std() / (12 * sqrt(p * (1 - p)))
    assert found == pytest.approx(sqrt(1 / 12 + (1 - 1 / 12) * shared), rel=0.03)
