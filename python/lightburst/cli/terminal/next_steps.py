"""Suggestions after a run: useful next questions with complete commands."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from lightburst.compile import LARGEST_SEED
from lightburst.result.metrics import worst_flow
from lightburst.scenario.transport import OPEN_LOOP, Bursts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.result.result import Result

# Enough seeds for a meaningful interval, few enough to wait for.
_SEEDS: Final = 10


def next_steps(
    result: Result, path: str, settings: Sequence[str], metrics: Sequence[str], out: str | None
) -> Iterator[str]:
    """Suggest next steps after a run, each with its command.

    Parameters
    ----------
    result : Result
        Result of the run.
    path : str
        Path of the scenario file.
    settings, metrics : sequence of str
        Options ``--set`` and ``--metric`` of the run.
    out : str or None
        Directory to which the run was saved.

    Yields
    ------
    str
        One line per step: the question, and the command that answers it.
    """
    changed = "".join(f" --set {quote(setting)}" for setting in settings)
    own = "".join(f" --metric {quote(metric)}" for metric in metrics)
    seed = "" if result.seed == 1 else f" --seed {result.seed}"
    run, same = f"lightburst run {quote(path)}{changed}{own}{seed}", f"{quote(path)}{changed}{seed}"
    folder = Path("out", Path(path).stem)
    steps: dict[str, str] = {}
    if result.plan.flows["bytes"].size:
        steps.update(_of_worst(result, same, folder))
    saved = quote(str(folder)) if out is None else quote(out)
    report = f"lightburst report {saved}"
    steps["pictures of it on a page"] = report if out else f"{run} --out {saved} && {report}"
    if (seeds := min(_SEEDS, LARGEST_SEED + 1 - result.seed)) > 1:
        steps[f"means and intervals of {seeds} seeds"] = f"{run} --replications {seeds}"
    widest = max(map(len, steps))
    for words, command in steps.items():
        yield f"  {words:{widest}}  {command}"


def _of_worst(result: Result, same: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Suggest analyses of the slowest flow.

    Bursts made by edges have no packets to follow, those of 1+1 travel twice, and those of subflows
    have numbers of their own.
    """
    protection = result.scenario.protection
    if protection is not None and protection.scheme == "1+1":
        return
    worst = worst_flow(result.plan, result.columns)
    transport = result.scenario.flow_groups[result.plan.group[worst]].transport
    if isinstance(transport, Bursts) or getattr(transport, "subflows", 1) > 1:
        return
    yield f"why flow {worst}, the slowest, was slow", f"lightburst explain {same} --flow worst"
    if transport.kind not in OPEN_LOOP:
        where = quote(f"{folder}-flow-{worst}")
        command = f"lightburst trace {same} --flow {worst} --out {where}"
        yield "its window and each of its packets", command
