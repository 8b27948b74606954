"""Distributes the runs of a study to workers, and collects the results on the calling thread.

A batch contains as many runs as take about `Workers.batch_s`, estimated from earlier runs of the
same scenario. Towards the end batches become smaller, so that all workers finish at about the same
time (guided self-scheduling).

References
----------
.. [1] C. D. Polychronopoulos, D. J. Kuck, "Guided Self-Scheduling", IEEE Transactions on Computers
   C-36(12), 1987.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lightburst.foundation.ending import orderly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightburst.study.runs import PlannedRun
    from lightburst.study.workers.interface import Answer, Order, Workers

# Most runs in a batch, and most bytes of tables returned at once: a message of some megabytes at
# most, and little work to repeat when a worker is lost.
MOST_RUNS: Final = 256
_MOST_BYTES: Final = 32 * 2**20
#: Most answers that are stored in one commit. A commit costs about as much as ten rows; the limit
#: bounds the answers that could be lost, and their memory if they have large tables.
TOGETHER: Final = 64
# Weight of a new value in the moving averages.
_WEIGHT: Final = 0.3
# Largest share of the driver's time for submitting batches; the rest is for storing rows.
_BUSY: Final = 0.5


def drive(
    runs: Sequence[PlannedRun],
    workers: Workers,
    order: Order,
    keep: Callable[[Sequence[Answer]], None],
) -> None:
    """Compute runs, and pass the answers to `keep`.

    Parameters
    ----------
    runs : sequence of PlannedRun
        The runs, all different; they are distributed in this order.
    workers : Workers
        Workers that compute them.
    order : Order
        Requested results of each run.
    keep : callable
        Called on the calling thread with the answers that have arrived, at most `TOGETHER` at a
        time. After an interrupt it is called again with the answers of the interrupted call.

    Raises
    ------
    BaseException
        Any exception of `keep` or the workers, or KeyboardInterrupt, raised after the answers of
        all runs that have ended were passed to `keep`.
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
            workers.begin(replace(order, runs=len(runs)))
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
    """Splits the remaining runs into batches of a suitable duration.

    Parameters
    ----------
    runs : sequence of PlannedRun
        All runs.
    workers : Workers
        Workers that receive them.
    """

    def __init__(self, runs: Sequence[PlannedRun], workers: Workers) -> None:
        self._runs, self._workers, self._given = runs, workers, 0
        # Average duration of runs by scenario, average over the latest runs, and size of their
        # tables.
        self._seconds: dict[str, float] = {}
        self._usual: float | None = None
        self._bytes = 0.0
        # Average time in seconds that the driver needs to submit a batch.
        self._cost = 0.0

    @property
    def left(self) -> int:
        """Number of runs that have not been distributed yet."""
        return len(self._runs) - self._given

    def next(self) -> Sequence[PlannedRun]:
        """Return the next runs; only one at a time until their duration is known."""
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
        """Update the averages with the durations of finished runs."""
        for answer in batch:
            digest, _ = answer.key
            before = self._seconds.get(digest, answer.seconds)
            self._seconds[digest] = before + _WEIGHT * (answer.seconds - before)
            usual = answer.seconds if self._usual is None else self._usual
            self._usual = usual + _WEIGHT * (answer.seconds - usual)
            size = sum(map(len, answer.tables.values()))
            self._bytes += _WEIGHT * (size - self._bytes)

    def handed_in(self, batches: int, seconds: float) -> None:
        """Update the average time for submitting a batch."""
        if batches:
            self._cost += _WEIGHT * (seconds / batches - self._cost)

    def _expected(self, run: PlannedRun) -> float:
        return self._seconds.get(run.scenario_digest, self._usual or 0.0)
