"""Computes runs in processes on this machine, connected by private pipes.

Nothing listens on a network port: anyone who can reach the port of a Dask worker can run code as
its owner, whereas a pipe has no name by which other processes could open it. A child process ends
when its pipe closes, so that none remains, however this process ends.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from lightburst.foundation.memory import available_memory
from lightburst.study.workers.interface import Answer
from lightburst.study.workers.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from lightburst.study.runs import PlannedRun
    from lightburst.study.workers.interface import Order
    from lightburst.study.workers.threads import Compute

# Python program of a child, which uses the same installation as this process.
_PROGRAM: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from lightburst.study.workers.child import work; work()"
)
# Exceptions from a pipe whose other end has closed, possibly in the middle of an answer.
_GONE: Final = (EOFError, OSError, pickle.UnpicklingError)
#: Number of worker deaths after which a run counts as failed, the same as in Dask.
DEATHS: Final = 4


class Processes(Threads):
    """Processes of this machine, see `lightburst.study.workers.interface.Workers`.

    For each process a thread of this process sends batches and waits for the answers.

    Parameters
    ----------
    number : int
        Number of processes. They share the memory that is free when this object is created.
    """

    # Sending a batch takes a tenth of a millisecond.
    batch_s = 0.05
    ahead = 1

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._share = available_memory() // number
        self._children: list[_Child] = []

    def stop(self) -> list[list[Answer]]:
        """Kill all processes, and return the answers of runs that had ended."""
        self._cancel.set()
        self._end()
        return super().stop()

    def close(self) -> None:
        """End all processes."""
        threads = list(self._threads)
        super().close()
        self._end()
        for thread in threads:
            thread.join()  # until the thread has closed its pipes

    def _end(self) -> None:
        for child in self._children:
            child.end()

    @contextmanager
    def _computer(self) -> Iterator[Compute]:
        child = _Child(self._share)
        self._children.append(child)
        if self._cancel.is_set():
            child.end()
        try:
            yield child.compute
        finally:
            child.end()
            child.let_go()


class _Child:
    """A process that computes batches; it is replaced when it dies."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def compute(self, order: Order, batch: Sequence[PlannedRun]) -> list[Answer]:
        """Compute a batch; fewer answers than runs are returned if `end` was called."""
        found: list[Answer] = []
        deaths, done = 0, 0
        while done < len(batch) and (process := self._running()):
            assert process.stdin is not None and process.stdout is not None
            what: object = None
            try:
                _send(process, (order, batch[done:]))
                while done < len(batch) and isinstance(what := pickle.load(process.stdout), Answer):
                    found.append(what)
                    deaths, done = 0, done + 1
            except _GONE:
                self.let_go()
                deaths += 1
                if deaths == DEATHS:
                    # The usual cause: the system kills a process when memory runs out.
                    words = f"{DEATHS} worker processes died of it, one after the other"
                    found.append(Answer(batch[done].key, None, {}, MemoryError(words), 0.0))
                    deaths, done = 0, done + 1
            if isinstance(what, BaseException):
                raise what
        return found

    def end(self) -> None:
        """Kill the process and start no other; may be called on any thread."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def let_go(self) -> None:
        """Kill the process, if any, and close its pipes; only on the thread that reads them."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # from buffered data that was never read
                    cast("BinaryIO", pipe).close()

    def _running(self) -> subprocess.Popen[bytes] | None:
        """Return the process, started if necessary; None after `end`."""
        with self._lock:
            if self._ended:
                return None
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # The child must not receive the terminal's Ctrl-C: only this process ends it.
                    start_new_session=True,
                )
                with suppress(OSError):  # it died immediately, which its first batch will show
                    _send(self._process, sys.path, self._share)
            return self._process


def _send(process: subprocess.Popen[bytes], *what: object) -> None:
    assert process.stdin is not None
    for one in what:
        pickle.dump(one, process.stdin)
    process.stdin.flush()
