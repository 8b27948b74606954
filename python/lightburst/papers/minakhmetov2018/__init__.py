"""minakhmetov2018: hybrid optical switches under TCP stop-and-wait in a data centre.

A. Minakhmetov, C. Ware, L. Iannone, "Amélioration du débit des réseaux optiques via TCP
Stop-and-Wait sur les commutateurs hybrides", ALGOTEL 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.minakhmetov2018 import beyond
from lightburst.papers.minakhmetov2018.claims import figure_claims
from lightburst.papers.minakhmetov2018.design import blocks
from lightburst.papers.minakhmetov2018.figures import figures as paper_figures
from lightburst.papers.minakhmetov2018.gather import FIGURE_OF_LENGTH
from lightburst.papers.minakhmetov2018.long_links import maxima_claims
from lightburst.papers.minakhmetov2018.sweep import Sweep
from lightburst.papers.paper import Paper

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import Figure


def _figures(parts: Sequence[str], runs: pd.DataFrame, version: str) -> list[Figure]:
    sweep = Sweep.of(runs)
    drawn = list(paper_figures(parts, sweep, version))
    return [*drawn, *beyond.figures(sweep, version)] if "beyond" in parts else drawn


def _claims(parts: Sequence[str], runs: pd.DataFrame) -> list[Claim]:
    sweep = Sweep.of(runs)
    found = []
    for length, id in FIGURE_OF_LENGTH.items():
        if id in parts:
            found += figure_claims(sweep, length)
    if "maxima" in parts:
        found += maxima_claims(sweep)
    return [*found, *beyond.claims(sweep)] if "beyond" in parts else found


PAPER: Final = Paper(
    name="minakhmetov2018",
    title="Stop-and-wait over hybrid optical switches",
    citation=(
        "A. Minakhmetov, C. Ware, L. Iannone: Amélioration du débit des réseaux optiques via TCP "
        "Stop-and-Wait sur les commutateurs hybrides. ALGOTEL 2018."
    ),
    parts={
        "fig2a": "throughput against arrival rate, links of 10 m",
        "fig2b": "throughput against arrival rate, links of 100 m",
        "maxima": "largest throughput with links of 1 km and 10 km",
        "beyond": "electronic switches, completion times, conversions, ne from 0 to 8",
    },
    default=("fig2a", "fig2b", "maxima"),
    blocks=blocks,
    figures=_figures,
    claims=_claims,
)
