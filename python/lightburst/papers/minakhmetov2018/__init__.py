"""minakhmetov2018: hybrid optical switches under TCP stop-and-wait in a data centre.

A. Minakhmetov, C. Ware, L. Iannone, "Amélioration du débit des réseaux optiques via TCP
Stop-and-Wait sur les commutateurs hybrides", ALGOTEL 2018.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from lightburst.papers.minakhmetov2018 import beyond
from lightburst.papers.minakhmetov2018.claims import figure_claims, maxima_claims
from lightburst.papers.minakhmetov2018.design import blocks
from lightburst.papers.minakhmetov2018.figures import figure_2, maxima
from lightburst.papers.minakhmetov2018.points import runs_of
from lightburst.papers.paper import Paper, Part


def _figure_2(length: float) -> Part:
    return Part(
        f"throughput against arrival rate, links of {length:g} m",
        partial(figure_2, length),
        partial(figure_claims, length),
    )


PAPER: Final = Paper(
    name="minakhmetov2018",
    title="Stop-and-wait over hybrid optical switches",
    citation=(
        "A. Minakhmetov, C. Ware, L. Iannone: Amélioration du débit des réseaux optiques via TCP "
        "Stop-and-Wait sur les commutateurs hybrides. ALGOTEL 2018."
    ),
    parts={
        "fig2a": _figure_2(10.0),
        "fig2b": _figure_2(100.0),
        "maxima": Part(
            "largest throughput with links of 1 km and 10 km",
            lambda runs, version: [maxima(runs, version)],
            maxima_claims,
        ),
        "beyond": Part(
            "electronic switches, completion times, conversions, ne from 0 to 8",
            beyond.figures,
            beyond.claims,
            beyond=True,
        ),
    },
    blocks=blocks,
    runs=runs_of,
    package=__package__,
)
