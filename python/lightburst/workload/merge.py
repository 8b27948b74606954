"""Merges the flows of several groups into one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.workload.flows import Flows

Times = NDArray[np.uint64]


def merge(groups: Sequence[Flows]) -> tuple[Flows, NDArray[np.uint16], NDArray[np.int64]]:
    """Merge groups of flows in order of start time.

    Parameters
    ----------
    groups : sequence of Flows
        Flows of each group. Of flows that start at the same time, those of earlier groups come
        first.

    Returns
    -------
    flows : Flows
        All flows, sorted by start time.
    group : ndarray of uint16, shape (flows,)
        Index of the group of each flow.
    order : ndarray of int64, shape (flows,)
        Index of each flow in the concatenation of the groups.
    """
    if len(groups) == 1:
        number = len(groups[0])
        return groups[0], np.zeros(number, np.uint16), np.arange(number)
    start = np.concatenate([flows.start_ps for flows in groups])
    order = np.argsort(start, kind="stable")
    columns = ("source", "destination", "start_ps", "size_bytes")
    # Column by column, to limit memory: there may be very many flows.
    flows = Flows(*(_merged([getattr(one, name) for one in groups], order) for name in columns))
    sizes = [len(flows) for flows in groups]
    group = np.repeat(np.arange(len(groups), dtype=np.uint16), sizes)
    return flows, group[order], order


def _merged(columns: Sequence[NDArray[Any]], order: NDArray[np.int64]) -> Any:
    return np.concatenate(columns)[order]


def merge_departures(
    groups: Sequence[tuple[Times, Times]], order: NDArray[np.int64]
) -> tuple[Times, Times]:
    """Reorder the departures of the groups' datagrams to match the merged flows.

    Parameters
    ----------
    groups : sequence of (departures_ps, offsets)
        Departures of each group, as `lightburst.workload.departures` returns them.
    order : ndarray of int64, shape (flows,)
        The permutation that `merge` returns.

    Returns
    -------
    departures_ps, offsets : ndarray of uint64
        Departures and offsets of the merged flows.
    """
    times = np.concatenate([times for times, _ in groups])
    counts = np.concatenate([np.diff(offsets) for _, offsets in groups]).astype(np.int64)
    first = np.cumsum(counts) - counts
    counts, first = counts[order], first[order]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return times[np.repeat(first, counts) + within], offsets.astype(np.uint64)
