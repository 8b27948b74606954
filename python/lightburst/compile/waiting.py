"""The most packets in the network at once, by a fluid model.

Each flow is a stream at a constant rate, that of its datagrams or of its host's link, until its
bytes are sent. A link that the flow certainly uses carries up to its own rate; the rest waits in
its queue, by Lindley's recursion: D. V. Lindley, "The theory of queues with a single server"
(1952).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.at_once import round_trips
from lightburst.compile.certain import certain_links
from lightburst.compile.plan import Plan
from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Memory of a packet in a burst at an egress, over that of a queued packet: also its burst's entry.
_IN_BURSTS = 1.15
# Slices of the departure offsets: the begins and the ends of each flow's datagrams.
_ENDS = slice(None, -1), slice(1, None)


def packets_at_once(plan: Plan, most: IntArray, in_progress: float) -> int:
    """Return the most data packets queued or in transit at once.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    most : ndarray of int64, shape (flows,)
        Most packets of each flow in the network: a window, or all its datagrams.
    in_progress : float
        Most connections in progress at once.

    Returns
    -------
    int
        The sum of the packets in transit on all links; of the packets in all queues at once, which
        are at most each flow's share of the longest queue on its links, and that at most `most`;
        and of the packets that egress edges hold to keep bursts in order. Retransmissions and
        queues at links that flows do not certainly use are not included.
    """
    carried, delay = _carried(plan), plan.links["delay_ps"].astype(float)
    least = float(unit_bytes(plan).min()) * BITS_PER_BYTE
    under_way = float((carried * (delay + _delayed(plan))).sum()) / PICOSECONDS_PER_SECOND / least
    # At most the packets that the flows send while a packet travels the longest path.
    in_lines = float(_delayed(plan).sum()) / PICOSECONDS_PER_SECOND
    under_way = min(under_way, _sent(plan, most, float(round_trips(plan).max()) / 2 + in_lines))
    at_host, room = _most_at_host(plan), _room(plan)
    counted = room.copy()
    if np.isfinite(at_host):
        # Packets at hosts are counted by connections.
        counted[: plan.settings["hosts"]] = 0.0
    lines, given = _Lines.empty(carried, counted), np.zeros(carried.size)
    start = plan.flows["start_ps"]
    for some, part in plan.parts():
        uses = _uses(part)
        until = start[some.stop] / PICOSECONDS_PER_SECOND if some.stop < start.size else np.inf
        lines = lines.advance(uses, until)
        given += np.bincount(uses.link, uses.bits, minlength=carried.size)
    waiting = np.minimum(lines.most, room) / least
    at_once = lines.most_in_all / least
    if np.isfinite(at_host):
        at_once += at_host * in_progress
    # The flows over a link share its queue in proportion to their bits.
    share = np.divide(waiting, given, out=np.zeros(carried.size), where=given > 0)
    shared = 0.0
    for some, part in plan.parts():
        uses, each = _uses(part), np.zeros(some.stop - some.start)
        waits = uses.bits * share[uses.link]
        waits = np.where(uses.link < plan.settings["hosts"], np.minimum(waits, at_host), waits)
        np.maximum.at(each, uses.user, waits)
        shared += float(np.minimum(each, most[some]).sum())
    held_back = _held_back(plan)
    held = _IN_BURSTS * _sent(plan, most, held_back) if held_back else 0.0
    return int(min(float(most.sum()), under_way + min(shared, at_once)) + held)


def unit_bytes(plan: Plan) -> FloatArray:
    """Return the bytes of a unit of each group of flows, shape (groups,).

    A unit is a segment, and of flows that are bursts the mean burst.
    """
    size = np.array([transport["segment_bytes"] for transport in plan.transports], float)
    for group, transport in enumerate(plan.transports):
        if transport["kind"] != "bursts":
            continue
        own = plan.flows["bytes"][plan.group == group]
        if own.size:
            size[group] = min(size[group], float(own.mean()) + transport["header_bytes"])
    return size


def _most_at_host(plan: Plan) -> float:
    """Return the most packets of a connection in the interface of its host."""
    fair = plan.settings.get("fair") or {}
    windows = all("advertised_window_bytes" in transport for transport in plan.transports)
    small_queue = fair.get("small_queue") if windows else None
    return np.inf if small_queue is None else float(small_queue)


def _sent(plan: Plan, most: IntArray, seconds: float) -> float:
    """Return the packets that all flows send in `seconds`, at most `most` for each flow."""
    sent, of_group = 0.0, unit_bytes(plan)
    for some, part in plan.parts():
        size = of_group[part.group]
        each = 1 + seconds * _rate(part) / (BITS_PER_BYTE * size)
        sent += float(np.minimum(each, most[some]).sum())
    return sent


def _held_back(plan: Plan) -> float:
    """Return the longest time in seconds that an egress waits for a missing burst."""
    tables = (switch.get("ordering", {}) for switch in plan.settings["switches"])
    held = max((table.get("hold_back_ps", 0) for table in tables), default=0)
    return float(held) / PICOSECONDS_PER_SECOND


class _Uses(NamedTuple):
    """Pairs of a flow and a link that the flow certainly uses, shape (uses,)."""

    user: IntArray
    link: IntArray
    bits: FloatArray
    rate: FloatArray
    start: FloatArray


def _uses(plan: Plan) -> _Uses:
    user, link, _ = certain_links(plan, np.arange(plan.flows["source"].size))
    # Bursts that edges generate do not cross the links of hosts.
    of_edges = plan.by_flow(lambda transport: transport["kind"] == "bursts")
    used = plan.between_switches[link] | ~of_edges[user]
    user, link = user[used], link[used]
    start = plan.flows["start_ps"] / PICOSECONDS_PER_SECOND
    return _Uses(user, link, _bits(plan)[user], _rate(plan)[user], start[user])


def _carried(plan: Plan) -> FloatArray:
    """Return the total rate of each link's channels in bits per second, shape (links,)."""
    carried: FloatArray = plan.links["rate_bps"].astype(float) * plan.channels
    return carried


def _delayed(plan: Plan) -> FloatArray:
    """Return the longest delay-line time of a burst before each link in ps, shape (links,)."""
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
    """Return the rate of each flow in bits per second: of its datagrams or of its host's link."""
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
    """Return the bits that each flow sends until the time limit, with headers."""
    segment = plan.by_flow(lambda transport: transport["segment_bytes"]).astype(float)
    header = plan.by_flow(lambda transport: transport["header_bytes"])
    payload = segment - header
    # The last segment takes the memory of a whole one, but a burst has its own length.
    of_edges = plan.by_flow(lambda transport: transport["kind"] == "bursts")
    segments = np.ceil(plan.flows["bytes"] / payload)
    exact = plan.flows["bytes"] + segments * header
    whole = np.where(of_edges, exact, segments * segment) * float(BITS_PER_BYTE)
    left = plan.settings["time_limit_ps"] - plan.flows["start_ps"].astype(float)
    bits: FloatArray = np.minimum(whole, np.maximum(left, 0) / PICOSECONDS_PER_SECOND * _rate(plan))
    return bits


class _Slopes(NamedTuple):
    """Intervals in which a queue grows or shrinks, shape (intervals,).

    Attributes
    ----------
    begin, end : ndarray of float
        Seconds.
    slope : ndarray of float
        Bits per second by which the queue grows, negative where it shrinks.
    """

    begin: FloatArray
    end: FloatArray
    slope: FloatArray

    @classmethod
    def within(
        cls, begin: FloatArray, lasts: FloatArray, slope: FloatArray, ends: FloatArray
    ) -> "_Slopes":
        """Return the intervals in which a queue is neither empty nor full.

        `ends`, shape (2, intervals): the queue at the begin, and its room. A longer queue counts
        as full.
        """
        before, room = ends
        with np.errstate(divide="ignore", invalid="ignore"):
            to_full = (room - before) / slope
            to_empty = -before / slope
        rises = slope > 0
        starts = np.where(rises, 0.0, np.maximum(to_full, 0.0))
        until = np.minimum(lasts, np.where(rises, to_full, to_empty))
        some = (slope != 0) & (until > starts)
        return cls(*(one[some] for one in (begin + starts, begin + until, slope)))


def _most_in_all(slopes: list[_Slopes]) -> float:
    """Return the most bits in all queues at one time."""
    begin, end, slope = (np.concatenate(column) for column in zip(*slopes, strict=True))
    if begin.size == 0:
        return 0.0
    times = np.concatenate([begin, end])
    order = np.argsort(times, kind="stable")
    change = np.concatenate([slope, -slope])[order]
    growth = np.cumsum(change)[:-1] * np.diff(times[order])
    return float(np.cumsum(growth).max())


class _Lines(NamedTuple):
    """The queue of each link, shape (links,), and the unfinished streams, shape (streams,).

    Attributes
    ----------
    carried : ndarray of float
        Rate of each link in bits per second.
    most, waiting : ndarray of float
        Longest and current queue in bits.
    flowing, since : ndarray of float
        Arrival rate in bits per second, and the time of its last change in seconds.
    link, end, rate : ndarray
        Link, end time in seconds, and rate in bits per second of each unfinished stream.
    room : ndarray of float
        Most bits of each link's queue that count in `slopes`.
    slopes : list of _Slopes
        Changes of the queues so far.
    """

    carried: FloatArray
    most: FloatArray
    waiting: FloatArray
    flowing: FloatArray
    since: FloatArray
    link: IntArray
    end: FloatArray
    rate: FloatArray
    room: FloatArray
    slopes: list[_Slopes]

    @classmethod
    def empty(cls, carried: FloatArray, room: FloatArray) -> "_Lines":
        most, waiting, flowing, since = np.zeros((4, carried.size))
        none = np.zeros(0)
        streams = none.astype(np.int64), none, none
        return cls(carried, most, waiting, flowing, since, *streams, room, [])

    @property
    def most_in_all(self) -> float:
        """Most bits in all queues at one time; all streams must have ended."""
        ends = np.stack([self.waiting, self.room])
        forever = np.full(self.since.size, np.inf)
        drain = _Slopes.within(self.since, forever, self.flowing - self.carried, ends)
        return _most_in_all([*self.slopes, drain])

    def advance(self, uses: _Uses, until: float) -> "_Lines":
        """Add streams that all start before `until`, and end the streams that end before it."""
        link = np.concatenate([self.link, uses.link])
        end = np.concatenate([self.end, uses.start + uses.bits / uses.rate])
        rate = np.concatenate([self.rate, uses.rate])
        over = end < until
        # The links with changes. Their current state comes first among the changes of each.
        at = np.unique(np.concatenate([uses.link, link[over]]))
        lines = self._replace(link=link[~over], end=end[~over], rate=rate[~over])
        if at.size == 0:
            return lines
        where = np.concatenate([at, uses.link, link[over]])
        time = np.concatenate([self.since[at], uses.start, end[over]])
        change = np.concatenate([self.flowing[at], uses.rate, -rate[over]])
        order = np.lexsort((time, where))
        where, time, change = where[order], time[order], change[order]
        # The rows of one link are contiguous; each interval lasts until the link's next change.
        same = where[1:] == where[:-1]
        first = np.flatnonzero(np.concatenate([[True], ~same]))
        last = np.append(first[1:], where.size) - 1
        number = np.repeat(np.arange(first.size), last - first + 1)
        flowing = np.cumsum(change)
        flowing -= (flowing[first] - change[first])[number]
        lasts = np.append(np.where(same, np.diff(time), 0.0), 0.0)
        grown = np.cumsum((flowing - self.carried[where]) * lasts)
        grown -= (np.concatenate([[0.0], grown])[first] - self.waiting[at])[number]
        # Running minimum on each link. One accumulation serves all links: the values of each link
        # are shifted below those of the links before it.
        depth = number * (np.abs(grown).max() + 1)
        lowest = np.minimum.accumulate(np.minimum(grown, 0) - depth) + depth
        waits = grown - lowest
        before = np.append(0.0, waits[:-1])
        before[first] = self.waiting[at]
        ends = np.stack([before, self.room[where]])
        self.slopes.append(_Slopes.within(time, lasts, flowing - self.carried[where], ends))
        np.maximum.at(self.most, where, waits)
        for values, found in (
            (self.waiting, waits),
            (self.flowing, flowing),
            (self.since, time),
        ):
            values[at] = found[last]
        return lines


def _room(plan: Plan) -> FloatArray:
    """Return the size of the queue before each link in bits, shape (links,); hosts: infinite."""
    hosts, switches = plan.settings["hosts"], plan.settings["switches"]
    rooms = np.array([_of_kind(switch, makes_bursts=plan.makes_bursts) for switch in switches])
    of_node = np.concatenate([np.full(hosts, np.inf), rooms[plan.nodes["switch"]]])
    room: FloatArray = of_node[plan.links["from"]] * BITS_PER_BYTE
    return room


def _of_kind(switch: dict[str, Any], *, makes_bursts: bool) -> float:
    """Return the bytes that can wait for an output of a switch, by its settings."""
    if switch["kind"] == "all-optical":
        return 0.0
    # A burst that finds no channel is lost. Packets wait for their burst.
    if switch["kind"] == "obs" and makes_bursts and switch["ingress"] == "lose":
        return 0.0
    room = switch.get("queue_bytes", switch.get("buffer_bytes"))
    return np.inf if room is None else float(room)
