"""Outages of links, from the events and the random failures of a scenario."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from lightburst.foundation.errors import InputError, combine, did_you_mean, show
from lightburst.foundation.units import format_duration
from lightburst.scenario.model import Scenario
from lightburst.scenario.tables.events import Event, Failures
from lightburst.topology.network import Network

#: The end of an outage that does not end in the run.
NEVER: Final = 2**64 - 1
# Largest number of random failures of a run.
_MOST_FAILURES = 1_000_000

Spans = list[tuple[int, int]]
#: A directed link, or a node with `False`; a link where bursts reserve wavelengths also with the
#: number of one of these, or -1 for all.
Place = tuple[int, bool, int]
_ALL: Final = -1


def outage_settings(scenario: Scenario, network: Network, seed: int) -> dict[str, Any] | None:
    """Return the settings of outages; None if no link can go down.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    network : Network
        Its network.
    seed : int
        Seed of the random failures.

    Returns
    -------
    dict or None
        ``links``: a row for each outage, with the number of the link, the first instant at which it
        is down and the first at which it is up again, in picoseconds; ``channels``, if single
        wavelengths of links where bursts reserve them go down, the same with their numbers; and,
        without protection only, ``restoration_ps`` and ``reroute``.

    Raises
    ------
    InputError
        If an event is of a link or a node that does not exist, or repeats the state before it.
    """
    if not scenario.changes:
        return None
    spans = _of_events(scenario.events, network)
    if scenario.failures is not None:
        limit = scenario.measurement.time_limit
        for place, more in _of_failures(scenario.failures, network, seed, limit):
            spans.setdefault(place, []).extend(more)
    rows = []
    for link in range(network.link_from.size):
        ends = int(network.link_from[link]), int(network.link_to[link])
        places = ((link, True, _ALL), *((node, False, _ALL) for node in ends))
        whole = merged([span for place in places for span in spans.get(place, ())])
        rows += [[link, *span] for span in whole]
    settings: dict[str, Any] = {"links": rows}
    single = sorted(place for place in spans if place[-1] != _ALL)
    if single:
        settings["channels"] = [
            [link, channel, *span]
            for link, _, channel in single
            for span in merged(spans[link, True, channel])
        ]
    restoration = scenario.restoration
    if scenario.protection is not None:
        return settings
    if restoration.delay is not None:
        settings["restoration_ps"] = restoration.delay
    if restoration.waiting == "rerouted":
        settings["reroute"] = True
    return settings


def merged(spans: Spans) -> Spans:
    """Return the union of intervals as intervals that do not touch, in order of time.

    Parameters
    ----------
    spans : list of tuple of int
        Begin and end of each.

    Returns
    -------
    list of tuple of int
    """
    found: Spans = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def _of_events(events: Sequence[Event], network: Network) -> dict[Place, Spans]:
    """Return the intervals in which links and nodes are down by their own events."""
    errors: list[InputError] = []
    down: dict[Place, int] = {}
    spans: dict[Place, Spans] = {}
    states = (row for row in enumerate(events) if row[1].state is not None)
    for i, event in sorted(states, key=lambda row: row[1].at):
        try:
            places = places_of(event, network, f"events[{i}]")
        except InputError as error:
            errors.append(error)
            continue
        same = [place for place in places if (place in down) == (event.state == "down")]
        if same:
            since = f" since {format_duration(down[same[0]])}" if same[0] in down else ""
            other = "up" if event.state == "down" else "down"
            given = f"'{event.state}' at {format_duration(event.at)}, where it is {event.state}"
            allowed = f"'{other}', or a later event than the one to '{other}'"
            errors.append(InputError(f"events[{i}].state", f"{given}{since}", allowed))
            continue
        for place in places:
            if event.state == "down":
                down[place] = event.at
            elif down[place] < event.at:
                spans.setdefault(place, []).append((down.pop(place), event.at))
            else:
                del down[place]
    if errors:
        raise combine(errors)
    for place, since_ps in down.items():
        spans.setdefault(place, []).append((since_ps, NEVER))
    return spans


def places_of(event: Event, network: Network, path: str) -> list[Place]:
    """Return what an event changes.

    Parameters
    ----------
    event : Event
        Event of the scenario.
    network : Network
        Its network.
    path : str
        Field of the event, for errors.

    Returns
    -------
    list of tuple
        Directed links, or a node.

    Raises
    ------
    InputError
        If there is no such link or node.
    """
    numbers = {network.name(node): node for node in range(network.nodes)}

    def number(name: str, key: str) -> int:
        if name not in numbers:
            some = ", ".join(map(show, list(numbers)[-3:]))
            allowed = f"the name of a node, such as {some}{did_you_mean(name, list(numbers))}"
            raise InputError(f"{path}.{key}", show(name), allowed)
        return numbers[name]

    if event.node is not None:
        return [(number(event.node, "node"), False, _ALL)]
    assert event.link is not None
    one, other = (number(name, f"link[{i}]") for i, name in enumerate(event.link))
    links = _between(network, one, other)
    if event.direction == "both":
        links += _between(network, other, one)
    words = "-".join(event.link)
    if not links:
        near = sorted({network.name(int(n)) for n in network.link_to[network.link_from == one]})
        allowed = f"two nodes with a link; {event.link[0]} has links to {', '.join(near[:10])}"
        raise InputError(f"{path}.link", f"{words}, which is no link", allowed)
    if event.name is not None:
        names = network.link_names or ("",) * network.link_from.size
        links = [link for link in links if names[link] == event.name]
        if not links:
            raise InputError(f"{path}.name", show(event.name), f"the name of a link {words}")
    if event.wavelength is not None:
        if network.link_channels is not None:
            return _channels(event, network, path, links)
        links = [link for link in links if network.wavelength[link] == event.wavelength]
        if not links:
            allowed = f"a wavelength of {words}, from 0"
            raise InputError(f"{path}.wavelength", str(event.wavelength), allowed)
    return [(link, True, _ALL) for link in links]


def _channels(event: Event, network: Network, path: str, links: list[int]) -> list[Place]:
    """Return a single wavelength of links where bursts reserve these."""
    assert network.link_channels is not None
    assert event.wavelength is not None
    if event.state is None:
        allowed = "all wavelengths, without this key, where bursts reserve them"
        raise InputError(f"{path}.wavelength", str(event.wavelength), allowed)
    least = min(int(network.link_channels[link]) for link in links)
    if event.wavelength >= least:
        allowed = f"a wavelength of the link, from 0 to {least - 1}"
        raise InputError(f"{path}.wavelength", str(event.wavelength), allowed)
    return [(link, True, event.wavelength) for link in links]


def _between(network: Network, one: int, other: int) -> list[int]:
    found = (network.link_from == one) & (network.link_to == other)
    links: list[int] = np.flatnonzero(found).tolist()
    return links


def _of_failures(
    failures: Failures, network: Network, seed: int, limit: int
) -> Iterator[tuple[Place, Spans]]:
    """Draw the failures of each link or switch, from a stream of its own."""
    cycle = failures.mean_time_to_failure + failures.mean_time_to_repair
    groups = list(_that_fail(failures, network))
    if len(groups) * limit / cycle > _MOST_FAILURES:
        raise InputError(
            "failures.mean_time_to_failure",
            f"{format_duration(failures.mean_time_to_failure)}, so some "
            f"{len(groups) * limit / cycle:.3g} failures until the time limit",
            f"a time with at most {_MOST_FAILURES:,} failures",
        )
    for number, places in enumerate(groups):
        generator = np.random.default_rng([seed, _STREAM, number])
        spans = alternating(failures, limit, generator)
        for place in places:
            yield place, spans


# Tells the streams of failures from others with the same seed.
_STREAM: Final = 0x6661696C


def alternating(failures: Failures, limit: int, generator: np.random.Generator) -> Spans:
    """Draw the outages of one thing that fails and is repaired.

    Parameters
    ----------
    failures : Failures
        The mean times.
    limit : int
        Time of the last failure, in picoseconds.
    generator : numpy.random.Generator
        Stream of the draws.

    Returns
    -------
    list of tuple of int
        Begin and end of each outage, in picoseconds; each lasts at least 1 ps, and so does the time
        between two.
    """
    spans: Spans = []
    time = 0
    while True:
        up, down = (
            max(1, round(mean * generator.exponential()))
            for mean in (failures.mean_time_to_failure, failures.mean_time_to_repair)
        )
        time += up
        if time > limit:
            return spans
        spans.append((time, time + down))
        time += down


def _that_fail(failures: Failures, network: Network) -> Iterator[list[Place]]:
    """Yield what fails together."""
    if failures.of == "switches":
        yield from ([(node, False, _ALL)] for node in range(network.hosts, network.nodes))
        return
    names = network.link_names or ("",) * network.link_from.size
    cables: dict[tuple[int, int, str], list[Place]] = {}
    for link in np.flatnonzero(network.between_switches).tolist():
        one, other = sorted((int(network.link_from[link]), int(network.link_to[link])))
        cables.setdefault((one, other, names[link]), []).append((link, True, _ALL))
    yield from cables.values()
