"""``lightburst reproduce``: a paper's figures and claims."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from rich.text import Text

from lightburst.cli.terminal.guard import resumable
from lightburst.cli.terminal.numbers import Plain, numbers, rows_of
from lightburst.cli.terminal.options import choice, only_with
from lightburst.cli.terminal.screen import show_table
from lightburst.experiment.calibrated.beside import beside
from lightburst.experiment.reproduce import reproduce as run_again
from lightburst.foundation.errors import printable
from lightburst.foundation.files.directory import check
from lightburst.papers.claims import Verdict, by_source, counted, interval_of
from lightburst.papers.open import words_of
from lightburst.papers.statements import records, statements_of
from lightburst.report.page import short
from lightburst.result.files import STORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.table import Table

    from lightburst.experiment.calibrated.beside import Beside
    from lightburst.experiment.reproduce import Reproduction
    from lightburst.papers.claims import Claim
    from lightburst.papers.statements import Statement
    from lightburst.study.workers.interface import Workers

_STYLE: Final = {
    Verdict.HOLDS: "green",
    Verdict.DIFFERS: "bold red",
    Verdict.NOT_COMPARABLE: "dim",
}


def reproduce(
    name: str,
    quick: bool,
    format: str,
    out: str | None,
    where: AbstractContextManager[Workers],
    variant: str | None = None,
) -> None:
    """Reproduce a paper, print its claims and list the files.

    Parameters
    ----------
    name : str
        Paper, or one of its parts.
    quick : bool
        Whether to use fewer seeds and points.
    format : str
        ``"table"``, or ``"json"`` for the list of claims alone.
    out : str or None
        Directory for figures, claims, runs and the page.
    where : context manager
        Provides the workers, see `lightburst.cli.terminal.computing`.
    variant : str or None
        Alternative that is run beside the base, in place of the reproduction.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json"))
    if out is not None:
        check(out)
    if variant is not None:
        only_with("files", "without --variant", {"--out": out})
        with resumable(STORE), where as workers:
            _print_variant(beside(name, variant, quick=quick, workers=workers), format)
        return
    with resumable(STORE), where as workers:
        found = run_again(name, quick=quick, workers=workers)
    page = None if out is None else found.save(out)
    if format == "json":
        print(json.dumps(records(found.claims), indent=2, allow_nan=False))
    else:
        _print_tables(found)
    # With JSON on standard output, messages go to standard error.
    stream = sys.stderr if format == "json" else sys.stdout
    for line in _files(found, page):
        print(printable(line), file=stream)


def _print_variant(found: Beside, format: str) -> None:
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
        return
    one = found.variant
    settings = ", ".join(f"{path} = {words_of(value)}" for path, value in one.settings.items())
    print(f"Variant {one.name} of {found.name}: {settings}.")
    print(f"{one.why} Source: {one.source}.")
    table = Plain(f"The base and {one.name} on seeds {found.seeds[0]} to {found.seeds[-1]}")
    for heading in ("base", one.name, "claim"):
        table.add_column(heading, no_wrap=True)
    for heading in ("published", "base", one.name, "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    before = {claim.id: claim for claim in found.base}
    for claim in found.claims:
        other = before[claim.id]
        table.add_row(
            _verdict(other.verdict),
            _verdict(claim.verdict),
            claim.id,
            short(claim.published),
            short(other.measured),
            short(claim.measured),
            interval_of(claim, short),
        )
    show_table(table)
    for word, ids in (("gained", found.gained), ("lost", found.lost)):
        print(f"{len(ids)} statements {word}{': ' if ids else ''}{', '.join(ids)}.")


def _files(found: Reproduction, page: Path | None) -> Iterator[str]:
    if page is None:
        yield "Figures and an offline page: add --out DIR."
        return
    for figure in found.figures:
        for ending in ("png", "svg"):
            yield f"figure: {page.parent / figure.id}.{ending}"
    for listing in found.tables:
        yield f"table:  {page.parent / listing.id}.csv"
    yield f"page:   {page}"


def _print_tables(found: Reproduction) -> None:
    for printed in (table for figure in found.figures for table in numbers(figure)):
        show_table(printed)
    for listing in found.tables:
        show_table(rows_of(listing))
    for source, claims in by_source(found.claims).items():
        statements = statements_of(claims)
        title = f"Claims of {found.name}, source: {source} ({counted(statements)})"
        show_table(_claims(title, claims[0].reference, statements))
        for heading, rows in (
            (
                "Readings",
                [(x.id, f"{x.text}: {x.told}") for x in statements if len(x.readings) > 1],
            ),
            ("What differs", [_difference(x) for x in statements if x.verdict is Verdict.DIFFERS]),
            ("Why", [row for x in statements for row in _reasons(x)]),
            ("What changed", [(x.id, str(x.was)) for x in claims if x.was]),
        ):
            if rows:
                show_table(_texts(heading, rows))
    print(f"{found.name}: {found.headline}.")
    print("Criteria and notes: --format json, or the page.")


def _claims(title: str, reference: str, statements: Sequence[Statement]) -> Table:
    table = Plain(title)
    for heading in ("verdict", "claim"):
        table.add_column(heading, no_wrap=True)
    for heading in (reference, "measured", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in statements:
        several = len(one.readings) > 1
        if several:
            table.add_row(_verdict(one.verdict), one.id, "", "", "")
        for claim in one.readings:
            table.add_row(*_row(claim, "  " if several else ""))
    return table


def _difference(statement: Statement) -> tuple[str, str]:
    """Write what was measured beside what is published, under each reading."""
    numbers = [
        f"{one.reading and f'{one.reading}, '}{one.reference} {short(one.published)}, "
        f"measured {short(one.measured)}"
        for one in statement.readings
    ]
    return statement.id, f"{statement.text}: {'; '.join(numbers)}"


def _reasons(statement: Statement) -> Iterator[tuple[str, str]]:
    """Write the class of each claim that differs, with the evidence, where one is known."""
    for one in statement.readings:
        if one.difference is not None:
            yield one.id, f"{one.difference.kind.value}: {one.difference.evidence}"


def _texts(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Make a table of ids and texts."""
    table = Plain(title)
    table.add_column("claim", no_wrap=True)
    table.add_column("statement")
    for id, text in rows:
        table.add_row(id, Text(text))
    return table


def _verdict(verdict: Verdict) -> Text:
    return Text(verdict.value, style=_STYLE[verdict])


def _row(claim: Claim, indent: str) -> tuple[Text | str, ...]:
    """Return a row of the table; readings are set off below their statement."""
    interval = "–"
    if claim.ci_low is not None and claim.ci_high is not None:
        interval = f"{claim.ci_low:.4g} to {claim.ci_high:.4g}"
    return (
        Text(indent) + _verdict(claim.verdict),
        f"{indent}{claim.id}",
        short(claim.published),
        short(claim.measured),
        interval,
    )
