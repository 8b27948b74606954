"""Candidate changes of a scenario that might have saved a lost burst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst import _core
from lightburst.foundation.units import format_about, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario
    from lightburst.trace.network import NetworkTrace

# Loss reasons that mean that all usable channels were occupied.
_TAKEN: Final = frozenset(
    {"no-channel", "contention", "delay-lines-full", "hop-limit", "offset-used-up"}
)
# Increases of the offset time to try after a late header, in multiples of the processing time.
_HEADERS: Final = (1, 4, 16, 64)


class Remedy(NamedTuple):
    """A change that might have saved a burst.

    Attributes
    ----------
    means : str
        Kind of change: ``wavelength``, ``delay``, ``way`` or ``offset``. Remedies of one kind come
        in increasing strength.
    remedy : str
        Description in words.
    changes : dict
        Changes in the form that `lightburst.Scenario.with_` accepts.
    delay_s : float or None
        Added delay or offset time in seconds; None for other kinds.
    """

    means: str
    remedy: str
    changes: dict[str, Any]
    delay_s: float | None = None


def remedies(result: Result, trace: NetworkTrace, burst: int) -> Iterator[Remedy]:
    """Yield changes that might have saved a lost burst.

    Parameters
    ----------
    result : Result
        A run in which all bursts were traced over all links.
    trace : NetworkTrace
        Network trace of that run.
    burst : int
        Number of the lost burst.

    Yields
    ------
    Remedy
        For a burst without a channel: one more wavelength; the shortest delay after which a channel
        was free, by the reservations at the time of the loss; and deflection to another route. For
        a late header: more offset time. Nothing for a burst lost at random or by a script.
    """
    scenario = result.scenario
    (row,) = (row for row in _rows(trace.losses) if row.burst == burst)
    own = _settings(result, burst)
    if str(row.reason) == "late-header":
        each = own["header_processing_time_ps"] or 10**6
        for times in _HEADERS:
            longer = own["offset_time_ps"] + times * each
            told = format_about(times * each)
            changes = {"switching.offset_time": format_duration(longer)}
            yield Remedy("offset", f"{told} more offset time", changes, times * each * 1e-12)
    if str(row.reason) not in _TAKEN:
        return
    ends = {row.link_source, row.link_target}
    yield Remedy("wavelength", "one more wavelength", _wider(scenario, ends))
    if own["kind"] != "obs":
        return
    before = _kept(scenario.to_dict()["switching"].get("contention", []))
    delay = delay_needed(result, trace, burst)
    if delay is not None:
        line = {"kind": "delay-line", "granularity": format_duration(delay), "delays": 1}
        others = [table for table in before if table["kind"] != "delay-line"]
        lines: dict[str, Any] = {"switching.contention": [line, *others]}
        told = f"a delay line of {format_about(delay)}"
        yield Remedy("delay", told, lines, delay * 1e-12)
    if all(table["kind"] != "deflection" for table in before):
        ways: dict[str, Any] = {
            "switching.contention": [*before, {"kind": "deflection", "loops": False}]
        }
        yield Remedy("way", "another way, by deflection", ways)


def _wider(scenario: Scenario, ends: set[Any]) -> dict[str, Any]:
    """Return changes that add a wavelength: to this link if it sets its own number, else to all."""
    links = scenario.to_dict()["topology"].get("links", [])
    own = [
        link | {"wavelengths": link["wavelengths"] + 1}
        if "wavelengths" in link and {link["source"], link["target"]} == ends
        else link
        for link in links
    ]
    if own != links:
        return {"topology.links": own}
    return {"topology.wavelengths": scenario.topology.wavelengths + 1}


def delay_needed(result: Result, trace: NetworkTrace, burst: int) -> int | None:
    """Return the shortest delay that would have given a lost burst a channel on the same link.

    Parameters
    ----------
    result, trace, burst
        As for `remedies`.

    Returns
    -------
    int or None
        Picoseconds, by the reservations on the link at the time of the loss; None if the burst
        could not use any channel.
    """
    (row,) = (row for row in _rows(trace.losses) if row.burst == burst)
    own = _settings(result, burst)
    setup, filling = own["switching_time_ps"], _fills_voids(own)
    on_link = trace.bookings[
        (trace.bookings["link"] == row.link) & (trace.bookings["made_s"] <= row.lost_s)
    ]
    first, length = int(row.start_ps), int(row.end_ps - row.start_ps)
    number = int(result.plan.channels[row.link])
    waits = []
    for channel in _usable(own, _came_on(trace, burst), number):
        mine = on_link[on_link["channel"] == channel].sort_values("start_ps")
        reserved = mine[["start_ps", "end_ps"]].to_numpy(dtype=np.int64)
        waits.append(_free_from(reserved, first, length, setup, filling=filling) - first)
    return min(waits, default=None)


def _free_from(
    reserved: NDArray[np.int64], first: int, length: int, setup: int, *, filling: bool
) -> int:
    """Return the earliest time, not before `first`, at which a burst of this length can leave."""
    at = first
    for start, end in reserved.tolist():
        if filling and at + length <= start - setup:
            break
        if end > at - setup:
            at = end + setup
    return at


def _fills_voids(own: dict[str, Any]) -> bool:
    return own["scheduler"] in _core.registry()["void_filling_schedulers"]


def _came_on(trace: NetworkTrace, burst: int) -> int | None:
    """Return the channel on which a lost burst arrived; None if its ingress lost it."""
    way = trace.bookings[trace.bookings["burst"] == burst]
    return int(way["channel"].iloc[-1]) if len(way) else None


def _usable(own: dict[str, Any], came: int | None, number: int) -> range:
    """Return the channels, out of `number`, that the wavelength conversion allows a burst."""
    conversion = own["conversion"]
    if came is None or conversion["kind"] == "full":
        return range(number)
    reach = conversion.get("range", 0)
    return range(max(0, came - reach), min(number, came + reach + 1))


def _settings(result: Result, burst: int) -> dict[str, Any]:
    """Return the settings of the node at which a burst was lost."""
    columns = result.columns["trace_bursts"]
    (place,) = np.flatnonzero(columns["number"] == burst)
    node = int(columns["lost_node"][place]) - result.plan.settings["hosts"]
    which = int(result.plan.nodes["switch"][node])
    found: dict[str, Any] = result.plan.settings["switches"][which]
    return found


def _kept(contention: list[Any]) -> list[dict[str, Any]]:
    """Return contention resolvers as tables, expanding those given by name."""
    return [{"kind": table} if isinstance(table, str) else table for table in contention]


def _rows(table: Any) -> list[Any]:
    return list(table.itertuples())
