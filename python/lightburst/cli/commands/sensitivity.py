"""``lightburst sensitivity``: influence of parameters on a metric."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from lightburst.cli.commands.optimise import files_in
from lightburst.cli.commands.sweep import asked
from lightburst.cli.terminal.guard import complete
from lightburst.cli.terminal.numbers import Plain
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.sensitivity import sensitivity_all
from lightburst.experiment.sensitivity_result import INDICES, SENSITIVITY
from lightburst.result.labels import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from lightburst.experiment.sensitivity_result import Sensitivities
    from lightburst.study.workers.interface import Workers


def sensitivity(
    path: str,
    settings: Sequence[str],
    where: AbstractContextManager[Workers],
    format: str,
    out: str | None,
    yes: bool,
) -> None:
    """Compute variance-based indices and print them; the parameters are those of ``sweep``."""
    found = asked(sensitivity_all, path, settings, where, format, out, yes)
    directory = None if out is None else found.save(out)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        found.table.to_csv(sys.stdout, index=False)
    else:
        _print(found)
        if directory is None:
            say(f"Indices, points and picture as files: add --out DIR. In Python: "
                f"lb.sensitivity({path!r}).")  # fmt: skip
        else:
            say(*files_in(directory, INDICES, SENSITIVITY, "sensitivity"))
    warn(found.warnings)
    complete(found.failed)


def _print(found: Sensitivities) -> None:
    name = found.study.name or found.study.scenario.name or "unnamed study"
    for metric, rows in found.table.groupby("metric", sort=False):
        told = f"{len(found.points):,} points, {found.runs:,} runs"
        shown = Plain(f"{name}: {words_of(str(metric))}, {told}; 95 % intervals")
        shown.add_column("parameter")
        shown.add_column("first-order index", justify="right", no_wrap=True)
        shown.add_column("total index", justify="right", no_wrap=True)
        for row in rows.to_dict("records"):
            shown.add_row(
                row["parameter"],
                *(
                    f"{row[key]:.2f} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})"
                    for key in ("first", "total")
                ),
            )
        show_table(shown)
        say(f"  {found.about(str(metric))}")
