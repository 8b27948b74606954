"""What a worker of a cluster does: it computes a batch, and ends it when it is told to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancel, Cancelled
from lightburst.errors import InputError
from lightburst.study.room import Room
from lightburst.study.sweep import scenario_digest
from lightburst.study.workers.interface import Answer
from lightburst.study.workers.one import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.study.sweep import PlannedRun
    from lightburst.study.workers.interface import Order


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs, and what a worker must know of who asks for them.

    Attributes
    ----------
    runs : sequence of PlannedRun
        What is to be computed.
    order : Order
        What is wanted of each.
    study : str
        Name by which the driver can end what is under way.
    """

    runs: Sequence[PlannedRun]
    order: Order
    study: str


_LOCK: Final = Lock()
# Of studies that are under way here.
_CANCELS: Final[dict[str, Cancel]] = {}
# Digests of scenarios that are here what they are at the driver.
_SOUND: Final[set[str]] = set()


def compute(batch: Batch) -> list[Answer]:
    """Compute a batch; on a worker whose lightburst is the driver's.

    Parameters
    ----------
    batch : Batch
        The runs.

    Returns
    -------
    list of Answer
        One for each run, in their order.

    Raises
    ------
    Cancelled
        If `stop` was called for its study.
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
    """End all batches of a study that are under way on this worker, and those that come."""
    with _LOCK:
        _CANCELS.setdefault(study, Cancel()).set()


def _check(planned: PlannedRun) -> None:
    """Refuse a run whose files have other contents here than where the driver is.

    Raises
    ------
    InputError
        If they have, or cannot be read here.
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
    """Give the memory that all runs of this process share."""
    from distributed import get_worker

    # None where the user has set no limit.
    return Room(get_worker().memory_manager.memory_limit)


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
