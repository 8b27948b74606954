"""One run: from a scenario and a seed to a result."""

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from typing import Never

import numpy as np
from numpy.typing import NDArray

from lightburst import _core
from lightburst.compile import Plan, check_seed, compile_plan, estimate_memory
from lightburst.expressions import Expression, check_all, parse_all
from lightburst.foundation.counts import Columns
from lightburst.foundation.errors import refuse_changes, warn
from lightburst.foundation.narrow import as_counted
from lightburst.result.pauses import foreseen
from lightburst.result.result import Result
from lightburst.result.warm_up import Active
from lightburst.scenario import Scenario, as_scenario
from lightburst.simulation.foretold import Foretold
from lightburst.simulation.limits import Progress, Watch, refusal
from lightburst.simulation.parts import check_threads, divide


def run(
    scenario: Scenario | str | PathLike[str],
    seed: int | np.integer = 1,
    *,
    cancel: _core.Cancel | None = None,
    before: Result | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    threads: int | np.integer = 1,
    **changes: Never,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        The scenario, or the name of its file.
    seed : int
        Seed of all random streams, from 0 to 2**64 - 1. The same scenario and seed give the same
        result to the bit; the same seed gives the same flows for every switch and transport.
    cancel : Cancel, optional
        Token that stops the run when it is set.
    before : Result, optional
        Result of the same scenario and seed without ``measurement.trace`` and ``network``, which
        tells the size of a trace. Without it, memory is required for all segments that a traced
        flow can send, and a trace of the network stops the run when memory ends.
    metrics : mapping of str to str, optional
        User-defined metrics by name: ``{"mice": "p99 of slowdown where bytes < 100 kB"}``.
    threads : int
        Most threads of the run; its result is the same to the bit (docs/performance.md).
    **changes
        Not accepted, and refused with a hint: `Scenario.with_` changes a scenario.

    Returns
    -------
    Result
        Summary and tables.

    Raises
    ------
    InputError
        If the seed or the number of threads is out of range, an argument is unknown, a file cannot
        be used, the parts of the scenario do not fit together, the run needs more memory than is
        available, or it reaches a limit of ``[measurement]`` or of the clock before it ends.
    MemoryError
        If an allocation fails nevertheless. The memory may stay allocated until the program ends.
    lightburst._core.Cancelled
        If `cancel` was set.
    KeyboardInterrupt
        On Ctrl-C, when called on the main thread.

    Warns
    -----
    RunWarning
        For each of `Result.warnings`, early if possible; and if the run cannot use `threads`.
    """
    refuse_changes("run", "scenario, seed, cancel, before, metrics and threads", changes)
    given = as_scenario(scenario)
    # Of the caller of `run`: behind `Foretold.before`, `simulate` and `run`.
    foretell = Foretold(partial(warn, stacklevel=4))
    result = simulate(
        given,
        seed,
        cancel=cancel,
        before=before,
        foretell=foretell,
        metrics=metrics,
        threads=threads,
    )
    warn(foretell.rest(result.warnings), stacklevel=2)
    return result


def simulate(
    scenario: Scenario,
    seed: int | np.integer = 1,
    *,
    cancel: _core.Cancel | None = None,
    progress: Progress | None = None,
    before: Result | None = None,
    ask: Callable[[int, int | None], None] | None = None,
    foretell: Foretold | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    threads: int | np.integer = 1,
) -> Result:
    """Run a scenario as `run`, without issuing warnings, for callers that report them themselves.

    Before the simulation `ask` is called, if given, with the estimated bytes of the run and the
    most bytes that the program may hold (None: as many as are available). `ask` may wait. Then
    `foretell`, if given, tells those of the warnings of the result that are known then.
    """
    seed, most_threads = check_seed(seed), check_threads(threads)
    own = parse_all({} if metrics is None else metrics)
    check_all(own, scenario)
    plan = compile_plan(scenario, seed)
    most = scenario.measurement.memory_limit
    parts, reason = divide(plan, most_threads)
    number = 1 if parts is None else int(parts.max()) + 1
    needed = estimate_memory(plan, None if before is None else before.columns, most, number)
    if ask is not None:
        ask(needed, most)
    known = tuple(foreseen(scenario, plan))
    if foretell is not None:
        foretell.before(known)
        if reason is not None:
            foretell.before([f"the run has one thread, since {reason}"])
    begun = time.perf_counter()
    watch, limit = Watch(most, progress), scenario.measurement.event_limit
    simulated = partial(_columns, parts=parts, cancel=cancel, event_limit=limit, watch=watch)
    columns = simulated(plan)
    if scenario.measurement.warm_up is None:
        begin, settled = Active.of(plan.started(columns), columns).settled()
        plan = plan.counting((begin, plan.window_ps[1]), settled=settled)
        if begin > 0:
            # The begin of the window is known only after a run, so the same run is repeated.
            del columns
            columns = simulated(plan)
    plan = plan.started(columns)
    return Result(scenario, seed, plan, columns, time.perf_counter() - begun, own, known)


def _columns(
    plan: Plan,
    *,
    parts: NDArray[np.uint16] | None,
    cancel: _core.Cancel | None,
    event_limit: int | None,
    watch: Watch,
) -> Columns:
    """Simulate a plan, in parts if `parts` are given; return its columns."""
    settings, tables = json.dumps(plan.settings), (plan.nodes, plan.links, plan.flows)
    for column in plan.flows.values():
        column.flags.writeable = False  # so that the simulator reads it where it is
    try:
        if parts is None:
            return as_counted(_core.simulate(settings, *tables, cancel, event_limit, watch))
        number = int(parts.max()) + 1
        limits = cancel, event_limit, watch
        return as_counted(_core.simulate(settings, *tables, *limits, parts.tolist(), number))
    except _core.Stopped as stopped:
        raise refusal(stopped, plan, watch, event_limit) from None
