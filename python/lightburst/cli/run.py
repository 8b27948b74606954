"""``lightburst run``: one scenario, one seed or several."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lightburst.cli.aside import run_aside
from lightburst.cli.guard import resumable
from lightburst.cli.options import choice, whole
from lightburst.compile import check_seed
from lightburst.errors import InputError, show
from lightburst.metrics import to_json
from lightburst.report.files import STORE, check, replace
from lightburst.report.replications import Replications, replicate
from lightburst.report.words import (
    by_class,
    meaningful,
    readable,
    readable_interval,
    transports_of,
    words_of,
)
from lightburst.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from lightburst.fairness import Shared
    from lightburst.result import Result


def run(
    path: str,
    settings: Sequence[str],
    seed: str,
    replications: str,
    format: str,
    out: str | None,
) -> None:
    """Simulate a scenario and print what came of it.

    Parameters
    ----------
    path : str
        The scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    seed, replications : str
        Seed of the first run, and number of runs, as given.
    format : str
        ``"table"``, ``"json"`` or ``"csv"``.
    out : str or None
        Where to write the tables.

    Raises
    ------
    InputError
        If anything of this cannot be used; nothing has been written then.
    """
    choice("--format", format, ("table", "json", "csv"))
    scenario = changed(load(path), settings)
    first, number = whole("--seed", seed, 0), whole("--replications", replications, 1)
    check_seed(first + number - 1, "--seed")
    if out is not None:
        check(out)
    if number == 1:
        result = run_aside(scenario, first)
        if out is not None:
            replace(out, result.save)
        _print_run(result, format)
        _warn(result.warnings)
    else:
        with resumable(STORE):
            found = replicate(scenario, range(first, first + number))
        if out is not None:
            found.save(out)
        _print_replications(found, format)
        _warn(found.warnings)


def changed(scenario: Scenario, settings: Sequence[str]) -> Scenario:
    """Apply ``--set`` options to a scenario.

    Parameters
    ----------
    scenario : Scenario
        Where to begin.
    settings : sequence of str
        ``path=value`` each.

    Returns
    -------
    Scenario
        With the changes, all applied at once.

    Raises
    ------
    InputError
        If one has no ``=``, or the scenario does not allow it.
    """
    changes = {}
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise InputError("--set", show(setting), "PATH=VALUE, as switching.buffer_ports=5")
        changes[path.strip()] = value.strip()
    return scenario.with_(changes) if changes else scenario


def _print_run(result: Result, format: str) -> None:
    if format == "json":
        record = {
            "seed": result.seed,
            **to_json(result.metrics),
            "size_classes": result.classes_as_json(),
            **result.details(),
            "warnings": list(result.warnings),
            "provenance": result.provenance.as_dict(),
        }
        print(json.dumps(record, indent=2, allow_nan=False))
    elif format == "csv":
        _print_csv([{"seed": result.seed, **result.record}])
    else:
        figures = {key: readable(key, value) for key, value in result.metrics.items()}
        shown = meaningful(result.metrics, result.scenario)
        rows = [(words_of(key), figures[key]) for key in shown]
        print_table(_title(result.scenario, f"seed {result.seed}"), rows)
        _print_classes(result.record)
        for name, load in result.offered.items():
            print(f"{name}: {load}" if name else load)
        if not result.groups.empty:
            _print_groups(result.groups, result.fairness)
        if result.fairness is not None:
            print(result.fairness)
        # Longer than a terminal leaves for a value.
        print(f"digest {result.digest}")


def _print_groups(groups: pd.DataFrame, shared: Shared | None) -> None:
    table = Table("", *groups.index)
    for key, values in groups.items():
        table.add_row(words_of(str(key)), *(readable(str(key), value) for value in values))
    if shared is not None:
        means = (shared.group_throughput_bps.get(name) for name in groups.index)
        words = f"throughput on {shared.source} - {shared.target}, mean"
        table.add_row(words, *(readable("throughput_bps", mean) for mean in means))
    Console().print(table)


def _print_replications(found: Replications, format: str) -> None:
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        _print_csv(found.records())
    else:
        summary = found.summary()
        means = {key: interval["mean"] for key, interval in summary.items()}
        shown = meaningful(means, found.scenario)
        rows = [(words_of(key), readable_interval(key, summary[key])) for key in shown]
        seeds = f"{len(found.seeds)} seeds, {found.seeds[0]} to {found.seeds[-1]}: mean, 95 %"
        print_table(_title(found.scenario, seeds), rows)
        _print_classes(means)


def _print_classes(figures: Mapping[str, float | str | None]) -> None:
    """Print a column for each class of size that has flows, if there are several."""
    classes = by_class(figures)
    if len(classes) < 2:
        return
    table = Table("")
    for name in classes:
        table.add_column(name, justify="right")
    for key in next(iter(classes.values())):
        if key != "unfinished" or any(row[key] for row in classes.values()):
            table.add_row(words_of(key), *(readable(key, row[key]) for row in classes.values()))
    Console().print(table)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _title(scenario: Scenario, seeds: str) -> str:
    name = scenario.name or "unnamed scenario"
    transports = transports_of(scenario.to_dict())
    return f"{name}: {scenario.switching.kinds}, {transports}; {seeds}"


def _print_csv(records: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    sys.stdout.write(text.getvalue())


def print_table(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print names and their values below a title.

    Parameters
    ----------
    title : str
        One line, or more where the terminal is narrow.
    rows : iterable of (str, str)
        Name and value.
    """
    table = Table(show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(Text(title, style="italic"))
    console.print(table)
