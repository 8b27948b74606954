"""Interface between the driver of a study and its workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from lightburst.foundation.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightburst.expressions import Expression
    from lightburst.foundation.counts import Metric
    from lightburst.study.runs import Key, PlannedRun


class RunError(RuntimeError):
    """A run that ended by a bug in lightburst, or because its worker died.

    Parameters
    ----------
    text : str
        Description of the error.
    trace : str
        Traceback.
    """

    def __init__(self, text: str, trace: str = "") -> None:
        super().__init__(text, trace)
        self.trace = trace

    def __str__(self) -> str:
        return str(self.args[0])


#: Errors that make a single run fail; any other error ends the study.
Failure = InputError | MemoryError | RunError
FAILURES: Final = (InputError, MemoryError, RunError)


@dataclass(frozen=True, slots=True)
class Order:
    """Requested results of each run of a study.

    Attributes
    ----------
    metrics : sequence of Expression
        User-defined metrics, in addition to the built-in metrics of each run.
    tables : sequence of str
        Tables of the run to store, see `lightburst.result.saving.TABLES`.
    runs : int
        Number of runs; 0 if it is not known.
    """

    metrics: Sequence[Expression] = ()
    tables: Sequence[str] = ()
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a run.

    Attributes
    ----------
    key : (str, int)
        Key of the run.
    metrics : mapping of str to Metric, or None
        Row to store for the run; None if it failed.
    tables : mapping of str to bytes
        Requested tables, as Parquet.
    error : InputError, MemoryError, RunError or None
        Reason for the failure; None if the run finished.
    seconds : float
        Duration where it was computed, from planned run to row.
    """

    key: Key
    metrics: Mapping[str, Metric] | None
    tables: Mapping[str, bytes]
    error: Failure | None
    seconds: float


class Workers(Protocol):
    """Computes runs. All methods are called on one thread, that of the driver."""

    #: Minimum duration of a batch in seconds, so that communication takes less than 5 % of it; 0 if
    #: communication is free.
    batch_s: float

    def begin(self, order: Order) -> None:
        """Set the order for runs submitted from now on."""

    def slots(self) -> int:
        """Return how many batches can be computed at once, at least 1; the number may change."""

    def wants(self) -> int:
        """Return how many more batches may be submitted now, to be computed or to wait."""

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        """Submit runs for one worker, which computes them one after the other and answers each.

        Returns immediately.
        """

    def answers(self) -> list[list[Answer]]:
        """Wait for a batch, and return the answers of all that ended since the last call.

        Raises
        ------
        InputError
            When no further answer can arrive.
        """

    def stop(self) -> list[list[Answer]]:
        """Cancel all runs within a second, and return the answers of those that have ended."""

    def close(self) -> None:
        """Release workers that belong to this object; nothing is submitted afterwards."""
