"""The ATO, ATI and LRI ranges of figures 5 to 7, of the simulation and of the theory."""

from __future__ import annotations

import pandas as pd

from lightburst.models.yu2004 import ABOUT, surface_ranges, written
from lightburst.papers.figure import Listing
from lightburst.papers.yu2004.figures import SURFACES, grid_of, rate_name
from lightburst.papers.yu2004.runs import Runs
from lightburst.papers.yu2004.theory import throughput


def listing(id: str, runs: Runs) -> Listing:
    """Write the ranges of figure 5, 6 or 7 into a table, simulation beside theory.

    A row for the ATO and the ATI range of each loss rate, then for the LRI range of each assembly
    time.
    """
    points = grid_of(runs, SURFACES[id])
    columns = {
        "simulation": [runs.mean(point).estimate for point in points],
        "theory": throughput(points),
    }
    losses, times = [point.p for point in points], [point.time for point in points]
    found = {}
    for source, rates in columns.items():
        # Points of the grid that were not run are gaps in it.
        surface = pd.DataFrame({"p": losses, "time": times, "rate": rates})
        surface = surface.pivot_table("rate", "p", "time")
        found[source] = surface_ranges(surface.index, surface.columns, surface)
    rows = [
        {
            "range": kind,
            "at": f"{axis} = {value:.3g}{unit}",
            **{source: written(getattr(ranges, name)[place]) for source, ranges in found.items()},
        }
        for kind, name, axis, unit, values in (
            ("ATO", "optimal", "p", "", sorted(set(losses))),
            ("ATI", "insensitive", "p", "", sorted(set(losses))),
            ("LRI", "loss_insensitive", "T_b", " s", sorted(set(times))),
        )
        for place, value in enumerate(values)
    ]
    return Listing(
        f"{id}-ranges",
        f"Figure {id[-1]}: ranges of section IV.E, access bandwidth {rate_name(SURFACES[id])}",
        f"On the grid of the figure, of the means. ATO and ATI: assembly times (s) at which the "
        f"throughput is more than {1 + ABOUT:g} times that at the shortest one, and within "
        f"{ABOUT:.0%} of it. LRI: loss rates at which it is within {ABOUT:.0%} of that at the "
        "smallest one.",
        pd.DataFrame(rows),
    )
