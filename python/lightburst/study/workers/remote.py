"""Code of a cluster worker: computes batches, and stops them on request of the driver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancel, Cancelled
from lightburst.foundation.errors import InputError
from lightburst.study.execution.room import Room
from lightburst.study.runs import scenario_digest
from lightburst.study.workers.interface import Answer
from lightburst.study.workers.one import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.study.runs import PlannedRun
    from lightburst.study.workers.interface import Order


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs for a worker, and the study that they belong to.

    Attributes
    ----------
    runs : sequence of PlannedRun
        Runs to compute.
    order : Order
        Requested results of each run.
    study : str
        Name of the study, by which the driver can cancel its batches.
    """

    runs: Sequence[PlannedRun]
    order: Order
    study: str


_LOCK: Final = Lock()
# Cancellation flags of the studies that run on this worker, by name.
_CANCELS: Final[dict[str, Cancel]] = {}
# Digests of scenarios whose files have been verified on this worker.
_SOUND: Final[set[str]] = set()


def compute(batch: Batch) -> list[Answer]:
    """Compute a batch on a worker whose lightburst is the same as the driver's.

    Parameters
    ----------
    batch : Batch
        The runs.

    Returns
    -------
    list of Answer
        One answer per run, in the same order.

    Raises
    ------
    Cancelled
        If `stop` was called for the study.
    """
    with _LOCK:
        cancel = _CANCELS.setdefault(batch.study, Cancel())
    found = []
    for planned in batch.runs:
        if cancel.is_set():
            raise Cancelled
        try:
            _check(planned)
        except InputError as error:
            found.append(Answer(planned.key, None, {}, error, 0.0))
        else:
            found.append(answer(planned, batch.order, _room(), cancel))
    return found


async def stop(study: str) -> None:
    """Cancel all batches of a study on this worker, including those that arrive later."""
    with _LOCK:
        _CANCELS.setdefault(study, Cancel()).set()


def _check(planned: PlannedRun) -> None:
    """Refuse a run whose files differ between this worker and the driver.

    Raises
    ------
    InputError
        If a file differs, or cannot be read on this worker.
    """
    wanted = planned.scenario_digest
    if wanted in _SOUND:
        return
    if scenario_digest(planned.scenario) != wanted:
        given = f"files that are not the same on worker {_address()} as where the study was begun"
        raise InputError("scenario", given, "the same files, under the same names, on all machines")
    _SOUND.add(wanted)


@cache
def _room() -> Room:
    """Return the memory shared by all runs of this process."""
    from distributed import get_worker

    # The limit is None if the user has not set one.
    return Room(get_worker().memory_manager.memory_limit)


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
