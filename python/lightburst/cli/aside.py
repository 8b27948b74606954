"""A run in a thread of its own, so that the main thread can react to Ctrl-C at any time.

The simulator reacts between events, NumPy not at all: a user would have to wait while millions of
flows are drawn or handed over.
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

# The main thread waits in pieces of this length: a signal that comes just before it begins to wait
# is handled only after the wait.
_NAP_S: Final = 0.1
# How long to wait for a cancelled run to end. If it does not, its daemon thread ends with the
# process.
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
