"""Flows that wait for others, through joins."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.endpoint import Flow

NO_JOIN = 2**32 - 1


class Joins:
    """Starts each flow that waits when all flows that lead to its join have arrived."""

    def __init__(
        self,
        table: dict[str, npt.NDArray[Any]],
        flows: list[Flow],
        begin: Callable[[Flow, int], None],
    ) -> None:
        self.begin = begin
        self.flows = flows
        self.exist = "after_join" in table
        self.after: list[int] = table["after_join"].tolist() if self.exist else []
        self.towards: list[int] = table["towards_join"].tolist() if self.exist else []
        self.delays: list[int] = table["join_delay_ps"].tolist() if self.exist else []
        self.beyond: list[int] = table["beyond_join"].tolist() if self.exist else []
        self.opened: set[int] = set()

    def waits(self, flow: Flow) -> bool:
        """Whether a flow waits for others."""
        return self.exist and self.after[flow.index] != NO_JOIN

    def arrive(self, flow: Flow, now: int) -> None:
        """Start the flows for which `flow`, whose data has all arrived, was the last."""
        if self.exist:
            self.look(self.towards[flow.index], now)

    def look(self, join: int, now: int) -> None:
        """Open a join if nothing that leads to it is missing."""
        if join == NO_JOIN:
            return
        flows = [one for one in self.flows if self.towards[one.index] == join]
        joins = [one for one, beyond in enumerate(self.beyond) if beyond == join]
        if any(one.received is None for one in flows) or not self.opened.issuperset(joins):
            return
        self.opened.add(join)
        for one in self.flows:
            if self.after[one.index] == join:
                self.begin(one, max(one.start, now + self.delays[join]))
        self.look(self.beyond[join], now)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The start of each flow; the largest number for one that did not start."""
        if not self.exist:
            return {}
        began = [2**64 - 1 if flow.began is None else flow.began for flow in self.flows]
        return {"started_ps": np.array(began, np.uint64)}
