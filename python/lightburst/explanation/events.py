"""Events of a scenario on the links that a flow used."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.counts import PS, UNFINISHED
from lightburst.foundation.units import format_rate
from lightburst.result.metric_text import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.compile.plan import Plan
    from lightburst.trace.flow import FlowTrace

# Largest number of events that are named.
_MOST: Final = 8


def met(plan: Plan, trace: FlowTrace, start: int, end: int) -> list[str]:
    """Return the events on the links of a flow while it was in progress, in order of time.

    Parameters
    ----------
    plan : Plan
        Plan of the run.
    trace : FlowTrace
        The flow.
    start, end : int
        Its start, and the end of the time that is explained, in picoseconds.

    Returns
    -------
    list of str
        Such as ``2 - 3 down from 1 s to 2 s``; both directions together if they changed together.
        The times on a backup path come last: ``2 to 5 on the backup path from 1.06 s``.
    """
    used = set(np.unique(trace.hops["link"]).tolist())
    found: dict[tuple[int, str], list[int]] = {}
    for link, begin, until, what in _changes(plan):
        if link in used and begin < end and until > start:
            to = "" if until == UNFINISHED else f" to {readable('time_s', until * PS)}"
            words = f"{what} from {readable('time_s', begin * PS)}{to}"
            found.setdefault((begin, words), []).append(link)
    named = [f"{_links(links, trace)} {words}" for (_, words), links in sorted(found.items())]
    named += _on_backup(plan, trace, start, end)
    more = [f"and {len(named) - _MOST} more"] if len(named) > _MOST else []
    return named[:_MOST] + more


def _changes(plan: Plan) -> Iterator[tuple[int, int, int, str]]:
    """Yield the link, the begin, the end and what it was meanwhile, for each event."""
    for link, begin, until in plan.settings.get("outages", {}).get("links", ()):
        yield link, begin, until, "down"
    for link, channel, begin, until in plan.settings.get("outages", {}).get("channels", ()):
        yield link, begin, until, f"down on wavelength {channel}"
    changes: dict[str, list[list[Any]]] = plan.settings.get("changes", {})
    for rows in changes.values():
        for row, later in zip(rows, [*rows[1:], [None]], strict=True):
            link, begin, *values = row
            until = later[1] if later[0] == link else int(UNFINISHED)
            if values == _own(plan, link, len(values)):
                continue
            is_rate = len(values) == 1
            word = f"at {format_rate(*values)}" if is_rate else f"with a loss of {values[0]:.3g}"
            yield link, begin, until, word


def _on_backup(plan: Plan, trace: FlowTrace, start: int, end: int) -> Iterator[str]:
    """Yield when the two directions of a flow used their backup paths."""
    turns: list[list[int]] = plan.settings.get("protection", {}).get("turns", [])
    ends = [int(plan.next_to_hosts[host]) for host in (trace.source, trace.destination)]
    names = trace.places.named(np.array(ends))
    for pair, (one, other) in ((ends, names), (ends[::-1], names[::-1])):
        own = [(time, label) for *between, time, label in turns if between == pair]
        for (time, label), (until, _) in pairwise([*own, (int(UNFINISHED), 0)]):
            if label and time < end and until > start:
                times = f"from {readable('time_s', time * PS)}"
                if until != UNFINISHED:
                    times += f" to {readable('time_s', until * PS)}"
                yield f"{one} to {other} on the backup path {times}"


def _own(plan: Plan, link: int, number: int) -> list[Any]:
    """Return the rate of a link without events, or both of its loss probabilities."""
    if number == 1:
        return [int(plan.links["rate_bps"][link])]
    loss = plan.settings.get("loss")
    if loss is None or not plan.links["lossy"][link]:
        return [0.0, 0.0]
    return [loss["probability"], loss["acknowledgement_probability"]]


def _links(links: list[int], trace: FlowTrace) -> str:
    """Return the ends of links, of two directions once."""
    names = trace.places.named(np.arange(trace.places.link_to.max() + 1))
    ends = ((trace.places.link_from[link], trace.places.link_to[link]) for link in links)
    pairs = dict.fromkeys(tuple(sorted((int(one), int(other)))) for one, other in ends)
    return ", ".join(f"{names[one]} - {names[other]}" for one, other in pairs)
