"""``lightburst compare``: comparison of two saved results by metric."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rich.box import SIMPLE
from rich.table import Table

from lightburst.cli.terminal.options import choice
from lightburst.cli.terminal.screen import show_table
from lightburst.experiment.compare import compare
from lightburst.foundation.errors import InputError, printable
from lightburst.result.metric_text import readable, readable_interval, words_of
from lightburst.study.statistics.comparison import HIGHER, LOWER, SAME, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.study import Comparison

# Maximum number of rows and of changed settings printed; the files contain all.
_MOST_ROWS: Final = 40
_MOST_CHANGES: Final = 12
_SMALL: Final = 1e-4


def print_comparison(first: str, second: str, metrics: Sequence[str], format: str) -> None:
    """Compare two saved results and print the differences.

    Parameters
    ----------
    first, second : str
        Directories of the results.
    metrics : sequence of str
        Names of metrics to compare; empty for all.
    format : str
        ``"table"``, ``"json"`` or ``"csv"``.

    Raises
    ------
    InputError
        If an argument is invalid.
    """
    choice("--format", format, ("table", "json", "csv"))
    try:
        found = compare(first, second, metrics or None)
    except InputError as error:
        path = {"metrics": "--metric"}.get(error.path, error.path)
        raise InputError(path, error.given, error.allowed) from None
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        sys.stdout.write(found.table.to_csv(index=False))
    else:
        print_found(found)


def print_found(found: Comparison) -> None:
    """Print a comparison as text: differences, changed settings and statistical certainty."""
    rows = found.records()
    single = max((max(row["runs_first"], row["runs_second"]) for row in rows), default=0) < 2
    title = f"A: {found.first}; B: {found.second}"
    shown = sorted((row for row in rows if row["verdict"] != SAME), key=_surest_first)
    if shown:
        show_table(_table(found, shown[:_MOST_ROWS], single), printable(title))
    else:
        print(printable(title))
    for line in (*_left(found, rows, len(shown)), *_changes(found), *_how(found, rows, single)):
        print(printable(line))


def _table(found: Comparison, rows: Sequence[dict[str, Any]], single: bool) -> Table:
    """Make the table, with two lines per metric to fit a terminal of 80 columns."""
    points = _points(found)
    table = Table(*points, "", box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in ("A\nB", "B - A\nB / A", *(() if single else ("B is\np",))):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        key = row["metric"]
        cells = [f"{readable(key, row['first'])}\n{readable(key, row['second'])}"]
        cells.append(f"{_difference(key, row)}\n{_ratio(row)}")
        if not single:
            cells.append(f"{row['verdict']}\n{_probability(row['p_adjusted'])}")
        table.add_row(*(str(row[name]) for name in points), words_of(key), *cells)
    return table


def _points(found: Comparison) -> list[str]:
    """Return the columns that identify points, without duplicates of a quantity as a number."""
    return [
        name
        for name in found.points
        if found.table[name].notna().any()
        and not any(name.startswith(f"{other}_") for other in found.points)
    ]


def _surest_first(row: dict[str, Any]) -> tuple[bool, bool, float]:
    p = row["p"]
    return row["verdict"] not in (HIGHER, LOWER), p is None, 1.0 if p is None else p


def _difference(key: str, row: dict[str, Any]) -> str:
    """Format a difference with its sign and interval."""
    plus = "+" if (row["difference"] or 0) > 0 else ""
    if row["ci_low"] is None:
        return plus + readable(key, row["difference"])
    ends = {"mean": row["difference"], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
    return plus + readable_interval(key, ends)


def _ratio(row: dict[str, Any]) -> str:
    if row["ratio"] is None:
        return "–"
    if row["ratio_low"] is None or row["ratio_low"] == row["ratio_high"]:
        return f"{row['ratio']:.4g}"
    ends = {"mean": row["ratio"], "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]}
    return readable_interval("", ends)


def _probability(p: float | None) -> str:
    if p is None:
        return "–"
    return f"< {_SMALL:g}" if p < _SMALL else f"{p:.2g}"


def _left(found: Comparison, rows: Sequence[dict[str, Any]], shown: int) -> Iterator[str]:
    """Summarise the rows and metrics missing from the table."""
    if shown > _MOST_ROWS:
        yield f"{shown - _MOST_ROWS:,} more rows: --format csv has all."
    if not found.points:
        same = [words_of(row["metric"]) for row in rows if row["verdict"] == SAME and row["first"]]
        if same:
            yield f"The same in every run: {'; '.join(same)}."
    elif same_rows := len(rows) - shown:
        yield f"{same_rows:,} rows are the same in every run."
    for word, names in (("A", found.only_first), ("B", found.only_second)):
        whole = [words_of(name) for name in names if "[" not in name]
        if whole:
            yield f"Only in {word}: {'; '.join(whole)}."
    if found.points_left_out:
        yield f"{found.points_left_out:,} points are in one of the two only."


def _changes(found: Comparison) -> Iterator[str]:
    """List the differences between the two scenarios."""
    yield from replace(found, first="A", second="B").cautions
    if not found.changes:
        return
    yield "What was changed, A -> B:"
    for path, (one, other) in list(found.changes.items())[:_MOST_CHANGES]:
        yield f"  {path}: {'–' if one is None else one} -> {'–' if other is None else other}"
    if len(found.changes) > _MOST_CHANGES:
        yield f"  and {len(found.changes) - _MOST_CHANGES} more: --format json has all"


def _how(found: Comparison, rows: Sequence[dict[str, Any]], single: bool) -> Iterator[str]:
    """Explain the statistical certainty of the comparison."""
    if single:
        yield (
            "One run each: the difference may be due to chance alone. Run both with "
            "--replications 20 and the same --seed."
        )
        return
    if all(row["verdict"] == SAME for row in rows):
        yield "Nothing differs."
        return
    pairs = max(row["pairs"] for row in rows)
    runs = [max(row[name] for row in rows) for name in ("runs_first", "runs_second")]
    if pairs:
        yield f"{pairs} pairs of runs with the same seed."
    elif min(runs) < 2:
        yield f"{runs[0]} and {runs[1]} runs: two of each are needed to tell from chance."
        return
    else:
        yield (
            f"{runs[0]} and {runs[1]} runs without two seeds in common, so not paired (Welch); the "
            "same seeds for both would narrow the intervals."
        )
    together = f"{100 * found.confidence:g} %"
    yield (
        f"All {found.compared} intervals hold together with {together}: they and p are corrected "
        "for that by one method (Bonferroni)."
        if found.compared > 1
        else f"The interval is that of {together}."
    )
    if any(row["verdict"] == UNKNOWN for row in rows):
        yield "Unknown: no values, or infinite ones because flows did not finish."
    if found.compared > 1:
        yield "Fewer metrics have narrower intervals: --metric NAME selects one."
