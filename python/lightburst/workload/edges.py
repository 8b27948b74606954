"""Pairs of hosts at different edges."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, did_you_mean, show, some

Indices = NDArray[np.int64]


def choose(weight: NDArray[np.float64], where: NDArray[np.float64]) -> Indices:
    """Return the index with each fraction `where`, from 0 to below 1, of the summed weights."""
    upto = np.cumsum(weight)
    found = np.searchsorted(upto, where * upto[-1], side="right")
    # If rounding makes the product equal to the sum, take the last index with a weight.
    return np.asarray(np.minimum(found, np.flatnonzero(weight)[-1]))


@dataclass(frozen=True, eq=False)
class Edges:
    """Assignment of hosts to edges.

    Attributes
    ----------
    of_host : ndarray of int, shape (hosts,)
        Index of each host's edge, from 0.
    names : tuple of str
        Names of the edges, by index.
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
            Number of pairs.
        weights : mapping of str to float
            Weight of an edge as destination, by name; 1 for edges that are not in it.
        generator : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        source, destination : ndarray of int64, shape (count,)
            Hosts. The edge s of a source is uniform; a flow from it goes to the edge d with
            probability w_d / (sum of all w - w_s). Hosts within an edge are uniform.

        Raises
        ------
        InputError
            If a weight names an unknown edge, or some edge has no possible destination.
        """
        weight = self.weights(weights)
        source = generator.integers(0, weight.size, count)
        where = generator.random(count)
        destination = np.empty(count, np.int64)
        for edge in np.unique(source).tolist():
            others = weight.copy()
            others[edge] = 0
            drawn = source == edge
            destination[drawn] = choose(others, where[drawn])
        return self._hosts(source, generator), self._hosts(destination, generator)

    def shares(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the probability of each pair of edges under `pairs`, shape (edges, edges).

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
        """Draw one host at each of the given edges."""
        number = np.bincount(self.of_host, minlength=len(self.names))
        first = np.cumsum(number) - number
        by_edge = np.argsort(self.of_host, kind="stable")
        hosts: Indices = by_edge[first[edges] + generator.integers(0, number[edges])]
        return hosts

    def weights(self, given: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the weight of each edge, shape (edges,); raises as `pairs`."""
        path = "workload.destination_weights"
        for name in given:
            if name not in self.names:
                allowed = f"names of edges, {some(self.names)}{did_you_mean(name, self.names)}"
                raise InputError(path, show(name), allowed)
        weight = np.array([given.get(name, 1.0) for name in self.names])
        if weight.size < 2:
            raise InputError("workload.between", "'edges' with all hosts at one edge", "'hosts'")
        if np.count_nonzero(weight) < 2:
            given_ = f"{np.count_nonzero(weight)} edges with a weight above 0"
            raise InputError(path, given_, "two or more: no edge sends to itself")
        return weight
