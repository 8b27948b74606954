"""Failed runs: their definition, storage and reporting.

A run fails on conditions that its point and seed produce while it runs: impossible flows, a limit
set by the scenario, lack of memory, or a bug in lightburst. The other runs continue. Ctrl-C and a
full disk are not failures of a run: they end the study.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lightburst.foundation.errors import InputError, LimitError, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lightburst.study.workers.interface import RunError

_MEMORY: Final = "memory"
_LESS_MEMORY: Final = "a smaller scenario, or fewer runs at once"
_NO_FAULT: Final = "a run without this fault; please report it"
HOW_AGAIN: Final = (
    "'lightburst store failed' lists failed runs; after 'lightburst store retry' the next call "
    "runs them again"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason for the failure of a run.

    Attributes
    ----------
    path, given, allowed : str
        The three parts of the `InputError`.
    passing : bool
        Whether the run reached a limit of events or memory that is not part of its key, so that
        another call may succeed.
    version : str
        Version of lightburst that failed.
    trace : str
        Traceback of a bug in lightburst; empty for other failures.
    """

    path: str
    given: str
    allowed: str
    passing: bool = False
    version: str = ""
    trace: str = ""

    @classmethod
    def of(cls, error: InputError | MemoryError | RunError) -> Failure:
        """Build the failure that corresponds to an error."""
        version = this_version()
        if isinstance(error, InputError):
            passing = isinstance(error, LimitError)
            return cls(error.path, error.given, error.allowed, passing, version)
        if isinstance(error, MemoryError):
            return cls(_MEMORY, str(error), _LESS_MEMORY, passing=True, version=version)
        given = f"a fault of lightburst ({show(str(error))})"
        return cls("run", given, _NO_FAULT, version=version, trace=error.trace)

    def __str__(self) -> str:
        return str(InputError(self.path, self.given, self.allowed))

    @property
    def error(self) -> InputError | MemoryError:
        """The failure as an exception; a bug in lightburst is an `InputError` too."""
        if self.path == _MEMORY:
            return MemoryError(self.given)
        return InputError(self.path, self.given, self.allowed)

    @property
    def stays(self) -> bool:
        """Whether running again would fail again, because nothing relevant has changed."""
        return not self.passing and self.version == this_version()

    def to_text(self) -> str:
        """Serialise as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str | bytes) -> Failure:
        """Parse the text of `to_text`."""
        return cls(**json.loads(text))


class FailedRun(NamedTuple):
    """A failed run of a study.

    Attributes
    ----------
    place : int
        Index of its point in the study, from 0.
    seed : int
        Seed of the run.
    failure : Failure
        Reason for the failure.
    """

    place: int
    seed: int
    failure: Failure


def settle(found: Sequence[FailedRun], finished: int, failed: list[FailedRun] | None) -> None:
    """Pass failed runs to the caller; raise the first error if no run finished or all are needed.

    Parameters
    ----------
    found : sequence of FailedRun
        The failed runs.
    finished : int
        Number of finished runs.
    failed : list of FailedRun or None
        Receives the failures; None if the caller needs all runs.

    Raises
    ------
    InputError, MemoryError
        If runs have failed, and no run has finished or the caller needs all.
    """
    if found and (failed is None or not finished):
        raise found[0].failure.error
    if failed is not None:
        failed.extend(found)


def failures_of(
    failed: Iterable[FailedRun], runs: int, named: Callable[[int], str]
) -> Iterator[str]:
    """Yield messages on failed runs, one per kind of failure.

    Parameters
    ----------
    failed : iterable of FailedRun
        All failed runs.
    runs : int
        Total number of runs.
    named : callable
        Returns a description of a point, by its index.

    Yields
    ------
    str
        A message with the number of failures; failures that differ only in numbers are one kind.
    """
    kinds: dict[str, list[FailedRun]] = {}
    for run in failed:
        kinds.setdefault(re.sub(r"\d+", "", str(run.failure)), []).append(run)
    for alike in kinds.values():
        first = alike[0]
        where = ", ".join(filter(None, (f"seed {first.seed}", named(first.place))))
        yield (
            f"{len(alike)} of {runs} runs failed and are in no mean, first with {where}: "
            f"{first.failure}"
        )


@cache
def this_version() -> str:
    """Return the version of lightburst."""
    return metadata.version("lightburst")


def moved(failed: Iterable[FailedRun], places: Sequence[int]) -> list[FailedRun]:
    """Renumber failures of a subset of points with the indices in the whole study."""
    return [run._replace(place=places[run.place]) for run in failed]


def records(failed: Iterable[FailedRun]) -> list[dict[str, Any]]:
    """Return failures in a form for JSON."""
    return [{"place": run.place, "seed": run.seed, **asdict(run.failure)} for run in failed]


def from_records(rows: Iterable[dict[str, Any]]) -> list[FailedRun]:
    """Parse the output of `records`."""
    found = []
    for row in rows:
        rest = {key: value for key, value in row.items() if key not in ("place", "seed")}
        found.append(FailedRun(int(row["place"]), int(row["seed"]), Failure(**rest)))
    return found
