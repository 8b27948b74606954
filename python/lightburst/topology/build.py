"""Builds the network of a ``[topology]`` table."""

from functools import lru_cache

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.scenario.reading.files import Stamp, stamp
from lightburst.scenario.tables.topology import (
    FatTree,
    Graph,
    Nsfnet,
    ObsPath,
    PathTopology,
    Racks,
)
from lightburst.topology.fat_tree import FatTreeNodes, build_fat_tree
from lightburst.topology.graph import build_graph
from lightburst.topology.network import Counts, Network, TopologySection
from lightburst.topology.nsfnet import build_nsfnet
from lightburst.topology.obs_path import build_obs_path, count_obs_path
from lightburst.topology.path import build_path
from lightburst.topology.racks import build_racks, count_racks

# The simulator numbers the ports of a node and the links of a path in 16 bits.
LARGEST_DEGREE = 2**16 - 1
LARGEST_SWITCHES = 2**16 - 2


def count(section: TopologySection) -> Counts | None:
    """Count hosts, nodes and links without building the network; None for a table of links."""
    match section:
        case FatTree():
            nodes = FatTreeNodes(section.k)
            links = nodes.links(section.wavelengths)
            return Counts(nodes.hosts, nodes.nodes, links, structured=True)
        case PathTopology():
            of_hosts = min(section.links, 2)
            links = of_hosts + (section.links - of_hosts) * section.wavelengths
            return Counts(2, section.links + 1, 2 * links, structured=False)
        case ObsPath():
            return count_obs_path(section)
        case Racks():
            return count_racks(section)
        case Graph() | Nsfnet():
            return None


def build_network(section: TopologySection) -> Network:
    """Lay out a network; the most recent ones are cached for the runs of a sweep.

    Parameters
    ----------
    section : FatTree, PathTopology, Graph, ObsPath, Nsfnet or Racks
        The ``[topology]`` table.

    Returns
    -------
    Network
        Its arrays are shared and cannot be written to.

    Raises
    ------
    InputError
        When the table of links cannot be used.
    """
    file = section.file if isinstance(section, Graph) else None
    return _build(section, stamp(file, "topology.file") if file else None)


@lru_cache(maxsize=8)
def _build(section: TopologySection, _version: Stamp | None) -> Network:
    match section:
        case FatTree():
            network = build_fat_tree(section)
        case PathTopology():
            network = build_path(section)
        case ObsPath():
            network = build_obs_path(section)
        case Racks():
            network = build_racks(section)
        case Graph():
            network = build_graph(section)
        case Nsfnet():
            network = build_nsfnet(section)
    if not isinstance(section, Graph | Nsfnet):
        each = np.where(network.between_switches, section.wavelengths, 1)
        network = network.with_wavelengths(each)
    _check_size(network)
    network.freeze()
    return network


def _check_size(network: Network) -> None:
    """Refuse more links per node, or more switches, than the simulator's 16 bits can number."""
    if network.largest_degree > LARGEST_DEGREE:
        given = f"a node with {network.largest_degree} links"
        raise InputError("topology", given, f"at most {LARGEST_DEGREE} links at a node")
    if network.nodes - network.hosts > LARGEST_SWITCHES:
        given = f"{network.nodes - network.hosts} switches"
        raise InputError("topology", given, f"at most {LARGEST_SWITCHES} switches")
