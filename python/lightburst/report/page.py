"""Offline HTML page: a single file that loads nothing from the network."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lightburst.papers.claims import Verdict, by_source, counted, interval_of
from lightburst.papers.statements import statements_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.papers.statements import Statement
    from lightburst.plots.interactive import Key

TONES: Final = {
    Verdict.HOLDS: ("holds", "✓"),
    Verdict.DIFFERS: ("differs", "✗"),
    Verdict.NOT_COMPARABLE: ("open", "○"),
}


@dataclass(frozen=True, slots=True)
class Tile:
    """A number in large print, with its description."""

    value: str
    words: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """Text of a table cell that links to an anchor of the page."""

    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text cells."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """Explanation of one flow.

    Parameters
    ----------
    id, title : str
        Anchor and heading.
    sentences : sequence of str
        Summary.
    shares_title : str
        Heading of the shares.
    shares : sequence of (float, str, str, str)
        Components of the flow's time: share from 0 to 1, time, name and meaning of each.
    tables : sequence of Table
        Events of the flow.
    """

    id: str
    title: str
    sentences: Sequence[str]
    shares_title: str
    shares: Sequence[tuple[float, str, str, str]]
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """An interactive chart, with a static picture and its data as a table.

    Parameters
    ----------
    id, title, caption : str
        Anchor, heading and text below.
    specification : dict
        Vega-Lite specification including its data.
    legend : sequence of Key
        Entries of the legend.
    picture : str
        ``data:`` URL of the static picture; empty for none.
    header, rows : sequence
        Data table; empty for none.
    """

    id: str
    title: str
    caption: str
    specification: dict[str, Any]
    legend: Sequence[Key] = ()
    picture: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """Claims of one source.

    Parameters
    ----------
    title : str
        Source, and number of statements per verdict.
    reference : str
        Heading of the source's numbers.
    rows : sequence of dict
        Results of `statement_rows`.
    """

    title: str
    reference: str
    rows: Sequence[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Explorer:
    """Interactive explorer of a sweep: JSON data for a script element, and the script."""

    data: Markup
    script: Markup


@dataclass(frozen=True, slots=True)
class Page:
    """Contents of a page, from top to bottom.

    Parameters
    ----------
    title, lede : str
        Title and introduction.
    provenance : sequence of (str, str)
        Names and values that identify the origin of the numbers.
    tiles, charts, tables : sequence
        Elements of each kind.
    claims : sequence of ClaimTable
        One table per source.
    scenario : str
        Scenario as text.
    stories : sequence of Story
        Explanations of flows, below the tables.
    explorer : Explorer or None
        Shown above the charts.
    study : str
        Text of ``study.toml``.
    """

    title: str
    lede: str
    provenance: Sequence[tuple[str, str]]
    tiles: Sequence[Tile] = ()
    charts: Sequence[Chart] = ()
    claims: Sequence[ClaimTable] = ()
    tables: Sequence[Table] = field(default=())
    scenario: str = ""
    stories: Sequence[Story] = ()
    explorer: Explorer | None = None
    study: str = ""


def environment() -> Environment:
    """Return the Jinja environment with the templates of pages."""
    return Environment(
        loader=PackageLoader("lightburst.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def inside_script(data: Any) -> str:
    """Serialise data as JSON that is safe inside a script element."""
    # A "<" could end the element.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def render(page: Page) -> str:
    """Render a page as HTML.

    Parameters
    ----------
    page : Page
        Contents of the page.

    Returns
    -------
    str
        Self-contained document; equal contents give equal text.
    """
    data = inside_script([chart.specification for chart in page.charts])
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            specifications=Markup(data),
            library=Markup(_library()) if page.charts or page.explorer else "",
        )
    )


def claim_tables(claims: Iterable[Claim]) -> list[ClaimTable]:
    """Make one table of claims per source."""
    tables = []
    for source, group in by_source(claims).items():
        statements = statements_of(group)
        rows = [row for one in statements for row in statement_rows(one)]
        title = f"Claims, source: {source} ({counted(statements)})"
        tables.append(ClaimTable(title, group[0].reference.capitalize(), rows))
    return tables


def statement_rows(statement: Statement) -> list[dict[str, str]]:
    """Format a statement for the page.

    Parameters
    ----------
    statement : Statement
        Statement to format.

    Returns
    -------
    list of dict
        Fields of the template: one row for the claim, or one for a statement with several readings
        and one for each of them, whose ``level`` is ``"reading"``.
    """
    if len(statement.readings) == 1:
        return [_claim_row(statement.readings[0])]
    tone, mark = TONES[statement.verdict]
    first = {
        "id": statement.id,
        "level": "statement",
        "statement": statement.text,
        "verdict": statement.verdict.value,
        "told": statement.told,
        "tone": tone,
        "mark": mark,
    }
    readings = (_claim_row(one) for one in statement.readings)
    texts = (one.reading for one in statement.readings)
    return [
        first,
        *(
            row | {"level": "reading", "statement": text}
            for row, text in zip(readings, texts, strict=True)
        ),
    ]


def _claim_row(claim: Claim) -> dict[str, str]:
    """Format a claim for the page."""
    tone, mark = TONES[claim.verdict]
    return {
        "id": claim.id,
        "level": "claim",
        "figure": claim.figure,
        "statement": claim.statement,
        "criterion": claim.criterion,
        "note": claim.findings,
        "published": short(claim.published),
        "measured": short(claim.measured),
        "interval": interval_of(claim, short),
        "verdict": claim.verdict.value,
        "tone": tone,
        "mark": mark,
    }


def short(value: float | None) -> str:
    """Format a number with four significant digits; None becomes a dash."""
    return "–" if value is None else f"{value:.4g}"


def picture(svg: Path) -> str:
    """Return an SVG file as a ``data:`` URL."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode("ascii")


def table_of(title: str, frame: pd.DataFrame) -> Table:
    """Convert a data frame to a table, without its index and with four significant digits."""
    return Table(title, [str(name) for name in frame.columns], cells(frame))


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """Format every value of a data frame as text, row by row."""
    return [[_cell(value) for value in row] for row in frame.itertuples(index=False)]


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    # Four digits, but integers below a million in full, without an exponent.
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.4g}"


@cache
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, bundled by vl_convert."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
