"""The k-ary fat-tree.

M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture",
SIGCOMM 2008.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario.tables.topology import FatTree
from lightburst.topology.network import Network, uniform


@dataclass(frozen=True)
class FatTreeNodes:
    """Node and port numbering of a fat-tree, with ``h = k / 2``.

    ======== ================================= ======================= ==========================
    node     number                            ports ``0..h``          ports ``h..k``
    ======== ================================= ======================= ==========================
    host     ``pod h**2 + edge h + i``         its edge (one port)
    edge     ``edges + pod h + e``             hosts ``i`` below       aggregations ``a`` of the pod
    agg      ``aggregations + pod h + a``      edges ``e`` of the pod  cores ``a h + c``
    core     ``cores + a h + c``               pods ``0..h``           pods ``h..k``
    ======== ================================= ======================= ==========================
    """

    k: int

    @property
    def half(self) -> int:
        """Number of upward ports, and of downward ports, of an edge or aggregation switch."""
        return self.k // 2

    @property
    def hosts(self) -> int:
        """Number of hosts; the hosts are numbered from 0."""
        return self.k**3 // 4

    @property
    def edges(self) -> int:
        """Number of the first edge switch."""
        return self.hosts

    @property
    def aggregations(self) -> int:
        """Number of the first aggregation switch."""
        return self.edges + self.k * self.half

    @property
    def cores(self) -> int:
        """Number of the first core switch."""
        return self.aggregations + self.k * self.half

    @property
    def nodes(self) -> int:
        """Number of nodes: hosts and switches."""
        return self.cores + self.half**2

    def links(self, wavelengths: int) -> int:
        """Count directed links: each of the three layers has ``k**3 / 4`` in each direction."""
        return (2 + 4 * wavelengths) * self.hosts


def build_fat_tree(section: FatTree) -> Network:
    """Lay out a fat-tree.

    Parameters
    ----------
    section : FatTree
        The ``[topology]`` table.

    Returns
    -------
    Network
        Nodes and ports as in `FatTreeNodes`, with one wavelength.
    """
    at = FatTreeNodes(section.k)
    k, half = at.k, at.half
    pod = np.arange(k)[:, None, None]
    switch = np.arange(half)[None, :, None]  # edge or aggregation within its pod
    port = np.arange(half)[None, None, :]

    def rows(*halves: NDArray[np.int64]) -> NDArray[np.int64]:
        shape = (k, half, half)
        return np.concatenate([np.broadcast_to(part, shape) for part in halves], axis=2).ravel()

    host_up = at.edges + np.arange(at.hosts) // half
    edge = rows((pod * half + switch) * half + port, at.aggregations + pod * half + port)
    aggregation = rows(at.edges + pod * half + port, at.cores + switch * half + port)
    core_row = np.arange(half**2)[:, None] // half  # the core's aggregation switch in each pod
    core = (at.aggregations + np.arange(k)[None, :] * half + core_row).ravel()

    degree = np.full(at.nodes, k)
    degree[: at.hosts] = 1
    rate, delay = uniform(section, at.links(1))
    link_from = np.repeat(np.arange(at.nodes, dtype=np.uint32), degree)
    link_to = np.concatenate([host_up, edge, aggregation, core]).astype(np.uint32)
    if section.access_rate is not None:
        rate[np.minimum(link_from, link_to) < at.hosts] = section.access_rate
    return Network(
        hosts=at.hosts,
        nodes=at.nodes,
        link_from=link_from,
        link_to=link_to,
        link_rate_bps=rate,
        link_delay_ps=delay,
        routing={"kind": "fat-tree", "k": k, "wavelengths": section.wavelengths},
        layers={
            "edge": range(at.edges, at.aggregations),
            "aggregation": range(at.aggregations, at.cores),
            "core": range(at.cores, at.nodes),
        },
    )
