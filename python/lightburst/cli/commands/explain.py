"""``lightburst explain``: causes of the time of a flow or a step, and the fate of a burst."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightburst.cli.commands.run import changed
from lightburst.cli.terminal.aside import run_aside
from lightburst.cli.terminal.options import choice, only_with, seed_of, whole
from lightburst.cli.terminal.streams import warn
from lightburst.experiment.network_trace import follow_all, lost_bursts
from lightburst.explanation.burst import tell
from lightburst.explanation.flow import WORST, explain
from lightburst.explanation.step import explain_step
from lightburst.foundation.errors import InputError
from lightburst.result.rerun import check_same, load_saved
from lightburst.scenario import load
from lightburst.simulation.completed import SLOWEST
from lightburst.simulation.foretold import Foretold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario


def explain_one(
    path: str,
    settings: Sequence[str],
    flow: str | None,
    burst: str | None,
    bursts: bool,
    step: str | None,
    seed: str | None,
    format: str,
) -> None:
    """Run a scenario, follow one flow, burst or collective operation, and print an explanation.

    Parameters
    ----------
    path : str
        Scenario file, or directory of a saved result.
    settings : sequence of str
        Changes, ``path=value`` each.
    flow : str or None
        Number of the flow or ``"worst"``, which is the default unless bursts are requested.
    burst : str or None
        Number of the burst.
    bursts : bool
        Whether to list all lost bursts instead.
    step : str or None
        Number of the step of collective operations, or ``"slowest"``.
    seed : str or None
        Seed of the run; by default that of the saved result, or 1.
    format : str
        ``"table"`` or ``"json"``.

    Raises
    ------
    InputError
        If an argument is invalid.
    """
    choice("--format", format, ("table", "json"))
    if bursts:
        others = {"--flow": flow, "--burst": burst, "--step": step}
        only_with("one of them", "without --bursts", others)
    elif burst is not None:
        only_with("a flow or a step", "without --burst", {"--flow": flow, "--step": step})
    elif step is not None:
        only_with("a flow", "without --step", {"--flow": flow})
    saved = load_saved(path) if Path(path).is_dir() else None
    scenario = changed(load(path) if saved is None else saved.scenario, settings)
    own = 1 if saved is None else saved.seed
    first = own if seed is None else seed_of(seed)
    foretell = Foretold(warn)
    simulate = partial(run_aside, foretell=foretell)
    found = _explained(scenario, flow, burst, bursts, step, first, simulate)
    if saved is not None and not settings and first == saved.seed:
        check_same(saved, found.result.digest)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        print("\n".join(lost_bursts(found.trace)) if bursts else found)
        print(f"\ndigest {found.result.digest}")
    warn(foretell.rest(found.result.warnings))


def _explained(
    scenario: Scenario,
    flow: str | None,
    burst: str | None,
    bursts: bool,
    step: str | None,
    seed: int,
    simulate: Callable[..., Result],
) -> Any:
    """Return the requested explanation; map an error about a field to its option."""
    number = "" if burst is None else whole("--burst", burst, 0)
    which = WORST if flow in (None, WORST) else whole("--flow", flow or "", 0, WORST)
    at = SLOWEST if step in (None, SLOWEST) else whole("--step", step or "", 0, SLOWEST)
    try:
        if bursts:
            return follow_all(scenario, seed, simulate)
        if burst is not None:
            return tell(scenario, int(number), seed, simulate)
        if step is not None:
            return explain_step(scenario, at, seed, simulate=simulate)
        return explain(scenario, which, seed, simulate=simulate)
    except InputError as error:
        options = {"flow": "--flow", "burst": "--burst", "step": "--step"}
        if bursts or burst is not None:
            options["measurement.network"] = "--bursts" if bursts else "--burst"
        raise InputError(options.get(error.path, error.path), error.given, error.allowed) from None
