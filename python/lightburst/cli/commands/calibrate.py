"""``lightburst calibrate``: settings of what a paper leaves open, and its statements there."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from lightburst.cli.terminal.guard import resumable
from lightburst.cli.terminal.numbers import Plain
from lightburst.cli.terminal.options import choice, whole
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.calibrate import LIMITS
from lightburst.experiment.calibrate import calibrate as calibrate_paper
from lightburst.experiment.calibrated.calibration import CALIBRATION, MATRIX, SETTINGS, STATEMENTS
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.directory import check
from lightburst.result.files import STORE
from lightburst.study.calibration.ranges import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.table import Table

    from lightburst.experiment.calibrated.calibration import Calibration
    from lightburst.study.workers.interface import Workers

# Most pairs in the terminal; the files have all.
_MOST_PAIRS: Final = 20
_STYLE: Final = {
    Kind.DETERMINED: "green", Kind.BOUNDED: "", Kind.FREE: "dim", Kind.NOTHING: "bold red",
}  # fmt: skip


def calibrate(
    name: str,
    quick: bool,
    full: bool,
    open: str | None,
    whole: bool,
    given: Mapping[str, str | None],
    where: AbstractContextManager[Workers],
    format: str,
    out: str | None,
) -> None:
    """Calibrate a paper, print what is left and the best settings, and list the files.

    Parameters
    ----------
    name : str
        Paper, or one of its parts.
    quick : bool
        Whether to use fewer waves and settings.
    full : bool
        Whether to use the full plan of runs.
    open : str or None
        File of open parameters.
    whole : bool
        Whether every setting has all its runs.
    given : mapping of str to str or None
        Numbers by option without dashes, as given on the command line.
    where : context manager
        Provides the workers, see `lightburst.cli.terminal.computing`.
    format : str
        ``"table"`` or ``"json"``.
    out : str or None
        Directory for tables, figures and the page.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json"))
    if out is not None:
        check(out)
    numbers = {key: _number(key, text) for key, text in given.items() if text is not None}
    how: dict[str, Any] = {"quick": quick, "full": full, "open": open, "whole": whole, **numbers}
    with resumable(STORE), where as workers:
        found = calibrate_paper(name, workers=workers, **how)
    page = None if out is None else found.save(out)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        _print(found)
    stream = sys.stderr if format == "json" else sys.stdout
    for line in _files(page):
        print(line, file=stream)
    warn(found.warnings)


def _number(key: str, text: str) -> int:
    """Parse the number of an option within its limits."""
    if key not in LIMITS:
        return whole(f"--{key}", text, 1)
    least, most = LIMITS[key]
    value = whole(f"--{key}", text, least)
    if value > most:
        raise InputError(f"--{key}", show(text), f"a whole number from {least} to {most:,}")
    return value


def _files(page: Path | None) -> list[str]:
    if page is None:
        return ["Tables, figures and an offline page: add --out DIR."]
    figures = [f"figure: {file} (and .svg)" for file in sorted(page.parent.glob("*.png"))]
    tables = [f"table:  {page.parent / name}" for name in (SETTINGS, STATEMENTS, MATRIX)]
    return [*figures, *tables, f"all:    {page.parent / CALIBRATION}", f"page:   {page}"]


def _print(found: Calibration) -> None:
    waves = ", ".join(
        f"{wave.settings} settings leave {100 * wave.share:.2g} % of all" for wave in found.waves
    )
    say(
        f"{found.name}: {found.runs:,} runs, {len(found.settings)} settings, {found.given_up} of "
        f"them given up early; {waves}"
    )
    show_table(_parameters(found))
    if found.nowhere:
        show_table(_texts("Met by no tried setting", found, found.nowhere))
    if found.apart:
        rows = Plain(f"Met by none together, {len(found.apart)} pairs")
        rows.add_column("statement", no_wrap=True)
        rows.add_column("and", no_wrap=True)
        for pair in found.apart[:_MOST_PAIRS]:
            rows.add_row(*pair)
        show_table(rows)
        if len(found.apart) > _MOST_PAIRS:
            say(f"{len(found.apart) - _MOST_PAIRS} more pairs: --format json, or --out DIR.")
    show_table(_alternatives(found))
    for one in found.best[1:]:
        for word, ids in (("gained", one.gained), ("lost", one.lost)):
            if ids:
                say(f"{one.name}, {word}: {', '.join(ids)}")
    say(f"{found.name}: {found.headline}.")


def _parameters(found: Calibration) -> Table:
    table = Plain("Open parameters: the part of each range that is left")
    for heading in ("verdict", "parameter"):
        table.add_column(heading, no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    for heading in ("base", "range", "left"):
        table.add_column(heading)
    for row in found.parameters.to_dict("records"):
        table.add_row(
            Text(row["verdict"], style=_STYLE[Kind(row["verdict"])]),
            row["parameter"],
            f"{100 * row['share']:.3g} %",
            Text(row["base"]),
            Text(row["range"]),
            Text(row["left"]),
        )
    return table


def _texts(title: str, found: Calibration, ids: list[str]) -> Table:
    texts = {aim.id: aim.text for aim in found.aims}
    table = Plain(title)
    table.add_column("statement", no_wrap=True)
    table.add_column("")
    for id in ids:
        table.add_row(id, Text(texts[id]))
    return table


def _alternatives(found: Calibration) -> Table:
    fresh = found.plan.fresh
    out = sum(aim.held_out for aim in found.aims)
    table = Plain(
        f"On fresh seeds {fresh[0]} to {fresh[-1]}: statements that hold, "
        f"of {len(found.aims) - out} that the search saw and {out} held out of it"
    )
    table.add_column("setting", no_wrap=True)
    for name in found.opened.names:
        table.add_column(name, justify="right")
    for heading in ("hold", "seen", "held out", "gained", "lost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found.best:
        numbers = (one.held, one.held_seen, one.held_out, len(one.gained), len(one.lost))
        values = (str(value) for value in found.written(one).values())
        table.add_row(one.name, *values, *map(str, numbers))
    return table
