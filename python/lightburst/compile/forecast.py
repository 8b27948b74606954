"""Estimates of a run before its start, for the memory of its measurements."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.certain import certain_links
from lightburst.compile.plan import Plan
from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Forecast(NamedTuple):
    """A plan, and the counts of an earlier run of it, if any.

    Attributes
    ----------
    plan : Plan
        The plan of the run.
    before : mapping of str to mapping, optional
        The columns of an earlier run of the same plan without a trace.
    """

    plan: Plan
    before: Mapping[str, Mapping[str, Any]] | None = None

    def longest_path(self, flows: IntArray) -> int:
        """Return the number of links of the longest of the shortest paths of some flows."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        plan, nodes = self.plan, self.plan.settings["nodes"]
        ends = plan.links["from"], plan.links["to"]
        graph = csr_array((np.ones(ends[0].size, np.int8), ends), shape=(nodes, nodes))
        sources, places = np.unique(plan.flows["source"][flows], return_inverse=True)
        away = dijkstra(graph, unweighted=True, indices=sources)
        return int(away[places, plan.flows["destination"][flows]].max())

    def segments_sent(self, flows: IntArray, links: int) -> FloatArray:
        """Return the number of data segments that some flows send, over at most `links` links.

        With an earlier run, the number in that run. Otherwise the minimum of all segments of the
        flow and those that the slowest link common to all its paths carries until the time limit,
        where parallel links count as one. Random losses add transmissions: each lost segment
        again, and as many unnecessary retransmissions after timeouts.
        """
        if self.before is not None:
            ran: FloatArray = self.before["flows"]["transmissions"][flows]
            return ran
        plan = self.plan
        segment = plan.by_flow(lambda transport: transport["segment_bytes"])[flows]
        payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])[flows]
        rate = np.bincount(plan.first_of_parallel, plan.links["rate_bps"])
        user, link, _ = certain_links(plan, flows)
        slowest = np.full(plan.flows["source"].size, np.inf)
        np.minimum.at(slowest, user, rate[link])
        seconds = plan.settings["time_limit_ps"] / PICOSECONDS_PER_SECOND
        carried = slowest[flows] * seconds / (BITS_PER_BYTE * segment)
        needed = plan.flows["bytes"][flows] / payload * _again(plan, links)
        most: FloatArray = np.minimum(needed, carried)
        return most


def _again(plan: Plan, links: int) -> float:
    """Estimate the transmissions of a segment over `links` links, some of which may be lossy."""
    lossy = plan.links.get("lossy")
    if plan.settings.get("loss") is None or lossy is None:
        return 1.0
    times = links - 2 if lossy[plan.between_switches].all() else 1
    comes: float = (1 - plan.settings["loss"]["probability"]) ** times
    return 1 / comes**2 if comes > 0 else np.inf
