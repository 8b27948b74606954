"""Two hosts and a chain of switches between them."""

import numpy as np

from lightburst.scenario.tables.topology import PathTopology
from lightburst.topology.network import Network, uniform


def build_path(section: PathTopology) -> Network:
    """Lay out a path, with one wavelength.

    Parameters
    ----------
    section : PathTopology
        The ``[topology]`` table.

    Returns
    -------
    Network
        Nodes in path order: host 0, the switches 2, 3..., host 1. Port 0 of a switch leads towards
        host 0.
    """
    chain = np.concatenate([[0], np.arange(2, section.links + 1), [1]]).astype(np.uint32)
    before, after = chain[:-1], chain[1:]
    # Backward links first, so that port 0 of every switch leads towards host 0.
    link_from = np.concatenate([after, before])
    link_to = np.concatenate([before, after])
    order = np.argsort(link_from, kind="stable")
    rate, delay = uniform(section, link_from.size)
    return Network(
        hosts=2,
        nodes=section.links + 1,
        link_from=link_from[order],
        link_to=link_to[order],
        link_rate_bps=rate,
        link_delay_ps=delay,
        routing={"kind": "shortest-path"},
    )
