"""Pairs of hosts at different edges."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightburst.errors import InputError, did_you_mean, show, some

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Edges:
    """Which hosts are at which edge.

    Attributes
    ----------
    of_host : ndarray of int, shape (hosts,)
        The edge of each host, counted from 0.
    names : tuple of str
        Of the edges.
    """

    of_host: Indices
    names: tuple[str, ...]

    def pairs(
        self, count: int, weights: Mapping[str, float], generator: np.random.Generator
    ) -> tuple[Indices, Indices]:
        """Draw pairs of hosts at different edges.

        Parameters
        ----------
        count : int
            How many.
        weights : mapping of str to float
            How often flows go to an edge, by name; an edge without has 1.
        generator : numpy.random.Generator
            What draws.

        Returns
        -------
        source, destination : ndarray of int64, shape (count,)
            The edges of the sources are uniform. From the edge s flows go to the edge d with the
            probability w_d / (sum of all w - w_s). Hosts of an edge are uniform.

        Raises
        ------
        InputError
            If a weight is of no edge, or some edge has none to send to.
        """
        weight = self.weights(weights)
        source = generator.integers(0, weight.size, count)
        where = generator.random(count)
        destination = np.empty(count, np.int64)
        for edge in np.unique(source).tolist():
            others = weight.copy()
            others[edge] = 0
            upto, drawn = np.cumsum(others), source == edge
            found = np.searchsorted(upto, where[drawn] * upto[-1], side="right")
            # A product that is rounded up to the sum belongs to the last that has a weight.
            destination[drawn] = np.minimum(found, np.flatnonzero(others)[-1])
        return self._hosts(source, generator), self._hosts(destination, generator)

    def shares(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Give the probability of each pair that `pairs` draws, shape (edges, edges).

        Parameters
        ----------
        weights : mapping of str to float
            As for `pairs`.

        Raises
        ------
        InputError
            As `pairs`.
        """
        weight = self.weights(weights)
        others = weight * ~np.eye(weight.size, dtype=np.bool_)
        return np.asarray(others / others.sum(axis=1, keepdims=True) / weight.size)

    def _hosts(self, edges: Indices, generator: np.random.Generator) -> Indices:
        """Draw a host of each edge."""
        number = np.bincount(self.of_host, minlength=len(self.names))
        first = np.cumsum(number) - number
        by_edge = np.argsort(self.of_host, kind="stable")
        hosts: Indices = by_edge[first[edges] + generator.integers(0, number[edges])]
        return hosts

    def weights(self, given: Mapping[str, float]) -> NDArray[np.float64]:
        """Give the weight of each edge, shape (edges,); raises as `pairs`."""
        path = "workload.destination_weights"
        for name in given:
            if name not in self.names:
                allowed = f"names of edges, {some(self.names)}{did_you_mean(name, self.names)}"
                raise InputError(path, show(name), allowed)
        weight = np.array([given.get(name, 1.0) for name in self.names])
        if weight.size < 2:
            raise InputError("workload.between", "'edges' where one has all hosts", "'hosts'")
        if np.count_nonzero(weight) < 2:
            given_ = f"{np.count_nonzero(weight)} edges with a weight above 0"
            raise InputError(path, given_, "two or more: no edge sends to itself")
        return weight
