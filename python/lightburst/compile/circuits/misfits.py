"""What circuits do not allow: other switches, other links, slots that are too short."""

from collections.abc import Iterable, Iterator

import numpy as np

from lightburst.compile.circuits.schedules import own_turns, racks_of
from lightburst.compile.switches import Switches
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_duration, format_rate, format_size
from lightburst.scenario import Scenario
from lightburst.scenario.switching import Circuit
from lightburst.scenario.switching.circuit import (
    MOST_RACKS,
    GivenSchedule,
    Scheduler,
    Turns,
)
from lightburst.scenario.tables.groups import FlowGroup
from lightburst.scenario.tables.topology import Racks
from lightburst.topology import Network
from lightburst.topology.star import PACKET


def misfits(switches: Switches, network: Network, scenario: Scenario) -> Iterator[InputError]:
    """Find what circuits do not allow, in a network whose switches are resolved.

    Parameters
    ----------
    switches : Switches
        The switches.
    network : Network
        The network.
    scenario : Scenario
        The scenario, with the groups of flows, whose segments must fit into a slot.

    Yields
    ------
    InputError
        One for each misfit.
    """
    kinds = {table.kind for table in switches.tables}
    if "circuit" not in kinds:
        return
    switching, path = switches.tables[0], switches.paths[0]
    if len(switches.tables) > 1 or not isinstance(switching, Circuit):
        allowed = "one table for all switches: those of racks wait for the circuits of the others"
        yield InputError(f"{switches.paths[1]}", "a table beside one with circuits", allowed)
        return
    with_racks = isinstance(scenario.topology, Racks)
    if with_racks and scenario.topology.wavelengths > 1:
        allowed = "1: one link of each rack to each circuit switch, with one wavelength"
        yield InputError("topology.wavelengths", f"{scenario.topology.wavelengths}", allowed)
        return
    wiring = list(_wiring(network))
    yield from wiring
    if wiring:
        return
    racks = racks_of(network)
    cores = network.nodes - network.hosts - racks.size
    yield from _slots(path, switching, network, scenario.flow_groups)
    yield from _loads(scenario.flow_groups)
    yield from _packet_network(path, switching, network, scenario.flow_groups)
    if isinstance(switching.schedule, Scheduler):
        yield from _scheduler(path, switching, network)
    elif isinstance(switching.schedule, GivenSchedule):
        key = "matchings" if switching.schedule.file is None else "file"
        turns = own_turns(switching.schedule)
        yield from _given(f"{path}.schedule.{key}", turns, racks.size, cores)
    elif cores > racks.size - 1 and switching.schedule.kind != "round-robin":
        allowed = f"at most {racks.size - 1}, the number of matchings of {racks.size} racks"
        if with_racks:
            yield InputError("topology.uplinks", f"{cores}", allowed)
        else:
            yield InputError("topology", f"{cores} circuit switches", allowed)
    elif racks.size % 2 and switching.schedule.kind != "rotor":
        allowed = (
            "'rotor', or matchings of your own, with an odd number of racks: in the rounds of a "
            "tournament one of them has no partner"
        )
        yield InputError(f"{path}.schedule", f"'{switching.schedule.kind}'", allowed)


def _wiring(network: Network) -> Iterator[InputError]:
    """Refuse a network whose racks do not have one link to each circuit switch."""
    racks, hosts = racks_of(network), network.hosts
    if (racks < hosts).any():
        yield InputError("topology", "hosts that are linked with each other", "racks of hosts")
        return
    if not 2 <= racks.size <= MOST_RACKS or racks.size == network.nodes - hosts:
        given = f"{racks.size} switches with hosts of {network.nodes - hosts} switches"
        allowed = f"2 to {MOST_RACKS} racks, and circuit switches without hosts, which join them"
        yield InputError("topology", given, allowed)
        return
    is_rack = np.zeros(network.nodes, bool)
    is_rack[racks] = True
    between = network.between_switches
    source, target = network.link_from[between], network.link_to[between]
    alike = is_rack[source] == is_rack[target]
    if alike.any():
        i = int(np.flatnonzero(alike)[0])
        ends = f"{network.name(int(source[i]))} and {network.name(int(target[i]))}"
        what = "two racks" if is_rack[source[i]] else "two circuit switches"
        allowed = "links between a rack and a circuit switch alone"
        yield InputError("topology", f"a link of {what}, {ends}", allowed)
        return
    up = is_rack[source]
    pairs, times = np.unique(np.stack([source[up], target[up]]), axis=1, return_counts=True)
    wanted = racks.size * (network.nodes - hosts - racks.size)
    if pairs.shape[1] != wanted or (times > 1).any():
        given = f"{int(up.sum())} links of racks to circuit switches"
        allowed = f"{wanted}: one link of each rack to each circuit switch, with one wavelength"
        yield InputError("topology", given, allowed)


def _slots(
    path: str, switching: Circuit, network: Network, groups: Iterable[FlowGroup]
) -> Iterator[InputError]:
    """Refuse slots into which a full segment does not fit."""
    rate = int(network.link_rate_bps[network.between_switches].min())
    sizes = [(group.transport.segment_size, group.transport_path) for group in groups]
    size, transport = max(sizes)
    time = -(-size * 8 * 10**12 // rate)
    if switching.guard + time > switching.slot:
        allowed = (
            f"at least {format_duration(switching.guard + time)}, the sum of guard "
            f"({format_duration(switching.guard)}) and the time of {transport}.segment_size at "
            f"{format_rate(rate)} ({format_duration(time)})"
        )
        yield InputError(f"{path}.slot", format_duration(switching.slot), allowed)


def _packet_network(
    path: str, switching: Circuit, network: Network, groups: Iterable[FlowGroup]
) -> Iterator[InputError]:
    """Refuse a packet network whose queues hold no segment, and a node that has its name."""
    packet = switching.packet
    if packet is None:
        return
    if PACKET in (network.names or ()):
        allowed = f"another name beside {path}.packet, whose switch has it"
        yield InputError("topology", f"a node '{PACKET}'", allowed)
    size, transport = max((one.transport.segment_size, one.transport_path) for one in groups)
    room = packet.queue_size
    if room is not None and room < size:
        allowed = f"at least {transport}.segment_size ({format_size(size)}), or 'unlimited'"
        yield InputError(f"{path}.packet.queue_size", format_size(room), allowed)


def _scheduler(path: str, switching: Circuit, network: Network) -> Iterator[InputError]:
    """Refuse a scheduler whose circuits open before racks know of them, and two hops."""
    assert isinstance(switching.schedule, Scheduler)
    if switching.forwarding != "direct":
        allowed = "'direct' with a scheduler, which gives circuits to racks for which bytes wait"
        yield InputError(f"{path}.forwarding", f"'{switching.forwarding}'", allowed)
    up = network.between_switches & np.isin(network.link_from, racks_of(network))
    longest = max(int(network.link_delay_ps[up].max()), 1)
    delay = switching.schedule.delay
    if delay + switching.guard <= longest:
        allowed = (
            f"more than {format_duration(max(longest - switching.guard, 0))}, so that with guard "
            f"({format_duration(switching.guard)}) a rack knows of a circuit before its light must "
            f"leave, {format_duration(longest)} ahead"
        )
        yield InputError(f"{path}.schedule.delay", format_duration(delay), allowed)


def _loads(groups: Iterable[FlowGroup]) -> Iterator[InputError]:
    """Refuse a load of the hottest link, which depends on the schedule and the forwarding."""
    for group in groups:
        if getattr(group.workload, "load_of", None) == "hottest-link":
            allowed = "'senders': the loads of links are not known with circuits"
            yield InputError(f"{group.path}workload.load_of", "'hottest-link'", allowed)


def _given(path: str, turns: Turns, racks: int, cores: int) -> Iterator[InputError]:
    if len(turns) != cores:
        allowed = f"{_lists(cores)}, one for each circuit switch"
        yield InputError(path, _lists(len(turns)), allowed)
        return
    joined = np.eye(racks, dtype=bool)
    for core, turn in enumerate(turns):
        if not 1 <= len(turn) < 2**16:
            yield InputError(f"{path}[{core}]", f"{len(turn)} matchings", "1 to 65,535")
            return
        for slot, matching in enumerate(turn):
            if fault := _fault(matching, racks):
                yield InputError(f"{path}[{core}][{slot}]", *fault)
                return
            joined[np.arange(racks), np.array(matching)] = True
    missing = np.argwhere(~joined)
    if missing.size:
        source, target = missing[0].tolist()
        given = f"no circuit from rack {source} to rack {target}"
        yield InputError(path, given, "matchings that join each rack with every other one")


def _lists(number: int) -> str:
    return "1 list" if number == 1 else f"{number} lists"


def _fault(matching: tuple[int, ...], racks: int) -> tuple[str, str] | None:
    """Return what is given and what is allowed, if a matching is none."""
    allowed = f"each of the racks 0 to {racks - 1} once, and no rack joined with itself"
    if len(matching) != racks:
        return f"{len(matching)} racks", f"{racks} numbers: {allowed}"
    twice = next((rack for rack in matching if matching.count(rack) > 1), None)
    if twice is not None:
        return f"rack {twice} more than once", allowed
    far = next((rack for rack in matching if rack >= racks), None)
    if far is not None:
        return f"rack {far}", allowed
    own = next((rack for rack, to in enumerate(matching) if rack == to), None)
    return None if own is None else (f"rack {own} joined with itself", allowed)
