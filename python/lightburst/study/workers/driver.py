"""Hands out the runs of a study, and takes what comes of them, on the calling thread.

A batch holds as many runs as take `Workers.batch_s`, by how long earlier runs of the same scenario
took. Towards the end batches become smaller, so that all workers end at about the same time
(guided self-scheduling).

References
----------
.. [1] C. D. Polychronopoulos, D. J. Kuck, "Guided Self-Scheduling", IEEE Transactions on Computers
   C-36(12), 1987.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from lightburst.ending import orderly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightburst.study.sweep import PlannedRun
    from lightburst.study.workers.interface import Answer, Order, Workers

# The most runs of a batch, and the most bytes of tables that come back at once: what a message of
# some megabytes holds, and little enough to be done again when a worker is lost.
MOST_RUNS: Final = 256
_MOST_BYTES: Final = 32 * 2**20
#: The most answers that are kept at once. A commit costs as much as ten rows or so; and it is
#: made before much is waiting that could be lost, also where each answer has large tables.
TOGETHER: Final = 64
# Of a new time in the mean of those of a scenario.
_WEIGHT: Final = 0.3
# Batches of all slots cost the driver at most this part of its time: the rest is for the rows.
_BUSY: Final = 0.5


def drive(
    runs: Sequence[PlannedRun],
    workers: Workers,
    order: Order,
    keep: Callable[[Sequence[Answer]], None],
) -> None:
    """Have runs computed.

    Parameters
    ----------
    runs : sequence of PlannedRun
        All different; they are handed out in their order.
    workers : Workers
        Who compute them.
    order : Order
        What is wanted of each.
    keep : callable
        Takes answers, as many as have come but no more than `TOGETHER`, on the calling thread, and
        before that waits for others. After an interrupt it is given again those that it was at.

    Raises
    ------
    BaseException
        What `keep` raised, or the workers, or the KeyboardInterrupt: what has ended by then is kept
        before.
    """
    batches = Batches(runs, workers)
    left = len(runs)
    come: list[Answer] = []

    def keep_all() -> None:
        while come:
            keep(come[:TOGETHER])
            del come[:TOGETHER]

    try:
        with orderly():
            workers.begin(order)
            while left:
                begun, number = time.perf_counter(), 0
                while batches.left and workers.wants() > 0:
                    workers.submit(batches.next())
                    number += 1
                batches.handed_in(number, time.perf_counter() - begun)
                for batch in workers.answers():
                    left -= len(batch)
                    batches.learn(batch)
                    come += batch
                keep_all()
    except BaseException:
        for batch in workers.stop():
            come += batch
        keep_all()
        raise


class Batches:
    """The runs that are still to be handed out, in batches of a useful length.

    Parameters
    ----------
    runs : sequence of PlannedRun
        All.
    workers : Workers
        Who get them.
    """

    def __init__(self, runs: Sequence[PlannedRun], workers: Workers) -> None:
        self._runs, self._workers, self._given = runs, workers, 0
        # How long a run takes, and how large its tables are: by scenario, and of the last ones.
        self._seconds: dict[str, float] = {}
        self._usual: float | None = None
        self._bytes = 0.0
        # What a batch costs the driver, in seconds.
        self._cost = 0.0

    @property
    def left(self) -> int:
        """How many runs are still to be handed out."""
        return len(self._runs) - self._given

    def next(self) -> Sequence[PlannedRun]:
        """Give the runs that come next: one, until it is known how long they take."""
        slots = self._workers.slots()
        wanted = self._workers.batch_s and max(self._workers.batch_s, slots * self._cost / _BUSY)
        share = self.left // (2 * slots)
        if self._bytes:
            share = min(share, int(_MOST_BYTES / self._bytes))
        begin, most = self._given, min(MOST_RUNS, max(1, share))
        if not wanted or self._usual is None:
            most = 1
        expected = 0.0
        for _ in range(most):
            expected += self._expected(self._runs[self._given])
            self._given += 1
            if expected >= wanted:
                break
        return self._runs[begin : self._given]

    def learn(self, batch: Sequence[Answer]) -> None:
        """Take in how long runs took."""
        for answer in batch:
            digest, _ = answer.key
            before = self._seconds.get(digest, answer.seconds)
            self._seconds[digest] = before + _WEIGHT * (answer.seconds - before)
            usual = answer.seconds if self._usual is None else self._usual
            self._usual = usual + _WEIGHT * (answer.seconds - usual)
            size = sum(map(len, answer.tables.values()))
            self._bytes += _WEIGHT * (size - self._bytes)

    def handed_in(self, batches: int, seconds: float) -> None:
        """Take in how long it took to hand in batches."""
        if batches:
            self._cost += _WEIGHT * (seconds / batches - self._cost)

    def _expected(self, run: PlannedRun) -> float:
        return self._seconds.get(run.scenario_digest, self._usual or 0.0)
