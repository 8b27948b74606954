"""How traffic spreads over links: the part of the traffic to a destination on each link.

Equally good next hops get equal parts. `random` and `free` spread many units in this way, and
`flow-hash` spreads many flows so, or a single flow in the mean over seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Points of Gauss-Legendre quadrature, which is exact up to twice this number of next hops.
_NODES: Final = 16


class Links(NamedTuple):
    """Directed links between nodes.

    Attributes
    ----------
    source, target : ndarray of int, shape (links,)
        Nodes at both ends of each link.
    length : ndarray of int, shape (links,)
        Length of each link in the metric of the routing, above 0.
    nodes : int
        Number of nodes.
    """

    source: IntArray
    target: IntArray
    length: IntArray
    nodes: int


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways through a network: directed acyclic graphs of links, each to one destination.

    Attributes
    ----------
    ends : ndarray of int, shape (ways,)
        Destination of each way.
    way, link : ndarray of int, shape (steps,)
        A step: a way, and a link on it. The steps of a way are in topological order: all that
        lead to a node come before those that leave the node, and the latter are contiguous.
    links : Links
        All links.
    """

    ends: IntArray
    way: IntArray
    link: IntArray
    links: Links

    @cached_property
    def _levels(self) -> list[slice]:
        """Steps that can be taken at once: none ends at the node from which another starts."""
        turns = np.flatnonzero(np.diff(self._depth)) + 1
        bounds = [0, *turns.tolist(), self.way.size]
        return [slice(a, b) for a, b in pairwise(bounds) if b > a]

    @cached_property
    def _depth(self) -> IntArray:
        return depth_of(self.way, self.link, self.links, self.ends.size)

    @cached_property
    def _fork(self) -> IntArray:
        """Index of each step's fork, shape (steps,): the steps of one way that leave one node."""
        place = self.way * self.links.nodes + self.links.source[self.link]
        return np.cumsum(np.diff(place, prepend=-1) != 0) - 1

    @cached_property
    def splits(self) -> bool:
        """Whether any fork has several next hops."""
        return bool(self._fork.size and self._fork[-1] + 1 < self._fork.size)

    def longest(self, entering: FloatArray) -> int:
        """Return the number of links of the longest way from a node where traffic enters."""
        source = self.links.source[self.link]
        used = entering[self.way, source] > 0
        return int(self._depth[used].max(initial=0))

    def spread(
        self, entering: FloatArray, lost: FloatArray | None = None, *, free: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Let traffic follow the ways.

        Parameters
        ----------
        entering : ndarray of float, shape (ways, nodes)
            Traffic that enters each way at each node.
        lost : ndarray of float, shape (links,), optional
            Fraction of the offered traffic that each link loses; by default none.
        free : bool
            Whether the free next hops alone share the traffic equally. A next hop is busy with
            probability `lost`, independently of the others. By default all next hops share the
            traffic equally.

        Returns
        -------
        offered : ndarray of float, shape (links,)
            Traffic offered to each link. With `free`: the traffic that the link gets while it is
            free, over the fraction of time in which it is free.
        arrived : ndarray of float, shape (ways,)
            Traffic that arrives at each destination.
        """
        flow, offered = entering.copy(), np.zeros(self.links.source.size)
        source, target = (end[self.link] for end in (self.links.source, self.links.target))
        share = self._shares(lost if free else None)
        for level in self._levels:
            ways, links = self.way[level], self.link[level]
            through = flow[ways, source[level]] * share[level]
            np.add.at(offered, links, through)
            kept = through if lost is None else through * (1 - lost[links])
            np.add.at(flow, (ways, target[level]), kept)
        return offered, flow[np.arange(self.ends.size), self.ends]

    def _shares(self, lost: FloatArray | None) -> FloatArray:
        """Return the fraction of a node's traffic offered to the next hop of each step."""
        fork = self._fork
        if lost is None or not self.splits:
            return np.asarray(1 / np.bincount(fork)[fork], np.float64) if fork.size else np.zeros(0)
        # E[1 / (1 + K)] = int_0^1 E[x^K] dx, K the number of the other next hops that are free.
        busy = lost[self.link]
        begins = np.flatnonzero(np.diff(fork, prepend=-1))
        share = np.zeros(fork.size)
        points, weights = np.polynomial.legendre.leggauss(_NODES)
        for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
            each = busy + (1 - busy) * point
            share += weight * np.multiply.reduceat(each, begins)[fork] / each
        return share


def depth_of(way: IntArray, link: IntArray, links: Links, ways: int) -> IntArray:
    """Return the number of links of the longest way from each step on, shape (steps,)."""
    source, target = links.source[link], links.target[link]
    depth = np.zeros((ways, links.nodes), np.int64)
    while True:
        found = np.zeros_like(depth)
        np.maximum.at(found, (way, source), depth[way, target] + 1)
        if (found == depth).all():
            return depth[way, source]
        depth = found


def shortest_ways(
    links: Links, ends: Sequence[int] | NDArray[np.integer], usable: NDArray[np.bool_]
) -> Ways:
    """Find all shortest ways to each of some nodes.

    Parameters
    ----------
    links : Links
        All links.
    ends : sequence of int
        The destinations.
    usable : ndarray of bool, shape (links,)
        Whether ways may use each link.

    Returns
    -------
    Ways
        One for each destination, with all shortest next hops of each node that can reach it.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    nodes = np.asarray(ends, np.int64)
    shape = links.nodes, links.nodes
    # The shortest of parallel links.
    order = np.lexsort((links.length, links.source, links.target))
    order = order[usable[order]]
    pair = links.target[order] * links.nodes + links.source[order]
    first = order[np.flatnonzero(np.diff(pair, prepend=-1))]
    lengths = links.length[first].astype(np.float64)
    backwards = csr_array((lengths, (links.target[first], links.source[first])), shape=shape)
    away = dijkstra(backwards, indices=nodes)
    here, there = away[:, links.source], away[:, links.target]
    way, link = np.nonzero(usable & np.isfinite(here) & (here == there + links.length))
    return _in_order(np.asarray(ends, np.int64), way.astype(np.int64), link.astype(np.int64), links)


def single_ways(links: Links, paths: Sequence[IntArray]) -> Ways:
    """Make a way of each path; parallel links of a path share its traffic equally.

    Parameters
    ----------
    links : Links
        All links.
    paths : sequence of ndarray of int
        The links of each path.

    Returns
    -------
    Ways
        One for each path.
    """
    sizes = [len(path) for path in paths]
    link = np.concatenate([np.asarray(path, np.int64) for path in paths] or [np.zeros(0, np.int64)])
    way = np.repeat(np.arange(len(paths)), sizes)
    ends = np.array([links.target[path[-1]] for path in paths], np.int64)
    return _in_order(ends, way, link, links)


def _in_order(ends: IntArray, way: IntArray, link: IntArray, links: Links) -> Ways:
    depth = depth_of(way, link, links, ends.size)
    order = np.lexsort((link, links.source[link], way, -depth))
    return Ways(ends, way[order], link[order], links)


def before(ways: Sequence[Ways], entered: Sequence[FloatArray]) -> Iterator[tuple[int, int | None]]:
    """Yield pairs of a link and its predecessor on a way.

    Parameters
    ----------
    ways : sequence of Ways
        The ways.
    entered : sequence of ndarray of float, shape (ways, nodes)
        Traffic that enters each way at each node; links without traffic are left out.

    Yields
    ------
    tuple of int and (int or None)
        A link, and a link before it; None where traffic enters at the link's source.
    """
    for several, entering in zip(ways, entered, strict=True):
        links = several.links
        into: dict[tuple[int, int], list[int]] = {}
        used = entering > 0
        for way, link in zip(several.way.tolist(), several.link.tolist(), strict=True):
            here, there = int(links.source[link]), int(links.target[link])
            if not used[way, here]:
                continue
            used[way, there] = True
            into.setdefault((way, there), []).append(link)
            yield from ((link, last) for last in into.get((way, here), ()))
            if entering[way, here] > 0:
                yield link, None
