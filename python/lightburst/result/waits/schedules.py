"""A GOAL schedule in a run: the time of each rank, its critical path, and why it stalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.counts import PS, UNFINISHED, Columns, Metric
from lightburst.result.waits.operations import MESSAGE, NOTHING, Operations
from lightburst.workload.goal import CALC, RECV, SEND, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from lightburst.compile import Plan
    from lightburst.foundation.files.dataframes import Table

# Operations of a chain of waits that a warning names, at its begin and at its end.
_FIRST, _LAST = 3, 2
_NEVER: Final = int(UNFINISHED)
# What one waits for that others have taken.
NO_MESSAGE: Final = "a message that fits, of which none has arrived that others did not take"
NO_RECEIVE: Final = "a receive that takes its message"


def metrics(plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Return the time of the whole schedule, infinite if it did not end, and the mean of ranks."""
    if "operation_rank" not in plan.flows:
        return {}
    time = _times(Operations(plan, columns), plan.flows["host_of_rank"].size)
    return {"schedule_time_s": float(time.max()), "rank_time_mean_s": float(time.mean())}


def _times(operations: Operations, ranks: int) -> NDArray[np.float64]:
    """Return the end of the last operation of each rank in seconds; 0 for one without any."""
    end = np.zeros(ranks, np.uint64)
    np.maximum.at(end, operations.rank, operations.ended)
    seconds = end.astype(np.float64) * PS
    seconds[end == UNFINISHED] = np.inf
    return seconds


def table(plan: Plan, columns: Columns) -> pd.DataFrame:
    """Return `lightburst.Result.ranks`."""
    import pandas as pd

    operations, hosts = Operations(plan, columns), plan.flows["host_of_rank"]
    network = plan.network
    assert network is not None
    rank, kind, over = operations.rank, operations.kind, operations.ended != UNFINISHED

    def total(values: NDArray[Any], of: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.bincount(rank[of], values[of].astype(float), hosts.size).astype(np.float64)

    def count(of: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(rank[of], minlength=hosts.size)

    return pd.DataFrame(
        {
            "rank": np.arange(hosts.size),
            "host": network.named(hosts),
            "operations": count(rank >= 0),
            "ended": count(over),
            "time_s": _times(operations, hosts.size),
            "calc_s": total(operations.busy, over & (kind == CALC)) * PS,
            "overhead_s": total(operations.busy, over & (kind != CALC)) * PS,
            "sent_bytes": total(operations.value, kind == SEND).astype(np.int64),
            "received_bytes": total(operations.value, over & (kind == RECV)).astype(np.int64),
        }
    )


def path(plan: Plan, columns: Columns, flows: Table) -> pd.DataFrame:
    """Return the rows of `lightburst.Result.critical_path`, for a schedule."""
    import pandas as pd

    operations = Operations(plan, columns)
    rows = list(_backwards(operations, _messages(flows)))[::-1]
    network = plan.network
    assert network is not None
    names = ("what", "rank", "line", "start_s", "end_s", "waited_for", "flow", "excess_s")
    found = pd.DataFrame(rows, columns=list(names))
    hosts = plan.flows["host_of_rank"][found["rank"].to_numpy(np.int64)]
    found.insert(2, "host", network.named(hosts))
    return found


def _messages(flows: Table) -> NDArray[np.float64]:
    """Return start, arrival, and time beyond the ideal of all messages, shape (3, flows)."""
    start, received, time, ideal = (
        np.asarray(flows[name], np.float64)
        for name in ("start_s", "received_s", "completion_time_s", "ideal_s")
    )
    return np.stack([start, received, time - ideal])


def _backwards(operations: Operations, messages: NDArray[np.float64]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the critical path, the last one first."""
    over = np.flatnonzero(operations.ended != UNFINISHED)
    if not over.size:
        return
    join = int(over[np.argmax(operations.ended[over])])
    while True:
        cause = operations.last_cause(join)
        at = operations.operation_of(join)
        kind = WORDS[int(operations.kind[at])]
        flow = operations.flow_of(at)
        rank, line = int(operations.rank[at]), int(operations.line[at])
        times = (time * PS for time in operations.times_of(join))
        yield kind, rank, line, *times, cause.why, flow, 0.0
        if cause.why == NOTHING:
            return
        join = cause.number
        if cause.why == MESSAGE:
            # That of another operation, where a send by rendezvous was over.
            flow = cause.number
            join = operations.sender_of(flow)
            start, arrival, excess = map(float, messages[:, flow])
            rank, line = int(operations.rank[join]), int(operations.line[join])
            yield MESSAGE, rank, line, start, arrival, WORDS[SEND], flow, excess


def stalled(plan: Plan, columns: Columns) -> str | None:
    """Return who waits for whom, if a schedule did not end."""
    if "operation_rank" not in plan.flows:
        return None
    operations = Operations(plan, columns)
    if operations.all_ended:
        return None
    waiting = np.flatnonzero(operations.ended == UNFINISHED)
    at = int(waiting[np.argmin(operations.rank[waiting])])
    chain = []
    while True:
        chain.append(f"{_place(operations, at)}")
        begun = operations.begun[at] != UNFINISHED
        causes = operations.causes_of_end(at) if begun else operations.causes(at)
        missing = next((one for one in causes if one.time == _NEVER), None)
        if missing is None:
            chain.append("its own work")
            break
        if missing.number < 0:
            chain.append(NO_MESSAGE if missing.why == MESSAGE else NO_RECEIVE)
            break
        if missing.why != MESSAGE:
            at = operations.operation_of(missing.number)
            continue
        flow = missing.number
        at = operations.sender_of(flow)
        if columns["flows"]["started_ps"][flow] != UNFINISHED:
            arrived, size = columns["flows"]["delivered_bytes"][flow], plan.flows["bytes"][flow]
            sent = f"flow {flow} of {_place(operations, at)}"
            chain.append(f"{sent}, of which {arrived:,} of {size:,} bytes have arrived")
            break
    if len(chain) > _FIRST + _LAST + 1:
        between = len(chain) - _FIRST - _LAST
        chain[_FIRST:-_LAST] = [f"{between:,} more"]
    ranks = np.unique(operations.rank[waiting]).size
    waits = ", which waits for ".join(chain[1:])
    return (
        f"the schedule did not end: {waiting.size:,} operations of {ranks:,} ranks have not, and "
        f"{chain[0]} waits for {waits}"
    )


def _place(operations: Operations, at: int) -> str:
    kind, line = WORDS[int(operations.kind[at])], int(operations.line[at])
    return f"rank {operations.rank[at]} at line {line} ({kind})"
