"""yu2004: TCP over burst assembly and burst loss.

X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance Evaluation of TCP Implementations in OBS Networks",
2004.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from lightburst.papers.paper import Paper, Part, Traced
from lightburst.papers.yu2004 import factors, traces
from lightburst.papers.yu2004.design import blocks
from lightburst.papers.yu2004.figures import (
    crossing,
    ranges,
    surface,
    table_figure,
    table_listing,
)
from lightburst.papers.yu2004.points import runs_of
from lightburst.papers.yu2004.sender_claims import (
    crossing_claims,
    prototype_claims,
    table_claims,
)
from lightburst.papers.yu2004.surface_claims import surface_claims


def _surface(id: str, shows: str) -> Part:
    return Part(
        shows,
        partial(surface, id),
        partial(surface_claims, id),
        lambda runs: [ranges(id, runs)],
    )


PAPER: Final = Paper(
    name="yu2004",
    title="TCP implementations over burst assembly and burst loss",
    citation=(
        "X. Yu, C. Qiao, Y. Liu, D. Towsley: Performance Evaluation of TCP Implementations in OBS "
        "Networks. 2004."
    ),
    parts={
        "fig5": _surface(
            "fig5", "throughput of SACK over assembly time and loss rate, access of 125 MB/s"
        ),
        "fig6": _surface("fig6", "the same, access of 500 kB/s"),
        "fig7": _surface("fig7", "the same, access of 1.25 kB/s"),
        # Figures 8 to 10 are traces of single runs.
        "fig8": Part("packets of Reno around one lost burst, W = 20 and 200"),
        "fig9": Part("packets of the three implementations around one lost burst, S = 5 and 25"),
        "fig10": Part("packets of the three implementations under random losses"),
        "fig11": Part(
            "throughput of the three implementations over the assembly time",
            lambda runs, version: [crossing(runs, version)],
            crossing_claims,
        ),
        "table1": Part(
            "throughput over that of Reno, S = 5",
            lambda runs, version: [table_figure("table1", runs, version)],
            lambda runs: [*table_claims("table1", runs), *prototype_claims(runs)],
            lambda runs: [table_listing("table1", runs)],
        ),
        "table2": Part(
            "throughput over that of Reno, S = 25",
            lambda runs, version: [table_figure("table2", runs, version)],
            partial(table_claims, "table2"),
            lambda runs: [table_listing("table2", runs)],
        ),
        "factors": Part(
            "gains and penalties one at a time, beside equations (55) to (61)",
            factors.figures,
            factors.claims,
            lambda runs: [factors.listing(runs)],
        ),
    },
    blocks=blocks,
    runs=runs_of,
    traced=Traced(traces.record, traces.figures, traces.claims),
)
