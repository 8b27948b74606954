"""How traffic spreads over links: the part of what goes somewhere that each link on the way gets.

Where several next hops are equally good each gets the same part. That is what `random` and `free`
do to many units, and `flow-hash` to many flows, or to one in the mean over seeds.
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

# Of each way Gauss-Legendre quadrature is exact up to twice as many next hops.
_NODES: Final = 16


class Links(NamedTuple):
    """Directed links between nodes.

    Attributes
    ----------
    source, target : ndarray of int, shape (links,)
        Nodes.
    length : ndarray of int, shape (links,)
        What each adds to a path, above 0.
    nodes : int
        How many nodes there are.
    """

    source: IntArray
    target: IntArray
    length: IntArray
    nodes: int


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways through a network, each to one end, from any node on it, as steps over links.

    Attributes
    ----------
    ends : ndarray of int, shape (ways,)
        The node to which each leads.
    way, link : ndarray of int, shape (steps,)
        A link that is on a way. The steps of a way come in their order: all that lead to a node
        before those that leave it, these together.
    links : Links
        All links.
    """

    ends: IntArray
    way: IntArray
    link: IntArray
    links: Links

    @cached_property
    def _levels(self) -> list[slice]:
        """Steps that can be taken at once: no one leads to where another begins."""
        turns = np.flatnonzero(np.diff(self._depth)) + 1
        bounds = [0, *turns.tolist(), self.way.size]
        return [slice(a, b) for a, b in pairwise(bounds) if b > a]

    @cached_property
    def _depth(self) -> IntArray:
        return depth_of(self.way, self.link, self.links, self.ends.size)

    @cached_property
    def _fork(self) -> IntArray:
        """Which of the places where a way leaves a node each step belongs to."""
        place = self.way * self.links.nodes + self.links.source[self.link]
        return np.cumsum(np.diff(place, prepend=-1) != 0) - 1

    @cached_property
    def splits(self) -> bool:
        """Whether there is a choice anywhere."""
        return bool(self._fork.size and self._fork[-1] + 1 < self._fork.size)

    def longest(self, entering: FloatArray) -> int:
        """Count the links of the longest way that something takes that enters so."""
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
            What enters each way at each node.
        lost : ndarray of float, shape (links,), optional
            Part of what it is offered that each link loses. Nothing, without it.
        free : bool
            Whether of several next hops only those are taken that are free, each alike: not with
            the part `lost`, each for itself. Without it each gets the same part.

        Returns
        -------
        offered : ndarray of float, shape (links,)
            What each link is offered. With `free` that is what it gets while it is free, over the
            part of the time in which it is.
        arrived : ndarray of float, shape (ways,)
            What comes to each end.
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
        """Give the part of what is at a node that is offered to each next hop."""
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
    """Count the links of the longest way on from each step, shape (steps,)."""
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
        The nodes.
    usable : ndarray of bool, shape (links,)
        Over which of the links ways lead.

    Returns
    -------
    Ways
        One for each end, with the equally good next hops of each node from which it can be reached.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    nodes = np.asarray(ends, np.int64)
    shape = links.nodes, links.nodes
    # Of parallel links the shortest one.
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
    """Make a way of each of some paths, which are lists of links; links beside each other split.

    Parameters
    ----------
    links : Links
        All links.
    paths : sequence of ndarray of int
        The links of each.

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
    """Name for each link of some ways those over which traffic comes to it; None: it enters there.

    Parameters
    ----------
    ways : sequence of Ways
        The ways.
    entered : sequence of ndarray of float, shape (ways, nodes)
        What enters each.

    Yields
    ------
    tuple of int and (int or None)
        A link, and one before it.
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
