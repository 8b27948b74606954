"""The page of a reproduced paper."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Verdict
from lightburst.plots.interactive import chart, legend
from lightburst.report.page import TONES, Chart, Page, Tile, cells, claim_row, picture, render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lightburst.papers.figure import Figure
    from lightburst.report.reproduction import Reproduction

_NUMBERS: Final = ("Switch", "Sender", "x", "Mean", "95 % from", "to", "Runs")


def paper_page(reproduction: Reproduction, pictures: Mapping[str, Path]) -> str:
    """Write the page of a reproduction.

    Parameters
    ----------
    reproduction : Reproduction
        What to show.
    pictures : mapping of str to Path
        The SVG file of each figure, by its name.

    Returns
    -------
    str
        HTML.
    """
    paper = reproduction.paper
    shown = ", ".join(paper.parts[part] for part in reproduction.parts)
    effort = "quick, with fewer seeds and points" if reproduction.quick else "in full"
    counts = reproduction.verdicts()
    provenance = reproduction.provenance
    words = [
        (key.replace("_", " "), _text(value))
        for key, value in provenance.items()
        if key != "scenario" and value is not None
    ]
    page = Page(
        title=f"{paper.title}: {reproduction.name}",
        lede=f"{paper.citation} Reproduced {effort}: {shown}.",
        provenance=words,
        tiles=[
            Tile(str(counts[verdict.value]), verdict.value, TONES[verdict][0])
            for verdict in Verdict
            if verdict.value in counts
        ],
        charts=[_chart(figure, pictures[figure.id]) for figure in reproduction.figures],
        claims=[claim_row(claim) for claim in reproduction.claims],
        scenario=json.dumps(provenance["scenario"], indent=2, ensure_ascii=False),
    )
    return render(page)


def _chart(figure: Figure, svg: Path) -> Chart:
    return Chart(
        id=figure.id,
        title=figure.title,
        caption=figure.caption,
        specification=chart(figure),
        legend=legend(figure),
        picture=picture(svg),
        header=_NUMBERS,
        rows=cells(figure.data),
    )


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
