"""Links that a flow certainly uses: those on every path that the routing allows.

On the graph of the shortest paths from a switch, these are the edges that the graph has in common
with its dominator tree: K. D. Cooper, T. J. Harvey, K. Kennedy, "A simple, fast dominance
algorithm", Rice University TR-06-33870 (2001). In topological order one pass is enough.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.plan import Plan

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Source switches times pairs of linked switches. At this limit the search takes some seconds.
MOST_STEPS: Final = 50_000_000
_NOTHING: Final = np.zeros(0, np.int64)


def certain_links(plan: Plan, flows: IntArray) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Find the links on every path that the routing allows a flow.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    flows : ndarray of int64
        Numbers of the flows.

    Returns
    -------
    flow, link : ndarray of int64, shape (uses,)
        One row for each pair of a flow and a link; parallel links appear as the first of them.
    told : ndarray of bool, shape (links,)
        Whether the flows that use the link are known. True for the hosts' links. For links between
        switches False if flows between different switches meet one of these cases: a fat-tree
        with k above 2; deflection of bursts; more than `MOST_STEPS` source switches of flows
        without given paths, times pairs of linked switches.
    """
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    to = plan.links["to"]
    told = np.ones(to.size, np.bool_)
    # The number of the link from a host equals that of the host.
    up = plan.flows["source"][flows].astype(np.int64)
    down = np.zeros(hosts, np.int64)
    to_host = np.flatnonzero(to < hosts)
    down[to[to_host]] = to_host
    down = down[plan.flows["destination"][flows]]
    # Two hosts linked with each other use one link. Two on one switch use no link between switches.
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
    """Return the links of each flow's pair: indices in `pair`, and links."""
    order = np.argsort(of_pair, kind="stable")
    begin, end = (np.searchsorted(of_pair[order], pair, side) for side in ("left", "right"))
    count = end - begin
    which = np.repeat(np.arange(pair.size), count)
    place = np.arange(which.size) - np.repeat(np.cumsum(count) - count - begin, count)
    return which, link[order][place]


def _between(plan: Plan, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray] | None:
    """Find the certain links between pairs of different switches; the pairs are sorted.

    Returns for each link the index of its pair and its number; None if the links are not known.
    """
    if first.size and any(map(_deflects, plan.settings.get("switches", ()))):
        return None
    if plan.settings.get("label") is None and plan.settings.get("protection") is None:
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
    """Find the links on all labelled paths that units between pairs of switches may take.

    Returns whether each pair has labelled paths, then for each link the index of its pair and its
    number.
    """
    nodes, columns = plan.settings["nodes"], plan.nodes
    ends = columns["path_source"].astype(np.int64) * nodes + columns["path_destination"]
    # The paths of a pair are in the order of their labels.
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
    """Return the index of each value in sorted values; -1 if they do not include it."""
    place = np.searchsorted(ordered, values)
    there = np.append(ordered, -1)[place] == values
    return np.where(there, place, -1)


def _on_shortest(plan: Plan, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray] | None:
    """Find the links on all shortest paths between pairs of switches, as `_between` does."""
    routing = plan.settings["routing"]
    if routing["kind"] == "fat-tree" and routing["k"] > 2:
        # Routing chooses one of k/2 links up, and each has its own path down.
        return None if first.size else (_NOTHING, _NOTHING)
    ends = np.stack([plan.links["from"], plan.links["to"]])
    between = np.flatnonzero(plan.between_switches)
    links, which = np.unique(plan.first_of_parallel[between], return_inverse=True)
    length = np.ones(links.size)
    if routing.get("metric") == "delay":
        # The least delay of parallel links.
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
    """A graph of the switches, with one link for each ordered pair of neighbours."""

    def __init__(self, nodes: int, links: IntArray, ends: IntArray, length: FloatArray) -> None:
        # Imported here, because the import takes time and few runs need it.
        from scipy.sparse import coo_array

        self.links, self.length = links, length
        self.tail, self.head = ends
        entries = length, (self.tail, self.head)
        self.matrix = coo_array(entries, shape=(nodes, nodes)).tocsr()

    def bridges(self, source: int, to: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the links on all shortest paths from a switch: indices in `to`, and links."""
        parent, bridge = self._dominators(source)
        place, node = np.arange(to.size), to
        while place.size:
            certain = bridge[node] >= 0
            yield place[certain], self.links[bridge[node[certain]]]
            node = parent[node]
            place, node = place[node != source], node[node != source]

    def _dominators(self, source: int) -> tuple[IntArray, IntArray]:
        """Return each node's immediate dominator, and the link from the dominator to the node.

        The dominator is the last node before it that all shortest paths to the node share. The
        link is -1 unless all these paths share it, too.
        """
        from scipy.sparse.csgraph import dijkstra

        # Distances are integers in floats: hops, or picoseconds, which are exact up to 2.5 hours.
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
