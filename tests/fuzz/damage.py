"""Damage of written files: single bits, whole pieces, rows, values, the kind of file."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import hostile
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from lightburst.study.store.rows import COLUMNS

# Sizes of the pieces that a disk reads, and the header of a file.
SECTOR = HEAD = 4096

Change = tuple[str, int, Any]


def changes(size: int) -> st.SearchStrategy[list[Change]]:
    """Draw a change of a file's bytes, most often of a single bit."""
    place = st.integers(0, size - 1) | st.integers(0, min(size, HEAD) - 1)
    length = st.integers(1, 64) | st.just(SECTOR)
    flip = st.tuples(st.just("flip"), place, st.integers(0, 7))
    other = st.one_of(
        st.tuples(st.just("write"), place, st.binary(min_size=1, max_size=16)),
        st.tuples(st.just("insert"), place, st.binary(min_size=1, max_size=16)),
        st.tuples(st.just("zero"), place, length),
        st.tuples(st.just("leave out"), place, length),
        st.tuples(st.just("copy"), place, place),
        st.tuples(st.just("cut"), place, st.none()),
    )
    return st.lists(flip, min_size=1, max_size=3) | st.lists(flip | other, min_size=1, max_size=3)


def damage(file: Path, wanted: list[Change]) -> None:
    """Apply a drawn change to a file."""
    held = bytearray(file.read_bytes())
    for kind, place, how in wanted:
        match kind:
            case "flip" if place < len(held):
                held[place] ^= 1 << how
            case "write":
                held[place : place + len(how)] = how
            case "insert":
                held[place:place] = how
            case "zero":
                held[place : place + how] = bytes(how)
            case "leave out":
                del held[place : place + how]
            case "copy":
                held[place : place + SECTOR] = held[how : how + SECTOR]
            case "cut":
                del held[place:]
    file.write_bytes(held)


COLUMN = st.sampled_from(
    [(table, name) for table, names in COLUMNS.items() for name in (*names, "checksum", "id")]
)
VALUE = st.sampled_from(
    [
        *("NULL", "7", "-1", "1e300", "''", "x''", "x'ff'", "zeroblob(16)", "'{}'", "'[]'"),
        *("'three'", "9223372036854775807", "'18446744073709551616'", "hex(zeroblob(9999))"),
    ]
)
STATEMENTS = st.sampled_from(
    [
        *(f"DROP TABLE {table}" for table in (*COLUMNS, "damaged")),
        *(f"DROP INDEX {table}_by_key" for table in COLUMNS),
        *("DROP INDEX runs_by_key; INSERT INTO runs SELECT NULL, scenario, seed, finished, "
          f"{what}, checksum FROM runs" for what in ("metrics", "'{}'")),
        *("ALTER TABLE runs DROP COLUMN finished", "ALTER TABLE runs RENAME COLUMN seed TO seeds"),
        *("PRAGMA user_version = 3", "PRAGMA user_version = 0", "PRAGMA application_id = 0"),
        *("PRAGMA journal_mode = DELETE", "PRAGMA encoding = 'UTF-16'; VACUUM"),
        *("CREATE TABLE other (x)", "CREATE VIEW other AS SELECT * FROM runs"),
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN UPDATE runs SET metrics = '{}'; END",
        "UPDATE runs SET seed = seed + 1",
    ]
)  # fmt: skip


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Draw the SQL statements that change a store."""
    table, column = draw(COLUMN)
    place = draw(st.integers(1, 9))
    change = draw(VALUE | st.sampled_from([f"substr({column}, 2)", f"{column} || ' '"]))
    swapped = f"(SELECT {column} FROM {table} WHERE id = {place % 9 + 1})"
    new = draw(st.sampled_from([change, change, swapped]))
    one = f"UPDATE {table} SET {column} = {new} WHERE id = {place}"
    return draw(
        st.sampled_from([one, one, one, f"DELETE FROM {table} WHERE id = {place}"]) | STATEMENTS
    )


def tell(store: Path, told: list[str]) -> None:
    """Change a store as lightburst never does; statements that SQLite refuses are skipped."""
    with closing(sqlite3.connect(store)) as database, suppress(sqlite3.Error):
        for statement in told:
            database.executescript(statement)


@st.composite
def values(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw another value somewhere in a JSON file."""
    about = json.loads(content)
    for _ in range(draw(st.integers(1, 3))):
        held, key = draw(st.sampled_from(list(_places(about))))
        new = draw(hostile.VALUES)
        if isinstance(held, dict) and draw(st.integers(0, 3)) == 3:
            del held[key]
        else:
            held[key] = new
    try:
        return json.dumps(about).encode()
    except (TypeError, ValueError):  # a whole number that Python does not write
        return b'{"summary": ' + b"9" * 5000 + b"}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all tables and lists inside a value, each with one of its keys."""
    inner: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    for key, below in list(inner):
        yield value, key
        yield from _places(below)


@st.composite
def columns(draw: st.DrawFn, file: Path) -> "pa.Table":
    """Draw another table with some of a Parquet file's columns."""
    table = pq.read_table(file)
    for name in draw(st.lists(st.sampled_from(table.column_names), min_size=1, max_size=3)):
        if name not in table.column_names:
            continue
        place = table.column_names.index(name)
        match draw(st.sampled_from(["any", "any", "away", "rename", "rows", "swap"])):
            case "any":
                numbers = st.sampled_from([None, float("nan"), float("inf"), 0.0, 1.0, -1e300, 7.5])
                cells = [draw(numbers)] * table.num_rows
                with suppress(pa.ArrowException, ValueError, TypeError):
                    new = draw(st.sampled_from(hostile.ARROW))(cells)
                    table = table.set_column(place, name, new)
            case "away":
                table = table.remove_column(place)
            case "rename":
                names = list(table.column_names)
                names[place] = draw(st.sampled_from(hostile.TEXTS[:16]))
                table = table.rename_columns(names)
            case "rows":
                table = table.slice(0, draw(st.integers(0, 2)))
            case "swap":
                other = draw(st.sampled_from(table.column_names))
                table = table.set_column(place, name, table[other])
    return table


KINDS_OF_FILE = ("nothing", "empty", "directory", "fifo", "zero", "loop", "link")


def become(file: Path, kind: str) -> None:
    """Replace a file by something else."""
    file.unlink()
    match kind:
        case "empty":
            file.touch()
        case "directory":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case "zero":
            file.symlink_to("/dev/zero")
        case "loop":
            file.symlink_to(file.name)
        case "link":
            file.symlink_to("/etc/passwd")
