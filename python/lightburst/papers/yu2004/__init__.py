"""yu2004: TCP over burst assembly and burst loss.

X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance Evaluation of TCP Implementations in OBS Networks",
2004.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from lightburst.papers.paper import Paper, Part, Traced
from lightburst.papers.yu2004 import factors, implementations, surfaces, traces
from lightburst.papers.yu2004.design import blocks
from lightburst.papers.yu2004.points import runs_of


def _surface(id: str, shows: str) -> Part:
    return Part(
        shows,
        partial(surfaces.figures, id),
        partial(surfaces.claims, id),
        lambda runs: [surfaces.ranges(id, runs)],
    )


def _table(id: str, shows: str) -> Part:
    return Part(
        shows,
        lambda runs, version: [implementations.table_figure(id, runs, version)],
        partial(implementations.claims, id),
        lambda runs: [implementations.table_listing(id, runs)],
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
            lambda runs, version: [implementations.crossing_figure(runs, version)],
            implementations.crossing_claims,
        ),
        "table1": _table("table1", "throughput over that of Reno, S = 5"),
        "table2": _table("table2", "throughput over that of Reno, S = 25"),
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
