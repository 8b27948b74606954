"""Simulation in a separate thread, so that the main thread can react to Ctrl-C at any time.

The simulator reacts between events, but NumPy does not while it draws or converts millions of
flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst._core import Cancel
from lightburst.simulation.simulate import simulate
from lightburst.study.execution.progress import run_progress
from lightburst.study.execution.threads import work_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lightburst.expressions import Expression
    from lightburst.result.result import Result
    from lightburst.scenario import Scenario
    from lightburst.simulation.foretold import Foretold


def run_aside(
    scenario: Scenario,
    seed: int,
    *,
    before: Result | None = None,
    foretell: Foretold | None = None,
    metrics: Mapping[str, Expression] | None = None,
    threads: int = 1,
) -> Result:
    """Simulate a scenario in a thread and wait for it; a long run shows its progress.

    Parameters
    ----------
    scenario : Scenario
        Scenario to simulate.
    seed : int
        Seed of the run.
    before : Result, optional
        As for `lightburst.run`.
    foretell : Foretold, optional
        As for `lightburst.simulation.simulate.simulate`.
    metrics : mapping of str to Expression, optional
        User-defined metrics, by name.
    threads : int
        Largest number of threads of the run.

    Returns
    -------
    Result
        Result of `lightburst.simulation.simulate.simulate`.

    Raises
    ------
    InputError
        As for `lightburst.simulation.simulate.simulate`.
    KeyboardInterrupt
        On Ctrl-C, within a second at any stage of the run.
    """
    cancel = Cancel()
    found: list[Result] = []
    with run_progress() as show:

        def task(give: Callable[[Result], None]) -> None:
            result = simulate(
                scenario,
                seed,
                cancel=cancel,
                progress=show,
                before=before,
                foretell=foretell,
                metrics=metrics,
                threads=threads,
            )
            give(result)

        work_aside([task], 1, found.append, cancel)
    return found[0]
