"""Runs on a cluster of Dask, which brings batches to workers and does again what a lost one had.

References
----------
.. [1] Dask documentation, "Futures" (`Client.submit`, `as_completed`) and "Resilience" (tasks of
   lost workers are done again; one whose worker died four times is given up, `KilledWorker`).
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

from lightburst.errors import InputError, WorkersLostError, WorkerWarning, warn
from lightburst.study.workers import arrival
from lightburst.study.workers.identity import Identity, mine
from lightburst.study.workers.interface import Answer, Order
from lightburst.study.workers.remote import Batch, stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client, Future

    from lightburst.study.sweep import PlannedRun

#: How long a scheduler may not answer.
PATIENCE_S: Final = 10.0
# How often it is asked for its workers, at the most.
_LOOK_S: Final = 1.0
_PAUSE_S: Final = 0.005
# Without workers for so long, the user is told.
_NOBODY_S: Final = 10.0
# How long those that have just ended may take to come back after an interrupt.
_LAST_S: Final = 0.3


class Dask:
    """The workers of a Dask cluster, see `lightburst.study.workers.interface.Workers`.

    Parameters
    ----------
    client : Client
        Connected.
    path, name : str
        What the user gave where, for messages.

    Warns
    -----
    WorkerWarning
        Of each worker that has another lightburst, and gets no more runs, when it has refused a
        batch; and if there are no workers for long.
    """

    batch_s = 0.5

    def __init__(self, client: Client, path: str, name: str) -> None:
        from distributed import as_completed

        self.client, self._path, self._name = client, path, name
        self._order, self._study = Order(), uuid4().hex
        self._completed: Any = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        # By its key in the cluster: the batch, its future, and to whom alone it may go.
        self._under_way: dict[str, tuple[Sequence[PlannedRun], Future, list[str] | None]] = {}
        # Those that wait for somebody who does not refuse them.
        self._later: list[Sequence[PlannedRun]] = []
        # Runs of batches that workers died of; and which of them was last computed alone.
        self._suspects: list[PlannedRun] = []
        self._alone: PlannedRun | None = None
        self._number = 0
        # What is run there, and with what beside the batch, see `arrival`.
        self._text = inspect.getsource(arrival)
        # Threads by address, of workers that may compute; who may not; and whether one ever has.
        self._threads: dict[str, int] = {}
        self._refused: dict[str, Identity] = {}
        self._answered = False
        self._next_look = 0.0
        self._nobody_since: float | None = time.monotonic()
        self._look()

    def begin(self, order: Order) -> None:
        """Say what is wanted of the runs that are handed in from now on."""
        self._order = order

    def slots(self) -> int:
        """Give the number of threads of all workers."""
        return max(1, sum(self._threads.values()))

    def wants(self) -> int:
        """Give how many more batches can be handed in: one waits for each that is computed."""
        return 2 * self.slots() - len(self._under_way) - len(self._later)

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        """Hand in a batch."""
        if self._refused and not self._threads:
            self._later.append(batch)
            return
        self._number += 1
        key = f"lightburst-{self._study}-{self._number}"
        # Nobody is named without need: then Dask may choose freely when workers come and go.
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
        """Wait for a batch and give all that have ended."""
        while True:
            if found := self._ended():
                return found
            self._look()
            if self._suspects and not (self._under_way or self._later):
                self._alone = self._suspects.pop(0)
                self.submit([self._alone])
            time.sleep(_PAUSE_S)

    def stop(self) -> list[list[Answer]]:
        """End all runs, and give what came of those that had just ended."""
        try:
            if self.client.status != "running":
                return []
            # Those that have begun are told; the others are forgotten by the scheduler. Dask would
            # wait 30 s for a worker that has just gone.
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
        """Let the cluster forget what is left: the connection is closed by whoever opened it."""
        self._under_way.clear()

    def _tell_to_stop(self) -> None:
        with suppress(Exception):
            self.client.run(stop, self._study, wait=False, on_error="ignore")

    def _ended(self, stopping: bool = False) -> list[list[Answer]]:
        """Give what came of batches that have ended; those without answers are handed in again."""
        found = []
        if self._completed.has_ready():
            for future, result in self._completed.next_batch(block=False):
                batch, *_ = self._under_way.pop(future.key, (None,))
                if batch is None:
                    continue  # handed in again, as another one
                if future.status == "finished" and isinstance(result, list):
                    self._answered = True
                    found.append(result)
                elif not stopping:
                    found += self._again(batch, future.status, result)
        return found

    def _again(self, batch: Sequence[PlannedRun], status: str, result: Any) -> list[list[Answer]]:
        """Hand a batch in again that has not been answered; give failed runs."""
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
        """Find out which run its workers died of: what they died of alone is a failed run.

        Dask blames all that was handed to such a worker, also what only waited there.
        """
        if batch[0] is not self._alone:
            self._suspects += batch
            return []
        # Dask ends a worker that holds more than it may, and so does the system.
        error = MemoryError("several workers died of it, one after the other; their logs say more")
        return [[Answer(batch[0].key, None, {}, error, 0.0)]]

    def _look(self, now: bool = False) -> None:
        """See who has come and who has gone, now and then."""
        if time.monotonic() < self._next_look and not now:
            return
        there = self._there()
        self._threads = {who: n for who, n in there.items() if who not in self._refused}
        self._tell_if_nobody()
        for key, (batch, future, only) in list(self._under_way.items()):
            if only is not None and self._threads.keys().isdisjoint(only):
                # Those who were named have gone, and Dask would wait for them.
                del self._under_way[key]
                self.client.cancel([future])
                self._later.append(batch)
        later, self._later = self._later, []
        for batch in later:
            self.submit(batch)
        self._next_look = time.monotonic() + _LOOK_S

    def _there(self) -> dict[str, int]:
        """Ask the scheduler for its workers and their threads, and wait until it answers.

        Workers themselves are not asked: one that has just gone would not answer for 30 s.

        Raises
        ------
        WorkersLostError
            If it does not.
        """
        begun = time.monotonic()
        while (waited := time.monotonic() - begun) < PATIENCE_S and self.client.status != "closed":
            # Not before it has taken us up again, if it was lost meanwhile.
            if self.client.status == "running":
                with suppress(OSError, ValueError, RuntimeError):
                    ask, left = self.client.scheduler.ncores, max(_PAUSE_S, PATIENCE_S - waited)
                    return dict(self.client.sync(ask, callback_timeout=left))
            time.sleep(_PAUSE_S)
        given = f"{self._name}, whose scheduler has not answered for {waited:.0f} s"
        raise WorkersLostError(
            self._path,
            given,
            "a scheduler that answers; what has ended is kept, and the same goes on from there",
        )

    def _refuse(self, worker: str, other: Identity) -> None:
        """Give no more runs to a worker with another lightburst.

        Raises
        ------
        InputError
            If nobody has computed anything yet, and nobody else is there.
        """
        if worker in self._refused:
            return
        self._refused[worker] = other
        self._look(now=True)
        if not self._threads and not self._answered:
            given = f"{self._name}, whose workers have {other}"
            raise InputError(self._path, given, f"workers with {mine()}, as here")
        text = f"worker {worker} is refused: it has {other}, and here is {mine()}"
        warn([text], stacklevel=1, kind=WorkerWarning)

    def _tell_if_nobody(self) -> None:
        if self._threads:
            self._nobody_since = None
        elif self._nobody_since is None:
            self._nobody_since = time.monotonic()
        elif time.monotonic() - self._nobody_since > _NOBODY_S:
            warn([f"{self._name} has no workers; the study waits for them"], 1, WorkerWarning)
            self._nobody_since = float("inf")
