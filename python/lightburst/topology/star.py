"""A further switch with a link to each rack of a network, and one back."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from lightburst.topology.network import Network

#: Name of the switch, and of its layer.
PACKET: Final = "packet"


@lru_cache(maxsize=8)
def with_star(network: Network, rate_bps: int) -> Network:
    """Add a switch that joins all switches with hosts.

    Parameters
    ----------
    network : Network
        Racks of hosts, and switches between them, with one wavelength.
    rate_bps : int
        Rate of the links of the new switch in bits per second.

    Returns
    -------
    Network
        The switch is the last node, alone in the layer ``"packet"``; the link of each rack to it is
        the last of the rack, and has the delay of the rack's first link to another switch.
    """
    racks = np.unique(network.next_to_hosts)
    up = np.isin(network.link_from, racks) & (network.link_to >= network.hosts)
    _, first = np.unique(network.link_from[up], return_index=True)
    delay = network.link_delay_ps[up][first]
    node = np.full(racks.size, network.nodes, np.uint32)
    link_from = np.concatenate([network.link_from, racks, node])
    order = np.argsort(link_from, kind="stable")
    rate = np.full(2 * racks.size, rate_bps, np.uint64)
    link_names = network.link_names and (*network.link_names, *[""] * (2 * racks.size))
    wide = replace(
        network,
        nodes=network.nodes + 1,
        link_from=link_from[order],
        link_to=np.concatenate([network.link_to, node, racks])[order],
        link_rate_bps=np.concatenate([network.link_rate_bps, rate])[order],
        link_delay_ps=np.concatenate([network.link_delay_ps, delay, delay])[order],
        names=network.names and (*network.names, PACKET),
        layers={**network.layers, PACKET: range(network.nodes, network.nodes + 1)},
        link_wavelength=None,
        link_names=link_names and tuple(link_names[i] for i in order),
    )
    wide.freeze()
    return wide
