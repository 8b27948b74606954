"""One run: a scenario and a seed to a result."""

import json
import time

from lightburst import _core
from lightburst.compile import compile_plan, estimate_memory
from lightburst.errors import InputError, show
from lightburst.result import Result
from lightburst.scenario import Scenario

_LARGEST_SEED = 2**64 - 1


def run(scenario: Scenario, seed: int = 1, *, cancel: _core.Cancel | None = None) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    seed : int
        Seed of all random streams, from 0 to 2**64 - 1. The same scenario and seed give the same
        result to the bit; the same seed gives the same flows over every switch and transport.
    cancel : Cancel, optional
        Setting it from another thread ends the run.

    Returns
    -------
    Result
        Summary and tables.

    Raises
    ------
    InputError
        If the seed is out of range, a file of the scenario cannot be used, the scenario does not
        fit together, or it needs more memory than there is.
    lightburst._core.Cancelled
        If `cancel` was set.
    KeyboardInterrupt
        On Ctrl-C, when called on the main thread.
    """
    check_seed(seed)
    plan = compile_plan(scenario, seed)
    estimate_memory(plan)
    settings = json.dumps(plan.settings)
    begun = time.perf_counter()
    columns = _core.simulate(settings, plan.links, plan.flows, cancel)
    return Result(scenario, seed, plan, columns, time.perf_counter() - begun)


def check_seed(seed: int) -> None:
    """Refuse what cannot seed the random streams.

    Parameters
    ----------
    seed : int
        The seed.

    Raises
    ------
    InputError
        If it is not a whole number from 0 to 2**64 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _LARGEST_SEED:
        raise InputError("seed", show(seed), "a whole number from 0 to 2**64 - 1")
