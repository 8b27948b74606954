"""``lightburst sweep``: a study, from its file to means and comparisons."""

from __future__ import annotations

import json
import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from lightburst.cli.terminal.guard import complete, resumable
from lightburst.cli.terminal.numbers import Plain
from lightburst.cli.terminal.options import agreed, choice
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.sweep import sweep_all
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.directory import check
from lightburst.foundation.formatting import as_given
from lightburst.foundation.support import BEYOND, notes, weak_in
from lightburst.result.files import COMPARISONS, RUNS, STORE, STUDY, TABLE
from lightburst.result.metric_text import metric_words, readable_interval
from lightburst.scenario.change import from_text
from lightburst.simulation.foretold import Foretold
from lightburst.study.design.description import is_axis, load_study
from lightburst.study.execution.cost import MOST_RUNS, TooManyRunsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pandas as pd

    from lightburst.experiment.sweep_result import Sweep
    from lightburst.study.design.description import StudyDescription
    from lightburst.study.workers.interface import Workers


def sweep(
    path: str,
    settings: Sequence[str],
    where: AbstractContextManager[Workers],
    format: str,
    out: str | None,
    yes: bool,
) -> None:
    """Run a study and print its means and comparisons.

    Parameters
    ----------
    path : str
        Path of the study file.
    settings : sequence of str
        Changes, ``path=values`` each: of an axis, or of the base scenario.
    where : context manager
        Provides the workers, see `lightburst.cli.terminal.computing`.
    format : str
        ``"table"``, ``"json"`` or ``"csv"``.
    out : str or None
        Directory for the tables.
    yes : bool
        Whether to run any number of runs without confirmation.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    foretell = Foretold(warn)
    work = partial(sweep_all, foretell=foretell)
    found = asked(work, path, settings, where, format, out, yes)
    directory = None if out is None else found.save(out)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        found.table().to_csv(sys.stdout, index=False)
    else:
        _print(found)
        if directory is None:
            say(f"Runs, tables and figures as files: add --out DIR. In Python: lb.sweep({path!r}).")
        else:
            say(*_files(directory))
    warn(foretell.rest(found.warnings))
    complete(found.failed)


def asked(
    work: Callable[..., Any],
    path: str,
    settings: Sequence[str],
    where: AbstractContextManager[Workers],
    format: str,
    out: str | None,
    yes: bool,
) -> Any:
    """Load a study, check the options and execute the study.

    Parameters
    ----------
    work : callable
        Function of the study, the store and options; returns the result.
    path, settings, where, format, out, yes
        As for `sweep`.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json", "csv"))
    study = changed(load_study(path), settings)
    if out is not None:
        check(out)
    with resumable(STORE), where as workers:
        return _agreed(work, study, workers, yes)


def _agreed(work: Callable[..., Any], study: StudyDescription, workers: Workers, yes: bool) -> Any:
    """Execute the study; ask the user for confirmation if it needs very many runs."""
    try:
        return work(study, STORE, workers=workers, most_runs=None if yes else MOST_RUNS)
    except TooManyRunsError as error:
        agreed("study", error.cost.runs, MOST_RUNS, str(error.cost))
    return work(study, STORE, workers=workers, most_runs=None)


def _files(directory: Path) -> Iterator[str]:
    """Return the paths of the main files, and the command that repeats the study."""
    for file in sorted(directory.glob("*.png")):
        yield f"figure: {file} (and .svg)"
    for name in (TABLE, COMPARISONS):
        if (directory / name).is_file():
            yield f"table:  {directory / name}"
    yield f"runs:   {directory / RUNS}; lb.load_sweep({str(directory)!r}) has all of it in Python"
    if (directory / STUDY).is_file():
        yield f"again:  lightburst sweep {directory / STUDY}"


def changed(study: StudyDescription, settings: Sequence[str]) -> StudyDescription:
    """Apply ``--set`` options to a study.

    Parameters
    ----------
    study : StudyDescription
        Study to change.
    settings : sequence of str
        Changes, ``path=values`` each: new values of an axis, or a change of the base scenario.

    Returns
    -------
    StudyDescription
        Study with the changes.

    Raises
    ------
    InputError
        If a setting has no ``=``, or is invalid for the study.
    """
    over, changes = dict(study.over), {}
    for setting in settings:
        path, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not path:
            allowed = "PATH=VALUE, or PATH=[VALUE, ...] for an axis, as workload.load=[0.2, 0.4]"
            raise InputError("--set", show(setting), allowed)
        value = from_text(path, text)
        if path in over or isinstance(value, list) or is_axis(value):
            over[path] = value if isinstance(value, list | dict) else [value]
        else:
            changes[path] = text
    scenario = study.scenario.with_(changes) if changes else study.scenario
    return study.model_copy(update={"scenario": scenario, "over": over})


def _print(found: Sweep) -> None:
    names = [axis.name for axis in found.design.axes]
    labels = [*(["variant"] if found.design.variants else []), *names]
    means = found.table()
    seeds = found.runs["seed"].nunique()
    name = found.study.name or found.design.base.name or "unnamed study"
    told = "mean (95 %)" if seeds > 1 else "no intervals: more seeds give them"
    title = f"{name}: {_number(found.design.number, 'point')}, {_number(seeds, 'seed')}; {told}"
    shown = Plain(title)
    metrics = list(dict.fromkeys(means["metric"]))
    for name in labels:
        shown.add_column(name)
    for metric in metrics:
        shown.add_column(metric_words(found.study.metrics, metric), justify="right", no_wrap=True)
    for key, rows in _by_point(means, labels).items():
        cells = {x["metric"]: _cell(found, x) for x in rows}
        shown.add_row(*key, *(cells.get(metric, "") for metric in metrics))
    show_table(shown)
    for line in notes(weak_in(means)):
        print(line)
    for a, b in found.study.compare:
        _print_comparison(found, a, b)


def _cell(found: Sweep, row: dict[str, Any]) -> str:
    """Format a mean with its interval, and mark a percentile that needs more samples."""
    told = readable_interval(found.key(row["metric"]), row)
    return f"{told} {BEYOND}" if row["samples"] < row["needed"] else told


def _print_comparison(found: Sweep, a: str, b: str) -> None:
    outcome = found.compare(a, b)
    labels = [axis.name for axis in found.design.axes if axis.name in outcome.table]
    shown = Plain(f"{b} against {a}, on the same seeds; intervals that hold together")
    for name in (*labels, "metric"):
        shown.add_column(name)
    for name in (f"{b} / {a} (95 %)", "p", "verdict"):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in outcome.table.to_dict("records"):
        ends = {"mean": row["ratio"], "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]}
        shown.add_row(
            *(as_given(row[name]) for name in labels),
            metric_words(found.study.metrics, row["metric"]),
            readable_interval("", ends),
            "" if math.isnan(row["p_adjusted"]) else f"{row['p_adjusted']:.2g}",
            row["verdict"],
        )
    show_table(shown)
    for line in outcome.cautions:
        print(line)


def _by_point(table: pd.DataFrame, labels: Sequence[str]) -> dict[tuple[Any, ...], list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in table.to_dict("records"):
        key = tuple(as_given(row[name]) for name in labels)
        found.setdefault(key, []).append(row)
    return found


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
