"""Schedules of circuit switches: matchings of racks, and which switch has which when."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.switches import Switches
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_duration, format_rate
from lightburst.scenario.switching import Circuit
from lightburst.scenario.switching.circuit import (
    MOST_RACKS,
    GivenSchedule,
    RandomSchedule,
    RotorSchedule,
)
from lightburst.scenario.tables.groups import FlowGroup
from lightburst.topology import Network
from lightburst.workload.streams import stream

Matchings = NDArray[np.int64]


def circuit_settings(
    tables: list[dict[str, Any]], switches: Switches, network: Network, seed: int
) -> list[dict[str, Any]]:
    """Return the settings of the switches with the schedule of their circuits, if they have any.

    Parameters
    ----------
    tables : list of dict
        Settings of the switches, from their tables.
    switches : Switches
        The switches, which `misfits` has not refused.
    network : Network
        The network.
    seed : int
        Seed of the run, for random schedules.
    """
    switching = switches.tables[0]
    if not isinstance(switching, Circuit):
        return tables
    (table,) = tables
    cores = network.nodes - network.hosts - _racks(network).size
    matchings, turns = _schedule(switching, _racks(network).size, cores, seed)
    schedule = {
        "slot_ps": table["slot_ps"],
        "guard_ps": table["guard_ps"],
        "matchings": matchings.tolist(),
        "turns": turns,
    }
    kept = {key: value for key, value in table.items() if key not in ("slot_ps", "guard_ps")}
    return [kept | {"schedule": schedule}]


def _racks(network: Network) -> NDArray[np.uint32]:
    """Return the switches with hosts, in order."""
    racks: NDArray[np.uint32] = np.unique(network.next_to_hosts)
    return racks


def _schedule(
    switching: Circuit, racks: int, cores: int, seed: int
) -> tuple[Matchings, list[list[int]]]:
    """Return all matchings, and the numbers of those that each circuit switch has, in order."""
    match switching.schedule:
        case GivenSchedule(matchings=given):
            known = {matching: None for turn in given for matching in turn}
            numbers = {matching: number for number, matching in enumerate(known)}
            turns = [[numbers[matching] for matching in turn] for turn in given]
            return np.array(list(known)), turns
        case RotorSchedule():
            matchings = shifts(racks)
            return matchings, _dealt(len(matchings), cores)
        case RandomSchedule():
            draw = stream(seed, "circuits")
            names = draw.permutation(racks)
            rounds = draw.permutation(tournament(racks))
            # Rack names[i] plays as player i.
            matchings = np.empty_like(rounds)
            matchings[:, names] = names[rounds]
            return matchings, _dealt(len(matchings), cores)
        case _:
            rounds = len(matchings := tournament(racks))
            begins = [core * rounds // cores for core in range(cores)]
            return matchings, [[(i + begin) % rounds for i in range(rounds)] for begin in begins]


def _dealt(matchings: int, cores: int) -> list[list[int]]:
    return [list(range(core, matchings, cores)) for core in range(cores)]


def shifts(racks: int) -> Matchings:
    """Return the cyclic shifts of the racks by 1 to n - 1, shape (n - 1, n)."""
    return (np.arange(racks) + np.arange(1, racks)[:, None]) % racks


def tournament(racks: int) -> Matchings:
    """Return the rounds of a tournament (circle method), shape (n - 1, n), for an even n.

    In round r the last rack meets rack r, and racks that are equally far from r meet.
    """
    last = racks - 1
    rounds = np.arange(last)[:, None]
    peers = (2 * rounds - np.arange(last)) % last
    peers = np.concatenate([peers, rounds], axis=1)
    peers[np.arange(last), np.arange(last)] = last
    return peers


def misfits(
    switches: Switches, network: Network, groups: Iterable[FlowGroup]
) -> Iterator[InputError]:
    """Find what circuits do not allow, in a network whose switches are resolved.

    Parameters
    ----------
    switches : Switches
        The switches.
    network : Network
        The network.
    groups : iterable of FlowGroup
        Groups of flows, whose segments must fit into a slot.

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
    wiring = list(_wiring(network))
    yield from wiring
    if wiring:
        return
    racks = _racks(network)
    cores = network.nodes - network.hosts - racks.size
    yield from _slots(path, switching, network, groups)
    if isinstance(switching.schedule, GivenSchedule):
        yield from _given(f"{path}.schedule.matchings", switching.schedule, racks.size, cores)
    elif cores > racks.size - 1 and not switching.schedule.kind == "round-robin":
        given = f"{cores} circuit switches"
        allowed = f"at most {racks.size - 1}, the number of matchings of {racks.size} racks"
        yield InputError("topology", given, allowed)
    elif racks.size % 2 and switching.schedule.kind != "rotor":
        allowed = "'rotor' with an odd number of racks: in a tournament one of them has no partner"
        yield InputError(f"{path}.schedule", f"'{switching.schedule.kind}'", allowed)


def _wiring(network: Network) -> Iterator[InputError]:
    """Refuse a network whose racks do not have one link to each circuit switch."""
    racks, hosts = _racks(network), network.hosts
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
            f"at least guard ({format_duration(switching.guard)}) and the time of "
            f"{transport}.segment_size at {format_rate(rate)} ({format_duration(time)})"
        )
        yield InputError(f"{path}.slot", format_duration(switching.slot), allowed)


def _given(path: str, schedule: GivenSchedule, racks: int, cores: int) -> Iterator[InputError]:
    turns = schedule.matchings
    if len(turns) != cores:
        allowed = f"{cores} lists, one for each circuit switch"
        yield InputError(path, f"{len(turns)} lists", allowed)
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
