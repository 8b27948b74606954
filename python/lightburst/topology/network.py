"""A network as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario.tables.topology import (
    FatTree,
    Graph,
    Nsfnet,
    ObsPath,
    PathTopology,
    Racks,
)

TopologySection = FatTree | PathTopology | Graph | ObsPath | Nsfnet | Racks


class Counts(NamedTuple):
    """Size of a network.

    Attributes
    ----------
    hosts, nodes, links : int
        Numbers of hosts, of all nodes, and of directed links (two per pair of connected nodes).
    structured : bool
        Whether routes are computed from the structure; otherwise a routing table is stored.
    """

    hosts: int
    nodes: int
    links: int
    structured: bool


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes and directed links; hosts are the nodes ``0..hosts``, switches the others.

    Attributes
    ----------
    hosts, nodes : int
        Number of hosts, and of all nodes.
    link_from, link_to : ndarray of uint32, shape (links,)
        Ends of each directed link. Sorted by `link_from`; the links of a node in this order are its
        ports 0, 1, 2...
    link_rate_bps : ndarray of uint64, shape (links,)
        Rate in bits per second.
    link_delay_ps : ndarray of uint64, shape (links,)
        Propagation delay in picoseconds.
    routing : dict
        Parameters by which the simulator finds shortest paths: ``{"kind": "fat-tree", "k": 8,
        "wavelengths": 1}`` or ``{"kind": "shortest-path"}``.
    names : tuple of str or None
        Names of all nodes, where the topology gives them; otherwise nodes are named by number.
    layers : dict of str to sequence of int
        The switches of each layer, where the topology has layers.
    link_wavelength : ndarray of uint16, shape (links,), optional
        Index of each link's wavelength within its fibre, from 0; the links of one fibre are
        adjacent. None: all are 0.
    link_names : tuple of str or None
        Name of each link, empty for a link without one; None if no link has a name.
    link_channels : ndarray of uint16, shape (links,), optional
        Number of wavelengths of each link, for a network whose links are whole fibres.
    """

    hosts: int
    nodes: int
    link_from: NDArray[np.uint32]
    link_to: NDArray[np.uint32]
    link_rate_bps: NDArray[np.uint64]
    link_delay_ps: NDArray[np.uint64]
    routing: dict[str, Any]
    names: tuple[str, ...] | None = None
    layers: dict[str, Sequence[int]] = field(default_factory=dict)
    link_wavelength: NDArray[np.uint16] | None = None
    link_names: tuple[str, ...] | None = None
    link_channels: NDArray[np.uint16] | None = None

    @property
    def next_to_hosts(self) -> NDArray[np.uint32]:
        """The node at the other end of each host's only link, shape (hosts,)."""
        return self.link_to[: self.hosts]

    @property
    def host_rate_bps(self) -> NDArray[np.uint64]:
        """Rate of each host's link in bits per second, shape (hosts,)."""
        return self.link_rate_bps[: self.hosts]

    @cached_property
    def wavelength(self) -> NDArray[np.uint16]:
        """Index of each link's wavelength within its fibre, from 0, shape (links,)."""
        if self.link_wavelength is None:
            return np.zeros(self.link_from.size, np.uint16)
        return self.link_wavelength

    @property
    def channels(self) -> NDArray[np.uint16]:
        """Number of wavelengths per link, shape (links,); 1 where every wavelength is a link."""
        if self.link_channels is None:
            return np.ones(self.link_from.size, np.uint16)
        return self.link_channels

    def with_wavelengths(self, each: NDArray[np.int64]) -> "Network":
        """Replace every link by the given number of adjacent links, one per wavelength."""
        if (each == 1).all():
            return self
        last = np.repeat(each.cumsum(), each)
        link_names = self.link_names and tuple(
            name for name, times in zip(self.link_names, each, strict=True) for _ in range(times)
        )
        return replace(
            self,
            link_from=np.repeat(self.link_from, each),
            link_to=np.repeat(self.link_to, each),
            link_rate_bps=np.repeat(self.link_rate_bps, each),
            link_delay_ps=np.repeat(self.link_delay_ps, each),
            link_wavelength=(np.arange(last.size) - last + np.repeat(each, each)).astype(np.uint16),
            link_names=link_names,
        )

    @cached_property
    def fibres(self) -> "Network":
        """The same network with one link per fibre, its wavelengths merged into `channels`."""
        first = np.flatnonzero(self.wavelength == 0)
        structured = "wavelengths" in self.routing
        names = self.link_names
        fibres = replace(
            self,
            link_from=self.link_from[first],
            link_to=self.link_to[first],
            link_rate_bps=self.link_rate_bps[first],
            link_delay_ps=self.link_delay_ps[first],
            routing=self.routing | ({"wavelengths": 1} if structured else {}),
            link_wavelength=None,
            link_names=names and tuple(names[i] for i in first),
            link_channels=np.diff(first, append=self.link_from.size).astype(np.uint16),
        )
        fibres.freeze()
        return fibres

    def name(self, node: int) -> str:
        """Return the name of a node, or its number as text if it has no name."""
        return str(node) if self.names is None else self.names[node]

    @property
    def host_names(self) -> tuple[str, ...] | None:
        """The hosts' names, where the topology gives them."""
        return None if self.names is None else self.names[: self.hosts]

    def named(self, nodes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Return the names of nodes for a table; their numbers where the topology has no names."""
        if self.names is None:
            return nodes
        names: NDArray[Any] = np.array(self.names, dtype=object)[nodes]
        return names

    def layer_of_switches(self) -> list[str]:
        """Return the layer of each switch; ``"switch"`` where the topology has no layers."""
        layers = ["switch"] * (self.nodes - self.hosts)
        for layer, nodes in self.layers.items():
            for node in nodes:
                layers[node - self.hosts] = layer
        return layers

    @cached_property
    def between_switches(self) -> NDArray[np.bool_]:
        """Mask of the links that join two switches, shape (links,)."""
        return joins_switches(self.link_from, self.link_to, self.hosts)

    @cached_property
    def switches(self) -> dict[str, int]:
        """The number of each switch, by its name."""
        return {self.name(node): node for node in range(self.hosts, self.nodes)}

    @property
    def counts(self) -> Counts:
        """Size of the network."""
        structured = self.routing["kind"] != "shortest-path"
        return Counts(self.hosts, self.nodes, self.link_from.size, structured)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Number of outgoing links of each node, shape (nodes,)."""
        return np.bincount(self.link_from, minlength=self.nodes)

    @property
    def largest_degree(self) -> int:
        """Largest number of links at a switch; 0 if there is no switch."""
        return int(self.degree[self.hosts :].max(initial=0))

    def freeze(self) -> None:
        """Make the arrays read-only, so that they can be shared."""
        columns = self.link_from, self.link_to, self.link_rate_bps, self.link_delay_ps
        for array in (*columns, self.link_channels):
            if array is not None:
                array.flags.writeable = False


def joins_switches(
    source: NDArray[np.uint32], target: NDArray[np.uint32], hosts: int
) -> NDArray[np.bool_]:
    """Return a mask of the links that join two switches, i.e. node numbers from `hosts` on."""
    both: NDArray[np.bool_] = np.minimum(source, target) >= hosts
    return both


def delay_ps(length_m: float, propagation_ps_per_m: float) -> int:
    """Return the propagation delay of a link in picoseconds, rounded to the nearest integer."""
    return round(length_m * propagation_ps_per_m)


def uniform(
    section: FatTree | PathTopology | Racks, count: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return equal rates and delays, taken from the section, for ``count`` links."""
    delay = delay_ps(section.link_length, section.propagation)
    return (
        np.full(count, section.link_rate, np.uint64),
        np.full(count, delay, np.uint64),
    )
