"""Schedules of circuit switches: matchings of racks, and which switch has which when."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.switches import Switches
from lightburst.foundation.units import PICOSECONDS_PER_SECOND
from lightburst.scenario.switching import Circuit
from lightburst.scenario.switching.circuit import (
    SHORT_SIZE,
    GivenSchedule,
    RandomSchedule,
    RotorSchedule,
    Scheduler,
    Turns,
)
from lightburst.topology import Network
from lightburst.topology.star import PACKET
from lightburst.workload.streams import stream

Matchings = NDArray[np.int64]
#: What racks need to know of the packet network.
_OF_RACKS = ("by", "threshold_bytes", "queue_bytes", "ecn_threshold_bytes")


def racks_of(network: Network) -> NDArray[np.uint32]:
    """Return the switches with hosts, in order."""
    racks: NDArray[np.uint32] = np.unique(network.next_to_hosts)
    return racks


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
    # A path of one link has no switch.
    switching = next(iter(switches.tables), None)
    if not isinstance(switching, Circuit):
        return tables
    table, *others = tables
    own = ("slot_ps", "guard_ps", "schedule", "staggered", "short_size")
    kept = {key: table[key] for key in table if key not in own}
    if switching.forwarding == "opera":
        kept["short_bytes"] = switching.short_size or SHORT_SIZE
    if switching.packet is not None:
        # The rate is that of the links.
        kept["packet"] = {key: table["packet"][key] for key in _OF_RACKS}
    times = {key: table[key] for key in ("slot_ps", "guard_ps")}
    if isinstance(switching.schedule, Scheduler):
        carried = slot_bytes(switching, network).tolist()
        scheduler = table["schedule"] | times | {"slot_bytes": carried}
        return [kept | {"scheduler": scheduler}, *others]
    cores = rates_of(network).size
    matchings, turns = _schedule(switching, racks_of(network).size, cores, seed)
    schedule = {**times, "matchings": matchings.tolist(), "turns": turns}
    if switching.staggered:
        schedule["offsets_ps"] = [core * switching.slot // cores for core in range(cores)]
    return [kept | {"schedule": schedule}, *others]


def rates_of(network: Network) -> NDArray[np.uint64]:
    """Return the rate of the links of each circuit switch, which have one rate, in bit/s."""
    up = np.isin(network.link_from, racks_of(network)) & (network.link_to >= network.hosts)
    up &= ~np.isin(network.link_to, network.layers.get(PACKET, ()))
    _, first = np.unique(network.link_to[up], return_index=True)
    return network.link_rate_bps[up][first]


def slot_bytes(switching: Circuit, network: Network) -> NDArray[np.int64]:
    """Return the whole bytes that a circuit of each circuit switch carries in a slot."""
    open_ps = switching.slot - switching.guard
    rates = rates_of(network).tolist()
    return np.array([rate * open_ps // (8 * PICOSECONDS_PER_SECOND) for rate in rates])


def _schedule(
    switching: Circuit, racks: int, cores: int, seed: int
) -> tuple[Matchings, list[list[int]]]:
    """Return all matchings, and the numbers of those that each circuit switch has, in order."""
    match switching.schedule:
        case GivenSchedule():
            given = own_turns(switching.schedule)
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
            matchings = tournament(racks)
            length = len(matchings)
            begins = [core * length // cores for core in range(cores)]
            return matchings, [[(i + begin) % length for i in range(length)] for begin in begins]


def own_turns(schedule: GivenSchedule) -> Turns:
    """Return the matchings that a user gives, for each circuit switch slot by slot."""
    if schedule.file is None:
        assert schedule.matchings is not None
        return schedule.matchings
    from lightburst.compile.circuits.file import read_matchings  # pyarrow takes long to import

    return read_matchings(schedule.file, "switching.schedule.file")


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
