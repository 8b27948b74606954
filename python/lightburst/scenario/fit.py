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
    switching = scenario.switching
    if isinstance(switching, Hybrid) and 0 < (largest_degree or 0) < switching.buffer_ports:
        allowed = f"a whole number from 0 to the links of the largest switch, {largest_degree}"
        yield InputError("switching.buffer_ports", str(switching.buffer_ports), allowed)
    largest = max(scenario.flow_groups, key=lambda group: group.transport.segment_size)
    segment = largest.transport.segment_size
    full = f"{largest.transport_path}.segment_size ({format_size(segment)})"
    allowed = f"at least {full}, or 'unlimited'"
    limits = {
        "queue_size": switching.queue_size if isinstance(switching, Electronic) else None,
        "assembly.max_size": switching.assembly.max_size if isinstance(switching, Burst) else None,
    }
    for key, limit in limits.items():
        if limit is not None and limit < segment:
            yield InputError(f"switching.{key}", format_size(limit), allowed)
    if hosts is None:
        return
    for group in scenario.flow_groups:
        workload, path = group.workload, f"{group.path}workload"
        if isinstance(workload, Incast) and workload.senders >= hosts:
            allowed = f"a whole number from 1 to {hosts - 1}, the hosts but one"
            yield InputError(f"{path}.senders", str(workload.senders), allowed)
        if isinstance(workload, Shuffle) and (workload.hosts or 0) > hosts:
            allowed = f"a whole number from 2 to {hosts}, the hosts there are, or 'all'"
            yield InputError(f"{path}.hosts", str(workload.hosts), allowed)
