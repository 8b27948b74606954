"""Untrusted Parquet files: their size in memory is determined before they are unpacked.

A file of a few kilobytes can contain gigabytes, in compressed pages, or by one long text in a
dictionary to which every row points. The footer states the size of the pages, but may be wrong. A
reader allocates memory by the headers of the pages, so these are checked first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from lightburst.foundation.errors import InputError
from lightburst.foundation.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

# Field numbers of PageHeader, PageType and Encoding in parquet.thrift, format 2.12. The first field
# of the header of a data page, dictionary page or data page of version 2 is the number of values.
# The encoding is the second field, in version 2 the fourth.
_UNCOMPRESSED, _COMPRESSED, _NUMBER = 2, 3, 1
_DICTIONARY: Final = 7
_ENCODING: Final = {5: 2, _DICTIONARY: 2, 8: 4}
# In this encoding a text is a prefix of the text before it and a suffix, so that its length has no
# bound in terms of the size of the page.
_DELTA_BYTE_ARRAY: Final = 7
_TEXTS: Final = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# Thrift's compact protocol: the types of the fields in such a header, its nesting depth, and an
# upper bound of its bytes.
_STOP, _TRUE, _FALSE, _BINARY, _STRUCT = 0, 1, 2, 8, 12
_WHOLE: Final = (4, 5, 6)
_DEEPEST: Final = 3
_LONGEST_HEADER: Final = 2**16
# Bytes per row of a column of numbers: the number, and the overhead of pandas.
_BYTES_PER_NUMBER: Final = 16


class Column(NamedTuple):
    """The size of a column, by the headers of its pages.

    Attributes
    ----------
    name : str
        Path of the column in the file.
    page_bytes : int
        Bytes of all its pages, unpacked.
    longest : float
        Largest mean bytes of a value over its pages.
    """

    name: str
    page_bytes: int
    longest: float


def columns_of(metadata: Any, held: BinaryIO, names: Sequence[str]) -> list[Column]:
    """Read the headers of all pages.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
        The footer.
    held : file
        The file, opened in binary mode.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    list of Column

    Raises
    ------
    ValueError
        If a header is invalid, or the encoding of texts allows any length.
    """
    found = []
    for place in range(metadata.num_columns):
        if (path := metadata.schema.column(place).path).split(".")[0] not in names:
            continue
        size, longest = 0, 0.0
        for group in range(metadata.num_row_groups):
            for page in _pages(held, metadata.row_group(group).column(place)):
                size += page.unpacked
                longest = max(longest, page.unpacked / max(page.values, 1))
        found.append(Column(path, size, longest))
    return found


def read_frame(file: Path, path: str = "DIR") -> pd.DataFrame:
    """Read a table of a saved result from any source.

    Parameters
    ----------
    file : Path
        A Parquet file.
    path : str
        Argument that names the file, for errors.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    TooMuchMemoryError
        If the table does not fit into the available memory.
    InputError, OSError, ValueError
        If the file is no valid table.
    """
    import pandas as pd

    check_file(file, path)
    return pd.read_parquet(file, use_threads=False)


def check_file(file: Path, path: str) -> None:
    """Refuse a file that does not fit into memory, with the errors of `read_frame`."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        metadata, schema = opened.metadata, opened.schema_arrow
    texts = [field.name for field in schema if not _width(field, path)]
    with file.open("rb") as held:
        pages = columns_of(metadata, held, schema.names)
    needed = sum(column.page_bytes for column in pages)
    needed += metadata.num_rows * sum(_width(field, path) + _BYTES_PER_NUMBER for field in schema)
    _fits(file, path, needed)
    with pq.ParquetFile(file, read_dictionary=texts) as opened:
        for group in range(metadata.num_row_groups):
            table = opened.read_row_group(group, columns=texts, use_threads=False)
            needed += sum(map(_written_out, table.columns))
            _fits(file, path, needed)


def _fits(file: Path, path: str, needed: int) -> None:
    given = str(file).replace("{", "{{").replace("}", "}}") + ", which needs about {} of memory"
    check_memory(needed, path, given, "a table that fits into the {} that are free")


def _width(field: pa.Field, path: str) -> int:
    """Return the bytes of a number; 0 for a text. Tables of results have no other types."""
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_nested(kind):
        given = f"the column '{field.name}' of the type {kind}"
        raise InputError(path, given, "columns of numbers and texts")
    if pa.types.is_null(kind):
        return 1
    try:
        return int(kind.byte_width)
    except ValueError:  # no byte width: a text or a bool
        return 1 if pa.types.is_boolean(kind) else 0


def _written_out(column: pa.ChunkedArray) -> int:
    """Return the bytes of texts in a dictionary, each multiplied by its occurrences."""
    import pyarrow.compute as pc

    size = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        size += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return size


class _Page(NamedTuple):
    unpacked: int
    values: int


def _pages(held: BinaryIO, chunk: Any) -> Iterator[_Page]:
    """Yield the pages of a column in a row group."""
    at, left, name = chunk.data_page_offset, chunk.num_values, chunk.path_in_schema
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end = at + chunk.total_compressed_size
    while left > 0:
        if not 0 <= at < end <= os.fstat(held.fileno()).st_size:
            raise ValueError(f"the pages of {name} are not where the footer says")
        held.seek(at)
        header, length = _struct(held.read(_LONGEST_HEADER), 0)
        unpacked, packed = header.get(_UNCOMPRESSED), header.get(_COMPRESSED)
        if (
            not isinstance(unpacked, int)
            or not isinstance(packed, int)
            or min(unpacked, packed) < 0
        ):
            raise ValueError(f"a page of {name} has no size")
        at += length + packed
        for kind, place in _ENCODING.items():
            if not isinstance(page := header.get(kind), dict):
                continue
            if page.get(place) == _DELTA_BYTE_ARRAY and chunk.physical_type in _TEXTS:
                raise ValueError(f"{name} is encoded as DELTA_BYTE_ARRAY")
            if not isinstance(values := page.get(_NUMBER), int) or values < 0:
                raise ValueError(f"a page of {name} has no number of values")
            left -= 0 if kind == _DICTIONARY else values
            yield _Page(unpacked, values)


def _struct(content: bytes, at: int, depth: int = 1) -> tuple[dict[int, Any], int]:
    """Read the integers and structs of a struct; return them with the position of the next byte."""
    if depth > _DEEPEST:
        raise ValueError("the header of a page is nested too deep")
    found: dict[int, Any] = {}
    number = 0
    while True:
        kind, at = _byte(content, at)
        if kind == _STOP:
            return found, at
        if kind >> 4:
            number += kind >> 4
        else:
            number, at = _zigzag(content, at)
        match kind & 15:
            case inner if inner in _WHOLE:
                found[number], at = _zigzag(content, at)
            case inner if inner == _STRUCT:
                found[number], at = _struct(content, at, depth + 1)
            case inner if inner == _BINARY:
                length, at = _varint(content, at)
                at += length
            case inner if inner not in (_TRUE, _FALSE):
                raise ValueError("the header of a page has a field of an unknown kind")


def _byte(content: bytes, at: int) -> tuple[int, int]:
    if at >= len(content):
        raise ValueError("the header of a page has no end")
    return content[at], at + 1


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Read an integer of up to 64 bits: seven bits per byte, the lowest first."""
    number = 0
    for shift in range(0, 70, 7):
        byte, at = _byte(content, at)
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("the header of a page has a number without an end")


def _zigzag(content: bytes, at: int) -> tuple[int, int]:
    number, at = _varint(content, at)
    return number >> 1 ^ -(number & 1), at
