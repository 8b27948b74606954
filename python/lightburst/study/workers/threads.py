"""Computes runs in threads of this process, which share compiled networks without copying."""

from __future__ import annotations

import time
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

from lightburst._core import Cancel, Cancelled
from lightburst.study.execution.room import Room
from lightburst.study.execution.threads import PATIENCE_S, next_of
from lightburst.study.workers.interface import Order
from lightburst.study.workers.one import answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightburst.study.runs import PlannedRun
    from lightburst.study.workers.interface import Answer

    #: Computes a batch.
    Compute: TypeAlias = Callable[[Order, Sequence[PlannedRun]], list[Answer]]


class Threads:
    """Threads of this process, see `lightburst.study.workers.interface.Workers`.

    The simulator releases Python's global interpreter lock while it runs, so threads suffice. They
    are daemons, so the process can exit without them.

    Parameters
    ----------
    number : int
        Largest number of threads; there are never more threads than batches.
    """

    batch_s = 0.0
    # Batches queued per thread, so that threads do not wait for the driver, which may be slow.
    ahead = 16

    def __init__(self, number: int) -> None:
        self.number = number
        self._order = Order()
        self._cancel, self._room = Cancel(), Room()
        self._todo: SimpleQueue[tuple[Order, Sequence[PlannedRun]] | None] = SimpleQueue()
        self._done: SimpleQueue[list[Answer] | BaseException] = SimpleQueue()
        self._threads: list[Thread] = []
        self._under_way = 0
        self._raised: BaseException | None = None

    def begin(self, order: Order) -> None:
        """Set the order for runs submitted from now on."""
        self._order = order

    def slots(self) -> int:
        """Return the number of threads."""
        return self.number

    def wants(self) -> int:
        """Return how many more batches may be submitted now."""
        return self.number * (1 + self.ahead) - self._under_way

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        """Submit a batch."""
        self._todo.put((self._order, batch))
        self._under_way += 1
        if len(self._threads) < self.number:
            thread = Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def answers(self) -> list[list[Answer]]:
        """Wait for a batch, and return the answers of all that have ended.

        Raises
        ------
        BaseException
            The exception that ended a thread, after all earlier answers have been returned.
        """
        found: list[list[Answer]] = []
        while self._raised is None and not (found and self._done.empty()):
            outcome = next_of(self._done)
            if isinstance(outcome, BaseException):
                self._raised = outcome
            else:
                found.append(outcome)
        if not found and self._raised is not None:
            raise self._raised
        self._under_way -= len(found)
        return found

    def stop(self) -> list[list[Answer]]:
        """Cancel all runs, and return the answers of those that had just ended."""
        self._cancel.set()
        for _ in self._threads:
            self._todo.put(None)  # wakes up waiting threads
        deadline = time.monotonic() + PATIENCE_S
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        found = []
        while not self._done.empty():
            outcome = self._done.get()
            if isinstance(outcome, list):
                found.append(outcome)
        return found

    def close(self) -> None:
        """Let the threads end once all work is done."""
        while self._threads:
            self._todo.put(None)
            self._threads.pop()

    def _work(self) -> None:
        try:
            with self._computer() as compute:
                while (task := self._todo.get()) and not self._cancel.is_set():
                    self._done.put(compute(*task))
        except Cancelled:
            return
        except BaseException as error:
            self._done.put(error)

    @contextmanager
    def _computer(self) -> Iterator[Compute]:
        """Yield the function that computes the batches of one thread."""

        def compute(order: Order, batch: Sequence[PlannedRun]) -> list[Answer]:
            # Runs come first: they share what they leave of the threads.
            share = max(1, self.number // order.runs) if order.runs else 1
            return [answer(run, order, self._room, self._cancel, share) for run in batch]

        yield compute
