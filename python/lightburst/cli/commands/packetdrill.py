"""``lightburst packetdrill``: scripts of packetdrill, carried out against the sender."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from lightburst.cli.terminal.memory import BAD_INPUT
from lightburst.cli.terminal.options import choice, whole
from lightburst.cli.terminal.streams import say, tell
from lightburst.foundation.errors import InputError
from lightburst.packetdrill import Outcome, parse, run

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED: Final = 1
"""Exit code if a script fails."""
_LARGEST: Final = 1_000_000


def run_scripts(paths: Sequence[str], tolerance: str | None, format: str) -> None:
    """Carry out scripts and print how each ends.

    Parameters
    ----------
    paths : sequence of str
        Files of the scripts.
    tolerance : str or None
        Tolerance of times in microseconds, as given; that of each script by default.
    format : str
        ``"table"`` or ``"json"``.

    Raises
    ------
    InputError
        If an option is invalid.
    Exit
        With 1 if a script fails, and with 2 if one cannot be read or has an unknown word.
    """
    choice("--format", format, ("table", "json"))
    tolerance_us = None if tolerance is None else whole("--tolerance_usecs", tolerance, 0)
    rows: list[dict[str, Any]] = []
    for path in paths:
        try:
            outcome = run(parse(path, _read(path)), tolerance_us)
        except InputError as error:
            rows.append({"file": path, "outcome": "unknown", "message": str(error)})
            if format == "table":
                tell(str(error))
        else:
            rows.append(_row(outcome))
            if format == "table":
                say(*str(outcome).splitlines())
    if format == "json":
        print(json.dumps(rows, indent=2, allow_nan=False))
    ends = [row["outcome"] for row in rows]
    if format == "table" and len(rows) > 1:
        said = (f"{ends.count(end)} {end}" for end in ("pass", "fail", "unknown"))
        print(f"{len(rows)} scripts: {', '.join(said)}")
    if "unknown" in ends:
        raise typer.Exit(BAD_INPUT)
    if "fail" in ends:
        raise typer.Exit(FAILED)


def _read(path: str) -> str:
    try:
        data = Path(path).read_bytes()[: _LARGEST + 1]
        if len(data) > _LARGEST:
            raise InputError(path, "more than 1 MB", "a script of packetdrill")
        return data.decode()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "bytes that are no text in UTF-8"
        raise InputError(path, str(said), "a readable script of packetdrill") from None


def _row(outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {
        "file": outcome.path,
        "outcome": "pass" if outcome.passed else "fail",
        "events": outcome.events,
    }
    if one := outcome.difference:
        row |= {
            "line": one.line,
            "message": one.what,
            "expected": one.expected,
            "found": one.found,
        }
    return row
