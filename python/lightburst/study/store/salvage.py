"""Reads the rows of a store with a damaged structure, without SQLite.

SQLite gives up at a page with impossible contents, although the rows are still on the pages. Every
row has a checksum, so a row with a matching checksum is intact whatever surrounds it. All pages of
the file and its write-ahead log are therefore scanned in any order, and byte sequences that only
resemble rows are discarded.

References
----------
.. [1] "Database File Format", https://www.sqlite.org/fileformat2.html, sections 1.6 (b-tree pages),
   2.1 (record format) and 4.1 (WAL file format).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from lightburst.study.store.rows import COLUMNS, Row, is_sound

PAGE_BYTES: Final = 4096

_FILE_HEADER: Final = 100  # bytes before the page header of the first page
_LEAF: Final = 0x0D
_WAL_HEADER: Final = 32
_FRAME_HEADER: Final = 24
# Section 1.6 with U = 4096: records up to X bytes stay on the page, longer ones keep at least M.
_MOST_LOCAL: Final = PAGE_BYTES - 35
_LEAST_LOCAL: Final = (PAGE_BYTES - 12) * 32 // 255 - 23
_ON_OVERFLOW: Final = PAGE_BYTES - 4
# Section 2.1: size in bytes of integers and floats, by serial type.
_NUMBERS: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)

Pages = Mapping[int, bytes]


def salvage(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield all rows of a damaged store whose checksum matches.

    Parameters
    ----------
    path : Path
        The file; its write-ahead log, if any, is next to it.

    Yields
    ------
    (str, Row)
        Name of the table, and the row: text columns and checksum. A row may be yielded repeatedly.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    pages = _pages(path)
    for number, page in pages.items():
        for record in _records(page, _FILE_HEADER if number == 1 else 0, pages):
            for table in COLUMNS:
                if is_sound(table, *record):
                    a, b, c, d, checksum = record
                    yield table, (a, b, c, d, checksum)


def _pages(path: Path) -> dict[int, bytes]:
    """Return the pages by number; pages in the write-ahead log replace those of the file."""
    held = path.read_bytes()
    pages = {
        start // PAGE_BYTES + 1: held[start : start + PAGE_BYTES]
        for start in range(0, len(held), PAGE_BYTES)
    }
    log = path.with_name(f"{path.name}-wal")
    added = log.read_bytes() if log.exists() else b""
    for start in range(_WAL_HEADER, len(added), _FRAME_HEADER + PAGE_BYTES):
        number = int.from_bytes(added[start : start + 4], "big")
        pages[number] = added[start + _FRAME_HEADER : start + _FRAME_HEADER + PAGE_BYTES]
    return pages


def _records(page: bytes, start: int, pages: Pages) -> Iterator[list[bytes]]:
    """Yield the text and blob values of each record on a leaf page of a table."""
    if page[start : start + 1] != bytes([_LEAF]):
        return
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    for place in range(start + 8, min(start + 8 + 2 * cells, len(page)), 2):
        try:
            record = _payload(page, int.from_bytes(page[place : place + 2], "big"), pages)
            yield list(_values(record))
        except (IndexError, KeyError):  # a pointer outside the page or the file
            continue


def _payload(page: bytes, at: int, pages: Pages) -> bytes:
    """Assemble a record, which may continue on overflow pages."""
    size, at = _varint(page, at)
    _, at = _varint(page, at)  # the row id
    if size <= _MOST_LOCAL:
        return page[at : at + size]
    if size > len(pages) * PAGE_BYTES:
        raise IndexError
    local = _LEAST_LOCAL + (size - _LEAST_LOCAL) % _ON_OVERFLOW
    local = local if local <= _MOST_LOCAL else _LEAST_LOCAL
    parts, rest = [page[at : at + local]], size - local
    onward = page[at + local : at + local + 4]
    while rest > 0:
        overflow = pages[int.from_bytes(onward, "big")]
        parts.append(overflow[4 : 4 + min(rest, _ON_OVERFLOW)])
        onward, rest = overflow[:4], rest - _ON_OVERFLOW
    return b"".join(parts)


def _values(record: bytes) -> Iterator[bytes]:
    end, at = _varint(record, 0)
    value = end
    while at < end:
        kind, at = _varint(record, at)
        size = _NUMBERS[kind] if kind < 12 else (kind - 12) // 2
        if kind >= 12:
            yield record[value : value + size]
        value += size


def _varint(held: bytes, at: int) -> tuple[int, int]:
    """Read a varint of 1 to 9 bytes with 7 bits each (8 in the ninth), and the index after it."""
    value = 0
    for place in range(at, at + 8):
        byte = held[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | held[at + 8], at + 9
