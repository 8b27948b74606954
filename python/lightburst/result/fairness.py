"""Fairness of the flows that share a link.

R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for resource
allocation in shared computer systems", DEC TR-301 (1984).

A run does not record which of several paths a flow took, so only links on all paths of a flow are
considered.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import Plan
from lightburst.compile.certain import certain_links
from lightburst.foundation.counts import PS, UNFINISHED, Columns, FloatArray, jain_of_sums
from lightburst.measurement.places import Places
from lightburst.measurement.window import Window

IntArray = NDArray[np.int64]


class Use(NamedTuple):
    """Flows and the links that they certainly use: one row for each such pair.

    Attributes
    ----------
    flow, link : ndarray of int64, shape (uses,)
        Numbers of the flow and of the link; of parallel links, the first of them.
    throughput_bps : ndarray of float, shape (flows,)
        Delivered bits / time from the start to the last byte, or to the end of the run; NaN for a
        flow that had not started by then.
    end_ps : ndarray of uint64, shape (flows,)
        Arrival of the last byte of each flow, or the end of the run.
    of_link : ndarray of int64, shape (links,)
        Number of each link in `link`: the first of the parallel links between its two nodes.
    told : ndarray of bool, shape (links,)
        Whether the flows that use the link are known.
    """

    flow: IntArray
    link: IntArray
    throughput_bps: FloatArray
    end_ps: NDArray[np.uint64]
    of_link: IntArray
    told: NDArray[np.bool_]

    def by_link(self) -> tuple[IntArray, FloatArray]:
        """Return each link's number of flows and Jain's index, NaN with fewer than two flows."""
        size, speed = self.of_link.size, self.throughput_bps[self.flow]
        number = np.bincount(self.link, minlength=size)
        total, squares = (
            np.bincount(self.link, weights=weights, minlength=size)
            for weights in (speed, np.square(speed))
        )
        index = np.where(number > 1, jain_of_sums(number, total, squares), np.nan)
        return number[self.of_link], index[self.of_link]

    def over(self, link: int) -> IntArray:
        """Return the flows of one link."""
        chosen: IntArray = self.flow[self.link == self.of_link[link]]
        return chosen


class Shared(NamedTuple):
    """The busiest link that at least two flows share.

    Attributes
    ----------
    source, target : str or int
        The nodes at both ends.
    flows : int
        Number of flows that certainly use it.
    utilisation : float
        Busy fraction of the time.
    jain_index : float
        Jain's index of the flows' throughputs.
    together : bool
        Whether at some moment all these flows were in progress. If not, the index depends more on
        the times of the flows than on their shares of the link.
    group_throughput_bps : dict of str to float
        Mean throughput on the link of the flows of each group; empty without several groups.
    """

    source: str | int
    target: str | int
    flows: int
    utilisation: float
    jain_index: float
    together: bool
    group_throughput_bps: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes for JSON; ``group_throughput_bps`` only with several groups."""
        content = self._asdict()
        if not self.group_throughput_bps:
            del content["group_throughput_bps"]
        return content

    def __str__(self) -> str:
        return (
            f"Jain's index {self.jain_index:.2f} over the {self.flows:,} flows of link "
            f"{self.source} - {self.target} (utilisation {self.utilisation:.2f})"
        )


def busiest(plan: Plan, utilisation: FloatArray, use: Use) -> Shared | None:
    """Find the busiest link with a Jain's index; the first of several that are equally busy.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    utilisation : ndarray of float, shape (links,)
        As in `lightburst.Result.links`.
    use : Use
        The flows and links of the same run.

    Returns
    -------
    Shared or None
        None if no two flows share a link.
    """
    _, index = use.by_link()
    shared = np.flatnonzero(~np.isnan(index))
    if shared.size == 0:
        return None
    row = int(shared[utilisation[shared].argmax()])
    flows = use.over(row)
    group, speed = plan.group[flows], use.throughput_bps[flows]
    means = {
        name: float(speed[group == number].mean())
        for number, name in enumerate(plan.group_names)
        if (group == number).any()
    }
    together = bool(plan.flows["start_ps"][flows].max() < use.end_ps[flows].min())
    ends = Places.of(plan).all_links()
    source, target = (ends[name].tolist()[row] for name in ("source", "target"))
    busy, fair = float(utilisation[row]), float(index[row])
    return Shared(source, target, flows.size, busy, fair, together, means)


def link_use(plan: Plan, columns: Columns) -> Use:
    """Find the links that flows certainly use, and the throughputs of the flows.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    Use
        All flows in progress in the window, counted or not, since links count all their traffic.
        The links are those of data, not of acknowledgements.
    """
    start, received = plan.flows["start_ps"], columns["flows"]["received_ps"]
    end = np.uint64(columns["totals"]["end_ps"])
    until = np.where(received == UNFINISHED, end, received)
    speed = np.full(start.shape, np.nan)
    window = Window.of(plan, columns)
    began = (start < until) & (start < window.end_ps) & (until > window.begin_ps)
    bits = 8 * columns["flows"]["delivered_bytes"][began].astype(np.float64)
    speed[began] = bits / ((until - start)[began] * PS)
    flow, link, told = certain_links(plan, np.flatnonzero(began))
    return Use(flow, link, speed, until, plan.first_of_parallel, told)
