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
from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# How many times as long as alone a connection lasts, at the most; where little is offered it lasts
# as long.
_SLOWER: Final = 4.0
# Round trips to set up and to close.
_ENDS: Final = 3
# So much of what a link carries can be offered to it before queues or losses hold up connections.
_MOST_LOAD: Final = 0.8
# Where a segment is lost that finds no channel, or that waits with few others.
_WITHOUT_QUEUES: Final = ("all-optical", "hybrid", "obs")
# Switches on a long way.
_SWITCHES: Final = 4
# Of networks with hosts at up to so many switches all distances are looked up.
_SMALL: Final = 512
# Flows that begin at once have at least this time, in seconds.
_INSTANT: Final = 1e-12
# Of so many flows, the largest, the load of links between switches is reckoned.
_LARGEST: Final = 5_000
# The simulator makes at most so many places for each connection that is in progress.
PLACES: Final = 8 / 3


def most_at_once(plan: Plan, each: FloatArray, places: float = 1.0) -> float:
    """Give the most of something that all connections in progress have together.

    Parameters
    ----------
    plan : Plan
        What will be run.
    each : ndarray of float, shape (flows,)
        What each flow has while it is in progress.
    places : float
        How much is there for each of them, with what is kept free for others: `PLACES` for what a
        connection keeps.

    Returns
    -------
    float
        The largest sum over those in progress at one time; at most that of all flows.
    """
    start = plan.flows["start_ps"]
    trips = round_trips(plan)
    lasts = np.concatenate([_lasts(part, trips[some]) for some, part in plan.parts()])
    seconds = int(start[-1] - start[0]) / PICOSECONDS_PER_SECOND
    busy, busiest = _busy(plan)
    # As a part of that with which connections are held up.
    load = max(float(busy.max()), busiest) / max(seconds + float(lasts.max()), _INSTANT)
    load = min(load / _MOST_LOAD, 1.0)
    lasts = (1 + (_SLOWER - 1) * load**2) * lasts + _timeouts(plan, load)
    # The link of one host holds up its own flows, one between switches all.
    most_busy = _MOST_LOAD * (seconds + float(lasts.max()))
    lasts[(busy > most_busy) | (busiest > most_busy)] = np.inf
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
    return min(float(each.sum()), places * most)


def _lasts(plan: Plan, trip: FloatArray) -> FloatArray:
    """Seconds from the start of each flow until it is over, were it alone, shape (flows,)."""
    rate = plan.links["rate_bps"][plan.flows["source"]].astype(float)
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])
    segments = np.ceil(plan.flows["bytes"] / payload)
    first = plan.by_flow(lambda transport: transport.get("initial_window_bytes", 0)) / payload
    # The window doubles in each round trip; one segment after the other where there is none.
    rounds = np.where(first > 0, np.log2(1 + segments / np.maximum(first, 1)), segments)
    lasts: FloatArray = (rounds + _ENDS) * trip + segments * segment * BITS_PER_BYTE / rate
    return lasts


def _timeouts(plan: Plan, load: float) -> FloatArray:
    """Seconds that flows wait for a timeout, in the mean over alike ones, shape (flows,).

    Where there are queues losses need several packets at once, and those of a flow are lost
    together: the square of the load of the busiest link. Where nothing waits each segment can be
    lost at each switch on its way that is loaded.
    """
    timeout = plan.by_flow(lambda transport: transport.get("initial_timeout_ps", 0))
    lost = np.full(timeout.size, load**2)
    if plan.settings.get("loss") is not None:
        lost[:] = 1.0
    elif any(switch["kind"] in _WITHOUT_QUEUES for switch in plan.settings["switches"]):
        payload = plan.by_flow(lambda one: one["segment_bytes"] - one["header_bytes"])
        lost = load * _SWITCHES * np.ceil(plan.flows["bytes"] / payload)
    waits: FloatArray = timeout / PICOSECONDS_PER_SECOND * np.minimum(lost, 1.0)
    return waits


def round_trips(plan: Plan) -> FloatArray:
    """Seconds there and back for each flow, shape (flows,); in large networks at the most."""
    source, destination = plan.flows["source"], plan.flows["destination"]
    edges, edge = np.unique(plan.next_to_hosts, return_inverse=True)
    if edges.size > _SMALL:
        # No two nodes are farther apart than over the first one.
        away = np.full(source.size, 2 * float(_away(plan, np.zeros(1, np.int64)).max()))
    else:
        between = _away(plan, edges.astype(np.int64))
        # From edge to edge, and once more over the link of each host.
        away = between[edge[source], destination] + between[edge[source], source]
    trips: FloatArray = 2 * (away + max(map(_waits, plan.settings["switches"])))
    return trips


def _away(plan: Plan, sources: IntArray) -> FloatArray:
    """Seconds from some nodes to all, shape (sources, nodes)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    one = plan.first_of_parallel == np.arange(plan.first_of_parallel.size)
    ends = plan.links["from"][one], plan.links["to"][one]
    largest = max(transport["segment_bytes"] for transport in plan.transports)
    delay = plan.links["delay_ps"][one] / PICOSECONDS_PER_SECOND
    weight = delay + largest * BITS_PER_BYTE / plan.links["rate_bps"][one]
    nodes = plan.settings["nodes"]
    away = dijkstra(csr_array((weight, ends), shape=(nodes, nodes)), indices=sources)
    found: FloatArray = away
    return found


def _waits(switch: dict[str, Any]) -> float:
    """Seconds that a packet can wait until its burst is closed."""
    rule = switch.get("assembly") or {}
    times = [rule[name] for name in rule if name.endswith("time_ps")]
    return float(max(times, default=0)) / PICOSECONDS_PER_SECOND


def _busy(plan: Plan) -> tuple[FloatArray, float]:
    """Give how many seconds links take for all that is offered to them.

    Those of the two hosts of each flow, the longer time of both, shape (flows,); and the longest
    time of a link between switches.
    """
    bits = plan.flows["bytes"].astype(float) * BITS_PER_BYTE
    carried = plan.links["rate_bps"].astype(float) * plan.channels
    hosts, ends = plan.settings["hosts"], (plan.flows["source"], plan.flows["destination"])
    to_host = np.flatnonzero(plan.links["to"] < hosts)
    down = np.empty(hosts)
    down[plan.links["to"][to_host]] = carried[to_host]
    # A host has one link, and hosts come first.
    sent, got = (np.bincount(end, bits, minlength=hosts) for end in ends)
    own = np.maximum((sent / carried[:hosts])[ends[0]], (got / down)[ends[1]])
    least = max(bits.size - _LARGEST, 0)
    largest = np.argpartition(bits, least)[least:]
    user, link, _ = certain_links(plan, largest)
    share = float(bits[largest].sum() / bits.sum())
    offered = np.bincount(link, bits[user] / share, minlength=carried.size)
    return own, float((offered / carried)[plan.between_switches].max(initial=0.0))
