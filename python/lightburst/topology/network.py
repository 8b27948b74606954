"""A network as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario.topology import FatTree, Graph, Nsfnet, ObsPath, PathTopology

TopologySection = FatTree | PathTopology | Graph | ObsPath | Nsfnet


class Counts(NamedTuple):
    """How large a network is.

    Attributes
    ----------
    hosts, nodes, links : int
        Links are directed: two for each that joins two nodes.
    structured : bool
        Whether routes are calculated; otherwise there is a table of them.
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
        How many hosts, and nodes in all.
    link_from, link_to : ndarray of uint32, shape (links,)
        Ends of each directed link. Sorted by `link_from`; the links of a node in this order are its
        ports 0, 1, 2...
    link_rate_bps : ndarray of uint64, shape (links,)
        Bits a second.
    link_delay_ps : ndarray of uint64, shape (links,)
        Propagation delay in picoseconds.
    routing : dict
        What the simulator needs to find shortest paths:
        ``{"kind": "fat-tree", "k": 8, "wavelengths": 1}`` or ``{"kind": "shortest-path"}``.
    names : tuple of str or None
        The names of all nodes, where the topology gives them; otherwise their numbers are.
    layers : dict of str to sequence of int
        The switches of each layer, where the topology has layers.
    link_wavelength : ndarray of uint16, shape (links,), optional
        Number of the wavelength of each link: those of one fibre stand together, from 0. Without
        it all are 0.
    link_names : tuple of str or None
        The name of each link that has one, otherwise empty text; None where none has.
    link_channels : ndarray of uint16, shape (links,), optional
        Where a link is a fibre and not one of its wavelengths: how many of these it has.
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
        """The node to which the one link of each host leads, shape (hosts,); hosts come first."""
        return self.link_to[: self.hosts]

    @property
    def host_rate_bps(self) -> NDArray[np.uint64]:
        """Bits a second of the link of each host, shape (hosts,)."""
        return self.link_rate_bps[: self.hosts]

    @cached_property
    def wavelength(self) -> NDArray[np.uint16]:
        """Number of the wavelength of each link, shape (links,)."""
        if self.link_wavelength is None:
            return np.zeros(self.link_from.size, np.uint16)
        return self.link_wavelength

    @property
    def channels(self) -> NDArray[np.uint16]:
        """How many wavelengths each link has, shape (links,); one, where each is a link."""
        if self.link_channels is None:
            return np.ones(self.link_from.size, np.uint16)
        return self.link_channels

    def with_wavelengths(self, each: NDArray[np.int64]) -> "Network":
        """Put so many links in place of each, shape (links,), side by side."""
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
        """The same, with one link of so many channels in place of the wavelengths of a fibre."""
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
        """Give the name of a node."""
        return str(node) if self.names is None else self.names[node]

    @property
    def host_names(self) -> tuple[str, ...] | None:
        """The hosts' names, where the topology gives them."""
        return None if self.names is None else self.names[: self.hosts]

    def named(self, nodes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Give the names of nodes for a table; their numbers where the topology has no names."""
        if self.names is None:
            return nodes
        names: NDArray[Any] = np.array(self.names, dtype=object)[nodes]
        return names

    def layer_of_switches(self) -> list[str]:
        """Give the layer of each switch; ``"switch"`` where the topology has no layers."""
        layers = ["switch"] * (self.nodes - self.hosts)
        for layer, nodes in self.layers.items():
            for node in nodes:
                layers[node - self.hosts] = layer
        return layers

    @cached_property
    def between_switches(self) -> NDArray[np.bool_]:
        """Which links join two switches, shape (links,)."""
        return joins_switches(self.link_from, self.link_to, self.hosts)

    @cached_property
    def switches(self) -> dict[str, int]:
        """The number of each switch, by its name."""
        return {self.name(node): node for node in range(self.hosts, self.nodes)}

    @property
    def counts(self) -> Counts:
        """How large it is."""
        structured = self.routing["kind"] != "shortest-path"
        return Counts(self.hosts, self.nodes, self.link_from.size, structured)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Links of each node, shape (nodes,)."""
        return np.bincount(self.link_from, minlength=self.nodes)

    @property
    def largest_degree(self) -> int:
        """Links of the switch with the most of them; 0 if there is no switch."""
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
    """Tell which links, given the nodes at both ends, join two switches: hosts come first."""
    both: NDArray[np.bool_] = np.minimum(source, target) >= hosts
    return both


def delay_ps(length_m: float, propagation_ps_per_m: float) -> int:
    """Propagation delay of a link in whole picoseconds, rounded to nearest."""
    return round(length_m * propagation_ps_per_m)


def uniform(
    section: FatTree | PathTopology, count: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Rates and delays of ``count`` links that are all as the section says."""
    delay = delay_ps(section.link_length, section.propagation)
    return (
        np.full(count, section.link_rate, np.uint64),
        np.full(count, delay, np.uint64),
    )
