"""How much the connections that are in progress at once take.

A connection takes up what its two ends need from its start until it is over. When that is, only
the run tells; here it is reckoned from the longest way in the network and the rate of its host.
Those that use a link to which too much is offered for that are taken to last to the end.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.certain import certain_links
from lightburst.compile.plan import Plan
from lightburst.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND

FloatArray = NDArray[np.float64]

# How many times as long as alone a connection lasts, at the most.
_SLOWER: Final = 4.0
# Round trips to set up and to close.
_ENDS: Final = 3
# So much of what a link carries can be offered to it before queues or losses hold up connections.
_MOST_LOAD: Final = 0.8
# Of so many flows, the largest, the load of links between switches is reckoned.
_LARGEST: Final = 5_000
# The simulator makes at most so many places for each connection that is in progress.
_PLACES: Final = 8 / 3


def most_at_once(plan: Plan, each: FloatArray) -> float:
    """Give the most of something that all connections in progress have together.

    Parameters
    ----------
    plan : Plan
        What will be run.
    each : ndarray of float, shape (flows,)
        What each flow has while it is in progress.

    Returns
    -------
    float
        The largest sum over those in progress at one time, with what is kept free for others; at
        most that of all flows.
    """
    start = plan.flows["start_ps"]
    lasts = np.concatenate([_lasts(part) for _, part in plan.parts()])
    seconds = int(start[-1] - start[0]) / PICOSECONDS_PER_SECOND
    lasts[_are_held_up(plan, seconds + float(lasts.max()))] = np.inf
    now = most = 0.0
    # Of those that have begun and are not over: when they end, and what they have.
    ends, has = np.empty(0), np.empty(0)
    for some, part in plan.parts():
        begins = part.flows["start_ps"] / PICOSECONDS_PER_SECOND
        ends = np.concatenate([ends, begins + lasts[some]])
        has = np.concatenate([has, each[some]])
        # Until the next ones begin.
        until = start[some.stop] / PICOSECONDS_PER_SECOND if some.stop < start.size else np.inf
        over = ends < until
        change = np.concatenate([each[some], -has[over]])
        order = np.argsort(np.concatenate([begins, ends[over]]), kind="stable")
        level = now + np.cumsum(change[order])
        now, most = float(level[-1]), max(most, float(level.max()))
        ends, has = ends[~over], has[~over]
    return min(float(each.sum()), _PLACES * most)


def _lasts(plan: Plan) -> FloatArray:
    """Seconds from the start of each flow until it is over, shape (flows,)."""
    trip = _longest_round_trip(plan)
    rate = plan.links["rate_bps"][plan.flows["source"]].astype(float)
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])
    segments = np.ceil(plan.flows["bytes"] / payload)
    first = plan.by_flow(lambda transport: transport.get("initial_window_bytes", 0)) / payload
    # The window doubles in each round trip; one segment after the other where there is none.
    rounds = np.where(first > 0, np.log2(1 + segments / np.maximum(first, 1)), segments)
    timeout = plan.by_flow(lambda transport: transport.get("initial_timeout_ps", 0))
    lasts: FloatArray = (
        _SLOWER * ((rounds + _ENDS) * trip + segments * segment * BITS_PER_BYTE / rate)
        + timeout / PICOSECONDS_PER_SECOND
    )
    return lasts


def _longest_round_trip(plan: Plan) -> float:
    """Seconds there and back between the two nodes that are farthest apart, or somewhat more."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    one = plan.first_of_parallel == np.arange(plan.first_of_parallel.size)
    ends = plan.links["from"][one], plan.links["to"][one]
    largest = max(transport["segment_bytes"] for transport in plan.transports)
    delay = plan.links["delay_ps"][one] / PICOSECONDS_PER_SECOND
    weight = delay + largest * BITS_PER_BYTE / plan.links["rate_bps"][one]
    nodes = plan.settings["nodes"]
    away = dijkstra(csr_array((weight, ends), shape=(nodes, nodes)), indices=np.zeros(1, np.int64))
    # No two nodes are farther apart than over the first one.
    return 2 * (2 * float(away.max()) + max(map(_waits, plan.settings["switches"])))


def _waits(switch: dict[str, Any]) -> float:
    """Seconds that a packet can wait until its burst is closed."""
    rule = switch.get("assembly") or {}
    times = [rule[name] for name in rule if name.endswith("time_ps")]
    return float(max(times, default=0)) / PICOSECONDS_PER_SECOND


def _are_held_up(plan: Plan, seconds: float) -> NDArray[np.bool_]:
    """Tell which flows use a link that is offered too much in so many seconds, shape (flows,)."""
    bits = plan.flows["bytes"].astype(float) * BITS_PER_BYTE
    most = _MOST_LOAD * seconds * plan.links["rate_bps"].astype(float) * plan.channels
    hosts, ends = plan.settings["hosts"], (plan.flows["source"], plan.flows["destination"])
    to_host = np.flatnonzero(plan.links["to"] < hosts)
    down = np.empty(hosts)
    down[plan.links["to"][to_host]] = most[to_host]
    # A host has one link, and hosts come first.
    sent, got = (np.bincount(end, bits, minlength=hosts) for end in ends)
    held = (sent > most[:hosts])[ends[0]] | (got > down)[ends[1]]
    least = max(bits.size - _LARGEST, 0)
    largest = np.argpartition(bits, least)[least:]
    user, link, _ = certain_links(plan, largest)
    share = float(bits[largest].sum() / bits.sum())
    offered = np.bincount(link, bits[user] / share, minlength=most.size)
    if (offered > most)[plan.between_switches].any():
        held[:] = True
    return np.asarray(held)
