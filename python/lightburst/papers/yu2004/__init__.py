"""yu2004: TCP over burst assembly and burst loss.

X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance Evaluation of TCP Implementations in OBS Networks",
2004.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst.papers.paper import Paper, Part, Traced
from lightburst.papers.yu2004 import factors, implementations, surfaces, traces
from lightburst.papers.yu2004.design import blocks
from lightburst.papers.yu2004.points import runs_of

if TYPE_CHECKING:
    from types import ModuleType


def _part(shows: str, module: ModuleType, *which: str) -> Part:
    """Build a part from a module with the functions `figures`, `claims` and `tables`."""
    figures, claims, tables = module.figures, module.claims, module.tables
    return Part(shows, partial(figures, *which), partial(claims, *which), partial(tables, *which))


PAPER: Final = Paper(
    name="yu2004",
    title="TCP implementations over burst assembly and burst loss",
    citation=(
        "X. Yu, C. Qiao, Y. Liu, D. Towsley: Performance Evaluation of TCP Implementations in OBS "
        "Networks. 2004."
    ),
    parts={
        "fig5": _part(
            "throughput of SACK over assembly time and loss rate, access of 125 MB/s",
            surfaces,
            "fig5",
        ),
        "fig6": _part("the same, access of 500 kB/s", surfaces, "fig6"),
        "fig7": _part("the same, access of 1.25 kB/s", surfaces, "fig7"),
        # Figures 8 to 10 are traces of single runs.
        "fig8": Part("packets of Reno around one lost burst, W = 20 and 200"),
        "fig9": Part("packets of the three implementations around one lost burst, S = 5 and 25"),
        "fig10": Part("packets of the three implementations under random losses"),
        "fig11": Part(
            "throughput of the three implementations over the assembly time",
            implementations.crossing_figures,
            implementations.crossing_claims,
        ),
        "table1": _part("throughput over that of Reno, S = 5", implementations, "table1"),
        "table2": _part("throughput over that of Reno, S = 25", implementations, "table2"),
        "factors": _part(
            "gains and penalties one at a time, beside equations (55) to (61)", factors
        ),
    },
    blocks=blocks,
    runs=runs_of,
    package=__package__,
    traced=Traced(traces.RECORDER.record, traces.RECORDER.figures, traces.claims),
)
