"""Main loop of a worker process on this machine, which reads batches from standard input."""

from __future__ import annotations

import os
import pickle
import sys
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from lightburst._core import Cancel
from lightburst.foundation.memory import held_memory
from lightburst.study.execution.room import Room
from lightburst.study.workers.one import answer

if TYPE_CHECKING:
    from typing import BinaryIO


def work() -> NoReturn:
    """Compute batches until standard input ends, which happens when the driver ends in any way.

    The first pickle is the number of bytes that this process may use in addition to its present
    memory. Each further pickle is a batch: an `Order` and its runs. Every run is answered by a
    pickle on standard output: an `Answer`, or the exception that ends the study.
    """
    # Output of libraries goes to standard error, so that it does not corrupt the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    told: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, told), daemon=True).start()
    room, cancel = Room(held_memory() + told.get()), Cancel()
    while True:
        order, runs = told.get()
        for planned in runs:
            what: object
            try:
                what = answer(planned, order, room, cancel)
            except BaseException as error:
                what = error
            pickle.dump(what, answers)
            answers.flush()
            if isinstance(what, BaseException):
                break


def _listen(batches: BinaryIO, told: SimpleQueue[Any]) -> None:
    try:
        while True:
            told.put(pickle.load(batches))
    except (EOFError, OSError, pickle.UnpicklingError):
        # The driver is gone: abandon the current run.
        os._exit(0)
