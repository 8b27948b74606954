"""``lightburst optimise``: the best values of some parameters, and their effect."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from lightburst.cli.commands.sweep import asked
from lightburst.cli.terminal.guard import complete
from lightburst.cli.terminal.numbers import Plain
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.optimise import optimise_all
from lightburst.experiment.optimum import OPTIMUM, TRIALS
from lightburst.result.files import STUDY
from lightburst.result.labels import words_of
from lightburst.result.metric_text import readable, readable_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lightburst.experiment.optimum import Optimum
    from lightburst.study.workers.interface import Workers


def optimise(
    path: str,
    settings: Sequence[str],
    where: AbstractContextManager[Workers],
    format: str,
    out: str | None,
    yes: bool,
) -> None:
    """Search for an optimum and print the result; the parameters are those of ``sweep``."""
    found = asked(optimise_all, path, settings, where, format, out, yes)
    directory = None if out is None else found.save(out)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        found.trials.to_csv(sys.stdout, index=False)
    else:
        _print(found)
        if directory is None:
            say(f"Trials, table and figure as files: add --out DIR. In Python: "
                f"lb.optimise({path!r}).")  # fmt: skip
        else:
            say(*files_in(directory, TRIALS, OPTIMUM, "optimise"))
    warn(found.warnings)
    complete(found.failed)


def files_in(directory: Path, table: str, everything: str, command: str) -> Iterator[str]:
    """Return the paths of the main files, and the command that repeats the study."""
    for file in sorted(directory.glob("*.png")):
        yield f"figure: {file} (and .svg)"
    yield f"table:  {directory / table}"
    yield f"all:    {directory / everything}"
    if (directory / STUDY).is_file():
        yield f"again:  lightburst {command} {directory / STUDY}"


def _print(found: Optimum) -> None:
    trials = found.trials.drop_duplicates("trial")
    given_up = int((trials["verdict"] == "given up").sum())
    name = found.study.name or found.study.scenario.name or "unnamed study"
    fresh = int(found.confirmed["n"].max())
    say(f"{name}: {found.asked}")
    say(f"  {len(trials)} trials, {given_up} given up early, {found.runs:,} runs", "")
    say(*(f"  {line}" for line in (found.answer, *found.as_good)))
    if found.gain:
        value, _, gain = found.gain.partition(": ")
        say(f"  on {fresh} fresh seeds {value}:", f"  {gain}")
    shown = Plain(f"On {fresh} fresh seeds, mean (95 %); against the default seed by seed")
    names = [one.name for one in found.space.dimensions]
    shown.add_column("")
    for column in names:
        shown.add_column(column, justify="right")
    for aim in found.aims:
        shown.add_column(words_of(aim.metric), justify="right", no_wrap=True)
        shown.add_column("against the default", justify="right", no_wrap=True)
    for point, labels, rows in found.rows():
        cells = [cell for row in rows for cell in _cells(found, row)]
        shown.add_row(point, *(found.value(column, labels) for column in names), *cells)
    show_table(shown)
    if found.theory:
        say("Best assembly time by yu2004:", *(f"  {one}" for one in found.theory))


def _cells(found: Optimum, row: Mapping[str, Any]) -> tuple[str, str]:
    key = found.key(row["metric"])
    mean = readable_interval(key, dict(row))
    if row.get("verdict") != row.get("verdict") or row.get("verdict") is None:
        return mean, ""
    if row["ratio"] == row["ratio"]:
        ends = (f"{100 * (row[f'ratio{end}'] - 1):+.3g}" for end in ("", "_low", "_high"))
        return mean, "{} % ({} to {}), {}".format(*ends, row["verdict"])
    return mean, f"{readable(key, row['difference'])}, {row['verdict']}"
