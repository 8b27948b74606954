"""Flows as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Least memory of a flow in a run, with the rows of its result.
LEAST_BYTES_PER_FLOW = 480


# Stands for no join.
NO_JOIN = np.uint32(2**32 - 1)


@dataclass(frozen=True)
class Joins:
    """Joins, through which flows wait for others.

    A join is at one host. It opens when all flows that lead to it have arrived there whole, and all
    joins that lead to it have opened; then the flows start that wait for it.

    Attributes
    ----------
    after, towards : ndarray of uint32, shape (flows,)
        Join for which each flow waits, and join to which it leads, or `NO_JOIN`.
    delay_ps : ndarray of uint64, shape (joins,)
        Time from the opening to the start of the flows that wait, in picoseconds.
    beyond : ndarray of uint32, shape (joins,)
        Join to which each join leads, or `NO_JOIN`.
    collective : ndarray of uint32, shape (flows,)
        Collective operation of each flow: the step times the number of groups, plus the group.
    """

    after: NDArray[np.uint32]
    towards: NDArray[np.uint32]
    delay_ps: NDArray[np.uint64]
    beyond: NDArray[np.uint32]
    collective: NDArray[np.uint32]


@dataclass(frozen=True)
class Flows:
    """The flows of a run, sorted by start time.

    Attributes
    ----------
    source, destination : ndarray of uint32, shape (flows,)
        Host numbers; source and destination of a flow differ.
    start_ps : ndarray of uint64, shape (flows,)
        Start times in picoseconds, not decreasing.
    size_bytes : ndarray of uint64, shape (flows,)
        Sizes in bytes, at least 1.
    joins : Joins, optional
        None if no flow waits for another. A flow that waits starts no earlier than ``start_ps``.
    """

    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    start_ps: NDArray[np.uint64]
    size_bytes: NDArray[np.uint64]
    joins: Joins | None = None

    def __len__(self) -> int:
        return self.source.size
