"""yu2004: TCP over burst assembly and burst loss.

X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance Evaluation of TCP Implementations in OBS Networks",
2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.paper import Paper, Traced
from lightburst.papers.yu2004 import factors, ranges, trace_claims, traces
from lightburst.papers.yu2004.crossing_claims import crossing_claims
from lightburst.papers.yu2004.design import blocks
from lightburst.papers.yu2004.figures import (
    SURFACES,
    TABLES,
    crossing,
    surface,
    table_figure,
    table_listing,
)
from lightburst.papers.yu2004.prototype import prototype_claims
from lightburst.papers.yu2004.runs import Runs
from lightburst.papers.yu2004.surface_claims import surface_claims
from lightburst.papers.yu2004.table_claims import table_claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import AnyFigure, Listing


def _figures(parts: Sequence[str], table: pd.DataFrame, version: str) -> list[AnyFigure]:
    runs = Runs.of(table)
    found: list[AnyFigure] = []
    for part in parts:
        if part in SURFACES:
            found += surface(runs, part, version)
        elif part in TABLES:
            found.append(table_figure(runs, part, version))
        elif part == "fig11":
            found.append(crossing(runs, version))
        elif part == "factors":
            found += factors.figures(runs, version)
    return found


def _claims(parts: Sequence[str], table: pd.DataFrame) -> list[Claim]:
    runs = Runs.of(table)
    found: list[Claim] = []
    for part in parts:
        if part in SURFACES:
            found += surface_claims(runs, part)
        elif part in TABLES:
            found += table_claims(runs, part)
        elif part == "fig11":
            found += crossing_claims(runs)
        elif part == "factors":
            found += factors.claims(runs)
    return [*found, *prototype_claims(runs)] if "table1" in parts else found


def _tables(parts: Sequence[str], table: pd.DataFrame) -> list[Listing]:
    runs = Runs.of(table)
    found = [ranges.listing(runs, part) for part in parts if part in SURFACES]
    found += [table_listing(runs, part) for part in parts if part in TABLES]
    if "factors" in parts:
        found.append(factors.listing(runs))
    return found


PAPER: Final = Paper(
    name="yu2004",
    title="TCP implementations over burst assembly and burst loss",
    citation=(
        "X. Yu, C. Qiao, Y. Liu, D. Towsley: Performance Evaluation of TCP Implementations in OBS "
        "Networks. 2004."
    ),
    parts={
        "fig5": "throughput of SACK over assembly time and loss rate, access of 125 MB/s",
        "fig6": "the same, access of 500 kB/s",
        "fig7": "the same, access of 1.25 kB/s",
        "fig8": "packets of Reno around one lost burst, W = 20 and 200",
        "fig9": "packets of the three implementations around one lost burst, S = 5 and 25",
        "fig10": "packets of the three implementations under random losses",
        "fig11": "throughput of the three implementations over the assembly time",
        "table1": "throughput over that of Reno, S = 5",
        "table2": "throughput over that of Reno, S = 25",
        "factors": "gains and penalties one at a time, beside equations (55) to (61)",
    },
    default=(
        "fig5",
        "fig6",
        "fig7",
        "fig8",
        "fig9",
        "fig10",
        "fig11",
        "table1",
        "table2",
        "factors",
    ),
    blocks=blocks,
    figures=_figures,
    claims=_claims,
    tables=_tables,
    traced=Traced(traces.record, traces.figures, trace_claims.claims),
)
