"""One run: a scenario and a seed to a result."""

import json
import time
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Never

import numpy as np

from lightburst import _core
from lightburst.compile import Plan, check_seed, compile_plan, estimate_memory
from lightburst.expressions import Expression, check_all, parse_all
from lightburst.foundation.counts import Columns
from lightburst.foundation.errors import refuse_changes, warn
from lightburst.foundation.narrow import as_counted
from lightburst.result.result import Result
from lightburst.result.warm_up import Active
from lightburst.scenario import Scenario, as_scenario
from lightburst.simulation.limits import Progress, Watch, refusal


def run(
    scenario: Scenario | str | PathLike[str],
    seed: int | np.integer = 1,
    *,
    cancel: _core.Cancel | None = None,
    before: Result | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    **changes: Never,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        What to simulate, or the name of its file.
    seed : int
        Seed of all random streams, from 0 to 2**64 - 1. The same scenario and seed give the same
        result to the bit; the same seed gives the same flows over every switch and transport.
    cancel : Cancel, optional
        Setting it from another thread ends the run.
    before : Result, optional
        Of the same scenario and seed, but for ``measurement.trace`` and ``network``. It tells how
        much a trace will have to hold; without it there must be memory for the most that a traced
        flow can send, and a trace of the network ends with the memory.
    metrics : mapping of str to str, optional
        Metrics of the user's own, which come into the summary under these names: ``{"mice": "p99
        of slowdown where bytes < 100 kB"}``; see docs/metrics.md.
    **changes
        None: `Scenario.with_` changes a scenario.

    Returns
    -------
    Result
        Summary and tables.

    Raises
    ------
    InputError
        If the seed is out of range, an argument is none of these, a file cannot be used, the
        scenario does not fit together, it needs more memory than there is, or the run comes to a
        limit of ``[measurement]`` or of the clock before it ends.
    MemoryError
        If memory ends all the same. What the run held may be lost until the program ends.
    lightburst._core.Cancelled
        If `cancel` was set.
    KeyboardInterrupt
        On Ctrl-C, when called on the main thread.

    Warns
    -----
    RunWarning
        Of each of `Result.warnings`.
    """
    refuse_changes("run", "scenario, seed, cancel, before and metrics", changes)
    given = as_scenario(scenario)
    result = simulate(given, seed, cancel=cancel, before=before, metrics=metrics)
    warn(result.warnings, stacklevel=2)
    return result


def simulate(
    scenario: Scenario,
    seed: int | np.integer = 1,
    *,
    cancel: _core.Cancel | None = None,
    progress: Progress | None = None,
    before: Result | None = None,
    ask: Callable[[int, int | None], None] | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
) -> Result:
    """Do what `run` does, but issue no warnings: for callers that report them themselves.

    Before it begins it calls `ask`, if that is given, with the bytes that it needs and the most
    that the program may hold (None: what is free); `ask` may wait.
    """
    seed = check_seed(seed)
    own = parse_all({} if metrics is None else metrics)
    check_all(own, scenario)
    plan = compile_plan(scenario, seed)
    most = scenario.measurement.memory_limit
    needed = estimate_memory(plan, None if before is None else before.columns, most)
    if ask is not None:
        ask(needed, most)
    begun = time.perf_counter()
    watch, limit = Watch(most, progress), scenario.measurement.event_limit
    columns = _columns(plan, cancel, limit, watch)
    if scenario.measurement.warm_up is None:
        begin, settled = Active.of(plan, columns).settled()
        plan = plan.counting((begin, plan.window_ps[1]), settled=settled)
        if begin > 0:
            # The same once more, to the bit: only now is it known from when on it is to count.
            del columns
            columns = _columns(plan, cancel, limit, watch)
    return Result(scenario, seed, plan, columns, time.perf_counter() - begun, own)


def _columns(
    plan: Plan, cancel: _core.Cancel | None, event_limit: int | None, watch: Watch
) -> Columns:
    """Run a plan."""
    settings, tables = json.dumps(plan.settings), (plan.nodes, plan.links, plan.flows)
    for column in plan.flows.values():
        column.flags.writeable = False  # so that the simulator reads it where it is
    try:
        return as_counted(_core.simulate(settings, *tables, cancel, event_limit, watch))
    except _core.Stopped as stopped:
        raise refusal(stopped, plan, watch) from None
