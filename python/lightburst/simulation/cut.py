"""A cut of a network into parts of about equal load with few and long links between them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from lightburst.compile import Plan
from lightburst.topology.fat_tree import FatTreeNodes

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Number of switches up to which all eigenvectors are calculated.
_DENSE: Final = 200
# Load of the largest group of switches that stay together, as a multiple of that of an equal part.
_UNEVEN: Final = 1.25


def parts_of(plan: Plan, most: int) -> NDArray[np.uint16]:
    """Return the part of each node, shape (nodes,), in at most `most` parts.

    A fat-tree is cut into pods, each part with a share of the core. In any other network, switches
    stay together with their hosts, and with all that are joined by shorter links than those to be
    cut, which are as long as parts of about equal load permit. What is left is cut where the
    eigenvector of the second smallest eigenvalue of its Laplacian (Fiedler 1975) halves the bytes
    that hosts send and receive, again and again.
    """
    if plan.settings["routing"]["kind"] == "fat-tree":
        return _of_pods(plan.settings["routing"]["k"], most)
    hosts, switches = plan.settings["hosts"], plan.settings["nodes"] - plan.settings["hosts"]
    switch_of = plan.next_to_hosts.astype(np.int64) - hosts
    between = plan.between_switches
    ends = [plan.links[end][between].astype(np.int64) - hosts for end in ("from", "to")]
    load = _bytes_at(plan, switch_of, switches)
    delays = plan.links["delay_ps"][between]
    group_of = _groups(ends, delays, load, most)
    groups = int(group_of.max()) + 1
    # Parallel links and those of both directions add up.
    weights = _matrix(np.ones(len(delays)), [group_of[end] for end in ends], groups)
    part = np.zeros(groups, np.int64)
    loads = np.bincount(group_of, load, groups).astype(np.float64)
    _halve(np.arange(groups), most, 0, weights, loads, part)
    of_switch = part[group_of]
    found = np.concatenate([of_switch[switch_of], of_switch])
    # Without empty parts.
    return np.unique(found, return_inverse=True)[1].astype(np.uint16)


def _matrix(values: FloatArray, ends: list[IntArray], size: int) -> Any:
    """Return the sparse matrix of the weights of links, without those from a node to itself."""
    apart = ends[0] != ends[1]
    return coo_array((values[apart], (ends[0][apart], ends[1][apart])), (size, size)).tocsr()


def _groups(
    ends: list[IntArray], delays: NDArray[np.uint64], load: FloatArray, parts: int
) -> IntArray:
    """Return the group of each switch: those that only links of a certain length or more separate.

    The length is the greatest for which no group is much more than one of `parts` equal parts.
    """
    alone = np.arange(load.size)
    for least in np.unique(delays)[::-1]:
        short = delays < least
        joined = _matrix(np.ones(int(short.sum())), [end[short] for end in ends], load.size)
        group_of: IntArray = connected_components(joined, directed=False)[1].astype(np.int64)
        largest = np.bincount(group_of, load).max()
        if largest <= _UNEVEN * max(load.sum() / parts, load.max()):
            return group_of
    return alone


def _of_pods(k: int, most: int) -> NDArray[np.uint16]:
    at = FatTreeNodes(k)
    parts = min(most, k)
    pod = np.concatenate(
        [
            np.repeat(np.arange(k), at.half**2),
            np.repeat(np.arange(k), at.half),
            np.repeat(np.arange(k), at.half),
        ]
    )
    cores = at.half**2
    of_core = np.arange(cores) * parts // cores
    return np.concatenate([pod * parts // k, of_core]).astype(np.uint16)


def _bytes_at(plan: Plan, switch_of: IntArray, switches: int) -> FloatArray:
    """Return the bytes that the hosts of each switch send and receive, at least one."""
    load = np.ones(switches)
    for end in ("source", "destination"):
        at = switch_of[plan.flows[end]]
        load += np.bincount(at, plan.flows["bytes"].astype(np.float64), switches)
    return load


def _halve(
    nodes: IntArray, parts: int, first: int, weights: Any, load: FloatArray, part: IntArray
) -> None:
    """Set the part of `nodes` to `first` and the `parts` - 1 numbers behind it."""
    part[nodes] = first
    if parts == 1 or len(nodes) < 2:
        return
    own = weights[nodes][:, nodes]
    laplacian = diags_array(own.sum(axis=1)) - own
    order = nodes[np.argsort(_fiedler(laplacian), kind="stable")]
    left = parts // 2
    sums = np.cumsum(load[order]) / load[order].sum()
    cut = int(np.clip(np.argmin(np.abs(sums - left / parts)) + 1, 1, len(order) - 1))
    _halve(order[:cut], left, first, weights, load, part)
    _halve(order[cut:], parts - left, first + left, weights, load, part)


def _fiedler(laplacian: Any) -> FloatArray:
    """Return the eigenvector of the second smallest eigenvalue."""
    number = laplacian.shape[0]
    if number <= _DENSE:
        vectors: FloatArray = np.linalg.eigh(laplacian.toarray())[1]
        return vectors[:, 1]
    # Shifted below 0, so that the matrix can be factored.
    begin = np.linspace(1, 2, number)
    found: FloatArray = eigsh(laplacian.tocsc(), k=2, sigma=-1e-3, v0=begin)[1]
    return found[:, 1]
