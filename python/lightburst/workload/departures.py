"""When the datagrams of open-loop flows are handed to the network interface."""

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario.transport import Datagram
from lightburst.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND
from lightburst.workload.flows import Flows
from lightburst.workload.streams import stream


def datagram_counts(flows: Flows, transport: Datagram) -> NDArray[np.int64]:
    """How many datagrams each flow has, shape (flows,)."""
    payload = transport.segment_size - transport.header_size
    return -(-flows.size_bytes.astype(np.int64) // payload)


def departures(
    flows: Flows,
    transport: Datagram,
    source_rate_bps: NDArray[np.uint64],
    seed: int,
    group: str | None = None,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Departure times of all datagrams.

    A flow that sends at rate R has one datagram every ``8e12 segment_size / R`` picoseconds: at its
    start and from then on (constant), or after gaps that are exponential with this mean, the first
    one included, so that the departures are a Poisson process from the start on.

    Parameters
    ----------
    flows : Flows
        The flows.
    transport : Datagram
        Rate and spacing.
    source_rate_bps : ndarray of uint64, shape (flows,)
        Rate of the link of each flow's source; the rate of flows without one of their own.
    seed : int
        Of the run.
    group : str, optional
        The name of the group of flows, which has a random stream of its own.

    Returns
    -------
    departures_ps : ndarray of uint64, shape (datagrams,)
        Flow by flow, not decreasing within each.
    offsets : ndarray of uint64, shape (flows + 1,)
        Where each flow begins in it, and the number of datagrams.
    """
    counts = datagram_counts(flows, transport)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    total, first = int(offsets[-1]), offsets[:-1]
    rate = source_rate_bps if transport.rate is None else np.full(len(flows), transport.rate)
    gap = BITS_PER_BYTE * PICOSECONDS_PER_SECOND * transport.segment_size / rate
    if transport.spacing == "constant":
        position = np.arange(total) - np.repeat(first, counts)
        after = position * np.repeat(gap, counts)
    else:
        gaps = stream(seed, "departures", group).standard_exponential(total) * np.repeat(
            gap, counts
        )
        sums = np.cumsum(gaps)
        # What had been summed up before the flow began.
        after = sums - np.repeat(sums[first] - gaps[first], counts)
    start = np.repeat(flows.start_ps, counts)
    return start + np.rint(np.maximum(after, 0)).astype(np.uint64), offsets.astype(np.uint64)
