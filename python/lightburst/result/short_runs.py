"""Warnings about runs too short, or losses too few, for reliable metrics of links and losses."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from lightburst.compile import Plan
from lightburst.foundation.counts import Columns
from lightburst.foundation.units import format_about
from lightburst.measurement.window import EVERYTHING_PS, Window
from lightburst.result.metrics import fates
from lightburst.scenario.transport import OPEN_LOOP

# One-way delays of the longest path in the least window. In a shorter one, effects of its begin
# and end dominate the counts.
_DELAYS: Final = 10
# Least number of losses. With ten, their 95 % interval reaches from half to nearly twice as many.
_LOSSES: Final = 10
# Most nodes from which path delays are calculated.
_SOURCES: Final = 100


def brief(plan: Plan, columns: Columns, *, by_chance: bool) -> Iterator[str]:
    """Yield warnings about a window that is too short, and about losses that are too few.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run, with the counts of its window.
    by_chance : bool
        Whether arrivals are random and no drops are scripted. Otherwise losses are deterministic,
        and their number has no sampling error.

    Yields
    ------
    str
        One sentence for each warning, without full stop.
    """
    yield from _short(plan, columns)
    if by_chance:
        yield from _rare(plan, columns)


def _short(plan: Plan, columns: Columns) -> Iterator[str]:
    """Warn of a short window that a limit cut off; a run that ends by itself cannot be longer."""
    window, end = Window.of(plan, columns), int(columns["totals"]["end_ps"])
    cut_off = window.end_ps == plan.window_ps[1] or end == plan.settings["time_limit_ps"]
    if not cut_off or window.length_ps >= _DELAYS * _at_most_ps(plan, columns):
        return
    delay = longest_delay_ps(plan)
    if window.length_ps < _DELAYS * delay:
        length, once = format_about(window.length_ps), format_about(delay)
        yield (
            f"links and losses are counted for {length}, less than {_DELAYS} times the one-way "
            f"delay of the longest path ({once}): a later measurement.time_limit or until makes "
            "the window longer"
        )


def _at_most_ps(plan: Plan, columns: Columns) -> int:
    """Return an upper bound of the delay of the longest path, at low cost."""
    links = int(columns["flows"]["path_links"].max(initial=0))
    return links * int(plan.links["delay_ps"].max(initial=0))


def longest_delay_ps(plan: Plan) -> int:
    """Return the largest delay between the endpoints of a flow, over the shortest path.

    Parameters
    ----------
    plan : Plan
        The plan of the run.

    Returns
    -------
    int
        Picoseconds of propagation and header processing. If flows start at very many switches, a
        hundred of these are considered.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    nodes, hosts = plan.settings["nodes"], plan.next_to_hosts
    ends = plan.links["from"], plan.links["to"]
    graph = csr_array((plan.links["delay_ps"].astype(np.float64), ends), shape=(nodes, nodes))
    source, destination = (hosts[plan.flows[name]] for name in ("source", "destination"))
    places = np.unique(source)
    if places.size > _SOURCES:
        places = places[np.linspace(0, places.size - 1, _SOURCES).astype(np.int64)]
    away = dijkstra(graph, indices=places)
    row = np.searchsorted(places, source)
    looked = places[np.minimum(row, places.size - 1)] == source
    between = away[row[looked], destination[looked]].max(initial=0.0)
    # The links of both hosts, unless edges generate the traffic.
    enters = all(transport["kind"] == "bursts" for transport in plan.transports)
    own = 0 if enters else 2 * int(plan.links["delay_ps"][: plan.settings["hosts"]].max())
    return int(between) + own


def _rare(plan: Plan, columns: Columns) -> Iterator[str]:
    """Warn of a loss ratio from very few losses, in open loops and in runs with a window."""
    kinds = {transport["kind"] for transport in plan.transports}
    if not kinds & set(OPEN_LOOP) and plan.window_ps == EVERYTHING_PS:
        return
    which, units, name = "units", "packets", "loss_end_to_end"
    if plan.makes_bursts:
        which, units, name = "bursts", "bursts", "burst_loss"
    found = fates(columns["totals"], which)
    # Zero losses may be by design.
    if 0 < found.lost < _LOSSES:
        yield (
            f"{name} rests on few losses ({found.lost} of {found.offered} {units}): only its order "
            "of magnitude is reliable, and a longer run or more seeds narrow it"
        )
