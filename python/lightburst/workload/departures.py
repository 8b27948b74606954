"""Departure times of the datagrams of open-loop flows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND
from lightburst.scenario.transport import OpenLoop
from lightburst.workload.flows import Flows
from lightburst.workload.streams import stream

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Times = NDArray[np.uint64]

# Number of gaps drawn per call; the sequence of gaps does not depend on it.
_BLOCK = 2**17
# In a group of at most this many datagrams (a few seconds of drawing), the gaps beyond the time
# limit are drawn as well, so that the gaps of the next flow do not depend on the limit.
_MOST_DRAWN = 2**28
# Larger than any time limit, and small enough that adding it to a start fits the clock's 64 bits.
_BEYOND = float(2**62)


def datagram_counts(
    flows: Flows, transport: OpenLoop, source_rate_bps: NDArray[np.uint64], time_limit: int
) -> IntArray:
    """Bound the number of each flow's departures up to the first one beyond the time limit.

    Parameters
    ----------
    flows, transport, source_rate_bps, time_limit
        As for `departures`.

    Returns
    -------
    ndarray of int64, shape (flows,)
        The smaller of two numbers: all datagrams of the flow, and an upper bound on those that the
        time allows, including the first one beyond the limit. With Poisson departures of mean
        number m the bound uses m + 12 sqrt(m) + 100, which less than one of 1e30 flows exceeds
        (Chernoff bound).
    """
    left = np.maximum(np.float64(time_limit) - flows.start_ps.astype(np.float64), 0)
    most = left / _gap(flows, transport, source_rate_bps)
    if transport.spacing == "poisson":
        most += 12 * np.sqrt(most) + 100
    return np.minimum(_all(flows, transport), most + 2).astype(np.int64)


def departures(
    flows: Flows,
    transport: OpenLoop,
    source_rate_bps: NDArray[np.uint64],
    seed: int,
    time_limit: int,
    group: str | None = None,
) -> tuple[Times, Times]:
    """Return departure times of each flow's datagrams, up to the first beyond the time limit.

    A flow of rate R sends one datagram per ``8e12 segment_size / R`` picoseconds. With constant
    spacing the first departs at the start of the flow. With Poisson spacing the gaps, the first one
    from the start included, are exponential with this mean: a Poisson process from the start on.

    Parameters
    ----------
    flows : Flows
        The flows.
    transport : OpenLoop
        Rate and spacing.
    source_rate_bps : ndarray of uint64, shape (flows,)
        Rate of the link of each flow's source, in bits per second; used where the transport has no
        rate.
    seed : int
        Seed of the run.
    time_limit : int
        End of the run in picoseconds.
    group : str, optional
        Name of the group of flows; each group has its own random stream.

    Returns
    -------
    departures_ps : ndarray of uint64, shape (datagrams,)
        Departure times flow by flow, not decreasing within a flow.
    offsets : ndarray of uint64, shape (flows + 1,)
        Index of the first departure of each flow, followed by the total number of datagrams.
    """
    most = datagram_counts(flows, transport, source_rate_bps, time_limit)
    start, late = flows.start_ps, flows.start_ps > time_limit
    left = np.where(late, np.uint64(0), np.uint64(time_limit) - start)
    times, ended = np.empty(int(most.sum()), np.uint64), np.zeros(len(flows), np.bool_)
    kept, filled = np.zeros(len(flows), np.int64), 0
    whole = _all(flows, transport)
    counts = whole if whole.sum(dtype=np.float64) <= _MOST_DRAWN else most
    gap, draw = _gap(flows, transport, source_rate_bps), stream(seed, "departures", group)
    for flow, after in _waits(transport, counts, gap, draw):
        wait = np.rint(np.clip(after, 0, _BEYOND)).astype(np.uint64)
        keep = (wait <= left[flow]) & ~late[flow]
        beyond = np.flatnonzero(~keep)
        first, place = np.unique(flow[beyond], return_index=True)
        keep[beyond[place[~ended[first]]]] = True
        ended[first] = True
        flow = flow[keep]
        times[filled : filled + flow.size] = start[flow] + wait[keep]
        filled += flow.size
        kept += np.bincount(flow, minlength=len(flows))
        if ended[-1]:
            break
    return times[:filled], np.concatenate([[0], np.cumsum(kept)]).astype(np.uint64)


def _all(flows: Flows, transport: OpenLoop) -> IntArray:
    payload = transport.segment_size - transport.header_size
    return -(-flows.size_bytes.astype(np.int64) // payload)


def _gap(flows: Flows, transport: OpenLoop, source_rate_bps: Times) -> FloatArray:
    """Return the mean gap between two datagrams of each flow, in picoseconds."""
    rate = source_rate_bps if transport.rate is None else np.full(len(flows), transport.rate)
    gap: FloatArray = BITS_PER_BYTE * PICOSECONDS_PER_SECOND * transport.segment_size / rate
    return gap


def _waits(
    transport: OpenLoop, counts: IntArray, gap: FloatArray, draw: np.random.Generator
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield blocks of flow indices and datagram times, counted from the start of the flow."""
    last = np.cumsum(counts)
    first = last - counts
    # Running sum of all gaps: its value at the start of each flow, and its current value.
    begun, summed = np.zeros(counts.size), 0.0
    for begin in range(0, int(last[-1]), _BLOCK):
        end = min(begin + _BLOCK, int(last[-1]))
        low, high = np.searchsorted(last, [begin, end - 1], "right")
        here = np.arange(low, high + 1)
        flow = np.repeat(here, np.minimum(last[here], end) - np.maximum(first[here], begin))
        if transport.spacing == "constant":
            yield flow, (np.arange(begin, end) - first[flow]) * gap[flow]
            continue
        gaps = draw.standard_exponential(end - begin) * gap[flow]
        sums = np.cumsum(np.concatenate([[summed], gaps]))[1:]
        summed = sums[-1]
        here = here[first[here] >= begin]
        begun[here] = sums[first[here] - begin] - gaps[first[here] - begin]
        yield flow, sums - begun[flow]
