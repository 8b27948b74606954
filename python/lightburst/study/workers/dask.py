"""Computes runs on a Dask cluster, which distributes batches and repeats those of lost workers.

References
----------
.. [1] Dask documentation, "Futures" (`Client.submit`, `as_completed`) and "Resilience" (tasks of
   lost workers are repeated; a task whose worker died four times is given up, `KilledWorker`).
"""

from __future__ import annotations

import inspect
import pickle
import time
from contextlib import suppress
from dataclasses import asdict
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from lightburst.foundation.errors import InputError, WorkersLostError, WorkerWarning, warn
from lightburst.study.workers import arrival
from lightburst.study.workers.identity import Identity, mine
from lightburst.study.workers.interface import Answer, Order
from lightburst.study.workers.remote import Batch, stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client, Future

    from lightburst.study.runs import PlannedRun

#: Time for which a scheduler may fail to answer.
PATIENCE_S: Final = 10.0
# Minimum interval between queries for the scheduler's workers.
_LOOK_S: Final = 1.0
_PAUSE_S: Final = 0.005
# Time without workers after which the user is warned.
_NOBODY_S: Final = 10.0
# Time allowed after an interrupt for results that are about to arrive.
_LAST_S: Final = 0.3


class Dask:
    """The workers of a Dask cluster, see `lightburst.study.workers.interface.Workers`.

    Parameters
    ----------
    client : Client
        Connected client.
    path, name : str
        Origin of the setting, and name of the cluster, for messages.

    Warns
    -----
    WorkerWarning
        For each worker with another lightburst, once it has refused a batch; it gets no more runs.
        Also if there are no workers for a long time.
    """

    batch_s = 0.5

    def __init__(self, client: Client, path: str, name: str) -> None:
        from distributed import as_completed

        self.client, self._path, self._name = client, path, name
        self._order, self._study = Order(), uuid4().hex
        self._completed: Any = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        # By key in the cluster: the batch, its future, and the only workers allowed (None: any).
        self._under_way: dict[str, tuple[Sequence[PlannedRun], Future, list[str] | None]] = {}
        # Batches that wait for a worker with the same lightburst.
        self._later: list[Sequence[PlannedRun]] = []
        # Runs of batches whose workers died; and the run that was last computed alone.
        self._suspects: list[PlannedRun] = []
        self._alone: PlannedRun | None = None
        self._number = 0
        # Source text that the workers evaluate, see `arrival`.
        self._text = inspect.getsource(arrival)
        # Threads of usable workers, by address; refused workers; whether any worker has answered
        # yet.
        self._threads: dict[str, int] = {}
        self._refused: dict[str, Identity] = {}
        self._answered = False
        self._next_look = 0.0
        self._nobody_since: float | None = time.monotonic()
        self._look()

    def begin(self, order: Order) -> None:
        """Set the order for runs submitted from now on."""
        self._order = order

    def slots(self) -> int:
        """Return the number of threads of all workers."""
        return max(1, sum(self._threads.values()))

    def wants(self) -> int:
        """Return how many more batches to submit: one is kept waiting for each in computation."""
        return 2 * self.slots() - len(self._under_way) - len(self._later)

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        """Submit a batch."""
        if self._refused and not self._threads:
            self._later.append(batch)
            return
        self._number += 1
        key = f"lightburst-{self._study}-{self._number}"
        # Restrict the workers only if some are refused; otherwise Dask balances freely.
        only = list(self._threads) if self._refused else None
        names = {
            "text": self._text,
            "driver": asdict(mine()),
            "batch": pickle.dumps(Batch(batch, self._order, self._study)),
        }
        future = self.client.submit(eval, arrival.CALL, names, key=key, pure=False, workers=only)
        self._under_way[key] = (batch, future, only)
        self._completed.add(future)

    def answers(self) -> list[list[Answer]]:
        """Wait for a batch, and return the answers of all that have ended."""
        while True:
            if found := self._ended():
                return found
            self._look()
            if self._suspects and not (self._under_way or self._later):
                self._alone = self._suspects.pop(0)
                self.submit([self._alone])
            time.sleep(_PAUSE_S)

    def stop(self) -> list[list[Answer]]:
        """Cancel all runs, and return the answers of those that had just ended."""
        try:
            if self.client.status != "running":
                return []
            # Running batches are notified, waiting ones are cancelled at the scheduler. In a
            # thread, because
            # Dask would wait 30 s for a worker that has just gone.
            telling = Thread(target=self._tell_to_stop, daemon=True)
            telling.start()
            found, deadline = [], time.monotonic() + _LAST_S
            while (self._under_way or telling.is_alive()) and time.monotonic() < deadline:
                found += self._ended(stopping=True)
                time.sleep(_PAUSE_S)
            self.client.cancel([future for _, future, _ in self._under_way.values()])
            return found
        except OSError:
            return []

    def close(self) -> None:
        """Forget all batches; the connection is closed by its owner."""
        self._under_way.clear()

    def _tell_to_stop(self) -> None:
        with suppress(Exception):
            self.client.run(stop, self._study, wait=False, on_error="ignore")

    def _ended(self, stopping: bool = False) -> list[list[Answer]]:
        """Return answers of batches that have ended, and resubmit those without answers."""
        found = []
        if self._completed.has_ready():
            for future, result in self._completed.next_batch(block=False):
                batch, *_ = self._under_way.pop(future.key, (None,))
                if batch is None:
                    continue  # resubmitted under another key
                if future.status == "finished" and isinstance(result, list):
                    self._answered = True
                    found.append(result)
                elif not stopping:
                    found += self._again(batch, future.status, result)
        return found

    def _again(self, batch: Sequence[PlannedRun], status: str, result: Any) -> list[list[Answer]]:
        """Resubmit a batch that was not answered; return answers of runs that have failed."""
        from distributed import KilledWorker

        if status == "finished":
            worker, fields = result
            self._refuse(worker, Identity(**fields))
        elif status in ("cancelled", "lost"):
            self._look(now=True)
        else:
            error = result[1] if isinstance(result, tuple) else result
            if not isinstance(error, KilledWorker):
                raise error
            return self._killed(batch)
        self.submit(batch)
        return []

    def _killed(self, batch: Sequence[PlannedRun]) -> list[list[Answer]]:
        """Run the runs of a killed batch one by one; a run that kills a worker alone has failed.

        Dask blames all tasks assigned to such a worker, including those that only waited there.
        """
        if batch[0] is not self._alone:
            self._suspects += batch
            return []
        # Workers are killed by Dask or by the system if they use too much memory.
        error = MemoryError("several workers died of it, one after the other; see their logs")
        return [[Answer(batch[0].key, None, {}, error, 0.0)]]

    def _look(self, now: bool = False) -> None:
        """Update the set of workers, at most once per interval unless `now` is set."""
        if time.monotonic() < self._next_look and not now:
            return
        there = self._there()
        self._threads = {who: n for who, n in there.items() if who not in self._refused}
        self._tell_if_nobody()
        for key, (batch, future, only) in list(self._under_way.items()):
            if only is not None and self._threads.keys().isdisjoint(only):
                # All allowed workers are gone, and Dask would wait for them forever.
                del self._under_way[key]
                self.client.cancel([future])
                self._later.append(batch)
        later, self._later = self._later, []
        for batch in later:
            self.submit(batch)
        self._next_look = time.monotonic() + _LOOK_S

    def _there(self) -> dict[str, int]:
        """Return the scheduler's workers with their threads, waiting until it answers.

        The workers themselves are not queried: one that has just gone would block for 30 s.

        Raises
        ------
        WorkersLostError
            If the scheduler does not answer in time.
        """
        begun = time.monotonic()
        while (waited := time.monotonic() - begun) < PATIENCE_S and self.client.status != "closed":
            # After a lost connection, wait until the client has reconnected.
            if self.client.status == "running":
                with suppress(OSError, ValueError, RuntimeError):
                    ask, left = self.client.scheduler.ncores, max(_PAUSE_S, PATIENCE_S - waited)
                    return dict(self.client.sync(ask, callback_timeout=left))
            time.sleep(_PAUSE_S)
        given = f"{self._name}, whose scheduler has not answered for {waited:.0f} s"
        raise WorkersLostError(
            self._path,
            given,
            "a scheduler that answers; finished runs are kept, and the same call continues from "
            "there",
        )

    def _refuse(self, worker: str, other: Identity) -> None:
        """Exclude a worker with another lightburst from further runs.

        Raises
        ------
        InputError
            If no run has been computed yet, and there is no other worker.
        """
        if worker in self._refused:
            return
        self._refused[worker] = other
        self._look(now=True)
        if not self._threads and not self._answered:
            given = f"{self._name}, whose workers have {other}"
            raise InputError(self._path, given, f"workers with {mine()}, as here")
        text = f"worker {worker} is refused: it has {other}, this process has {mine()}"
        warn([text], stacklevel=1, kind=WorkerWarning)

    def _tell_if_nobody(self) -> None:
        if self._threads:
            self._nobody_since = None
        elif self._nobody_since is None:
            self._nobody_since = time.monotonic()
        elif time.monotonic() - self._nobody_since > _NOBODY_S:
            warn([f"{self._name} has no workers; the study waits for them"], 1, WorkerWarning)
            self._nobody_since = float("inf")
