"""Columns stored in the narrowest type for their values, and read as 64-bit integers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Columns that are no 64-bit counts.
_AS_IT_IS: Final = frozenset({"status", "path_links"})
# The tables with a row for each flow, of which there may be very many.
_BY_FLOW: Final = ("flows", "bursts_flows")


class Narrow(Mapping[str, NDArray[Any]]):
    """A table of narrow columns, each of which is widened when it is read.

    If no flow has more than 255 retransmissions, for example, their column takes one byte per flow.
    Readers get uint64, so that arithmetic does not overflow.

    Parameters
    ----------
    kept : mapping of str to ndarray
        The columns of the simulator.
    """

    def __init__(self, kept: Mapping[str, NDArray[Any]]) -> None:
        self._kept = dict(kept)

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self._kept[name]
        return column if name in _AS_IT_IS else column.astype(np.uint64, copy=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Bytes of the narrow columns."""
        return sum(column.nbytes for column in self._kept.values())


def as_counted(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a run, with tables by flow as `Narrow`."""
    return {name: Narrow(table) if name in _BY_FLOW else table for name, table in columns.items()}
