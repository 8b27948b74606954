"""Flows that wait for others, through joins."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.endpoint import Flow
from twin.events import EventQueue, Moment
from twin.network import TIMER
from twin.receives import Receives

NO_JOIN = 2**32 - 1
#: Kinds of the timers of joins.
BEGIN, HAND_OVER, END, TAKEN = 7, 8, 9, 11


class Joins:
    """Starts each flow that waits when all that leads to its join has arrived, begun or ended."""

    def __init__(
        self,
        table: dict[str, npt.NDArray[Any]],
        flows: list[Flow],
        begin: Callable[[Flow, int], None],
        events: EventQueue,
    ) -> None:
        self.begin_flow, self.flows, self.events = begin, flows, events
        self.exist = "after_join" in table
        column = {name: values.tolist() for name, values in table.items()} if self.exist else {}
        self.after: list[int] = column.get("after_join", [])
        self.towards: list[int] = column.get("towards_join", [])
        self.delays: list[int] = column.get("join_delay_ps", [])
        number = len(self.delays)
        self.cpu: list[int] = column.get("join_cpu", [NO_JOIN] * number)
        self.busy: list[int] = column.get("join_busy_ps", [0] * number)
        self.nic: list[int] = column.get("join_nic", []) or [NO_JOIN] * number
        self.cpu_host: list[int] = column.get("cpu_host", [])
        self.gap: list[int] = column.get("nic_gap_ps", [])
        leads, offsets = column.get("join_leads", []), column.get("join_lead_offsets", [])
        # What leads to each join: a flow, or the begin or end of a join.
        self.missing: list[list[tuple[str, int]]] = [[] for _ in range(number)]
        self.at: dict[tuple[str, int], list[int]] = {}
        for place in range(2 * number):
            event = ("begin" if place % 2 == 0 else "end", place // 2)
            self.at[event] = leads[offsets[place] : offsets[place + 1]]
        for flow, join in enumerate(self.towards):
            self.at["arrival", flow] = [] if join == NO_JOIN else [join]
        self.receives = Receives(column, number)
        for join in self.receives.joins:
            self.missing[join].append(("message", join))
        for flow, join in enumerate(self.receives.sent):
            if join != NO_JOIN:
                self.at["taken", flow] = [join]
        for event, joins in self.at.items():
            for join in joins:
                self.missing[join].append(event)
        self.begun: list[int | None] = [None] * number
        # Times at which the work that each processor has is over, and the last start of a NIC.
        self.work: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.opening: deque[int] = deque()

    def waits(self, flow: Flow) -> bool:
        """Whether a flow waits for others."""
        return self.exist and self.after[flow.index] != NO_JOIN

    def start(self) -> None:
        """Open the joins that wait for nothing."""
        self.opening.extend(j for j, missing in enumerate(self.missing) if not missing)
        self.open()

    def arrive(self, flow: Flow, now: int) -> None:
        """Note that all data of a flow has arrived."""
        assert now == self.events.now
        if self.exist:
            self.happen("arrival", flow.index)
            self.receive(self.receives.arrive(flow))
            self.open()

    def receive(self, found: tuple[int, Flow] | None) -> None:
        """Let a receive have its message; the sender hears of it 1 ps later, if it waits."""
        if found is None:
            return
        join, flow = found
        self.missing[join].remove(("message", join))
        if not self.missing[join]:
            self.opening.append(join)
        if ("taken", flow.index) in self.at:
            (sent,) = self.at["taken", flow.index]

            def late() -> None:
                self.happen("taken", flow.index)
                self.open()

            moment = Moment(TIMER, flow.source, sent, TAKEN)
            self.events.add(self.events.now + 1, moment, late)

    def happen(self, what: str, number: int) -> None:
        """Note what some joins wait for; those that miss nothing more are to open."""
        for join in self.at[what, number]:
            self.missing[join].remove((what, number))
            if not self.missing[join]:
                self.opening.append(join)

    def timer(self, kind: int, join: int, time: int, do: Callable[[], None]) -> None:
        """Do something at a time, now without an event, and open what it leads to."""
        if time == self.events.now:
            do()
            return

        def late() -> None:
            do()
            self.open()

        moment = Moment(TIMER, self.cpu_host[self.cpu[join]], join, kind)
        self.events.add(time, moment, late)

    def open(self) -> None:
        """Open joins, first those that missed nothing first."""
        while self.opening:
            join = self.opening.popleft()
            cpu, now = self.cpu[join], self.events.now
            begin = now if cpu == NO_JOIN else max(now, self.work.get(cpu, 0))
            taken = self.receives.work(join)
            end = begin + (self.busy[join] if taken is None else taken)
            self.work[cpu] = end
            self.begun[join] = begin
            waiting = [one for one in self.flows if self.after[one.index] == join]
            if self.nic[join] == NO_JOIN:
                for one in waiting:
                    self.start_flow(one, begin + self.delays[join])
            elif waiting:
                over = partial(self.hand_over, join, waiting)
                self.timer(HAND_OVER, join, begin + self.delays[join], over)
            if self.at["begin", join]:
                self.timer(BEGIN, join, begin, partial(self.happen, "begin", join))
            self.timer(END, join, end, partial(self.happen, "end", join))
            self.receive(self.receives.post(join))

    def hand_over(self, join: int, waiting: list[Flow]) -> None:
        """Start flows, no sooner than a gap after the start of the one before at their NIC."""
        nic = self.nic[join]
        for one in waiting:
            start = self.events.now
            if nic in self.last:
                start = max(start, self.last[nic] + self.gap[nic])
            self.last[nic] = start
            self.start_flow(one, start)

    def start_flow(self, flow: Flow, time: int) -> None:
        """Start a flow, no sooner than its own start."""
        self.begin_flow(flow, max(flow.start, time))

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The start of each flow; the largest number for one that did not start."""
        if not self.exist:
            return {}
        found = {"started_ps": _times([flow.began for flow in self.flows])}
        if self.receives.exist:
            taken = [self.receives.taken.get(flow.index, NO_JOIN) for flow in self.flows]
            found["taken_join"] = np.array(taken, np.uint64)
        return found

    def table(self) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """The begin of each join, if joins have processors."""
        if all(cpu == NO_JOIN for cpu in self.cpu):
            return {}
        return {"joins": {"begun_ps": _times(self.begun)}}


def _times(times: list[int | None]) -> npt.NDArray[Any]:
    return np.array([2**64 - 1 if time is None else time for time in times], np.uint64)
