"""Links that a flow certainly uses: those that lie on every path that the routing allows.

On the graph of the shortest paths from a switch these are what its dominator tree has in common
with it: K. D. Cooper, T. J. Harvey, K. Kennedy, "A simple, fast dominance algorithm", Rice
University TR-06-33870 (2001). In topological order one pass is enough.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.plan import Plan

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Switches from which flows start, times pairs of linked switches: some seconds of work.
MOST_STEPS: Final = 50_000_000
_NOTHING: Final = np.zeros(0, np.int64)


def certain_links(plan: Plan, flows: IntArray) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Find the links that lie on every path that the routing allows a flow.

    Parameters
    ----------
    plan : Plan
        What is run.
    flows : ndarray of int64
        Numbers of the flows.

    Returns
    -------
    flow, link : ndarray of int64, shape (uses,)
        One row for each flow and link of it; of parallel links, the first of them.
    told : ndarray of bool, shape (links,)
        Whether it is known which flows use the link. It is for the hosts' links; for links between
        switches it is not in a fat-tree with k above 2, if flows go from one switch to another,
        where bursts are deflected, and not where switches from which flows without given paths
        start, times pairs of linked switches, are more than `MOST_STEPS`.
    """
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    to = plan.links["to"]
    told = np.ones(to.size, np.bool_)
    # The link from a host has the number of the host.
    up = plan.flows["source"][flows].astype(np.int64)
    down = np.zeros(hosts, np.int64)
    to_host = np.flatnonzero(to < hosts)
    down[to[to_host]] = to_host
    down = down[plan.flows["destination"][flows]]
    # Of two hosts on one link it is the same; on one switch there is nothing between.
    apart = up != down
    first, last = (
        plan.next_to_hosts[plan.flows[end][flows]].astype(np.int64)
        for end in ("source", "destination")
    )
    inner = np.flatnonzero(apart & (first != last))
    pairs, pair = np.unique(first[inner] * nodes + last[inner], return_inverse=True)
    found = _between(plan, pairs // nodes, pairs % nodes)
    if found is None:
        told[plan.between_switches] = False
        found = _NOTHING, _NOTHING
    which, row = _matches(pair, *found)
    flow = np.concatenate([flows, flows[apart], flows[inner[which]]])
    return flow, np.concatenate([up, down[apart], row]), told


def _matches(pair: IntArray, of_pair: IntArray, link: IntArray) -> tuple[IntArray, IntArray]:
    """Give the links of the pair of each flow: places in `pair`, and links."""
    order = np.argsort(of_pair, kind="stable")
    begin, end = (np.searchsorted(of_pair[order], pair, side) for side in ("left", "right"))
    count = end - begin
    which = np.repeat(np.arange(pair.size), count)
    place = np.arange(which.size) - np.repeat(np.cumsum(count) - count - begin, count)
    return which, link[order][place]


def _between(plan: Plan, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray] | None:
    """Find the certain links between pairs of different switches, sorted by both.

    Number of the pair and link of each; None if they are not known.
    """
    if first.size and any(map(_deflects, plan.settings.get("switches", ()))):
        return None
    if plan.settings.get("label") is None:
        return _on_shortest(plan, first, last)
    has_paths, pair, link = _on_given(plan, first, last)
    others = np.flatnonzero(~has_paths)
    found = _on_shortest(plan, first[others], last[others])
    if found is None:
        return None
    return np.concatenate([pair, others[found[0]]]), np.concatenate([link, found[1]])


def _deflects(switch: dict[str, Any]) -> bool:
    return any(table["kind"] == "deflection" for table in switch.get("contention", ()))


def _on_given(
    plan: Plan, first: IntArray, last: IntArray
) -> tuple[NDArray[np.bool_], IntArray, IntArray]:
    """Find the links on all paths with labels that units between pairs of switches may take.

    Which of the pairs have such paths; number of the pair and link of each.
    """
    nodes, columns = plan.settings["nodes"], plan.nodes
    ends = columns["path_source"].astype(np.int64) * nodes + columns["path_destination"]
    # The paths of a pair stand in the order of their labels.
    _, label_0, which = np.unique(ends, return_index=True, return_inverse=True)
    taken = np.arange(ends.size) == label_0[which]
    if plan.settings.get("label") != "first":
        taken[:] = True
    pair = _places(ends, first * nodes + last)
    taken &= pair >= 0
    number = np.bincount(pair[taken], minlength=first.size)
    offsets = columns["path_offsets"].astype(np.int64)
    path = np.repeat(np.arange(ends.size), offsets[1:] - offsets[:-1])
    on = taken[path]
    links = plan.first_of_parallel[columns["path_links"][on]]
    once = np.unique(np.stack([path[on], links]), axis=1)
    (of_pair, link), times = np.unique(
        np.stack([pair[once[0]], once[1]]), axis=1, return_counts=True
    )
    on_all = times == number[of_pair]
    return number > 0, of_pair[on_all], link[on_all]


def _places(values: IntArray, ordered: IntArray) -> IntArray:
    """Find the place of each value among others that rise; -1 where it is not there."""
    place = np.searchsorted(ordered, values)
    there = np.append(ordered, -1)[place] == values
    return np.where(there, place, -1)


def _on_shortest(plan: Plan, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray] | None:
    """Find the links on all shortest paths between pairs of switches, as `_between` does."""
    routing = plan.settings["routing"]
    if routing["kind"] == "fat-tree" and routing["k"] > 2:
        # Of the links up there are k/2 to choose from, each with a path down of its own.
        return None if first.size else (_NOTHING, _NOTHING)
    ends = np.stack([plan.links["from"], plan.links["to"]])
    between = np.flatnonzero(plan.between_switches)
    links, which = np.unique(plan.first_of_parallel[between], return_inverse=True)
    length = np.ones(links.size)
    if routing.get("metric") == "delay":
        # Of parallel links the shortest.
        length[:] = np.inf
        np.minimum.at(length, which, plan.links["delay_ps"][between].astype(np.float64))
    steps = np.unique(first).size * links.size
    if steps > MOST_STEPS:
        return None
    graph = _Graph(plan.settings["nodes"], links, ends[:, links].astype(np.int64), length)
    pairs, found = [_NOTHING], [_NOTHING]
    for source in np.unique(first):
        begin, end = np.searchsorted(first, source), np.searchsorted(first, source, "right")
        for place, link in graph.bridges(int(source), last[begin:end]):
            pairs.append(begin + place)
            found.append(link)
    return np.concatenate(pairs), np.concatenate(found)


class _Graph:
    """The switches, with one link from each to each neighbour."""

    def __init__(self, nodes: int, links: IntArray, ends: IntArray, length: FloatArray) -> None:
        # Imported here, so that a run whose links nobody looks at does not wait for it.
        from scipy.sparse import coo_array

        self.links, self.length = links, length
        self.tail, self.head = ends
        entries = length, (self.tail, self.head)
        self.matrix = coo_array(entries, shape=(nodes, nodes)).tocsr()

    def bridges(self, source: int, to: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield links that lie on all shortest paths from a switch: places in `to`, and links."""
        parent, bridge = self._dominators(source)
        place, node = np.arange(to.size), to
        while place.size:
            certain = bridge[node] >= 0
            yield place[certain], self.links[bridge[node[certain]]]
            node = parent[node]
            place, node = place[node != source], node[node != source]

    def _dominators(self, source: int) -> tuple[IntArray, IntArray]:
        """Find the last node before each that all shortest paths to it have in common.

        And the link from there, if that is common to them, too; else -1.
        """
        from scipy.sparse.csgraph import dijkstra

        # Whole numbers; of picoseconds exact to 2.5 hours.
        distance = dijkstra(self.matrix, indices=np.array([source]))[0]
        nearer = np.flatnonzero(distance[self.tail] + self.length == distance[self.head])
        nearer = nearer[np.argsort(distance[self.head[nearer]], kind="stable")]
        parent, bridge, depth = ([-1] * distance.size for _ in range(3))
        depth[source] = 0
        links = zip(
            nearer.tolist(), self.tail[nearer].tolist(), self.head[nearer].tolist(), strict=True
        )
        for link, tail, head in links:
            common = tail
            if parent[head] < 0:
                bridge[head] = link
            else:
                bridge[head], other = -1, parent[head]
                while common != other:
                    if depth[common] > depth[other]:
                        common = parent[common]
                    else:
                        other = parent[other]
            parent[head], depth[head] = common, depth[common] + 1
        return np.array(parent), np.array(bridge)
