"""Computes one run of a study, on its worker."""

from __future__ import annotations

import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancelled
from lightburst.simulation.simulate import simulate
from lightburst.study.execution.own import to_keep
from lightburst.study.store.kept import encoded
from lightburst.study.workers.interface import FAILURES, Answer, Failure, RunError

if TYPE_CHECKING:
    from lightburst._core import Cancel
    from lightburst.foundation.counts import Metric
    from lightburst.study.execution.room import Room
    from lightburst.study.runs import PlannedRun
    from lightburst.study.workers.interface import Order

# Name of the exception for a panic of the Rust core; its class is not importable.
_PANIC: Final = "PanicException"


def answer(
    planned: PlannedRun, order: Order, room: Room, cancel: Cancel, threads: int = 1
) -> Answer:
    """Compute a run and return its result or failure.

    Parameters
    ----------
    planned : PlannedRun
        The run.
    order : Order
        Requested results.
    room : Room
        Memory that the run shares with other runs.
    cancel : Cancel
        Cancels the run.
    threads : int
        Largest number of threads of the run.

    Returns
    -------
    Answer
        The result; a run that fails has `error` set.

    Raises
    ------
    Cancelled
        If `cancel` was set.
    """
    begun = time.perf_counter()
    row: dict[str, Metric] | None = None
    tables: dict[str, bytes] = {}
    error: Failure | None = None
    try:
        row, tables = room.repeated(
            partial(_outcome, planned, order, room, cancel, threads), cancel
        )
    except FAILURES as raised:
        error = raised
    except (Cancelled, OSError):
        raise
    except BaseException as raised:
        kind = type(raised).__name__
        if kind != _PANIC and not isinstance(raised, Exception):
            raise
        error = RunError(f"{kind}: {raised}", "".join(traceback.format_exception(raised)))
    return Answer(planned.key, row, tables, error, time.perf_counter() - begun)


def _outcome(
    planned: PlannedRun, order: Order, room: Room, cancel: Cancel, threads: int
) -> tuple[dict[str, Metric], dict[str, bytes]]:
    with room.run(cancel) as ask:
        result = simulate(planned.scenario, planned.seed, cancel=cancel, ask=ask, threads=threads)
        return to_keep(result, order.metrics), encoded(result, order.tables)
