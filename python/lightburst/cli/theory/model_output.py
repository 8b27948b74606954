"""Output of closed forms: table, JSON, CSV and figure."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lightburst.cli.terminal.numbers import Plain
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import say
from lightburst.cli.theory.grids import number_from_one, seconds
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import parse_size
from lightburst.plots import style, theory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from lightburst.papers.figure import Figure


@dataclass(frozen=True)
class SenderOptions:
    """Options of a sender and its round trip, as given on the command line."""

    round_trip: str
    timeout: str
    window: str
    ack_every: str
    segment_size: str

    def segment_bits(self) -> int:
        """Return the bits per segment; `InputError` if the option is not a size from 1 B."""
        size = parse_size(self.segment_size, "--segment-size")
        if size == 0:
            raise InputError("--segment-size", show(self.segment_size), "a size from 1 B")
        return 8 * size

    def numbers(self) -> tuple[float, float, float, float]:
        """Return RTT and RTO in seconds, W_m and b; `InputError` if an option is invalid."""
        return (
            seconds("--round-trip", self.round_trip, positive=True),
            seconds("--timeout", self.timeout, positive=True),
            number_from_one("--window", self.window),
            number_from_one("--ack-every", self.ack_every),
        )

    def __str__(self) -> str:
        """Format all options but the round trip and the segment size, for a title."""
        return f"RTO {self.timeout}, W_m {self.window}, b {self.ack_every}"

    def told(self) -> str:
        """Format all options but the round trip, for a caption."""
        return (
            f"timeout {self.timeout}, window limit {self.window} segments of {self.segment_size}, "
            f"b = {self.ack_every}."
        )


def outside(records: Sequence[Mapping[str, Any]], assumptions: Mapping[str, str]) -> list[str]:
    """Explain the assumptions that rows break, one line each."""
    seen = {name for row in records for name in row["broken_assumptions"]}
    return [f"  {name}: {words}" for name, words in assumptions.items() if name in seen]


#: Maximum number of curves with different colours.
MOST_COLOURS: Final = len(style.PALETTE)
#: Output formats.
FORMATS: Final = ("table", "json", "csv")
_OPTION: Final = "--figure"


def print_records(
    title: str,
    records: Sequence[Mapping[str, Any]],
    headings: Mapping[str, str],
    format: str,
    more: Mapping[str, Any],
    notes: Sequence[str],
) -> None:
    """Print rows of results.

    Parameters
    ----------
    title : str
        Title above the table.
    records : sequence of mapping
        Rows with the same keys, at least one row. A list contains names; None is a missing number.
    headings : mapping of str to str
        Headings of the table by key, in the order of the columns.
    format : {"table", "json", "csv"}
        Output format.
    more : mapping
        Further keys of the JSON object beside ``rows``.
    notes : sequence of str
        Lines printed below the table.
    """
    if format == "json":
        print(json.dumps({**more, "rows": list(records)}, indent=2, allow_nan=False))
    elif format == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _flat(value) for key, value in row.items()} for row in records)
        sys.stdout.write(text.getvalue())
    else:
        table = Plain(title)
        for key, heading in headings.items():
            # Only the last column may be longer than a line.
            several, words = (isinstance(records[0][key], kind) for kind in (list, str | list))
            side: Literal["left", "right"] = "left" if words else "right"
            table.add_column(heading, justify=side, no_wrap=not several, overflow="fold")
        for row in records:
            table.add_row(*(_cell(row[key]) for key in headings))
        show_table(table)
        say(*notes)


def check_figure(file: str | None, points: int, curves: int) -> Path | None:
    """Check that a figure can be drawn, before anything is printed.

    Parameters
    ----------
    file : str or None
        File to draw to; None for no figure.
    points, curves : int
        Number of points per curve, and of curves with different colours.

    Returns
    -------
    Path or None
        Path of the file.

    Raises
    ------
    InputError
        If the extension is unknown, there are fewer than two points, or too many curves.
    """
    if file is None:
        return None
    path = Path(file)
    if path.suffix not in theory.ENDINGS:
        raise InputError(_OPTION, show(file), f"a file that ends in {' or '.join(theory.ENDINGS)}")
    if points < 2 or curves > MOST_COLOURS:
        given = f"{points} points on each of {curves} curves"
        raise InputError(_OPTION, given, f"two points or more, on up to {MOST_COLOURS} curves")
    return path


def save_figure(figure: Figure, doubtful: pd.Series[bool], file: Path) -> None:
    """Draw a figure to a file and create its directory; `InputError` if it cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        theory.save(figure, doubtful, file)
    except OSError as error:
        given = f"{show(str(file))} ({error.strerror or error})"
        raise InputError(_OPTION, given, "a file that can be written") from error


def _flat(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else value


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, list) else str(value)
