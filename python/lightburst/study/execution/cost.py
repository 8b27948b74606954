"""Estimates the cost of very many runs before they start."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancel, Cancelled
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import as_python, format_size
from lightburst.result.metrics import to_json
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate
from lightburst.study.execution.threads import work_aside
from lightburst.study.workers.where import slots_of

if TYPE_CHECKING:
    from lightburst.study.workers.where import Where

#: Above this number of runs, which is probably a typing error, the user must confirm.
MOST_RUNS: Final = 10_000

# Time limit of the trial run behind an estimate.
_PATIENCE_S: Final = 5.0
# Bytes of a row in a store: in addition to the metrics; and in total if the metrics are unknown.
_ROW_BYTES, _USUAL_BYTES = 300, 1600
# Memory of this process per point, mostly its scenario, and per run.
_POINT_BYTES, _RUN_BYTES = 10_000, 6_000
_SPANS: Final = (
    (365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"),
    (1.0, "seconds"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated cost of a number of runs.

    Attributes
    ----------
    runs : int
        Number of runs.
    seconds : float
        Duration of all runs, extrapolated from the trial run.
    at_least : bool
        Whether the trial run was stopped early, so that `seconds` is a lower bound.
    threads : int
        Number of threads.
    bytes : int
        Size of the results in a store.
    """

    runs: int
    seconds: float
    at_least: bool
    threads: int
    bytes: int

    def __str__(self) -> str:
        size, word = next((s for s in _SPANS if self.seconds >= s[0]), _SPANS[-1])
        time_ = f"{self.seconds / size:,.3g} {word}"
        about = "more than" if self.at_least else "about"
        kept = format_size(round(self.bytes, 2 - len(str(self.bytes))))
        return f"runs, {about} {time_} in {self.threads} threads, {kept} in a store"


def estimate(scenario: Scenario, seed: int, runs: int, workers: Where) -> Cost:
    """Estimate the cost of runs from one run that is tried for a few seconds.

    Parameters
    ----------
    scenario : Scenario
        Scenario of one of the points.
    seed : int
        Seed of the trial run.
    runs : int
        Number of runs to estimate.
    workers
        Workers that would compute the runs, see `lightburst.execute`.

    Returns
    -------
    Cost

    Raises
    ------
    InputError
        If the scenario cannot be run.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    """
    cancel, given_up = Cancel(), Cancel()
    found: list[Result | None] = []

    def task(give: Callable[[Result | None], None]) -> None:
        try:
            result: Result | None = simulate(scenario, seed, cancel=given_up)
        except Cancelled:
            result = None
        give(result)

    begun = time.monotonic()
    timer = Timer(_PATIENCE_S, given_up.set)
    timer.daemon = True
    timer.start()
    try:
        work_aside([task], 1, found.append, cancel)
    except BaseException:
        given_up.set()
        raise
    finally:
        timer.cancel()
    took = time.monotonic() - begun
    result = found[0]
    size = _USUAL_BYTES
    if result is not None:
        size = _ROW_BYTES + len(json.dumps(to_json(result.record)))
    threads = slots_of(workers)
    return Cost(runs, took * runs / threads, result is None, threads, size * runs)


def check_room(points: int, runs: int) -> None:
    """Refuse a study whose list of points and runs would not fit into memory.

    Parameters
    ----------
    points, runs : int
        Numbers of points and runs.

    Raises
    ------
    InputError
        If they need more memory than is free.
    """
    check_memory(
        points * _POINT_BYTES + runs * _RUN_BYTES,
        "study",
        f"{points:,} points and {runs:,} runs, whose list alone needs about {{}} of memory",
        "fewer, whose list fits into the {} that are free",
    )


def too_many(runs: int, most: object) -> bool:
    """Return whether `runs` are more than the number that is allowed without confirmation.

    Parameters
    ----------
    runs : int
        Number of runs.
    most : object
        The argument `most_runs`, which the caller has found not to be None.

    Raises
    ------
    InputError
        If `most` is no number.
    """
    value = as_python(most)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InputError("most_runs", show(most), "a number from 0, or None for any number of runs")
    return runs > value


class TooManyRunsError(InputError):
    """Raised for more runs than are allowed without confirmation.

    Parameters
    ----------
    cost : Cost
        Estimated cost of the runs.
    most : int
        Largest number of runs allowed without confirmation.
    """

    def __init__(self, cost: Cost, most: int) -> None:
        self.cost = cost
        allowed = f"up to {most:,}, or any number with most_runs=None (--yes)"
        super().__init__("study", f"{cost.runs:,} {cost}", allowed)
