"""Parquet files of others: what they take in memory is known before they are unpacked.

A file of a few kilobytes can hold gigabytes, in pages that are compressed, or by one long text in a
dictionary to which every row points. The footer says how large the pages are, but a footer can lie;
a reader allocates memory by the headers of the pages, so these are looked at first.
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

# PageHeader, PageType and Encoding of parquet.thrift, format 2.12. The header of a data page, of a
# dictionary and of a data page of version 2 begins with the number of values; its encoding is the
# second field, in version 2 the fourth.
_UNCOMPRESSED, _COMPRESSED, _NUMBER = 2, 3, 1
_DICTIONARY: Final = 7
_ENCODING: Final = {5: 2, _DICTIONARY: 2, 8: 4}
# A text is the beginning of that before it and a rest, so that it can be any number of times as
# long as what stands in the page.
_DELTA_BYTE_ARRAY: Final = 7
_TEXTS: Final = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# Thrift's compact protocol: the kinds of fields that such a header has, how deep it nests, and more
# bytes than one takes.
_STOP, _TRUE, _FALSE, _BINARY, _STRUCT = 0, 1, 2, 8, 12
_WHOLE: Final = (4, 5, 6)
_DEEPEST: Final = 3
_LONGEST_HEADER: Final = 2**16
# For each row of a column that is no text: a number, and what pandas adds.
_BYTES_PER_NUMBER: Final = 16


class Column(NamedTuple):
    """What a column holds, by the headers of its pages.

    Attributes
    ----------
    name : str
        Its path in the file.
    page_bytes : int
        Of all its pages, unpacked.
    longest : float
        Bytes of a value, in the mean of that page where it is the largest.
    """

    name: str
    page_bytes: int
    longest: float


def columns_of(metadata: Any, held: BinaryIO, names: Sequence[str]) -> list[Column]:
    """Look at the headers of all pages.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
        The footer.
    held : file
        The file, opened for bytes.
    names : sequence of str
        Of the columns.

    Returns
    -------
    list of Column

    Raises
    ------
    ValueError
        If a header makes no sense, or texts are packed so that their length has no bound.
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
    """Read a table of a saved result, which may be anybody's.

    Parameters
    ----------
    file : Path
        A Parquet file.
    path : str
        What names it, for errors.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    TooMuchMemoryError
        If it does not fit into the memory that is free.
    InputError, OSError, ValueError
        If it is no such file.
    """
    import pandas as pd

    check_file(file, path)
    return pd.read_parquet(file)


def check_file(file: Path, path: str) -> None:
    """Refuse a file that would not fit into memory; the errors are those of `read_frame`."""
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
    """Bytes of a value; 0 for a text. Tables of results hold nothing else."""
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_nested(kind):
        given = f"the column '{field.name}' of the type {kind}"
        raise InputError(path, given, "columns of numbers and texts")
    if pa.types.is_null(kind):
        return 1
    try:
        return int(kind.byte_width)
    except ValueError:  # it has none, or is a bit
        return 1 if pa.types.is_boolean(kind) else 0


def _written_out(column: pa.ChunkedArray) -> int:
    """Bytes of texts that stand in a dictionary, each as often as it is there."""
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
    """Give the pages of a column in a group of rows."""
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
    """Read the whole numbers and the structs of a struct; also where the next byte is."""
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
    """Seven bits a byte, the lowest first; up to 64 bits."""
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
