"""The parts of a network that runs on several threads, and why a network runs as a whole."""

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst import _core
from lightburst.compile import Plan
from lightburst.foundation.cores import available_cores
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import as_python

# Expected events in a window of all parts from which on parts are faster than the whole network:
# docs/performance.md has the measurements.
_LEAST_EVENTS: Final = 40
# Transmissions of a segment and of its acknowledgement, in a network with several layers.
_HOPS: Final = 8


# Largest number of threads: parts are numbered by 16 bits.
_MOST_THREADS: Final = 1024


def check_threads(threads: Any, path: str = "threads") -> int:
    """Return a number of threads; refuse anything else.

    Raises
    ------
    InputError
        If `threads` is not a whole number from 1 to 1024.
    """
    given = as_python(threads)
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= _MOST_THREADS:
        return given
    raise InputError(path, show(threads), f"a whole number of threads from 1 to {_MOST_THREADS}")


def divide(plan: Plan, threads: int) -> tuple[NDArray[np.uint16] | None, str | None]:
    """Divide the network of a plan into parts, one for each thread.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    threads : int
        Largest number of parts; there are no more than cores.

    Returns
    -------
    ndarray of uint16, shape (nodes,), or None
        Part of each node, from 0; None if the network runs as a whole.
    str or None
        The reason if it runs as a whole although `threads` is more than 1.
    """
    if threads == 1:
        return None, None
    cores = available_cores()
    if cores == 1:
        return None, "this machine has one core"
    joins = bool(len(plan.flows.get("towards_join", ())))
    if (reason := _core.why_whole(json.dumps(plan.settings), joins)) is not None:
        return None, reason
    delays = plan.links["delay_ps"][plan.between_switches]
    if not delays.size:
        return None, "all its hosts are at one switch"
    # No window is longer than the longest link, and most networks have links of one length.
    if (events := events_in(plan, int(delays.max()))) >= _LEAST_EVENTS:
        # SciPy's linear algebra is loaded only where it is needed.
        from lightburst.simulation.cut import parts_of

        parts = parts_of(plan, min(threads, cores))
        if parts.max() == 0:
            return None, "all its hosts are at one switch"
        if (events := events_in(plan, lookahead_ps(plan, parts))) >= _LEAST_EVENTS:
            return parts, None
    words = (
        f"about {events:.1f} events come in the shortest delay between its parts, and threads"
        f" gain from {_LEAST_EVENTS} on"
    )
    return None, words


def lookahead_ps(plan: Plan, parts: NDArray[np.uint16]) -> int:
    """Return the shortest delay of a link between two parts, in picoseconds."""
    crossing = parts[plan.links["from"]] != parts[plan.links["to"]]
    return int(plan.links["delay_ps"][crossing].min())


def events_in(plan: Plan, window_ps: int) -> float:
    """Return about how many events a window of all parts has while flows start."""
    groups = plan.settings["groups"]
    payload = min(
        group["transport"]["segment_bytes"] - group["transport"]["header_bytes"] for group in groups
    )
    segments = np.ceil(plan.flows["bytes"] / payload).sum()
    starts = plan.flows["start_ps"]
    hosts = plan.settings["hosts"]
    sizes = plan.flows["bytes"].astype(np.float64)
    rates = plan.links["rate_bps"][:hosts]
    ends = (np.bincount(plan.flows[end], sizes, hosts) for end in ("source", "destination"))
    busiest_ps = float(max((at * 8e12 / rates).max() for at in ends))
    span_ps = max(float(starts.max() - starts.min()), busiest_ps)
    return float(_HOPS * segments / span_ps * window_ps)
