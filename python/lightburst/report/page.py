"""One offline page: everything that a reader needs in one file, nothing from the network."""

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

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.plots.interactive import Key

TONES: Final = {
    Verdict.HOLDS: ("holds", "✓"),
    Verdict.DIFFERS: ("differs", "✗"),
    Verdict.NOT_COMPARABLE: ("open", "○"),
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One number in large print."""

    value: str
    words: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """Words of a cell that lead to another place of the page."""

    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """What happened to one flow.

    Parameters
    ----------
    id, title : str
        Anchor and words.
    sentences : sequence of str
        The whole in a few words.
    shares_title : str
        Words above the shares.
    shares : sequence of (float, str, str, str)
        How its time divides: share from 0 to 1, time, name and meaning of each part.
    tables : sequence of Table
        What happened when.
    """

    id: str
    title: str
    sentences: Sequence[str]
    shares_title: str
    shares: Sequence[tuple[float, str, str, str]]
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to hover over, with a still picture and the numbers behind it.

    Parameters
    ----------
    id, title, caption : str
        Anchor and words.
    specification : dict
        Vega-Lite, data included.
    legend : sequence of Key
        What colours and dashes mean.
    picture : str
        Address of the still picture (``data:``), or nothing.
    header, rows : sequence
        The numbers, or nothing.
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
    """The claims of one source.

    Parameters
    ----------
    title : str
        Whose, and how many of each verdict.
    reference : str
        What the numbers of the source are.
    rows : sequence of dict
        As `claim_row` gives them.
    """

    title: str
    reference: str
    rows: Sequence[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Explorer:
    """Points to be looked at from any side: data for a script element, and the script."""

    data: Markup
    script: Markup


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on a page, from top to bottom.

    Parameters
    ----------
    title, lede : str
        Head of the page.
    provenance : sequence of (str, str)
        Where the numbers come from: words and values.
    tiles, charts, tables : sequence
        What there is of each.
    claims : sequence of ClaimTable
        One for each source.
    scenario : str
        The scenario as text.
    stories : sequence of Story
        Below the tables.
    explorer : Explorer or None
        Above the charts.
    study : str
        What was asked, as ``study.toml``.
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
    """Where the templates of pages are, and how they are filled."""
    return Environment(
        loader=PackageLoader("lightburst.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def inside_script(data: Any) -> str:
    """Write data as JSON that may stand in a script element."""
    # A "<" would end the element early.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def render(page: Page) -> str:
    """Write the page as HTML.

    Parameters
    ----------
    page : Page
        What stands on it.

    Returns
    -------
    str
        One document that loads nothing. The same page gives the same text.
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
    """Put claims into tables, one for each source."""
    return [
        ClaimTable(
            f"Claims, source: {source} ({counted(group)})",
            group[0].reference.capitalize(),
            [claim_row(claim) for claim in group],
        )
        for source, group in by_source(claims).items()
    ]


def claim_row(claim: Claim) -> dict[str, str]:
    """Put a claim into the words of the page.

    Parameters
    ----------
    claim : Claim
        The claim.

    Returns
    -------
    dict of str to str
        What the template prints.
    """
    tone, mark = TONES[claim.verdict]
    return {
        "id": claim.id,
        "figure": claim.figure,
        "statement": claim.statement,
        "criterion": claim.criterion,
        "note": claim.note,
        "published": short(claim.published),
        "measured": short(claim.measured),
        "interval": interval_of(claim, short),
        "verdict": claim.verdict.value,
        "tone": tone,
        "mark": mark,
    }


def short(value: float | None) -> str:
    """Write a number with four digits, a dash for none."""
    return "–" if value is None else f"{value:.4g}"


def picture(svg: Path) -> str:
    """Give an SVG file as a ``data:`` address that carries its content."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode("ascii")


def table_of(title: str, frame: pd.DataFrame) -> Table:
    """Put a data frame without its index into a table of text, numbers with four digits."""
    return Table(title, [str(name) for name in frame.columns], cells(frame))


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """Write every value of a data frame as text, row by row."""
    return [[_cell(value) for value in row] for row in frame.itertuples(index=False)]


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    # Four digits, but no exponent for a whole number that is short without it.
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.4g}"


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the package of the converter."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
