"""Work beside the calling thread, which alone hears Ctrl-C, draws progress and keeps results.

The simulator gives up Python's global lock while it runs, so threads are enough.
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

# A signal that comes just before Python falls asleep on a lock is heard when it wakes up.
_LOOK_UP_S: Final = 0.1
# How long to wait for threads that are to end: a simulation gives up within milliseconds, a
# compilation that is under way cannot. The threads are daemons: the process does not wait for them.
PATIENCE_S: Final = 0.5


def work_aside(
    tasks: Sequence[Callable[[Callable[[T], None]], None]],
    results: int,
    keep: Callable[[T], None],
    cancel: Cancel,
) -> None:
    """Run each task in a thread and keep what they give, on the calling thread.

    Parameters
    ----------
    tasks : sequence of callable
        ``task(give)`` calls ``give`` with each of its results, and ends soon once `cancel` is set.
    results : int
        How many results all tasks give together.
    keep : callable
        Takes each result.
    cancel : Cancel
        Set when a task fails, or on Ctrl-C: what is given in the half second after it is kept, too.

    Raises
    ------
    BaseException
        What a task or `keep` raised, or the KeyboardInterrupt, within a second.
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
    """Wait for the next one in a queue, looking up now and then, so that Ctrl-C is heard."""
    while True:
        try:
            return done.get(timeout=_LOOK_UP_S)
        except Empty:
            continue
