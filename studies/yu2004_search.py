"""Search for the open parameters of yu2004 that explain its tables I and II.

``python studies/yu2004_search.py [--quick] --out DIR`` runs the senders of the tables with every
setting of a grid, and with further open parameters varied one at a time, and scores each setting by
its distance from the printed ratios. docs/yu2004-search.md has the results.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, Self

import pandas as pd

from lightburst.papers.claims import Claim
from lightburst.papers.design import blocks_of
from lightburst.papers.paper import Paper, Part
from lightburst.papers.runs import Runs
from lightburst.papers.yu2004 import PAPER
from lightburst.papers.yu2004.points import Point, base, runs_of
from lightburst.study import Block
from searching import run
from yu2004_scores import HEAVY, USUAL, figure, listing, scores
from yu2004_search_claims import claims, limited_claim, lowest_claim
from yu2004_settings import points


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs."""
    wanted = ((point, HEAVY if point.p > 0.2 else USUAL) for point in points(quick))
    return blocks_of(base(), wanted, Point._fields)


class Found(NamedTuple):
    """Runs, and the score of each setting."""

    runs: Runs[Point]
    scores: pd.DataFrame

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        """Group runs by point and score the settings."""
        runs = runs_of(table)
        return cls(runs, scores(runs))


def _claims(found: Found) -> list[Claim]:
    return [*claims(found.scores), lowest_claim(found.runs), *limited_claim(found.runs)]


#: The study in the form of a paper with one part, to be run, drawn and saved like one.
STUDY: Final = Paper(
    name="yu2004-search",
    title="Which of the parameters that yu2004 leaves open explain its tables",
    citation=PAPER.citation,
    parts={
        "search": Part(
            "distance of each setting from tables I and II",
            lambda found, version: [figure(found.scores, version)],
            _claims,
            lambda found: [listing(found.scores)],
        )
    },
    blocks=blocks,
    runs=Found.of,
)


if __name__ == "__main__":
    sys.exit(run(STUDY, __doc__, "two settings of the path"))
