"""How many packets can be in the network at once, in a fluid model.

Each flow is a stream of its rate, that of its datagrams or of its host's link, for as long as its
bytes last. A link that it certainly uses passes on what it can; the rest waits there: Lindley's
recursion, D. V. Lindley, "The theory of queues with a single server" (1952).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.certain import certain_links
from lightburst.compile.plan import Plan
from lightburst.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Uses of links by flows that are looked at together.
_BLOCK = 2**17
# Where the datagrams of each flow begin and end, among the offsets.
_ENDS = slice(None, -1), slice(1, None)


def packets_at_once(plan: Plan, most: IntArray) -> int:
    """Give the most data packets that wait or are under way at once.

    Parameters
    ----------
    plan : Plan
        What will be run.
    most : ndarray of int64, shape (flows,)
        Packets that each flow can have in the network: a window, or all its datagrams.

    Returns
    -------
    int
        What fits on all links, and of each flow what waits at the worst moment of the worst of its
        links, at most `most`. What is sent again, and what waits where the links are not certain,
        is not in it.
    """
    user, link, _ = certain_links(plan, np.arange(most.size))
    # What edges make themselves comes over no host's link.
    of_edges = plan.by_flow(lambda transport: transport["kind"] == "bursts")
    used = plan.between_switches[link] | ~of_edges[user]
    user, link = user[used], link[used]
    carried, delay = _carried(plan), plan.links["delay_ps"].astype(float)
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    least, bits = float(segment.min()) * BITS_PER_BYTE, _bits(plan)
    under_way = float((carried * (delay + _delayed(plan))).sum()) / PICOSECONDS_PER_SECOND / least
    waiting = np.minimum(_backlog(plan, user, link, bits), _room(plan)) / least
    # Flows that use a link share what waits there in proportion to their bits.
    given = np.bincount(link, bits[user], minlength=carried.size)
    part = np.divide(waiting, given, out=np.zeros(carried.size), where=given > 0)
    each = np.zeros(most.size)
    np.maximum.at(each, user, bits[user] * part[link])
    return int(min(float(most.sum()), under_way + float(np.minimum(each, most).sum())))


def _carried(plan: Plan) -> FloatArray:
    """Bits a second that all channels of each link carry, shape (links,)."""
    carried: FloatArray = plan.links["rate_bps"].astype(float) * plan.channels
    return carried


def _delayed(plan: Plan) -> FloatArray:
    """Give the longest time in picoseconds that a burst is in a delay line before each link."""
    longest = [
        sum(
            table["granularity_ps"] * table["delays"]
            for table in switch.get("contention", ())
            if table["kind"] == "delay-line"
        )
        for switch in plan.settings["switches"]
    ]
    of_node = np.concatenate(
        [np.zeros(plan.settings["hosts"]), np.array(longest, float)[plan.nodes["switch"]]]
    )
    delayed: FloatArray = of_node[plan.links["from"]]
    return delayed


def _rate(plan: Plan) -> FloatArray:
    """Bits a second at which each flow can send: that of its datagrams, or of its host's link."""
    link = plan.host_rate_bps[plan.flows["source"]].astype(float)
    if "departures_ps" not in plan.flows:
        return link
    begin, end = (plan.flows["departure_offsets"][part].astype(np.int64) for part in _ENDS)
    count = end - begin
    times = plan.flows["departures_ps"]
    last = times[np.maximum(end - 1, 0)] if times.size else np.zeros(count.size)
    seconds = (last.astype(float) - plan.flows["start_ps"]) / PICOSECONDS_PER_SECOND
    bits = BITS_PER_BYTE * plan.by_flow(lambda transport: transport["segment_bytes"]) * count
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((count > 1) & (seconds > 0), bits / seconds, link)


def _bits(plan: Plan) -> FloatArray:
    """Give what each flow has to send, headers included."""
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])
    whole = np.ceil(plan.flows["bytes"] / payload) * segment * BITS_PER_BYTE
    left = plan.settings["time_limit_ps"] - plan.flows["start_ps"].astype(float)
    bits: FloatArray = np.minimum(whole, np.maximum(left, 0) / PICOSECONDS_PER_SECOND * _rate(plan))
    return bits


def _backlog(plan: Plan, user: IntArray, link: IntArray, bits: FloatArray) -> FloatArray:
    """Bits that wait for each link at the worst moment, shape (links,)."""
    rate, carried = _rate(plan), _carried(plan)
    backlog = np.zeros(plan.links["from"].size)
    order = np.argsort(link, kind="stable")
    user, link, begin = user[order], link[order], 0
    while begin < link.size:
        # Some links at a time, each with all flows that use it.
        last = link[min(begin + _BLOCK, link.size) - 1]
        end = int(np.searchsorted(link, last, "right"))
        mine, at = user[begin:end], link[begin:end]
        start = plan.flows["start_ps"][mine] / PICOSECONDS_PER_SECOND
        time = np.concatenate([start, start + bits[mine] / rate[mine]])
        change = np.concatenate([rate[mine], -rate[mine]])
        at = np.concatenate([at, at])
        order = np.lexsort((time, at))
        _worst(at[order], time[order], change[order], carried, backlog)
        begin = end
    return backlog


def _worst(
    at: IntArray, time: FloatArray, change: FloatArray, rate: FloatArray, out: FloatArray
) -> None:
    """Write the largest backlog of each link, given when the rate of what flows to it changes."""
    # From each change to the next one on the same link.
    same = at[1:] == at[:-1]
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    number = np.repeat(np.arange(first.size), np.diff(np.append(first, at.size)))
    flowing = np.cumsum(change)
    flowing -= (flowing[first] - change[first])[number]
    lasts = np.append(np.where(same, np.diff(time), 0.0), 0.0)
    grown = np.cumsum((flowing - rate[at]) * lasts)
    grown -= np.concatenate([[0.0], grown])[first][number]
    # The lowest so far on the same link. The links are told apart in one array: the values of each
    # are shifted below all those of the links before it.
    depth = number * (np.abs(grown).max() + 1)
    lowest = np.minimum.accumulate(np.minimum(grown, 0) - depth) + depth
    np.maximum.at(out, at, grown - lowest)


def _room(plan: Plan) -> FloatArray:
    """Bits for which there is room at each link, shape (links,); without limit at hosts."""
    hosts, switches = plan.settings["hosts"], plan.settings["switches"]
    rooms = np.array([_of_kind(switch) for switch in switches])
    of_node = np.concatenate([np.full(hosts, np.inf), rooms[plan.nodes["switch"]]])
    room: FloatArray = of_node[plan.links["from"]] * BITS_PER_BYTE
    return room


def _of_kind(switch: dict[str, Any]) -> float:
    """Bytes that can wait for an output of a switch."""
    if switch["kind"] == "all-optical":
        return 0.0
    room = switch.get("queue_bytes", switch.get("buffer_bytes"))
    return np.inf if room is None else float(room)
