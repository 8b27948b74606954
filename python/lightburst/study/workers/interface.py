"""What the driver of a study knows of those who compute its runs, and nothing more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from lightburst.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightburst.counts import Metric
    from lightburst.expressions import Expression
    from lightburst.study.sweep import Key, PlannedRun


class RunError(RuntimeError):
    """A run that has ended by a bug of ours, or with the worker that computed it.

    Parameters
    ----------
    text : str
        What has happened.
    trace : str
        Where in the code.
    """

    def __init__(self, text: str, trace: str = "") -> None:
        super().__init__(text, trace)
        self.trace = trace

    def __str__(self) -> str:
        return str(self.args[0])


#: What makes one run a failed one; anything else ends the study.
Failure = InputError | MemoryError | RunError
FAILURES: Final = (InputError, MemoryError, RunError)


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of each run of a study.

    Attributes
    ----------
    metrics : sequence of Expression
        Metrics of the user's own, beside the figures that each run has.
    tables : sequence of str
        Tables of the run that are kept, see `lightburst.study.kept.TABLES`.
    """

    metrics: Sequence[Expression] = ()
    tables: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a run.

    Attributes
    ----------
    key : (str, int)
        Of the run.
    metrics : mapping of str to Metric, or None
        The row that is kept of it; None of a failed run.
    tables : mapping of str to bytes
        The tables that were wanted, as Parquet.
    error : InputError, MemoryError, RunError or None
        Why it failed.
    seconds : float
        How long it took where it was computed, from the plan to the row.
    """

    key: Key
    metrics: Mapping[str, Metric] | None
    tables: Mapping[str, bytes]
    error: Failure | None
    seconds: float


class Workers(Protocol):
    """Those who compute runs. All is called on one thread, that of the driver."""

    #: How long a batch should take at the least, in seconds, so that the way there and back is
    #: below 5 % of it; 0 where a batch costs nothing.
    batch_s: float

    def begin(self, order: Order) -> None:
        """Say what is wanted of the runs that are handed in from now on."""

    def slots(self) -> int:
        """Give how many batches can be computed at once now, at least 1; it may change."""

    def wants(self) -> int:
        """Give how many more batches may be handed in now: some wait beside those in the slots."""

    def submit(self, batch: Sequence[PlannedRun]) -> None:
        """Hand in runs that one worker computes one after the other. Each is answered once.

        It returns at once.
        """

    def answers(self) -> list[list[Answer]]:
        """Wait for a batch and give what has come of all that have ended since the last call.

        Raises
        ------
        InputError
            When nobody will answer any more.
        """

    def stop(self) -> list[list[Answer]]:
        """End all that is under way, within a second, and give what came of the rest."""

    def close(self) -> None:
        """Let those who are ours go home: nothing more will be handed in."""
