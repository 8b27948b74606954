"""The memory of the connections in progress at once.

A connection holds memory for its two endpoints from its start to its end. The end is known only
after the run; here it is estimated from the longest path of the network and the rate of the host.
A connection over an overloaded link is taken to last until the run ends.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.certain import certain_links
from lightburst.compile.plan import Plan
from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND
from lightburst.workload.flows import NO_JOIN

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Longest duration of a connection, over its duration alone in the network. At low load the ratio
# is 1.
_SLOWER: Final = 4.0
# Round trips of connection set-up and close.
_ENDS: Final = 3
# Largest load of a link at which neither queues nor losses delay connections without bound.
_MOST_LOAD: Final = 0.8
# Least size of a queue over the threshold of its marks with which nothing is lost: a window
# doubles in the round trip that the first mark takes.
_EARLY: Final = 4
# Kinds of switch without queues, or with short ones: a segment without a free channel is lost.
_WITHOUT_QUEUES: Final = ("all-optical", "hybrid", "obs")
# Time between rounds of flows that wait for others, over the mean duration of a flow.
_SPREAD: Final = 2.0
# Switches on a long path.
_SWITCHES: Final = 4
# Up to this number of switches with hosts, the distances of all pairs are calculated.
_SMALL: Final = 512
# Least duration in seconds, for flows that all start at one instant.
_INSTANT: Final = 1e-12
# Number of the largest flows, from which the load of links between switches is estimated.
_LARGEST: Final = 5_000
# Most slots that the simulator allocates, over the connections in progress.
PLACES: Final = 8 / 3


class AtOnce:
    """Connections in progress over time, by their estimated starts and ends.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self._given = plan

    @cached_property
    def _times(self) -> tuple[Plan, FloatArray, FloatArray, FloatArray]:
        """The plan with its starts, durations, and waits for a timeout with their probability."""
        plan = self._given
        trips = round_trips(plan)
        lasts = np.concatenate([_lasts(part, trips[some]) for some, part in plan.parts()])
        plan = _one_after_the_other(plan, float(lasts.mean()))
        start = plan.flows["start_ps"]
        seconds = int(start[-1] - start[0]) / PICOSECONDS_PER_SECOND
        busy, busiest = _busy(plan)
        # Relative to the load above which connections are delayed without bound.
        load = np.maximum(busy, busiest) / max(seconds + float(lasts.max()), _INSTANT)
        load = np.minimum(load / _MOST_LOAD, 1.0)
        lasts = (1 + (_SLOWER - 1) * load**2) * lasts
        # An overloaded link of a host delays the flows of this host; one between switches delays
        # all.
        most_busy = _MOST_LOAD * (seconds + float(lasts.max()))
        lasts[(busy > most_busy) | (busiest > most_busy)] = np.inf
        timeout = plan.by_flow(lambda transport: transport.get("initial_timeout_ps", 0))
        return plan, lasts, timeout / PICOSECONDS_PER_SECOND, _lost(plan, load)

    def most(self, each: FloatArray, places: float = 1.0) -> float:
        """Return the largest sum of a quantity over the connections in progress at one time.

        Parameters
        ----------
        each : ndarray of float, shape (flows,)
            The quantity for each flow, which the flow has while it is in progress.
        places : float
            Allocated slots over connections in progress: `PLACES` for memory of endpoints, which
            includes free slots.

        Returns
        -------
        float
            The largest sum, times `places`; at most the sum over all flows.
        """
        plan, lasts, waits, lost = self._times
        start = plan.flows["start_ps"]
        now = most = 0.0
        # End times and quantities of the connections in progress.
        ends, has = np.empty(0), np.empty(0)
        for some, part in plan.parts():
            begins = part.flows["start_ps"] / PICOSECONDS_PER_SECOND
            over = begins + lasts[some]
            # A share of the flows waits for a timeout.
            late = each[some] * lost[some]
            ends = np.concatenate([ends, over, over + waits[some]])
            has = np.concatenate([has, each[some] * (1 - lost[some]), late])
            # Start of the next part of the flows.
            until = start[some.stop] / PICOSECONDS_PER_SECOND if some.stop < start.size else np.inf
            ended = ends < until
            change = np.concatenate([each[some], -has[ended]])
            order = np.argsort(np.concatenate([begins, ends[ended]]), kind="stable")
            level = now + np.cumsum(change[order])
            now, most = float(level[-1]), max(most, float(level.max()))
            ends, has = ends[~ended], has[~ended]
        return min(float(each.sum()), places * most)


def _one_after_the_other(plan: Plan, seconds: float) -> Plan:
    """Return the plan with starts that flows may have that wait for others.

    Where all wait but for the first, joins lie in the order of rounds, and as many flows start at
    a time as wait for none; where all wait, as many as there are sources. The rounds begin twice
    the mean duration of a flow apart, so that no link counts as overloaded: the flows of a round
    wait for those of the one before.
    """
    if (after := plan.flows.get("after_join")) is None:
        return plan
    first = int((after == NO_JOIN).sum()) or np.unique(plan.flows["source"]).size
    rounds = np.arange(after.size) // first
    start = rounds * (_SPREAD * seconds * PICOSECONDS_PER_SECOND)
    return replace(plan, flows={**plan.flows, "start_ps": start.astype(np.uint64)})


def _lasts(plan: Plan, trip: FloatArray) -> FloatArray:
    """Return the duration in seconds of each flow alone in the network, shape (flows,)."""
    rate = plan.links["rate_bps"][plan.flows["source"]].astype(float)
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])
    segments = np.ceil(plan.flows["bytes"] / payload)
    first = plan.by_flow(lambda transport: transport.get("initial_window_bytes", 0)) / payload
    # With a window: slow start, which doubles it each round trip. Without: one segment per trip.
    rounds = np.where(first > 0, np.log2(1 + segments / np.maximum(first, 1)), segments)
    lasts: FloatArray = (rounds + _ENDS) * trip + segments * segment * BITS_PER_BYTE / rate
    return lasts


def _lost(plan: Plan, load: FloatArray) -> FloatArray:
    """Return the estimated probability that each flow waits for a timeout, shape (flows,).

    With queues a loss needs several packets at once, and the packets of a flow are lost together:
    the square of the load of its busiest link. Where switches mark early and senders answer marks,
    none is lost. Without queues each segment can be lost at each loaded switch on its path.
    """
    if plan.settings.get("loss") is not None:
        return np.ones(load.size)
    if all(map(_marks_early, plan.settings["switches"])) and all(map(_heeds, plan.transports)):
        return np.zeros(load.size)
    if any(switch["kind"] in _WITHOUT_QUEUES for switch in plan.settings["switches"]):
        payload = plan.by_flow(lambda one: one["segment_bytes"] - one["header_bytes"])
        lost: FloatArray = load * _SWITCHES * np.ceil(plan.flows["bytes"] / payload)
        return np.minimum(lost, 1.0)
    return load**2


def _marks_early(switch: dict[str, Any]) -> bool:
    """Return whether a switch marks packets when little of its queue is full."""
    threshold, room = switch.get("ecn_threshold_bytes"), switch.get("queue_bytes")
    return threshold is not None and (room is None or room >= _EARLY * threshold)


def _heeds(transport: dict[str, Any]) -> bool:
    """Return whether senders slow down at marks."""
    law = transport.get("congestion_control", {})
    return law.get("kind") == "dctcp" or bool(transport.get("ecn"))


def round_trips(plan: Plan) -> FloatArray:
    """Return the round-trip time of each flow in seconds, shape (flows,).

    In large networks it is an upper bound, the same for all flows.
    """
    source, destination = plan.flows["source"], plan.flows["destination"]
    edges, edge = np.unique(plan.next_to_hosts, return_inverse=True)
    if edges.size > _SMALL:
        # The distance of any two nodes is at most that of the path through the first node.
        away = np.full(source.size, 2 * float(_away(plan, np.zeros(1, np.int64)).max()))
    else:
        between = _away(plan, edges.astype(np.int64))
        # From the source's edge to the destination, and once more from there to the source host.
        away = between[edge[source], destination] + between[edge[source], source]
    trips: FloatArray = 2 * (away + max(map(_waits, plan.settings["switches"])))
    return trips


def _away(plan: Plan, sources: IntArray) -> FloatArray:
    """Return the delay in seconds from some nodes to all nodes, shape (sources, nodes)."""
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
    """Return the longest wait in seconds of a packet until its burst is closed, or for circuits."""
    if switch["kind"] == "circuit":
        return _turn(switch)
    rule = switch.get("assembly") or {}
    times = [rule[name] for name in rule if name.endswith("time_ps")]
    return float(max(times, default=0)) / PICOSECONDS_PER_SECOND


def _turn(switch: dict[str, Any]) -> float:
    """Return the longest wait in seconds for a circuit."""
    if (schedule := switch.get("schedule")) is not None:
        # A unit that misses the last slot of its circuit waits for a turn, on either hop.
        turn = max(map(len, schedule["turns"])) * schedule["slot_ps"]
        hops = 1 if switch["forwarding"] == "direct" else 2
        return float(hops * turn) / PICOSECONDS_PER_SECOND
    # A unit waits for the next look, and for the circuits of others.
    scheduler = switch["scheduler"]
    slots = scheduler["delay_ps"] + 2 * scheduler["slot_ps"] * scheduler.get("frame", 1)
    return float(slots) / PICOSECONDS_PER_SECOND


def _busy(plan: Plan) -> tuple[FloatArray, float]:
    """Return the seconds that links need to transmit the bits offered to them.

    First the longer time of the links of each flow's two hosts, shape (flows,); second the longest
    time of a link between switches.
    """
    bits = plan.flows["bytes"].astype(float) * BITS_PER_BYTE
    carried = plan.links["rate_bps"].astype(float) * plan.channels
    hosts, ends = plan.settings["hosts"], (plan.flows["source"], plan.flows["destination"])
    to_host = np.flatnonzero(plan.links["to"] < hosts)
    down = np.empty(hosts)
    down[plan.links["to"][to_host]] = carried[to_host]
    # Each host has one link, and the links from hosts come first.
    sent, got = (np.bincount(end, bits, minlength=hosts) for end in ends)
    own = np.maximum((sent / carried[:hosts])[ends[0]], (got / down)[ends[1]])
    least = max(bits.size - _LARGEST, 0)
    largest = np.argpartition(bits, least)[least:]
    user, link, _ = certain_links(plan, largest)
    share = float(bits[largest].sum() / bits.sum())
    offered = np.bincount(link, bits[user] / share, minlength=carried.size)
    return own, float((offered / carried)[plan.between_switches].max(initial=0.0))
