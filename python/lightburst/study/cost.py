"""What very many runs would cost, told before they begin."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancel, Cancelled
from lightburst.errors import InputError
from lightburst.free import check_memory
from lightburst.metrics import to_json
from lightburst.result import Result
from lightburst.scenario import Scenario
from lightburst.simulate import simulate
from lightburst.study.threads import work_aside
from lightburst.study.workers.where import slots_of
from lightburst.units import format_size

if TYPE_CHECKING:
    from lightburst.study.workers.where import Where

#: More runs than these are more likely a typing error, so the user is asked.
MOST_RUNS: Final = 10_000

# How long one run is tried for an estimate.
_PATIENCE_S: Final = 5.0
# Of a row in a store beside the metrics, and of one whose metrics are not known.
_ROW_BYTES, _USUAL_BYTES = 300, 1600
# What this program holds of a point, its scenario above all, and of a run.
_POINT_BYTES, _RUN_BYTES = 10_000, 6_000
_SPANS: Final = (
    (365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"),
    (1.0, "seconds"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What some runs would cost.

    Attributes
    ----------
    runs : int
        Their number.
    seconds : float
        How long all would take, at the pace of the one that was tried.
    at_least : bool
        Whether that one was not waited for.
    threads : int
        In how many threads.
    bytes : int
        What the store would hold.
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
    """Estimate what runs would cost, from one that is tried for a few seconds.

    Parameters
    ----------
    scenario : Scenario
        Of one of the points.
    seed : int
        Of the run that is tried.
    runs : int
        How many are wanted.
    workers
        Who would compute them, see `lightburst.execute`.

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
    """Refuse a study whose points and runs this program could not even list.

    Parameters
    ----------
    points, runs : int
        Their numbers.

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


class TooManyRunsError(InputError):
    """More runs than are done without a question.

    Parameters
    ----------
    cost : Cost
        What they would cost.
    most : int
        How many are done without.
    """

    def __init__(self, cost: Cost, most: int) -> None:
        self.cost = cost
        allowed = f"up to {most:,}, or any number with most_runs=None (--yes)"
        super().__init__("study", f"{cost.runs:,} {cost}", allowed)
