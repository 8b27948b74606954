"""Collective operations of a run: the time of each, and the bandwidths that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightburst.foundation.counts import PS, UNFINISHED, Columns, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.compile import Plan
    from lightburst.scenario.tables.collective import Collective


def metrics(found: Mapping[str, Any]) -> dict[str, Metric]:
    """Return the metrics of all operations, from the columns of their table.

    A mean over operations of which one did not end is infinite, and its bandwidth counts as 0.
    """
    return {
        "collective_time_mean_s": float(found["time_s"].mean()),
        "collective_time_max_s": float(found["time_max_s"].max()),
        "bus_bandwidth_bps": float(found["bus_bandwidth_bps"].mean()),
    }


def table(plan: Plan, columns: Columns, workload: Collective) -> dict[str, Any]:
    """Return the columns of `lightburst.Result.collectives`."""
    which = plan.flows["collective"].astype(np.int64)
    started, received = columns["flows"]["started_ps"], columns["flows"]["received_ps"]
    source, destination = plan.flows["source"], plan.flows["destination"]
    hosts = plan.settings["hosts"]
    groups, ranks = workload.shape(hosts)
    step = which // groups
    # By step and host, each of which is a rank of one group: its first message, the last one to it.
    begin = np.full(workload.steps * hosts, UNFINISHED)
    np.minimum.at(begin, step * hosts + source, started)
    end = np.zeros(workload.steps * hosts, np.uint64)
    np.maximum.at(end, step * hosts + destination, received)
    # The hosts of each group, shape (groups, ranks), and from there each array by operation.
    group = np.full(hosts, groups)
    group[source] = group[destination] = which % groups
    members = np.argsort(group, kind="stable")[: groups * ranks].reshape(groups, ranks)
    begin, end = (
        column.reshape(workload.steps, hosts)[:, members].reshape(-1, ranks)
        for column in (begin, end)
    )
    if workload.operation == "broadcast":
        # The root receives nothing, and leaves send nothing: the time of all begins with the first
        # message, and that of the root ends with the last one.
        begin = np.repeat(begin.min(axis=1, keepdims=True), ranks, axis=1)
        end = np.where(end == 0, end.max(axis=1, keepdims=True), end)
    lasted = np.where(end == UNFINISHED, np.inf, (end - begin) * PS)
    first, last = begin.min(axis=1), end.max(axis=1)
    time = lasted.mean(axis=1)
    algorithm = workload.size * 8 / time
    network = plan.network
    assert network is not None
    members = np.tile(members, (workload.steps, 1))
    latest = members[np.arange(last.size), end.argmax(axis=1)]
    return {
        "group": np.arange(last.size) % groups,
        "step": np.arange(last.size) // groups,
        "start_s": np.where(first == UNFINISHED, np.nan, first * PS),
        "end_s": np.where(last == UNFINISHED, np.nan, last * PS),
        "time_s": time,
        "time_max_s": lasted.max(axis=1),
        "algorithm_bandwidth_bps": algorithm,
        "bus_bandwidth_bps": algorithm * _share(workload, ranks),
        "last_host": network.named(latest),
    }


def _share(workload: Collective, ranks: int) -> float:
    """Return the bus bandwidth over the algorithm bandwidth, as NCCL's tests define both.

    The bus bandwidth is the rate at which every rank must send, by the least number of bytes that
    the operation needs (nccl-tests, doc/PERFORMANCE.md).
    """
    if workload.operation == "broadcast":
        return 1.0
    share = (ranks - 1) / ranks
    return 2 * share if workload.operation == "all-reduce" else share
