"""Page of a reproduced paper."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Origin, Verdict
from lightburst.papers.figure import Bars, Figure, Maps, Packets
from lightburst.papers.statements import statements_of
from lightburst.plots.interactive import chart, legend
from lightburst.report.page import (
    TONES,
    Chart,
    Page,
    Table,
    Tile,
    cells,
    claim_tables,
    picture,
    render,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from lightburst.experiment.reproduce import Reproduction
    from lightburst.papers.figure import AnyFigure, Listing

_CURVES: Final = ("x", "Mean", "95 % from", "to", "Runs")
_BARS: Final = ("Step", "", "From", "To", "95 % from", "to", "Words")


def paper_page(reproduction: Reproduction, pictures: Mapping[str, Path]) -> str:
    """Render the page of a reproduction.

    Parameters
    ----------
    reproduction : Reproduction
        Reproduction to show.
    pictures : mapping of str to Path
        SVG file of each figure, by its id.

    Returns
    -------
    str
        HTML document.
    """
    paper = reproduction.paper
    shown = ", ".join(paper.parts[part].shows for part in reproduction.parts)
    effort = "quick, with fewer seeds and points" if reproduction.quick else "in full"
    found = [
        one.verdict for one in statements_of(reproduction.claims) if one.origin is Origin.PAPER
    ]
    provenance = reproduction.provenance
    words = [
        (key.replace("_", " "), _text(value))
        for key, value in provenance.items()
        if key != "scenario" and value is not None
    ]
    page = Page(
        title=f"{paper.title}: {reproduction.name}",
        lede=f"{paper.citation} Reproduced {effort}: {shown}. {reproduction.headline}.",
        provenance=words,
        tiles=[
            Tile(str(found.count(verdict)), verdict.value, TONES[verdict][0])
            for verdict in Verdict
            if verdict in found
        ],
        charts=[_chart(figure, pictures[figure.id]) for figure in reproduction.figures],
        claims=claim_tables(reproduction.claims),
        tables=[_table(listing) for listing in reproduction.tables],
        scenario=json.dumps(provenance["scenario"], indent=2, ensure_ascii=False),
    )
    return render(page)


def _chart(figure: AnyFigure, svg: Path) -> Chart:
    header, rows = _numbers(figure)
    return Chart(
        id=figure.id,
        title=figure.title,
        caption=figure.caption,
        specification=chart(figure),
        legend=legend(figure),
        picture=picture(svg),
        header=header,
        rows=cells(rows),
    )


def _numbers(figure: AnyFigure) -> tuple[Sequence[str], pd.DataFrame]:
    """Return the data of a figure, with column headings."""
    match figure:
        case Maps():
            words = ("In words",) if "words" in figure.data else ()
            return ("Map", figure.x_label, figure.y_label, "Value", *words), figure.data
        case Bars():
            return _BARS, figure.data
        case Packets():
            counts = figure.data.groupby(["panel", "kind"], sort=False).size().reset_index()
            return ("Diagram", "", "Packets"), counts
        case Figure():
            return (*figure.legends, *_CURVES), figure.data


def _table(listing: Listing) -> Table:
    more = len(listing.data) - listing.shown
    rest = f" The first {listing.shown} of {len(listing.data)} rows." if more > 0 else ""
    table = table_of(listing.title, listing.data.head(listing.shown))
    return replace(table, caption=f"{listing.caption}{rest}")


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
