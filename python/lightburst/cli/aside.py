"""A run beside the main thread, so that the main thread can always hear Ctrl-C.

The simulator hears it between events, NumPy not at all: drawing millions of flows, or handing them
over, would make a user wait.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final

from lightburst._core import Cancel
from lightburst.result import Result
from lightburst.simulate import simulate
from lightburst.study.progress import run_progress

if TYPE_CHECKING:
    from lightburst.scenario import Scenario
    from lightburst.watch import Progress

# A signal that comes just before Python falls asleep on a lock is heard when it wakes up.
_NAP_S: Final = 0.1
# How long to wait for a run that is to end; what does not hear ends with the process.
_PATIENCE_S: Final = 0.3


def run_aside(scenario: Scenario, seed: int, *, before: Result | None = None) -> Result:
    """Simulate a scenario in a thread and wait for it; a long run shows how far it has come.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    seed : int
        Seed of the run.
    before : Result, optional
        See `lightburst.run`.

    Returns
    -------
    Result
        As `lightburst.simulate.simulate` gives it.

    Raises
    ------
    InputError
        As `lightburst.simulate.simulate`.
    KeyboardInterrupt
        On Ctrl-C, within a second wherever the run is.
    """
    with run_progress() as show:
        return _run(scenario, seed, show, before)


def _run(scenario: Scenario, seed: int, show: Progress, before: Result | None) -> Result:
    done, cancel = SimpleQueue[Result | BaseException](), Cancel()

    def work() -> None:
        try:
            done.put(simulate(scenario, seed, cancel=cancel, progress=show, before=before))
        except BaseException as error:
            done.put(error)

    thread = Thread(target=work, daemon=True)
    try:
        thread.start()
        outcome = _wait(done)
    except KeyboardInterrupt:
        cancel.set()
        thread.join(_PATIENCE_S)
        raise
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _wait(done: SimpleQueue[Result | BaseException]) -> Result | BaseException:
    while True:
        try:
            return done.get(timeout=_NAP_S)
        except Empty:
            continue
