"""Operations of a GOAL schedule in a run: when each began and ended, and what it waited for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lightburst.foundation.counts import UNFINISHED, Columns
from lightburst.workload.flows import NO_JOIN
from lightburst.workload.goal import RECV

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightburst.compile import Plan

    Numbers = NDArray[np.int64]

#: What an operation or a message waited for last.
NOTHING: Final = "nothing"
REQUIRES: Final = "requires"
IREQUIRES: Final = "irequires"
MESSAGE: Final = "message"
PROCESSOR: Final = "processor"
#: A send by rendezvous was over when this receive was posted.
RENDEZVOUS: Final = "rendezvous"
# Time in which the sender learns that its message was taken, in picoseconds.
_NOTICE_PS = 1


class Cause(NamedTuple):
    """What something waited for.

    Attributes
    ----------
    why : str
        `REQUIRES` and so on.
    number : int
        The operation, the join by which a receive is posted, or the flow of a message.
    time : int
        When it came, in picoseconds.
    """

    why: str
    number: int
    time: int


def takers(plan: Plan, columns: Columns) -> Numbers:
    """Return the join of the receive of each flow; -1 if none has taken it."""
    found = plan.flows["towards_join"].astype(np.int64)
    if "taken_join" in columns["flows"]:
        in_run = np.asarray(columns["flows"]["taken_join"]).astype(np.int64)
        found = np.where(found == NO_JOIN, in_run, found)
    return np.where(found == NO_JOIN, -1, found)


def work_of(plan: Plan, columns: Columns) -> NDArray[np.uint64]:
    """Return the work of each join in picoseconds; 0 for a receive that took no message."""
    busy: NDArray[np.uint64] = plan.flows["join_busy_ps"]
    if "receive_busy_ps" not in plan.flows:
        return busy
    busy, taker = busy.copy(), takers(plan, columns)
    in_run = (taker >= 0) & (plan.flows["tag_of_flow"] != NO_JOIN)
    busy[taker[in_run]] = plan.flows["receive_busy_ps"][in_run]
    return busy


class Operations:
    """The operations of a run.

    Parameters
    ----------
    plan : Plan
        Plan of a run with a workload of kind ``goal``.
    columns : mapping of str to mapping
        Tables of the simulator.

    Attributes
    ----------
    number : int
        Number of operations; join i of the plan is operation i, further joins are receives that
        are posted and sends by rendezvous that are over.
    rank, kind, value, line : ndarray of int64, shape (operations,)
        As in the schedule.
    busy, begun, ended : ndarray of uint64, shape (operations,)
        Picoseconds; ``begun`` and ``ended`` are the largest number where that was not in the run.
    """

    def __init__(self, plan: Plan, columns: Columns) -> None:
        flows = plan.flows
        self._flows, self._results = flows, columns["flows"]
        self.rank, self.kind, self.value, self.line = (
            flows[f"operation_{name}"].astype(np.int64)
            for name in ("rank", "kind", "value", "line")
        )
        self.number = self.rank.size
        send = flows["after_join"].astype(np.int64)
        # The receive of each flow, -1 if none has taken it; of the others the flow.
        self._taker = takers(plan, columns)
        taken = np.flatnonzero(self._taker >= 0)
        # A receive may have more room than its message has bytes.
        self.value[self._taker[taken]] = self.value[send[taken]]
        end = np.uint64(columns["totals"]["end_ps"])
        # With those of receives that are posted.
        begun = np.asarray(columns["joins"]["begun_ps"], np.uint64)
        self._begun = np.where(begun <= end, begun, UNFINISHED)
        self.begun = self._begun[: self.number]
        self.busy = work_of(plan, columns)[: self.number]
        over = self.begun + np.where(self.begun == UNFINISHED, np.uint64(0), self.busy)
        self._worked = np.where(over <= end, over, UNFINISHED)
        self.ended = self._worked.copy()
        # Joins at which sends by rendezvous are over, and these sends.
        sent = flows.get("sent_join", np.zeros(0, np.uint32)).astype(np.int64)
        late = np.flatnonzero(sent != NO_JOIN)
        self._sent = dict(zip(sent[late].tolist(), late.tolist(), strict=True))
        self.ended[send[late]] = self._begun[sent[late]]

    @property
    def all_ended(self) -> bool:
        """Whether each operation ended."""
        return not (self.ended == UNFINISHED).any()

    @cached_property
    def _before(self) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """Joins that lead to others, those others in ascending order, and whether at their end."""
        offsets = self._flows["join_lead_offsets"].astype(np.int64)
        row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        to = self._flows["join_leads"].astype(np.int64)
        order = np.argsort(to, kind="stable")
        return row[order] // 2, to[order], row[order] % 2 == 1

    @cached_property
    def _message(self) -> Numbers:
        """The flow of each send and receive; -1 of others."""
        found = np.full(self.number, -1)
        flow = np.arange(self._taker.size)
        found[self._flows["after_join"]] = flow
        taken = self._taker >= 0
        found[self._taker[taken]] = flow[taken]
        return found

    @cached_property
    def _by_end(self) -> tuple[NDArray[np.uint64], Numbers]:
        """Operations that took time, by end: their ends, and their numbers."""
        took = np.flatnonzero((self.busy > 0) & (self._worked != UNFINISHED))
        order = took[np.argsort(self._worked[took], kind="stable")]
        return self._worked[order], order

    def flow_of(self, operation: int) -> int:
        """Return the flow of a send or receive."""
        return int(self._message[operation])

    def sender_of(self, flow: int) -> int:
        """Return the send of a message."""
        return int(self._flows["after_join"][flow])

    def causes(self, join: int) -> Iterator[Cause]:
        """Yield all that an operation, or a receive that is posted, waits for."""
        before, to, at_end = self._before
        first, last = np.searchsorted(to, [join, join + 1])
        for one, ended in zip(
            before[first:last].tolist(), at_end[first:last].tolist(), strict=True
        ):
            if one in self._sent and self._begun[one] == UNFINISHED:
                yield Cause(REQUIRES, self.sender_of(self._sent[one]), int(UNFINISHED))
            elif one in self._sent:
                yield from self._over(self._sent[one])
            elif one >= self.number and ended:
                # The posting of this receive, which takes no time: what it waits for.
                yield from self.causes(one)
            elif one >= self.number:
                yield Cause(IREQUIRES, one, int(self._begun[one]))
            elif ended:
                yield Cause(REQUIRES, one, int(self.ended[one]))
            else:
                yield Cause(IREQUIRES, one, int(self.begun[one]))
        if join < self.number and self.kind[join] == RECV:
            yield self._message_of(self.flow_of(join))

    def causes_of_end(self, operation: int) -> Iterator[Cause]:
        """Yield what the end of an operation that began waits for, beside its own work."""
        if self._worked[operation] != UNFINISHED and self.ended[operation] == UNFINISHED:
            yield from self._over(self.flow_of(operation))

    def _message_of(self, flow: int, later: int = 0) -> Cause:
        """Return the arrival of a flow, or -1 if no message was there for a receive."""
        time = int(UNFINISHED) if flow < 0 else int(self._results["received_ps"][flow])
        return Cause(MESSAGE, flow, min(time + later, int(UNFINISHED)))

    def _over(self, flow: int) -> Iterator[Cause]:
        """Yield what the end of a send by rendezvous waits for."""
        send, taker = self.sender_of(flow), int(self._taker[flow])
        yield Cause(REQUIRES, send, int(self._worked[send]))
        yield self._message_of(flow, _NOTICE_PS)
        post = -1 if taker < 0 else self._posting[taker]
        time = int(UNFINISHED) if taker < 0 else int(self._begun[post]) + _NOTICE_PS
        yield Cause(RENDEZVOUS, post, time)

    @cached_property
    def _posting(self) -> dict[int, int]:
        """The join by which each receive is posted that is matched in the run."""
        receives = self._flows["receive_join"].tolist()
        first = self._begun.size - len(receives)
        return {receive: first + place for place, receive in enumerate(receives)}

    def operation_of(self, join: int) -> int:
        """Return the operation of a join: itself, or the receive that it posts."""
        if join < self.number:
            return join
        flows = self._flows
        # A posting leads at its end to its receive alone.
        return int(flows["join_leads"][flows["join_lead_offsets"][2 * join + 1]])

    def times_of(self, join: int) -> tuple[int, int]:
        """Return begin and end of an operation, or twice the time at which a receive is posted."""
        if join < self.number:
            return int(self.begun[join]), int(self.ended[join])
        return int(self._begun[join]), int(self._begun[join])

    def last_cause(self, join: int) -> Cause:
        """Return what an operation that began, or a receive that was posted, waited for last."""
        begun, _ = self.times_of(join)
        cause = max(self.causes(join), key=lambda one: one.time, default=None)
        # A receive is posted without a processor.
        if join < self.number and (cause is None or cause.time < begun):
            ends, numbers = self._by_end
            cpu = self._flows["join_cpu"]
            first, last = np.searchsorted(ends, [np.uint64(begun), np.uint64(begun + 1)])
            for one in numbers[first:last]:
                if cpu[one] == cpu[join]:
                    return Cause(PROCESSOR, int(one), begun)
        return cause or Cause(NOTHING, -1, 0)
