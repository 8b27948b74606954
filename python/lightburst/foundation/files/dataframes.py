"""Tables as columns by name, converted to a pandas frame or, without pandas, to a Parquet file.

Importing pandas takes longer than a small run, so a result is saved without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from io import BytesIO
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa


class Words(NamedTuple):
    """A categorical column, with one of a few words in each row.

    Attributes
    ----------
    places : ndarray of integers, shape (rows,)
        Index of each row's word; -1 for a missing word.
    words : sequence of str
        All words, also those that occur in no row.
    """

    places: NDArray[np.integer[Any]]
    words: Sequence[str]


#: Columns by name; an object column has texts, or None for missing ones.
Table = Mapping[str, NDArray[Any] | Words]


def rows_of(table: Table, rows: Sequence[int]) -> Table:
    """Return some rows of a table, by number."""
    places = np.asarray(rows, np.int64)
    return {
        name: Words(values.places[places], values.words)
        if isinstance(values, Words)
        else values[places]
        for name, values in table.items()
    }


def frame(table: Table) -> pd.DataFrame:
    """Return a pandas frame; a column of `Words` becomes categorical."""
    import pandas as pd

    def column(values: NDArray[Any] | Words) -> Any:
        if not isinstance(values, Words):
            return values
        return pd.Categorical.from_codes(values.places, categories=pd.Index(values.words))

    return pd.DataFrame({name: column(values) for name, values in table.items()})


def write_parquet(table: Table, file: Path | BytesIO) -> None:
    """Write a file that is read like that of ``frame(table).to_parquet(file, index=False)``."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: _column(values) for name, values in table.items()}
    parquet.write_table(pa.Table.from_arrays(list(columns.values()), list(columns)), file)


def _column(values: NDArray[Any] | Words) -> pa.Array:
    """Make an Arrow column from buffers, since pyarrow imports pandas for any other input."""
    import pyarrow as pa

    if isinstance(values, Words):
        small = len(values.words) < 128
        places: NDArray[Any] = values.places.astype(np.int8 if small else np.int32)
        index = _of_buffers(pa.from_numpy_dtype(places.dtype), places.size, places >= 0, places)
        return pa.DictionaryArray.from_arrays(index, _texts(values.words, pa.string(), np.int32))
    if values.dtype == object:
        return _texts(values.tolist(), pa.large_string(), np.int64)
    known = ~np.isnan(values) if values.dtype.kind == "f" else None
    if values.dtype == bool:
        bits = np.packbits(values, bitorder="little")
        return _of_buffers(pa.bool_(), values.size, None, bits)
    return _of_buffers(pa.from_numpy_dtype(values.dtype), values.size, known, values)


def _texts(texts: Sequence[str | None], kind: pa.DataType, offset: type[np.integer[Any]]) -> Any:
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.zeros(len(texts) + 1, offset)
    np.cumsum([len(text) for text in encoded], out=ends[1:])
    known = np.array([text is not None for text in texts], bool)
    return _of_buffers(kind, len(texts), known, ends, b"".join(encoded))


def _of_buffers(
    kind: pa.DataType, rows: int, known: NDArray[np.bool_] | None, *buffers: Any
) -> pa.Array:
    import pyarrow as pa

    there = None if known is None or known.all() else np.packbits(known, bitorder="little")
    held = (one if isinstance(one, bytes) else np.ascontiguousarray(one) for one in buffers)
    return pa.Array.from_buffers(
        kind, rows, [there if there is None else pa.py_buffer(there), *map(pa.py_buffer, held)]
    )
