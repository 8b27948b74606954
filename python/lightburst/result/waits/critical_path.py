"""Critical path of a collective operation: the messages of which each waited for the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.foundation.counts import UNFINISHED, Columns
from lightburst.foundation.files.dataframes import frame, rows_of
from lightburst.workload.flows import NO_JOIN

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from lightburst.compile import Plan
    from lightburst.foundation.files.dataframes import Table

#: Columns of `lightburst.Result.flows` that a message of the path has, too.
_OF_THE_FLOW: Final = (
    "source", "destination", "size_bytes", "start_s", "received_s", "completion_time_s", "ideal_s",
    "slowdown", "retransmissions", "timeouts", "drops", "status",
)  # fmt: skip


class _Leads:
    """Numbers of the columns' rows that lead to each join."""

    def __init__(
        self, towards: NDArray[np.uint32], number: NDArray[np.int64] | None = None
    ) -> None:
        order = np.argsort(towards, kind="stable")
        self._joins = towards[order]
        self._rows = order if number is None else number[order]

    def to(self, join: int) -> NDArray[np.int64]:
        first, end = np.searchsorted(self._joins, [join, join + 1])
        return self._rows[first:end]


def _leading(offsets: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the join that leads, for each of the leads."""
    number = offsets[1:].astype(np.int64) - offsets[:-1]
    return np.repeat(np.arange(number.size) // 2, number)


def path(plan: Plan, columns: Columns, operation: int) -> list[int]:
    """Return the messages on the critical path of an operation.

    The path ends with the message that arrived last, or with the last one to start if some did not
    arrive. The message before each is the one whose arrival opened the join for which it waited.
    The path begins with a message that waited for none of its operation.

    Parameters
    ----------
    plan : Plan
        Plan of a run whose flows wait for others.
    columns : mapping of str to mapping
        Tables of the simulator.
    operation : int
        Number of the operation, as in the column ``collective`` of the plan.

    Returns
    -------
    list of int
        Numbers of flows, in the order of time. Each starts when the one before has arrived.
    """
    flows = plan.flows
    which, after, delay = flows["collective"], flows["after_join"], flows["join_delay_ps"]
    started, received = columns["flows"]["started_ps"], columns["flows"]["received_ps"]
    flows_to = _Leads(flows["towards_join"])
    joins_to = _Leads(flows["join_leads"], _leading(flows["join_lead_offsets"]))
    own = np.flatnonzero(which == operation)
    late = own[received[own] == UNFINISHED]
    begun = late[started[late] != UNFINISHED]
    if begun.size:
        at = int(begun[np.argmax(started[begun])])
    else:
        there = own[received[own] != UNFINISHED] if late.size else own
        if not there.size:
            return []
        at = int(there[np.argmax(received[there])])
    found = [at]
    while (join := int(after[at])) != NO_JOIN:
        opened = int(started[at]) - int(delay[join])
        opener = _opener(join, opened, received, flows_to, joins_to)
        if opener is None or which[opener] != operation:
            break
        at = opener
        found.append(at)
    return found[::-1]


def _opener(
    join: int, opened: int, received: NDArray[np.uint64], flows_to: _Leads, joins_to: _Leads
) -> int | None:
    """Return the flow whose arrival at ``opened`` opened a join, itself or through other joins."""
    to_search = [join]
    while to_search:
        join = to_search.pop()
        leads = flows_to.to(join)
        last = leads[received[leads] == opened]
        if last.size:
            return int(last[0])
        to_search.extend(int(one) for one in joins_to.to(join))
    return None


def table(plan: Plan, columns: Columns, flows: Table, operation: int) -> pd.DataFrame:
    """Return the rows of `lightburst.Result.critical_path`."""
    numbers = path(plan, columns, operation)
    found = frame(rows_of({name: flows[name] for name in _OF_THE_FLOW}, numbers))
    found.insert(0, "flow", numbers)
    excess = found["completion_time_s"] - found["ideal_s"]
    found.insert(list(found.columns).index("ideal_s") + 1, "excess_s", excess)
    return found
