"""Connections with several subflows: what they cannot be together with."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lightburst.foundation.errors import InputError, show
from lightburst.scenario.switching import Circuit, Obs, tables_of
from lightburst.scenario.tables.routing import SubflowLabel
from lightburst.scenario.transport import Tcp

if TYPE_CHECKING:
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.groups import FlowGroup

# Measurements of packets by flow, which would take those of several subflows for one sequence.
_OF_PACKETS = ("network", "reordering", "recovery", "bursts", "synchronisation")


def misfits_of_subflows(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse subflows beside what knows one path or one sequence of a connection only."""
    given = {
        f"{group.transport_path}.subflows": (group, group.transport.subflows)
        for group in scenario.flow_groups
        if isinstance(group.transport, Tcp) and group.transport.subflows > 1
    }
    yield from _label(scenario, given)
    for path, (group, number) in given.items():
        if group.workload.writes is not None:
            allowed = "no such table with subflows, which take what is there at the start"
            yield InputError(f"{group.path}workload.writes", "a table", allowed)
        for table in tables_of(scenario.switching).values():
            if isinstance(table, Circuit):
                yield InputError(path, str(number), "1 among circuits, which wait for flows")
                break
    for key in _OF_PACKETS if given else ():
        measurement = scenario.measurement
        value = getattr(measurement, key)
        if value != type(measurement).model_fields[key].default:
            shown = show(list(value)) if isinstance(value, tuple) else "a measurement of packets"
            allowed = f"nothing with {next(iter(given))} above 1: a subflow counts its own data"
            yield InputError(f"measurement.{key}", shown, allowed)


def _label(scenario: "Scenario", given: dict[str, tuple["FlowGroup", int]]) -> Iterator[InputError]:
    """Refuse a path for each subflow where there are no such paths or subflows."""
    routing = scenario.routing
    if not isinstance(routing.label, SubflowLabel):
        return
    if not given:
        allowed = "'hash', 'first', 'random' or 'load' without transport.subflows"
        yield InputError("routing.label", "'subflow'", allowed)
        return
    pairs = [(route.source, route.destination) for route in routing.routes]
    paths = max([routing.paths, *(pairs.count(pair) for pair in pairs)])
    for path, (_, number) in given.items():
        if number > paths:
            allowed = (
                f"at most {paths} with routing.label = 'subflow', the numbered paths of a pair"
                if routing.labelled
                else "1 with routing.label = 'subflow' without numbered paths (routing.paths)"
            )
            yield InputError(path, str(number), allowed)
    for path, table in tables_of(scenario.switching).items():
        if isinstance(table, Obs) and table.extra_offset:
            allowed = "no table with routing.label = 'subflow', whose bursts are those of subflows"
            yield InputError(f"{path}.extra_offset", "a table", allowed)
