"""Runs in processes of this machine. Each has two pipes to this process alone: nothing listens.

Whoever can reach a port of a Dask worker has its owner run code; a pipe has no name that another
process could open. A child ends when its pipe does, so that nothing is left of it, whatever ends
this process.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from lightburst.free import available_memory
from lightburst.study.workers.interface import Answer
from lightburst.study.workers.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from lightburst.study.sweep import PlannedRun
    from lightburst.study.workers.interface import Order
    from lightburst.study.workers.threads import Compute

# A child that finds the same lightburst as this process.
_PROGRAM: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from lightburst.study.workers.child import work; work()"
)
# What a pipe says whose other end has gone, also in the middle of an answer.
_GONE: Final = (EOFError, OSError, pickle.UnpicklingError)
#: After so many children that died of it a run counts as failed, as with Dask's workers.
DEATHS: Final = 4


class Processes(Threads):
    """Processes of this machine, see `lightburst.study.workers.interface.Workers`.

    Each has a thread here that hands it batches and waits for their answers.

    Parameters
    ----------
    number : int
        How many. They share the memory that is free now.
    """

    # A batch costs a tenth of a millisecond.
    batch_s = 0.05
    ahead = 1

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._share = available_memory() // number
        self._children: list[_Child] = []

    def stop(self) -> list[list[Answer]]:
        """End all runs, and give what came of those that had ended."""
        self._cancel.set()
        self._end()
        return super().stop()

    def close(self) -> None:
        """End all processes."""
        threads = list(self._threads)
        super().close()
        self._end()
        for thread in threads:
            thread.join()  # until it has let go of its pipes

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
    """A process that computes batches, and others in its place when it dies."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def compute(self, order: Order, batch: Sequence[PlannedRun]) -> list[Answer]:
        """Have a batch computed; fewer answers than runs mean that `end` was called."""
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
                    # The system ends a process for which there is no memory.
                    words = f"{DEATHS} worker processes died of it, one after the other"
                    found.append(Answer(batch[done].key, None, {}, MemoryError(words), 0.0))
                    deaths, done = 0, done + 1
            if isinstance(what, BaseException):
                raise what
        return found

    def end(self) -> None:
        """End the process, and start none in its place; on any thread."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def let_go(self) -> None:
        """End the process, if there is one, and close its pipes; on the thread that reads them."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # of what nobody has read
                    cast("BinaryIO", pipe).close()

    def _running(self) -> subprocess.Popen[bytes] | None:
        """Give the process, a new one where there is none; None after `end`."""
        with self._lock:
            if self._ended:
                return None
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # Nobody but this process ends it: not the Ctrl-C of a terminal.
                    start_new_session=True,
                )
                with suppress(OSError):  # it has died at once, which its first batch shows
                    _send(self._process, sys.path, self._share)
            return self._process


def _send(process: subprocess.Popen[bytes], *what: object) -> None:
    assert process.stdin is not None
    for one in what:
        pickle.dump(one, process.stdin)
    process.stdin.flush()
