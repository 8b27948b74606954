"""Checks of optical burst switching: each header must arrive before its burst at every node."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from lightburst.compile.switches import Switches
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_about
from lightburst.scenario.switching import Obs
from lightburst.scenario.switching.obs import LimitedConversion
from lightburst.topology import Network


def misplaced_headers(switches: Switches, network: Network) -> Iterator[InputError]:
    """Yield the errors that make a control plane impossible.

    Parameters
    ----------
    switches : Switches
        The switches with their tables.
    network : Network
        The network of the switches; its links are fibres.

    Yields
    ------
    InputError
        For switches without burst header packets beside switches that send them; for conversion
        over more wavelengths than exist; for an offset time shorter than the header processing of
        all nodes on the longest of the shortest paths.
    """
    sends = np.array([table.sends_headers for table in switches.tables])[switches.which]
    if not sends.any():
        return
    if not sends.all():
        other = int(np.flatnonzero(~sends)[0])
        number = switches.which[other]
        given = f"'{switches.tables[number].kind}' at {network.name(network.hosts + other)}"
        allowed = "'obs' at every switch if any is 'obs', since only these handle header packets"
        yield InputError(f"{switches.paths[number]}.kind", given, allowed)
        return
    channels = network.channels[network.between_switches]
    most, fibres = int(channels.max(initial=1)), _most_fibres(network)
    tables = [table for table in switches.tables if isinstance(table, Obs)]
    slowest = max(table.header_processing_time + table.header_time for table in tables)
    setup = max(table.switching_time for table in tables)
    for path, table in zip(switches.paths, tables, strict=True):
        conversion = table.conversion
        if isinstance(conversion, LimitedConversion) and conversion.range >= max(most, 2):
            allowed = (
                f"a whole number from 1 to {max(most - 1, 1)}, as there are {most} wavelengths"
            )
            yield InputError(f"{path}.conversion.range", str(conversion.range), allowed)
        needed = slowest * fibres + setup
        offset = table.offset_time + table.offset_of_hop * fibres
        if offset < needed:
            missing = format_about(needed - offset)
            yield InputError(
                f"{path}.offset_time",
                f"{format_about(offset)} in total over the {fibres} fibres of the longest path",
                f"at least {format_about(needed)}: the header processing of all its nodes, and the "
                f"switching time; {missing} more",
            )


@lru_cache(maxsize=8)
def _most_fibres(network: Network) -> int:
    """Return the number of fibres of the longest shortest path between switches with hosts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    between = network.between_switches
    ends = (network.link_from[between], network.link_to[between])
    shape = (network.nodes, network.nodes)
    graph = coo_array((np.ones(ends[0].size), ends), shape=shape).tocsr()
    edges = np.unique(network.next_to_hosts)
    fibres = shortest_path(graph, unweighted=True, indices=edges)[:, edges]
    return int(fibres.max(initial=0))
