"""Racks of hosts, each with one link to each switch of a core."""

import numpy as np

from lightburst.scenario.tables.topology import Racks
from lightburst.topology.network import Counts, Network, uniform


def count_racks(section: Racks) -> Counts:
    """Count hosts, nodes and links of the network without building it."""
    hosts = section.hosts_known
    links = 2 * (hosts + section.racks * section.uplinks * section.wavelengths)
    return Counts(hosts, hosts + section.racks + section.uplinks, links, structured=False)


def build_racks(section: Racks) -> Network:
    """Lay out racks and core, with one wavelength.

    Parameters
    ----------
    section : Racks
        The ``[topology]`` table.

    Returns
    -------
    Network
        Nodes: the hosts rack by rack, the switches of the racks, the switches of the core. The
        first ports of a rack lead to its hosts, the others to the core, in order; port i of a core
        switch leads to rack i.
    """
    racks, each, uplinks = section.racks, section.hosts_per_rack, section.uplinks
    hosts = racks * each
    rack, core = np.arange(racks), hosts + racks + np.arange(uplinks)
    host = np.arange(hosts)
    down = np.concatenate(
        [host.reshape(racks, each), np.broadcast_to(core, (racks, uplinks))], axis=1
    )
    link_from = np.concatenate(
        [host, np.repeat(hosts + rack, each + uplinks), np.repeat(core, racks)]
    ).astype(np.uint32)
    link_to = np.concatenate(
        [hosts + host // each, down.ravel(), np.tile(hosts + rack, uplinks)]
    ).astype(np.uint32)
    rate, delay = uniform(section, link_from.size)
    if section.access_rate is not None:
        rate[np.minimum(link_from, link_to) < hosts] = section.access_rate
    return Network(
        hosts=hosts,
        nodes=hosts + racks + uplinks,
        link_from=link_from,
        link_to=link_to,
        link_rate_bps=rate,
        link_delay_ps=delay,
        routing={"kind": "shortest-path"},
        names=(
            *(f"rack{i // each}/{i % each}" for i in range(hosts)),
            *(f"rack{i}" for i in range(racks)),
            *(f"core{i}" for i in range(uplinks)),
        ),
        layers={
            "edge": range(hosts, hosts + racks),
            "core": range(hosts + racks, hosts + racks + uplinks),
        },
    )
