"""The path of yu2004: senders, an ingress edge, core nodes in a row, an egress edge, receivers.

X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance evaluation of TCP implementations in OBS networks",
2004, section V.
"""

import numpy as np

from lightburst.scenario.tables.topology import ObsPath
from lightburst.topology.network import Counts, Network


def count_obs_path(section: ObsPath) -> Counts:
    """Count hosts, nodes and links of the network without building it."""
    pairs, edges_and_cores = section.host_pairs, section.core_nodes + 2
    links = 2 * (2 * pairs + (edges_and_cores - 1) * section.wavelengths)
    return Counts(2 * pairs, 2 * pairs + edges_and_cores, links, structured=False)


def build_obs_path(section: ObsPath) -> Network:
    """Lay out the path, with one wavelength.

    Parameters
    ----------
    section : ObsPath
        The ``[topology]`` table.

    Returns
    -------
    Network
        Nodes for n host pairs: senders 0..n, receivers n..2n, and from 2n on the ingress edge, the
        cores in path order and the egress edge. The ports of an edge lead to its hosts, its last
        port to the fibre; port 0 of a core leads towards the senders.
    """
    pairs, counts = section.host_pairs, count_obs_path(section)
    chain = np.arange(counts.hosts, counts.nodes)
    senders, receivers = np.arange(pairs), np.arange(pairs, counts.hosts)
    ingress, egress = np.full(pairs, chain[0]), np.full(pairs, chain[-1])
    before, after = chain[:-1], chain[1:]
    # Access links first, then fibres towards the senders, then fibres towards the receivers: the
    # stable sort below keeps this order for the ports.
    link_from = np.concatenate([senders, receivers, ingress, egress, after, before])
    link_to = np.concatenate([ingress, egress, senders, receivers, before, after])
    access, fibres = 4 * pairs, 2 * before.size
    rate = np.repeat(
        np.array([section.access_rate, section.fibre_rate], np.uint64), [access, fibres]
    )
    delay = np.repeat(
        np.array([section.access_delay, section.fibre_delay], np.uint64), [access, fibres]
    )
    # Half of the extra delay per direction; an odd picosecond goes to the return direction.
    delay[pairs : 2 * pairs] += np.uint64(section.extra_round_trip - section.extra_round_trip // 2)
    delay[3 * pairs : 4 * pairs] += np.uint64(section.extra_round_trip // 2)
    order = np.argsort(link_from, kind="stable")
    return Network(
        hosts=counts.hosts,
        nodes=counts.nodes,
        link_from=link_from[order].astype(np.uint32),
        link_to=link_to[order].astype(np.uint32),
        link_rate_bps=rate[order],
        link_delay_ps=delay[order],
        routing={"kind": "shortest-path"},
        layers={
            "edge": (counts.hosts, counts.nodes - 1),
            "core": range(counts.hosts + 1, counts.nodes - 1),
        },
    )
