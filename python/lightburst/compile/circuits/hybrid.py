"""The packet network beside circuits: its switch, and its links."""

from dataclasses import replace

import numpy as np

from lightburst.compile.switches import Switches
from lightburst.scenario.switching import Circuit, Electronic
from lightburst.topology import Network
from lightburst.topology.star import with_star


def beside_packets(switches: Switches, network: Network) -> tuple[Switches, Network]:
    """Add the packet network, if circuits have one beside them.

    Parameters
    ----------
    switches : Switches
        The switches, which `misfits` has not refused.
    network : Network
        Their network.

    Returns
    -------
    Switches, Network
        With a further switch, an electronic one.
    """
    switching = next(iter(switches.tables), None)
    if not isinstance(switching, Circuit) or switching.packet is None:
        return switches, network
    packet = switching.packet
    (path,) = switches.paths
    table = Electronic(header_processing_time=switching.header_processing_time).model_copy(
        update={"queue_size": packet.queue_size, "ecn_threshold": packet.ecn_threshold}
    )
    wide = replace(
        switches,
        tables=(switching, table),
        paths=(path, f"{path}.packet"),
        which=np.append(switches.which, 1),
    )
    return wide, with_star(network, packet.rate)
