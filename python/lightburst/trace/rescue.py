"""What might have saved a lost burst: changes of its scenario, to be tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.units import format_about, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightburst.result import Result
    from lightburst.scenario import Scenario
    from lightburst.trace.network import NetworkTrace

# Reasons for which a burst is lost because channels are taken.
_TAKEN: Final = frozenset(
    {"no-channel", "contention", "delay-lines-full", "hop-limit", "offset-used-up"}
)
# Longer offset times that are tried for a header that came too late, in what nodes take for one.
_HEADERS: Final = (1, 4, 16, 64)


class Remedy(NamedTuple):
    """A change that might have saved a burst.

    Attributes
    ----------
    means : str
        What kind of change: ``wavelength``, ``delay``, ``way`` or ``offset``. Of several of one
        kind each is more than the one before.
    remedy : str
        In words.
    changes : dict
        As `lightburst.Scenario.with_` takes them.
    delay_s : float or None
        How long a delay it is, if it is one.
    """

    means: str
    remedy: str
    changes: dict[str, Any]
    delay_s: float | None = None


def remedies(result: Result, trace: NetworkTrace, burst: int) -> Iterator[Remedy]:
    """List what might have saved a lost burst.

    Parameters
    ----------
    result : Result
        A run in which all bursts were followed over all links.
    trace : NetworkTrace
        What was seen of them.
    burst : int
        The number of the lost one.

    Yields
    ------
    Remedy
        For want of a channel one more wavelength, the shortest delay after which there is one by
        the bookings of that moment, and another way; for a late header more offset time. Nothing
        for what a link loses at random or by a script.
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
    """Give each fibre one wavelength more, or that between two nodes if it has its own number."""
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
    """Give the shortest delay after which a lost burst would have found a channel where it was.

    Parameters
    ----------
    result, trace, burst
        As for `remedies`.

    Returns
    -------
    int or None
        Picoseconds, by what was booked on the link when the burst was lost; None if it could not
        use any channel.
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
        booked = mine[["start_ps", "end_ps"]].to_numpy(dtype=np.int64)
        waits.append(_free_from(booked, first, length, setup, filling=filling) - first)
    return min(waits, default=None)


def _free_from(
    booked: NDArray[np.int64], first: int, length: int, setup: int, *, filling: bool
) -> int:
    """Give the first time, from `first` on, at which a burst of this length can leave."""
    at = first
    for start, end in booked.tolist():
        if filling and at + length <= start - setup:
            break
        if end > at - setup:
            at = end + setup
    return at


def _fills_voids(own: dict[str, Any]) -> bool:
    scheduler: str = own["scheduler"]
    return scheduler.endswith("-vf") or scheduler == "random-fit"


def _came_on(trace: NetworkTrace, burst: int) -> int | None:
    """Give the channel on which a burst came to where it was lost; None where it was made."""
    way = trace.bookings[trace.bookings["burst"] == burst]
    return int(way["channel"].iloc[-1]) if len(way) else None


def _usable(own: dict[str, Any], came: int | None, number: int) -> range:
    """Give the channels that a burst can use, of so many."""
    conversion = own["conversion"]
    if came is None or conversion["kind"] == "full":
        return range(number)
    reach = conversion.get("range", 0)
    return range(max(0, came - reach), min(number, came + reach + 1))


def _settings(result: Result, burst: int) -> dict[str, Any]:
    """Give the settings of the node at which a burst was lost."""
    columns = result.columns["trace_bursts"]
    (place,) = np.flatnonzero(columns["number"] == burst)
    node = int(columns["lost_node"][place]) - result.plan.settings["hosts"]
    which = int(result.plan.nodes["switch"][node])
    found: dict[str, Any] = result.plan.settings["switches"][which]
    return found


def _kept(contention: list[Any]) -> list[dict[str, Any]]:
    """Write resolvers as tables."""
    return [{"kind": table} if isinstance(table, str) else table for table in contention]


def _rows(table: Any) -> list[Any]:
    return list(table.itertuples())
