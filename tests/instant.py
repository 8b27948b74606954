"""Synthetic workers: any number of them, which answer at once without a simulation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from lightburst.foundation.counts import Metric
from lightburst.study.runs import PlannedRun
from lightburst.study.workers.interface import Answer, Order

Takes = Callable[[PlannedRun], float]


class Instant:
    """Workers that report a given duration of each run, and answer on request.

    Parameters
    ----------
    number : int
        How many.
    batch_s : float
        See `Workers.batch_s`.
    takes : callable
        Seconds of a run.
    row : mapping
        Result of each run.
    """

    def __init__(
        self,
        number: int,
        batch_s: float = 0.5,
        takes: Takes = lambda run: 0.01,
        row: dict[str, Metric] | None = None,
        size: int = 0,
    ) -> None:
        self.number, self.batch_s, self.takes = number, batch_s, takes
        self.row = {"figure": 1.0} if row is None else row
        self.tables = {"flows": b" " * size} if size else {}
        self.waiting: deque[Sequence[PlannedRun]] = deque()
        self.batches: list[Sequence[PlannedRun]] = []
        self.most = 0
        self.stopped = self.closed = False

    def begin(self, order: Order) -> None:
        self.order = order

    def slots(self) -> int:
        return self.number

    def wants(self) -> int:
        return 2 * self.number - len(self.waiting)

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        self.waiting.append(batch)
        self.batches.append(batch)
        self.most = max(self.most, len(self.waiting))

    def answers(self) -> list[list[Answer]]:
        """At most as many batches as workers."""
        ended = list(islice(self.waiting, self.number))
        for _ in ended:
            self.waiting.popleft()
        return [[self._answer(run) for run in batch] for batch in ended]

    def _answer(self, run: PlannedRun) -> Answer:
        return Answer(run.key, self.row, self.tables, None, self.takes(run))

    def stop(self) -> list[list[Answer]]:
        self.stopped = True
        return self.answers()

    def close(self) -> None:
        self.closed = True
