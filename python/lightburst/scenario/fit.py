"""What must fit together across the tables of a scenario."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lightburst.errors import InputError
from lightburst.scenario.switching import Burst, Electronic, Hybrid
from lightburst.scenario.workload import Incast, Shuffle
from lightburst.units import format_size

if TYPE_CHECKING:
    from lightburst.scenario.model import Scenario


def misfits(
    scenario: "Scenario", hosts: int | None, largest_degree: int | None
) -> Iterator[InputError]:
    """Find what does not fit together.

    Parameters
    ----------
    scenario : Scenario
        Its tables are valid each for itself.
    hosts, largest_degree : int or None
        Of the network: its hosts, and the links of its largest switch (0 without switches); None
        before the table of links of a graph has been read.

    Yields
    ------
    InputError
        One for each misfit.
    """
    switching, workload, transport = scenario.switching, scenario.workload, scenario.transport
    if isinstance(switching, Hybrid) and 0 < (largest_degree or 0) < switching.buffer_ports:
        allowed = f"a whole number from 0 to the links of the largest switch, {largest_degree}"
        yield InputError("switching.buffer_ports", str(switching.buffer_ports), allowed)
    if isinstance(switching, Electronic) and switching.queue_size is not None:
        segment = transport.segment_size
        if switching.queue_size < segment:
            given = format_size(switching.queue_size)
            allowed = f"at least transport.segment_size ({format_size(segment)}), or 'unlimited'"
            yield InputError("switching.queue_size", given, allowed)
    if isinstance(switching, Burst):
        largest = switching.assembly.max_size
        if largest is not None and largest < transport.segment_size:
            full = format_size(transport.segment_size)
            allowed = f"at least transport.segment_size ({full}), or 'unlimited'"
            yield InputError("switching.assembly.max_size", format_size(largest), allowed)
    if hosts is None:
        return
    if isinstance(workload, Incast) and workload.senders >= hosts:
        allowed = f"a whole number from 1 to {hosts - 1}, the hosts but one"
        yield InputError("workload.senders", str(workload.senders), allowed)
    if isinstance(workload, Shuffle) and (workload.hosts or 0) > hosts:
        allowed = f"a whole number from 2 to {hosts}, the hosts there are, or 'all'"
        yield InputError("workload.hosts", str(workload.hosts), allowed)
