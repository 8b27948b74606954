"""Flows as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Least memory of a flow in a run, with the rows of its result.
LEAST_BYTES_PER_FLOW = 480


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
    """

    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    start_ps: NDArray[np.uint64]
    size_bytes: NDArray[np.uint64]

    def __len__(self) -> int:
        return self.source.size
