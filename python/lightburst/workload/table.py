"""Reads a user's table of flows from CSV or Parquet."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, first_of, show
from lightburst.foundation.files.csv import read_csv
from lightburst.foundation.files.parquet import columns_of
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import PICOSECONDS_PER_SECOND, parse_number
from lightburst.scenario.reading.files import Stamp, stamp
from lightburst.scenario.tables.workload import LATEST_START
from lightburst.workload.flows import LEAST_BYTES_PER_FLOW, Flows
from lightburst.workload.sizes import LARGEST_SIZE

_T = TypeVar("_T")

Numbers = NDArray[np.integer[Any] | np.floating[Any]]

_PATH = "workload.file"
_COLUMNS = "source, destination, start_s or start_ps, size_bytes"
_START_S, _START_PS = "start_s", "start_ps"
_COLUMNS_READ = ("source", "destination", _START_S, _START_PS, "size_bytes")
# Integers of this size or more in a text cell stay floats; no column allows values so large.
_LARGEST_EXACT = 2.0**63
# Estimated memory while reading, in bytes: per byte of a CSV file, per cell of a Parquet file.
_EXPANSION = 6
_BYTES_PER_CELL = 50
# Largest cell in bytes; a cell holds a host name of up to 200 characters, or a number.
_LONGEST_CELL = 1000
# Every integer up to this one is exact as a float.
_EXACT_FLOAT = 2**53
# Cells of text per batch in which duplicates are looked for.
_CELLS_AT_ONCE = 2**16
# Ordinary decimal notation; Arrow alone would also accept 0x10, inf and nan.
_DECIMAL = r"^[ \t]*-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[ \t]*$"
_WHOLE = r"^[ \t]*-?\d+[ \t]*$"
# Limits of a CSV file: number of columns, and bytes of the heading.
_MOST_COLUMNS = 1_000
_LONGEST_HEADING = 100_000


def read_table(file: Path, hosts: int, names: tuple[str, ...] | None = None) -> Flows:
    """Read a table of flows.

    Parameters
    ----------
    file : Path
        CSV with a heading, or Parquet (file name ending in ``.parquet`` or ``.pq``). Columns:
        ``source`` and ``destination`` (host numbers, or host names where the topology has them),
        ``start_s`` (seconds) or ``start_ps`` (whole picoseconds; takes precedence), ``size_bytes``.
        Rows must be sorted by start. Other columns are ignored.
    hosts : int
        Number of hosts.
    names : tuple of str, optional
        Names of the hosts; without names, hosts are given by number.

    Returns
    -------
    Flows

    Raises
    ------
    InputError
        When the table cannot be used; the message has the row number, counted from 1.
    """
    return _read(file, stamp(file, _PATH), hosts, names)


@lru_cache(maxsize=2)
def _read(file: Path, version: Stamp, hosts: int, names: tuple[str, ...] | None) -> Flows:
    table = _load(file, version[1])
    if table.rows == 0:
        raise InputError(_PATH, f"{file}, which has no rows", "at least one flow")
    start = _starts(table)
    allowed = f"a whole number of bytes from 1 to {LARGEST_SIZE}"
    size = table.whole("size_bytes", 1, LARGEST_SIZE, allowed)
    source = _hosts(table, "source", hosts, names)
    destination = _hosts(table, "destination", hosts, names)
    table.require("destination", source != destination, "another host than the source")
    columns = source.astype(np.uint32), destination.astype(np.uint32), start, size.astype(np.uint64)
    for column in columns:
        column.flags.writeable = False  # the array is cached and shared
    return Flows(*columns)


def _load(file: Path, size: int) -> "_Table":
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            return _load_parquet(file)
        _check_memory(file, f"{size:,} bytes", size * _EXPANSION)
        _check_heading(file)
        return _load_csv(file)
    except InputError:  # a subclass of ValueError, which is caught below
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).strip().partition("\n")[0]
        allowed = "a CSV or Parquet file that can be read"
        raise InputError(_PATH, f"{file} ({reason})", allowed) from None


def _load_csv(file: Path) -> "_Table":
    """Read the needed columns as bytes; `_read_text`, not Arrow, decides which are numbers."""
    with file.open("rb") as held:
        lines = held.read(_LONGEST_HEADING).lstrip(b"\r\n").splitlines()
    heading = read_csv(BytesIO(b"".join(lines[:1]) + b"\n"))
    try:
        wanted = _wanted(heading.column_names)
    except UnicodeDecodeError:
        raise InputError(_PATH, "a heading that is not UTF-8", _COLUMNS) from None
    kinds = dict.fromkeys(wanted, pa.binary())
    options = pa.csv.ConvertOptions(include_columns=wanted, column_types=kinds)
    table = read_csv(file, options)
    return _Table(wanted, [_read_text(column) for column in table.columns])


def _read_text(column: Any) -> Any:
    """Convert a column of decimal numbers; return any other column unchanged."""
    if not pc.all(pc.match_substring_regex(column, _DECIMAL)).as_py():
        return column
    text = pc.ascii_trim_whitespace(column.cast(pa.string()))
    try:
        if pc.all(pc.match_substring_regex(text, _WHOLE)).as_py():
            return text.cast(pa.int64())
        floats = text.cast(pa.float64())
    except pa.ArrowInvalid:  # a number out of the type's range
        return column
    exact = pc.all(pc.less(pc.abs(floats), _EXACT_FLOAT)).as_py()
    return floats if exact else column


def _load_parquet(file: Path) -> "_Table":
    # Not read_table: it takes the names of parent directories for (Hive) partition columns.
    with pa.parquet.ParquetFile(file) as table:
        rows, schema = table.metadata.num_rows, table.schema_arrow
        wanted = _wanted(schema.names)
        for name in wanted:
            _check_kind(name.strip(), schema.field(name).type)
        with file.open("rb") as held:
            columns = columns_of(table.metadata, held, wanted)
    for column in columns:
        if column.longest > _LONGEST_CELL:
            given = f"{column.name.strip()} of {column.longest:,.0f} bytes a row"
            raise InputError(_PATH, given, f"up to {_LONGEST_CELL:,} bytes")
    # Memory is estimated from rows, not file size: repeated rows compress to almost nothing, and
    # each row becomes a flow of a run.
    needed = rows * len(wanted) * _BYTES_PER_CELL + sum(column.page_bytes for column in columns)
    _check_memory(file, f"{rows:,} rows", max(needed, rows * LEAST_BYTES_PER_FLOW))
    texts = [name for name in wanted if _is_text(schema.field(name).type)]
    with pa.parquet.ParquetFile(file, read_dictionary=texts) as table:
        return _Table(wanted, table.read(wanted, use_threads=False).columns)


def _is_text(kind: Any) -> bool:
    alike = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
    )
    return any(is_such(kind) for is_such in alike)


def _check_kind(name: str, kind: Any) -> None:
    """Refuse a column that holds neither numbers nor texts."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    numbers = pa.types.is_integer(inner) or pa.types.is_floating(inner)
    other = pa.types.is_decimal(inner) or pa.types.is_boolean(inner) or pa.types.is_null(inner)
    if not (numbers or other or _is_text(inner)):
        raise InputError(_PATH, f"{name} of the type {kind}", "a column of numbers or texts")


def _check_heading(file: Path) -> None:
    """Refuse a CSV file with too many columns, before any row is read."""
    with file.open("rb") as opened:
        heading = opened.readline(_LONGEST_HEADING + 1)
    number = heading.count(b",") + 1
    if len(heading) > _LONGEST_HEADING:
        given = f"{file}, whose heading is longer than {_LONGEST_HEADING:,} bytes"
    elif number > _MOST_COLUMNS:
        given = f"{file}, which has {number:,} columns"
    else:
        return
    raise InputError(_PATH, given, f"{_COLUMNS}; up to {_MOST_COLUMNS:,} columns in all")


def _check_memory(file: Path, length: str, needed: int) -> None:
    name = str(file).replace("{", "{{").replace("}", "}}")
    given = f"{name}, of {length}, which need about {{}} of memory"
    check_memory(needed, _PATH, given, "a table that fits into the {} that are free")


class _Table:
    """Columns of a table, with errors that name the row."""

    def __init__(self, names: list[str], columns: list[Any]) -> None:
        self._columns = dict(zip(map(str.strip, names), columns, strict=True))
        self.rows = len(columns[0])

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def column(self, name: str) -> Any:
        """Return a column as an Arrow array."""
        return self._columns[name]

    def numbers(self, name: str, allowed: str) -> Numbers:
        """Return a column as numbers, integers exactly; missing cells are NaN."""
        column = self.column(name)
        kind = column.type
        if pa.types.is_integer(kind):
            exact: Numbers = column.to_numpy()
            return exact
        if pa.types.is_floating(kind):
            return np.asarray(column.to_numpy(), np.float64)
        read = _by_value(column, _number)
        self.require(name, np.array([value is not None for value in read], np.bool_), allowed)
        whole = all(isinstance(value, int) for value in read)
        return np.array(read, np.int64 if whole else np.float64)

    def whole(self, name: str, least: int, most: int, allowed: str) -> Numbers:
        """Return a column of integers, all within limits."""
        numbers = self.numbers(name, allowed)
        inside = (numbers >= least) & (numbers <= most)
        self.require(name, inside & (numbers == np.floor(numbers)), allowed)
        return numbers

    def require(self, name: str, good: NDArray[np.bool_], allowed: str) -> None:
        """Raise `InputError` for the first row for which `good` is false."""
        if good.all():
            return
        row = int(np.argmin(good))
        value = self.column(name)[row].as_py()
        value = _text(value) if isinstance(value, bytes) else value
        missing = value is None or value in ("", "NaN")
        given = "nothing, or NaN" if missing else show(value)
        raise InputError(_PATH, f"row {row + 1}: {name} {given}", allowed)


def _wanted(given: list[str]) -> list[str]:
    """Return the names of the columns to read, spelled as in the file."""
    names = [name.strip() for name in given]
    number = Counter(names)
    twice = [name for name in sorted(_COLUMNS_READ) if number[name] > 1]
    if twice:
        raise InputError(_PATH, f"the column '{twice[0]}' more than once", _COLUMNS)
    needed = "source", "destination", _START_PS if _START_PS in names else _START_S, "size_bytes"
    for missing in (name for name in needed if name not in names):
        given_names = f"the columns {first_of(names)}; '{missing}' is missing"
        raise InputError(_PATH, given_names, _COLUMNS)
    return [name for name in given if name.strip() in needed]


def _by_value(column: Any, read: Callable[[object], _T]) -> list[_T | None]:
    """Parse the distinct texts of each chunk of a column once; missing cells become None."""
    found: list[_T | None] = []
    for chunk in column.chunks:
        pieces = (chunk[i : i + _CELLS_AT_ONCE] for i in range(0, len(chunk), _CELLS_AT_ONCE))
        held = (piece.dictionary_encode() for piece in pieces)
        for piece in [chunk] if pa.types.is_dictionary(chunk.type) else held:
            values = [*map(read, piece.dictionary.to_pylist()), None]
            found += [values[place] for place in piece.indices.fill_null(-1).to_pylist()]
    return found


def _text(value: object) -> str:
    """Return a cell as text; Arrow yields bytes for a column that is not entirely UTF-8."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _number(value: object) -> int | float | None:
    """Parse a text or decimal cell; integers that fit 64 bits stay exact, None is no number."""
    read = parse_number(_text(value))
    if read is None or not abs(read) < _LARGEST_EXACT or not read.is_integer():
        return read
    return int(Decimal(_text(value).strip()))


def _starts(table: _Table) -> NDArray[np.uint64]:
    if _START_PS in table:
        name, allowed = _START_PS, f"a whole number from 0 to {LATEST_START}"
        start = table.whole(name, 0, LATEST_START, allowed).astype(np.uint64)
    else:
        name, latest = _START_S, LATEST_START // PICOSECONDS_PER_SECOND
        allowed = f"a number from 0 to {latest}"
        seconds = table.numbers(name, allowed).astype(np.float64)
        table.require(name, (seconds >= 0) & (seconds <= latest), allowed)
        start = np.rint(seconds * PICOSECONDS_PER_SECOND).astype(np.uint64)
    in_order = np.concatenate([[True], start[1:] >= start[:-1]])
    table.require(name, in_order, "no start before that of the row above: sort the table by start")
    return start


def _hosts(
    table: _Table, name: str, hosts: int, names: tuple[str, ...] | None
) -> NDArray[np.int64]:
    """Read a column of hosts: an integer column holds host numbers, any other holds names."""
    column = table.column(name)
    if names is None or pa.types.is_integer(column.type):
        _check_unambiguous(names)
        allowed = f"the number of a host, from 0 to {hosts - 1}"
        return table.whole(name, 0, hosts - 1, allowed).astype(np.int64)
    number_of = {host: i for i, host in enumerate(names)}
    read = _by_value(column, lambda host: number_of.get(_text(host).strip()))
    index = np.array([-1 if number is None else number for number in read], np.int64)
    table.require(name, index >= 0, f"the name of a host, such as {show(names[0])}")
    return index


def _check_unambiguous(names: tuple[str, ...] | None) -> None:
    """Refuse host numbers if some host's name is the number of another host."""
    for number, name in enumerate(names or ()):
        if name.isdecimal() and name != str(number):
            given = f"numbers, where host {number} of the graph is called '{name}'"
            raise InputError(_PATH, given, "a graph whose nodes have names that are not numbers")
