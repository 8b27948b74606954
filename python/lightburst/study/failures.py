"""Runs that fail: what counts as a failure, what is kept of it, and how it is told.

A run fails on what its point and seed bring about when it runs: flows that cannot be, a limit that
the scenario sets, memory that is not there, a fault of lightburst. The other runs go on. Ctrl-C and
a full disk are no failures of a run: they end the study.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lightburst.errors import InputError, LimitError, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lightburst.study.workers.interface import RunError

_MEMORY: Final = "memory"
_LESS_MEMORY: Final = "a smaller scenario, or fewer runs at once"
_NO_FAULT: Final = "a run that shows none; please report it"
HOW_AGAIN: Final = (
    "'lightburst store failed' lists failed runs; after 'lightburst store retry' the next call "
    "runs them again"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run has failed.

    Attributes
    ----------
    path, given, allowed : str
        The three parts of its `InputError`.
    passing : bool
        Whether it came to a limit, of events or of memory, that is no part of its key: another call
        may do better.
    version : str
        Of lightburst.
    trace : str
        Where in the code a fault of lightburst is; empty otherwise.
    """

    path: str
    given: str
    allowed: str
    passing: bool = False
    version: str = ""
    trace: str = ""

    @classmethod
    def of(cls, error: InputError | MemoryError | RunError) -> Failure:
        """Say why a run has failed."""
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
        """The same as an error; a fault of lightburst is that of an input, too."""
        if self.path == _MEMORY:
            return MemoryError(self.given)
        return InputError(self.path, self.given, self.allowed)

    @property
    def stays(self) -> bool:
        """Whether to run it again would only fail again: nothing it rests on has changed."""
        return not self.passing and self.version == this_version()

    def to_text(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str | bytes) -> Failure:
        """Read what `to_text` wrote."""
        return cls(**json.loads(text))


class FailedRun(NamedTuple):
    """A run of a study that has failed.

    Attributes
    ----------
    place : int
        Number of its point in the study, from 0.
    seed : int
        Its seed.
    failure : Failure
        Why.
    """

    place: int
    seed: int
    failure: Failure


def settle(found: Sequence[FailedRun], finished: int, failed: list[FailedRun] | None) -> None:
    """Hand over the failed runs of a study; raise the first error if there is nothing else.

    Parameters
    ----------
    found : sequence of FailedRun
        That have failed.
    finished : int
        How many have not.
    failed : list of FailedRun or None
        Where a caller takes failures; None, if it needs all runs.

    Raises
    ------
    InputError, MemoryError
        If runs have failed, and no run has finished, or the caller needs all.
    """
    if found and (failed is None or not finished):
        raise found[0].failure.error
    if failed is not None:
        failed.extend(found)


def failures_of(
    failed: Iterable[FailedRun], runs: int, named: Callable[[int], str]
) -> Iterator[str]:
    """Say which runs failed and why, each kind once.

    Parameters
    ----------
    failed : iterable of FailedRun
        All that failed.
    runs : int
        How many runs there were in all.
    named : callable
        Gives a point in words, by its place.

    Yields
    ------
    str
        Failures that differ in their numbers only are one.
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
    """Version of lightburst."""
    return metadata.version("lightburst")


def moved(failed: Iterable[FailedRun], places: Sequence[int]) -> list[FailedRun]:
    """Give failures of some points of a study the places that these have in the whole."""
    return [run._replace(place=places[run.place]) for run in failed]


def records(failed: Iterable[FailedRun]) -> list[dict[str, Any]]:
    """Give failures as JSON can hold them."""
    return [{"place": run.place, "seed": run.seed, **asdict(run.failure)} for run in failed]


def from_records(rows: Iterable[dict[str, Any]]) -> list[FailedRun]:
    """Read what `records` wrote."""
    found = []
    for row in rows:
        rest = {key: value for key, value in row.items() if key not in ("place", "seed")}
        found.append(FailedRun(int(row["place"]), int(row["seed"]), Failure(**rest)))
    return found
