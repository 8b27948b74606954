"""Queues with a line for each class against theory: waits of strict priorities (Cobham 1954), and
the fairness of deficit round robin (Shreedhar and Varghese 1995).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from plans import (
    Plan,
    core,
    datagram,
    electronic,
    flow_columns,
    one_datagram_each,
    settings,
    star_edges,
    table,
)
from test_theory import DELAY, INPUTS, REPLICATIONS, SERVICE, SIZE, check, poisson_times


def apart(
    queue: dict[str, Any], inputs: int, columns: tuple[npt.ArrayLike, ...], groups: npt.NDArray[Any]
) -> Plan:
    """Datagrams from many inputs to one output; columns of source, start and bytes."""
    source, start, sizes = columns
    edges, hosts, nodes = star_edges(inputs + 1)
    flows = flow_columns(source, np.full(len(groups), inputs), start, sizes)
    flows["group"] = groups.astype(np.uint16)
    own = [{**datagram(SIZE), "control_bytes": 1} for _ in range(int(groups.max()) + 1)]
    return Plan(
        settings(hosts, nodes, electronic(None, None, queue), own),
        table(edges, hosts, delays=DELAY),
        one_datagram_each(flows),
    )


@pytest.mark.parametrize("last_size", [SIZE, SIZE // 5])
def test_waits_by_strict_priority_are_cobhams(last_size: int) -> None:
    """W_k = W_0 / ((1 - s_(k-1)) (1 - s_k)), s_k the load of the bands up to k, W_0 the mean rest
    of the service that an arrival finds.
    """
    rates = np.array([0.2, 0.3, 0.2 * SIZE / last_size])
    services = np.array([1.0, 1.0, last_size / SIZE])
    # The order of the groups is not that of the bands.
    bands = [1, 0, 2]

    def waits(replication: int) -> list[float]:
        draw = np.random.default_rng([replication, last_size])
        times = [poisson_times(rate, draw) for rate in rates]
        band = np.concatenate([np.full(len(own), k) for k, own in enumerate(times)])
        start = np.concatenate(times)
        order = np.argsort(start, kind="stable")
        band, start = band[order], start[order]
        size = (services * SIZE).astype(np.int64)[band]
        columns = draw.integers(0, INPUTS, len(start)), start, size
        queue = {"kind": "prio", "bands": bands, "buffer": "own"}
        result = core(apart(queue, INPUTS, columns, np.argsort(bands)[band]))
        took = (result["flows"]["acknowledged_ps"] - start.astype(np.uint64)).astype(float)
        alone = 2 * (DELAY / SERVICE + services[band])
        return [float((took / SERVICE - alone)[band == k].mean()) for k in range(3)]

    measured = np.array([waits(replication) for replication in range(REPLICATIONS)])
    loads = np.cumsum(rates * services)
    rest = float((rates * services**2).sum()) / 2
    before = 1.0
    for k, load in enumerate(loads):
        theory = rest / (before * (1 - load))
        before = 1 - load
        # As in `test_completion_times_are_waits_of_md1`: the wait on the interface.
        check(list(measured[:, k]), theory, float(loads[-1]) / INPUTS, within=0.06)


@pytest.mark.parametrize("quanta", [[SIZE, SIZE], [2 * SIZE, SIZE], [600, 1_800]])
def test_shares_of_deficit_round_robin_are_the_quanta(quanta: list[int]) -> None:
    """While two lines have units, what they sent differs by at most Q + 2 Max after division by
    their shares f_i = Q_i / Q; Q is the least quantum, Max the largest unit.
    """
    sizes = [SIZE, SIZE // 5]
    count = [2_000, 10_000]
    # Each host sends without pause at the rate of the output.
    start = np.concatenate([np.zeros(n, np.int64) for n in count])
    group = np.repeat([0, 1], count)
    queue = {"kind": "drr", "quanta_bytes": quanta, "buffer": "own"}
    columns = group, start, np.array(sizes)[group]
    done = core(apart(queue, 2, columns, group))["flows"]["acknowledged_ps"]
    least = min(quanta)
    # Until the first host has sent its last unit both lines have some.
    for until in np.linspace(10, 1_900, 50) * SERVICE:
        sent = [sizes[k] * int(((done <= until) & (group == k)).sum()) for k in (0, 1)]
        first, second = (own * least / quantum for own, quantum in zip(sent, quanta, strict=True))
        assert abs(first - second) <= least + 2 * SIZE, (until, sent)
    assert sum(sent) > 1_800 * SIZE
