"""Worker threads; the calling thread handles Ctrl-C, draws progress and stores results.

The simulator releases Python's global interpreter lock while it runs, so threads suffice.
"""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar

from lightburst._core import Cancel, Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

# Polling interval: a signal that arrives just before Python blocks on a lock is seen at wake-up.
_LOOK_UP_S: Final = 0.1
# Time to wait for threads that are to end: a simulation stops within milliseconds, but a scenario
# that is being compiled does not. The threads are daemons, so the process can exit without them.
PATIENCE_S: Final = 0.5


def work_aside(
    tasks: Sequence[Callable[[Callable[[T], None]], None]],
    results: int,
    keep: Callable[[T], None],
    cancel: Cancel,
) -> None:
    """Run each task in a thread, and handle the results on the calling thread.

    Parameters
    ----------
    tasks : sequence of callable
        ``task(give)`` calls ``give`` with each result, and ends soon after `cancel` is set.
    results : int
        Total number of results of all tasks.
    keep : callable
        Called with each result.
    cancel : Cancel
        Set when a task fails or on Ctrl-C; results of the following half second are still kept.

    Raises
    ------
    BaseException
        Any exception of a task or of `keep`, or KeyboardInterrupt, within a second.
    """
    done = SimpleQueue[tuple[T] | BaseException]()

    def run(task: Callable[[Callable[[T], None]], None]) -> None:
        try:
            task(lambda result: done.put((result,)))
        except Cancelled:
            return
        except BaseException as error:
            done.put(error)

    threads = [Thread(target=run, args=(task,), daemon=True) for task in tasks]
    try:
        for thread in threads:
            thread.start()
        for _ in range(results):
            outcome = next_of(done)
            if isinstance(outcome, BaseException):
                raise outcome
            keep(*outcome)
    except BaseException:
        cancel.set()
        deadline = time.monotonic() + PATIENCE_S
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        while not done.empty():
            outcome = done.get()
            if isinstance(outcome, tuple):
                keep(*outcome)
        raise


def next_of(done: SimpleQueue[T]) -> T:
    """Wait for the next item of a queue, waking up regularly so that Ctrl-C takes effect."""
    while True:
        try:
            return done.get(timeout=_LOOK_UP_S)
        except Empty:
            continue
