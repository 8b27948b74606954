"""The flows of several groups in one table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lightburst.workload.flows import Flows

Times = NDArray[np.uint64]


def merge(groups: Sequence[Flows]) -> tuple[Flows, NDArray[np.uint16], NDArray[np.int64]]:
    """Merge groups of flows by their starts.

    Parameters
    ----------
    groups : sequence of Flows
        The flows of each group; of two that start at once that of the earlier group comes first.

    Returns
    -------
    flows : Flows
        All of them, in the order of their starts.
    group : ndarray of uint16, shape (flows,)
        Which group each belongs to.
    order : ndarray of int64, shape (flows,)
        Where each stands when the groups are put one behind the other.
    """
    if len(groups) == 1:
        number = len(groups[0])
        return groups[0], np.zeros(number, np.uint16), np.arange(number)
    start = np.concatenate([flows.start_ps for flows in groups])
    order = np.argsort(start, kind="stable")
    columns = ("source", "destination", "start_ps", "size_bytes")
    # One by one, since there may be very many.
    flows = Flows(
        **{
            name: np.concatenate([getattr(flows, name) for flows in groups])[order]
            for name in columns
        }
    )
    sizes = [len(flows) for flows in groups]
    group = np.repeat(np.arange(len(groups), dtype=np.uint16), sizes)
    return flows, group[order], order


def merge_departures(
    groups: Sequence[tuple[Times, Times]], order: NDArray[np.int64]
) -> tuple[Times, Times]:
    """Put the departures of the groups' datagrams into the order of the merged flows.

    Parameters
    ----------
    groups : sequence of (departures_ps, offsets)
        Of each group, as `lightburst.workload.departures` gives them.
    order : ndarray of int64, shape (flows,)
        Of `merge`.

    Returns
    -------
    departures_ps, offsets : ndarray of uint64
        The same for the merged flows.
    """
    times = np.concatenate([times for times, _ in groups])
    counts = np.concatenate([np.diff(offsets) for _, offsets in groups]).astype(np.int64)
    first = np.cumsum(counts) - counts
    counts, first = counts[order], first[order]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return times[np.repeat(first, counts) + within], offsets.astype(np.uint64)
