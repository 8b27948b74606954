"""Page of a calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.plots.interactive import chart, legend
from lightburst.report.page import Chart, Page, Table, Tile, picture, render, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lightburst.experiment.calibrated.calibration import Calibration
    from lightburst.papers.figure import AnyFigure

#: Pairs on the page, and statements of the matrix; the files have all.
_MOST_PAIRS: Final = 200
_MOST_STATEMENTS: Final = 25


def calibration_page(
    found: Calibration, figures: Sequence[AnyFigure], pictures: Mapping[str, Path]
) -> str:
    """Render the page of a calibration.

    Parameters
    ----------
    found : Calibration
        Result to show.
    figures : sequence of AnyFigure
        Its figures.
    pictures : mapping of str to Path
        SVG file of each figure, by its id.

    Returns
    -------
    str
        HTML document.
    """
    effort = "by full runs" if found.full else "by the runs of a preview"
    effort += " at few settings" if found.quick else ""
    kinds = [left.kind.value for left in found.left.values()]
    page = Page(
        title=f"{found.paper.title}: {found.name}, calibrated",
        lede=f"{found.paper.citation} Calibrated {effort}: {found.headline}. "
        f"{' '.join(f'Reservation: {one}.' for one in found.warnings)}",
        provenance=[
            ("runs", f"{found.runs:,}"),
            ("packet hops", f"{found.packet_hops:,}"),
            *(
                (key.replace("_", " "), str(value))
                for key, value in found.provenance.items()
                if key != "scenario" and value is not None
            ),
        ],
        tiles=[
            *(Tile(str(kinds.count(kind)), f"parameters {kind}") for kind in dict.fromkeys(kinds)),
            Tile(str(len(found.nowhere)), "statements met nowhere", "differs"),
            Tile(str(len(found.apart)), "pairs not met together", "differs"),
        ],
        charts=[_chart(figure, pictures[figure.id]) for figure in figures],
        tables=list(_tables(found)),
    )
    return render(page)


def _chart(figure: AnyFigure, svg: Path) -> Chart:
    return Chart(
        id=figure.id,
        title=figure.title,
        caption=figure.caption,
        specification=chart(figure),
        legend=legend(figure),
        picture=picture(svg),
    )


def _tables(found: Calibration) -> Iterator[Table]:
    yield table_of("Open parameters: the part of each range that is left", found.parameters)
    alternatives = table_of("The base and the best settings, on fresh seeds", found.alternatives)
    out = sum(aim.held_out for aim in found.aims)
    yield replace(
        alternatives,
        caption=f"Verdicts by the paper's own criteria. The search saw {len(found.aims) - out} "
        f"statements; {out} were held out of it.",
    )
    texts = {aim.id: aim.text for aim in found.aims}
    if found.nowhere:
        rows = pd.DataFrame([(id, texts[id]) for id in found.nowhere], columns=["statement", ""])
        yield table_of("Met by no tried setting", rows)
    if found.apart:
        pairs = pd.DataFrame(
            [(one, other, texts[one], texts[other]) for one, other in found.apart[:_MOST_PAIRS]],
            columns=["statement", "and", "in words", "and in words"],
        )
        yield table_of(f"Met by none together, {len(found.apart)} pairs", pairs)
    matrix = found.pairs.together.iloc[:_MOST_STATEMENTS, :_MOST_STATEMENTS]
    yield table_of(
        f"Number of the {len(found.settings)} tried settings that meet both statements",
        matrix.reset_index(names="statement"),
    )
    yield table_of("Statements with a number and a range", found.statements)
    if found.rest:
        rows = pd.DataFrame(list(found.rest.items()), columns=["statement", "why"])
        yield table_of("Statements that say nothing here", rows)
