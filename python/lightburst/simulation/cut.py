"""A cut of a network into parts of about equal load with few and long links between them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import eigsh

from lightburst.compile import Plan
from lightburst.topology.fat_tree import FatTreeNodes

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Number of switches up to which all eigenvectors are calculated.
_DENSE: Final = 200


def parts_of(plan: Plan, most: int) -> NDArray[np.uint16]:
    """Return the part of each node, shape (nodes,), in at most `most` parts.

    A fat-tree is cut into pods, each part with a share of the core. Any other network is cut where
    the eigenvector of the second smallest eigenvalue of its Laplacian (Fiedler 1975) halves the
    bytes that hosts send and receive, again and again; short links are cut last. Hosts are in the
    part of their switch.
    """
    if plan.settings["routing"]["kind"] == "fat-tree":
        return _of_pods(plan.settings["routing"]["k"], most)
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    source, target = (plan.links[end].astype(np.int64) for end in ("from", "to"))
    at = source >= hosts
    between = at & (target >= hosts)
    near = 1 / plan.links["delay_ps"].astype(np.float64)
    ends = source[between] - hosts, target[between] - hosts
    shape = nodes - hosts, nodes - hosts
    weights = coo_array((near[between] / near.max(), ends), shape).tocsr()
    switch_of = plan.next_to_hosts.astype(np.int64) - hosts
    load = _bytes_at(plan, switch_of, nodes - hosts)
    part = np.zeros(nodes - hosts, np.int64)
    _halve(np.arange(nodes - hosts), most, 0, weights + weights.T, load, part)
    found = np.concatenate([part[switch_of], part])
    # Without empty parts.
    return np.unique(found, return_inverse=True)[1].astype(np.uint16)


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
