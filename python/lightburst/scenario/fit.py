"""Consistency checks across the tables of a scenario."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from lightburst.foundation.errors import InputError, did_you_mean, show, some
from lightburst.foundation.units import format_duration, format_size
from lightburst.scenario.reading.messages import allowed_in, quoted
from lightburst.scenario.subflows import misfits_of_subflows
from lightburst.scenario.switching import (
    Burst,
    Circuit,
    Electronic,
    Hybrid,
    Obs,
    Switching,
    tables_of,
)
from lightburst.scenario.switching.circuit import BirkhoffScheduler
from lightburst.scenario.switching.lines import Drr, Prio
from lightburst.scenario.switching.queue import Trim
from lightburst.scenario.tables.collective import Collective
from lightburst.scenario.tables.events import Restoration
from lightburst.scenario.tables.goal import Goal
from lightburst.scenario.tables.loss import Drop, Hold, Stall
from lightburst.scenario.tables.ordering import SourceOrdering
from lightburst.scenario.tables.routing import (
    AdaptiveChoice,
    ByName,
    EntropySprayChoice,
    LoadLabel,
)
from lightburst.scenario.tables.workload import Incast, Shuffle
from lightburst.scenario.transport import OPEN_LOOP, Bursts, Rdma, Tcp
from lightburst.scenario.transport.rate_law import Ndp
from lightburst.scenario.transport.rdma import SelectiveRepeat

if TYPE_CHECKING:
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.groups import FlowGroup

# Most classes of priority flow control, as in `crates/net/src/link/pause.rs`.
_MOST_CLASSES: Final = 8


def _layers(scenario: "Scenario") -> Iterator[InputError]:
    topology = scenario.topology
    for name in scenario.switching.layers:
        if name not in topology.layers:
            known = ", ".join(f"'{layer}'" for layer in topology.layers)
            none = f"none: the topology '{topology.kind}' has no layers; 'nodes' names switches"
            near = did_you_mean(name, topology.layers)
            allowed = f"one of the layers {known}{near}" if known else none
            yield InputError(f"switching.layers.{name}", f"an unknown layer '{name}'", allowed)


def _routes(scenario: "Scenario") -> Iterator[InputError]:
    routing = scenario.routing
    if scenario.topology.kind != "fat-tree":
        return
    asked = {
        "metric": routing.metric if routing.metric != "hops" else None,
        "paths": str(routing.paths) if routing.paths > 1 else None,
        "routes": f"{len(routing.routes)} of them" if routing.routes else None,
    }
    for key, given in asked.items():
        if given is not None:
            allowed = "nothing in a 'fat-tree': its paths are equal, and routing.choice picks one"
            yield InputError(f"routing.{key}", given, allowed)


def _load(scenario: "Scenario") -> Iterator[InputError]:
    if not isinstance(scenario.routing.label, LoadLabel):
        return
    if not _assembles(scenario):
        allowed = "'first', 'random' or 'hash'; 'load' needs edges of bursts, 'burst' or 'obs'"
        given = f"'load' among switches of kind '{scenario.switching.kind}'"
        yield InputError("routing.label", given, allowed)
    elif not scenario.routing.labelled:
        allowed = "2 or more, among which routing.label = 'load' can choose, or routes"
        yield InputError("routing.paths", str(scenario.routing.paths), allowed)


def _assembles(scenario: "Scenario") -> bool:
    """Whether any switch assembles bursts."""
    return any(table.assembles for table in tables_of(scenario.switching).values())


def _cuts(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse segmentation that drops heads at one switch and tails at another."""
    first = None
    for path, table in tables_of(scenario.switching).items():
        if isinstance(table, Obs) and table.cuts is not None:
            place, drop = table.cuts
            first = first or (path, drop)
            if drop != first[1]:
                allowed = f"'{first[1]}', as in {first[0]}: the same at all switches"
                yield InputError(f"{path}.contention[{place}].drop", f"'{drop}'", allowed)


def _uncut(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse segmentation if no unit consists of several packets."""
    transports = {group.transport_path: group.transport for group in scenario.flow_groups}
    whole = [one for one in transports.values() if isinstance(one, Bursts) and not one.packet_size]
    tables = tables_of(scenario.switching).values()
    if len(whole) < len(transports) or not any(isinstance(t, Obs) and t.cuts for t in tables):
        return
    path = next(iter(transports))
    allowed = "a size, such as '1500 B': segmentation cuts a burst between two of its packets"
    yield InputError(f"{path}.packet_size", "nothing, so that a burst is one packet", allowed)


def _scripts(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse scripts other than losses where channels of links are reserved ahead of the units."""
    if scenario.loss is None:
        return
    if any(isinstance(table, Obs) for table in tables_of(scenario.switching).values()):
        for path, script in scenario.loss.scripts.items():
            if not isinstance(script, Drop):
                allowed = "loss.drops alone: among 'obs' switches, header packets reserve the links"
                yield InputError(path, "a script", allowed)


def _delays(scenario: "Scenario", allowed: str) -> Iterator[InputError]:
    """Refuse scripts that delay units."""
    for path, script in (scenario.loss.scripts if scenario.loss else {}).items():
        if isinstance(script, Hold | Stall):
            yield InputError(path, "a script that delays units", allowed)


def _reserved(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse a choice that looks at units where headers reserve channels."""
    choice = scenario.routing.choice
    if choice is None or isinstance(choice, ByName):
        return
    bursts = any(table.assembles for table in tables_of(scenario.switching).values())
    if isinstance(choice, AdaptiveChoice | EntropySprayChoice) and bursts:
        allowed = "'flow-hash' or another choice: a burst has packets of many flows, with one path"
        yield InputError("routing.choice", f"'{choice.kind}'", allowed)
        return
    if any(isinstance(table, Obs) for table in tables_of(scenario.switching).values()):
        allowed = (
            "'free', 'random' or 'flow-hash' among 'obs' switches, where bursts reserve their "
            "channels and do not queue; paths by load are routing.label = 'load'"
        )
        yield InputError("routing.choice", f"'{choice.kind}'", allowed)


def _sprays(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse packets of one flow on many paths where overtaken ones are taken for losses."""
    choice = scenario.routing.choice
    if not isinstance(choice, EntropySprayChoice):
        return
    allowed = (
        f"'rdma' with recovery = 'selective-repeat' beside routing.choice = '{choice.kind}': its "
        "receivers keep packets out of order, and answer each with its entropy value"
    )
    for path, transport in {
        one.transport_path: one.transport for one in scenario.flow_groups
    }.items():
        if not isinstance(transport, Rdma):
            yield InputError(f"{path}.kind", f"'{transport.kind}'", allowed)
        elif not isinstance(transport.recovery, SelectiveRepeat):
            yield InputError(f"{path}.recovery", f"'{transport.recovery.kind}'", allowed)


def _circuits(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse what a schedule of circuits leaves no room for."""
    if not any(isinstance(table, Circuit) for table in tables_of(scenario.switching).values()):
        return
    routing = scenario.routing
    alone = "with circuits, whose schedule alone says which link is taken"
    if routing.choice is not None:
        yield InputError("routing.choice", f"'{routing.choice.kind}'", f"no choice {alone}")
    if routing.labelled:
        key = "routes" if routing.routes else "paths"
        yield InputError(f"routing.{key}", "paths with labels", f"no paths {alone}")
    yield from _delays(
        scenario, "drops and marks alone: a circuit does not wait for a delayed unit"
    )
    for path, table in tables_of(scenario.switching).items() if scenario.changes else ():
        if isinstance(table, Circuit) and isinstance(table.schedule, BirkhoffScheduler):
            allowed = "'greedy', 'hungarian' or 'islip' beside events and failures"
            yield InputError(f"{path}.schedule.kind", "'birkhoff'", allowed)


def _events(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse events after the end of the run, and changes where units cannot follow."""
    limit = scenario.measurement.time_limit
    allowed = f"at most measurement.time_limit ({format_duration(limit)})"
    kinds = {table.kind for table in tables_of(scenario.switching).values()} - {"electronic"}
    for place, event in enumerate(scenario.events):
        if event.at > limit:
            yield InputError(f"events[{place}].at", format_duration(event.at), allowed)
        if (event.until or 0) > limit:
            more = f"{allowed}, or none"
            yield InputError(f"events[{place}].until", format_duration(event.until or 0), more)
        if event.rate is not None and kinds:
            given = f"a change of rate among switches of kind '{min(kinds)}'"
            only = "'electronic' switches alone: light keeps its rate through any other"
            yield InputError(f"events[{place}].rate", given, only)
    if not scenario.events and scenario.failures is None:
        return
    yield from _delays(scenario, "drops and marks alone beside events and failures")


def _protection(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse protection beside other rules that choose a path."""
    if scenario.protection is None:
        return
    if scenario.restoration != Restoration():
        allowed = "one of both: paths are protected, or routes are restored"
        yield InputError("restoration", "a table beside protection", allowed)
    if scenario.protection.scheme == "1+1":
        for path, table in tables_of(scenario.switching).items():
            if isinstance(table, Obs):
                allowed = "'electronic', 'all-optical' or 'hybrid' with protection.scheme = '1+1'"
                yield InputError(f"{path}.kind", "'obs'", allowed)
            elif isinstance(table, Electronic) and isinstance(table.queue, Trim):
                allowed = (
                    "another discipline with protection.scheme = '1+1', whose packets are twofold"
                )
                yield InputError(f"{path}.queue", "'trim'", allowed)
        if scenario.measurement.trace:
            allowed = (
                "no flow, and no 'lightburst explain' or 'trace' of one, with protection.scheme = "
                "'1+1', whose packets travel twice"
            )
            yield InputError("measurement.trace", show(list(scenario.measurement.trace)), allowed)
    if not scenario.events and scenario.failures is None:
        # Otherwise these are refused with the events.
        yield from _delays(scenario, "drops and marks alone beside protection")
    if not scenario.changes:
        yield from _unfollowed(scenario, "protection")


def _changes(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse links that go down where routes or units cannot follow."""
    if not scenario.changes:
        if scenario.restoration != Restoration():
            allowed = "events or failures as well, which the routes follow"
            yield InputError("restoration", "a table without a failure of a link or node", allowed)
        return
    yield from _unfollowed(scenario, "events and failures", "circuit", "burst")


def _pauses(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse flow control beside protected paths, and of classes that it cannot tell apart."""
    tables = tables_of(scenario.switching)
    electronic = {path: one for path, one in tables.items() if isinstance(one, Electronic)}
    asking = [path for path, table in electronic.items() if table.pfc is not None]
    for path in asking:
        if scenario.protection is not None:
            allowed = "no such table beside protection; links may fail and routes follow"
            yield InputError(f"{path}.pfc", "a table", allowed)
    if not asking:
        return
    groups = [group.name for group in scenario.flow_groups]
    first, *others = ((path, _lines(table, groups)) for path, table in electronic.items())
    for path, lines in others:
        if lines != first[1]:
            allowed = f"the classes of {first[0]}.queue beside pfc: a class pauses at all switches"
            yield InputError(f"{path}.queue", "other classes of groups", allowed)
    if (most := max(first[1]) + 1) > _MOST_CLASSES:
        allowed = f"at most {_MOST_CLASSES} classes beside pfc, the priorities of IEEE 802.1Qbb"
        yield InputError(f"{first[0]}.queue", f"{most} classes", allowed)


def _lines(table: Electronic, groups: Sequence[str | None]) -> list[int]:
    """Return the line of each group of flows in the queues of a switch."""
    if isinstance(table.queue, Prio):
        return [table.queue.band(name) for name in groups]
    return list(range(len(groups))) if isinstance(table.queue, Drr) else [0] * len(groups)


def _unfollowed(scenario: "Scenario", what: str, *more: str) -> Iterator[InputError]:
    """Refuse switches and paths whose units cannot take another way."""
    kinds = ("electronic", "all-optical", "hybrid", "obs", *more)
    for path, table in tables_of(scenario.switching).items():
        if table.kind not in kinds:
            names = [f"'{kind}'" for kind in kinds]
            allowed = f"{', '.join(names[:-1])} or {names[-1]} beside {what}"
            yield InputError(f"{path}.kind", f"'{table.kind}'", allowed)
        elif isinstance(table, Burst | Obs) and isinstance(table.ordering, SourceOrdering):
            allowed = f"'none' or 'destination' beside {what}: routes may change"
            yield InputError(f"{path}.ordering", "'source'", allowed)
    if scenario.routing.labelled:
        key = "routes" if scenario.routing.routes else "paths"
        allowed = f"shortest paths beside {what}: these are calculated anew"
        yield InputError(f"routing.{key}", "paths with labels", allowed)


def _entries(scenario: "Scenario") -> Iterator[InputError]:
    """Refuse bursts of edges in a network whose switches assemble none."""
    if _assembles(scenario):
        return
    for group in scenario.flow_groups:
        if isinstance(group.transport, Bursts):
            given = f"'bursts' among switches of kind '{scenario.switching.kind}'"
            allowed = "a network whose edges make bursts: switching.kind 'burst' or 'obs'"
            yield InputError(f"{group.transport_path}.kind", given, allowed)


def _names(scenario: "Scenario") -> Iterator[InputError]:
    # A table of runs has columns for both, such as slowdown_p99[query].
    classes = scenario.measurement.size_class_names
    for name in scenario.groups or ():
        if name in classes:
            yield InputError(
                "groups",
                show(name),
                f"a name other than those of the size classes, {', '.join(map(show, classes))}",
            )


def _switch(
    path: str,
    switching: Switching,
    groups: Sequence["FlowGroup"],
    largest_degree: int | None,
) -> Iterator[InputError]:
    if isinstance(switching, Hybrid) and 0 < (largest_degree or 0) < switching.buffer_ports:
        allowed = f"a whole number from 0 to the links of the largest switch, {largest_degree}"
        yield InputError(f"{path}.buffer_ports", str(switching.buffer_ports), allowed)
    yield from _classes(path, switching, groups)
    # Bursts created by the edges are not assembled.
    sent = [group for group in groups if not isinstance(group.transport, Bursts)]
    if not sent:
        return
    if isinstance(switching, Burst | Obs) and switching.assembly is None:
        table = allowed_in(type(switching).model_fields["assembly"])
        allowed = f"{table}: hosts send packets, which edges assemble"
        yield InputError(f"{path}.assembly", "nothing", allowed)
    yield from _pulls(path, switching, sent)
    largest = max(sent, key=lambda group: group.transport.segment_size)
    segment = largest.transport.segment_size
    full = f"at least {largest.transport_path}.segment_size ({format_size(segment)})"
    pfc = switching.pfc if isinstance(switching, Electronic) else None
    if pfc is not None and pfc.headroom is not None and pfc.xoff + pfc.headroom < segment:
        above = f"{format_size(pfc.headroom)} above xoff ({format_size(pfc.xoff)})"
        allowed = f"{full} with xoff, or 'unlimited'"
        yield InputError(f"{path}.pfc.headroom", above, allowed)
    if isinstance(switching, Electronic) and isinstance(switching.queue, Trim):
        yield from _headers(path, switching.queue, sent)
    key, room = switching.largest_unit()
    if room is not None and room < segment:
        shares = key.startswith("shared_buffer")
        given = f"a largest queue of {format_size(room)}" if key == "shared_buffer" else None
        allowed = full if shares else f"{full}, or 'unlimited'"
        yield InputError(f"{path}.{key}", given or format_size(room), allowed)


def _pulls(path: str, switching: Switching, groups: Sequence["FlowGroup"]) -> Iterator[InputError]:
    """Refuse switches that drop packets without a word, if receivers pull packets."""
    transports = [one.transport for one in groups if isinstance(one.transport, Rdma)]
    if not any(isinstance(one.congestion_control, Ndp) for one in transports):
        return
    beside = "at every switch beside transport.congestion_control = 'ndp'"
    if not isinstance(switching, Electronic):
        allowed = f"'electronic' with queue = 'trim' {beside}"
        yield InputError(f"{path}.kind", f"'{switching.kind}'", allowed)
    elif not isinstance(switching.queue, Trim):
        allowed = f"'trim' {beside}: a receiver pulls another packet for each header, too"
        yield InputError(f"{path}.queue", f"'{switching.queue.kind}'", allowed)


def _headers(path: str, queue: Trim, groups: Sequence["FlowGroup"]) -> Iterator[InputError]:
    """Refuse a queue in which a packet without data never finds room."""
    sizes = {f"{path}.queue.header": queue.header}
    for group in groups:
        if isinstance(group.transport, Tcp | Rdma):
            sizes[f"{group.transport_path}.control_size"] = group.transport.control_size
    key = max(sizes, key=lambda key: sizes[key])
    if queue.header_queue < sizes[key]:
        allowed = f"at least {key} ({format_size(sizes[key])})"
        yield InputError(f"{path}.queue.header_queue", format_size(queue.header_queue), allowed)


def _by_group(switching: Switching) -> dict[str, Iterable[str]]:
    """Return the settings by group of a switch: the names of groups by key."""
    if isinstance(switching, Obs):
        return {"extra_offset": switching.extra_offset}
    if isinstance(switching, Electronic) and isinstance(switching.queue, Prio):
        return {"queue.bands": switching.queue.bands}
    if isinstance(switching, Electronic) and isinstance(switching.queue, Drr):
        return {"queue.quanta": switching.queue.quanta}
    return {}


def _classes(
    path: str, switching: Switching, groups: Sequence["FlowGroup"]
) -> Iterator[InputError]:
    """Refuse settings for unknown groups."""
    names = [group.name for group in groups if group.name is not None]
    for key, given in _by_group(switching).items():
        for name in given:
            if name not in names:
                none = "nothing in a scenario without groups; the classes are its groups"
                near = did_you_mean(name, names)
                allowed = f"one of the groups {some(names)}{near}" if names else none
                where = f"{path}.{key}.{quoted(name)}"
                yield InputError(where, f"an unknown group {show(name)}", allowed)


def _writes(scenario: "Scenario") -> Iterator[InputError]:
    """Find applications that write in parts to a transport that cannot wait for them."""
    for group in scenario.flow_groups:
        kind = group.transport.kind
        if group.workload.writes is not None and kind != "tcp":
            given = f"writes in parts with the transport '{kind}'"
            yield InputError(f"{group.path}workload.writes", given, "the transport 'tcp'")


def _waits(scenario: "Scenario", hosts: int | None) -> Iterator[InputError]:
    """Refuse messages that wait for others where that cannot be told or measured."""
    waiting = [one for one in scenario.flow_groups if isinstance(one.workload, Collective | Goal)]
    for group in waiting:
        kind = group.workload.kind
        if group.name is not None:
            allowed = "a workload without groups: its ranks have hosts of their own"
            yield InputError(f"{group.path}workload.kind", f"'{kind}'", allowed)
        elif group.transport.kind in OPEN_LOOP:
            given = f"'{group.transport.kind}' with messages that wait for others"
            allowed = "a transport with connections, which know when a message has arrived"
            yield InputError("transport.kind", given, allowed)
    if waiting and scenario.measurement.synchronisation is not None:
        allowed = "no such measurement of messages that start when others have arrived"
        yield InputError("measurement.synchronisation", "a table", allowed)
    workload = scenario.collective
    if workload is None:
        return
    if hosts is None:
        return
    groups, ranks = workload.shape(hosts)
    if groups * ranks > hosts or groups == 0:
        given = f"{max(groups, 1)} x {ranks} ranks"
        yield InputError("workload.ranks", given, f"at most {hosts} in all groups, the hosts")
    elif refusal := workload.refusal(ranks):
        yield InputError(f"workload.{refusal[0]}", *refusal[1:])


def misfits(
    scenario: "Scenario", hosts: int | None, largest_degree: int | None
) -> Iterator[InputError]:
    """Find fields that contradict each other.

    Parameters
    ----------
    scenario : Scenario
        Scenario whose tables are valid individually.
    hosts, largest_degree : int or None
        Hosts of the network, and links of its largest switch (0 without switches); None before the
        table of links of a graph has been read.

    Yields
    ------
    InputError
        One for each misfit.
    """
    yield from _layers(scenario)
    yield from _routes(scenario)
    yield from _load(scenario)
    yield from _cuts(scenario)
    yield from _uncut(scenario)
    yield from _scripts(scenario)
    yield from _circuits(scenario)
    yield from _reserved(scenario)
    yield from _sprays(scenario)
    yield from _events(scenario)
    yield from _protection(scenario)
    yield from _changes(scenario)
    yield from _pauses(scenario)
    yield from _entries(scenario)
    yield from _names(scenario)
    yield from _writes(scenario)
    yield from _waits(scenario, hosts)
    yield from misfits_of_subflows(scenario)
    for one in scenario.measurement.asked:
        yield from one.misfits(scenario)
    groups = scenario.flow_groups
    for path, table in tables_of(scenario.switching).items():
        yield from _switch(path, table, groups, largest_degree)
    if hosts is None:
        return
    for group in groups:
        workload, path = group.workload, f"{group.path}workload"
        if isinstance(workload, Incast) and workload.senders >= hosts:
            allowed = f"a whole number from 1 to {hosts - 1}: all hosts but the receiver"
            yield InputError(f"{path}.senders", str(workload.senders), allowed)
        if isinstance(workload, Shuffle) and (workload.hosts or 0) > hosts:
            allowed = f"a whole number from 2 to {hosts}, the number of hosts, or 'all'"
            yield InputError(f"{path}.hosts", str(workload.hosts), allowed)
