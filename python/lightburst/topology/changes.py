"""Changes of the rates and losses of links, from the events of a scenario."""

from collections.abc import Mapping
from typing import Any, Final

from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, combine
from lightburst.foundation.units import format_duration
from lightburst.scenario.model import Scenario
from lightburst.scenario.tables.events import Event
from lightburst.topology.network import Network
from lightburst.topology.outages import places_of

# Values of a link: its rate, or the probabilities of units with data and of others.
_Values = tuple[float, ...]
_KEYS: Final = {"rate": "rates", "loss": "losses"}


def change_settings(
    scenario: Scenario, network: Network, lossy: NDArray[Any]
) -> dict[str, Any] | None:
    """Return the settings of changes of rates and losses; None without any.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    network : Network
        Its network.
    lossy : NDArray of bool
        The links that lose units by ``[loss]``.

    Returns
    -------
    dict or None
        ``rates``: rows of the number of a link, a time in picoseconds and the rate from then on;
        ``losses``: as well, with the probabilities for units with data and for others.

    Raises
    ------
    InputError
        If an event is of a link that does not exist, or within another change of its link.
    """
    settings: dict[str, Any] = {}
    loss = scenario.loss
    usual = (loss.probability, loss.acknowledgement_probability) if loss else (0.0, 0.0)
    for key, name in _KEYS.items():
        events = {i: one for i, one in enumerate(scenario.events) if getattr(one, key) is not None}
        own: dict[int, _Values] = {}
        for link, rate in enumerate(network.link_rate_bps.tolist()):
            own[link] = (rate,) if key == "rate" else usual if lossy[link] else (0.0, 0.0)
        rows = [
            [link, time, *values]
            for link, steps in sorted(_steps(events, network, key, own).items())
            for time, values in steps
        ]
        if rows:
            settings[name] = rows
    return settings or None


def _steps(
    events: Mapping[int, Event], network: Network, key: str, own: Mapping[int, _Values]
) -> dict[int, list[tuple[int, _Values]]]:
    """Return the values of each link from some times on."""
    errors: list[InputError] = []
    of_link: dict[int, list[tuple[int, Event]]] = {}
    for i, event in sorted(events.items(), key=lambda row: row[1].at):
        try:
            places = places_of(event, network, f"events[{i}]")
        except InputError as error:
            errors.append(error)
            continue
        before = [of_link[link][-1] for link, *_ in places if link in of_link]
        overlaps = (_overlap(i, event, *one, key) for one in before)
        errors += [found for found in overlaps if found is not None][:1]
        for link, *_ in places:
            of_link.setdefault(link, []).append((i, event))
    if errors:
        raise combine(errors)
    steps_of: dict[int, list[tuple[int, _Values]]] = {}
    for link, changes in of_link.items():
        begins = {event.at for _, event in changes}
        steps = steps_of.setdefault(link, [])
        for _, event in changes:
            value = getattr(event, key)
            steps.append((event.at, (value,) if key == "rate" else (value, value)))
            if event.until is not None and event.until not in begins:
                steps.append((event.until, own[link]))
    return steps_of


def _overlap(i: int, event: Event, other: int, before: Event, key: str) -> InputError | None:
    """Return the error of a change within an earlier one of the same link; None if it is later."""
    if event.at == before.at:
        given = f"{format_duration(event.at)}, when events[{other}] changes the {key} too"
        return InputError(f"events[{i}].at", given, f"one change of the {key} of a link at a time")
    if before.until is None or event.at >= before.until:
        return None
    end = format_duration(before.until)
    given = f"{format_duration(event.at)}, within the change by events[{other}]"
    allowed = f"{end} or later, when that one ends, or an earlier events[{other}].until"
    return InputError(f"events[{i}].at", given, allowed)
