"""Columns that are kept as narrow as what is in them, and read as the model counts them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# What is not counted in whole numbers of 64 bits.
_AS_IT_IS: Final = frozenset({"status", "path_links"})
# The tables with a row for each flow, of which there may be very many.
_BY_FLOW: Final = ("flows", "bursts_flows")


class Narrow(Mapping[str, NDArray[Any]]):
    """A table of columns, each of which is widened when it is looked at.

    Where all retransmissions are below 256 their column takes a byte a flow. Whoever reads it gets
    uint64, so that no arithmetic runs over.

    Parameters
    ----------
    kept : mapping of str to ndarray
        The columns as the simulator gave them.
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
        """Bytes that are kept."""
        return sum(column.nbytes for column in self._kept.values())


def as_counted(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Give the tables of a run with those by flow as `Narrow`."""
    return {name: Narrow(table) if name in _BY_FLOW else table for name, table in columns.items()}
