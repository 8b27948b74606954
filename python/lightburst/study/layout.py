"""The tables of a store: made, taken over from an earlier layout, and freed of damaged rows."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final

from lightburst.provenance import MODEL_VERSION
from lightburst.study.rows import (
    COLUMNS,
    DAMAGED,
    INDICES,
    KEYS,
    STATUS,
    TABLES,
    checksum,
    is_sound,
)
from lightburst.study.salvage import PAGE_BYTES

# The two numbers in the header of an SQLite file: the application ("lbst"), and the layout of the
# tables. The numbers of the layouts differ in two bits, so that one flipped bit does not turn one
# layout into another.
APPLICATION: Final = 0x6C627374
LAYOUT: Final = 4
# Without checksums; and without failures.
_FIRST: Final = 1
_SECOND: Final = 2
_TABLES_OF_FIRST: Final = ("runs", "scenarios")


def unsound(database: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Give the damaged rows of a table, with their numbers in front; text as bytes."""
    names = ", ".join(COLUMNS[table])
    # Not by a Python function inside SQL: Ctrl-C there would become an error of SQLite.
    rows = database.execute(f"SELECT id, {names}, checksum FROM {table} NOT INDEXED")
    return [row for row in rows if not is_sound(table, *row[1:])]


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Do all that is inside or nothing of it, with no other process writing in between."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk may have ended it already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def marks(database: sqlite3.Connection) -> tuple[int, int]:
    """Read the numbers of the application and of the layout; both are zero in a new file."""
    whose, layout = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return whose, layout


def is_ours(database: sqlite3.Connection) -> bool:
    """Tell whether a file is new or a store of this version or one before."""
    # In one transaction: another process may be making it.
    database.execute("BEGIN")
    whose, layout = marks(database)
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    database.execute("COMMIT")
    if whose == APPLICATION:
        return layout in (_FIRST, _SECOND, LAYOUT)
    return (whose, layout, tables) == (0, 0, 0)


def establish(database: sqlite3.Connection) -> int:
    """Make the tables of a new file, or take over those of an earlier layout.

    Parameters
    ----------
    database : sqlite3.Connection
        Opened, `is_ours`.

    Returns
    -------
    int
        How many runs had no checksums, and have them from now on.
    """
    # It has an effect on a new file only.
    database.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    database.execute("PRAGMA journal_mode = WAL")
    # In this mode a commit does not wait for the disk. The file is sound after a power cut, too.
    database.execute("PRAGMA synchronous = NORMAL")
    if marks(database) == (APPLICATION, LAYOUT):
        return 0
    with transaction(database):
        # Another process can have been faster.
        layout = marks(database)[1]
        if layout == LAYOUT:
            return 0
        if layout == _FIRST:
            for table in _TABLES_OF_FIRST:
                database.execute(f"ALTER TABLE {table} RENAME TO {table}_before")
        for statement in (*TABLES, *INDICES, DAMAGED, STATUS):
            if layout != _SECOND or "failures" in statement:
                database.execute(statement)
        taken = _take_over(database) if layout == _FIRST else 0
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {LAYOUT}")
    return taken


def insert(database: sqlite3.Connection, table: str, *values: bytes, instead: bool = False) -> bool:
    """Write a row with its checksum; one with the same key stays, or this is `instead` of it.

    Returns
    -------
    bool
        Whether it was written.
    """
    text = (value.decode() for value in values)
    how = "REPLACE" if instead else "IGNORE"
    done = database.execute(
        f"INSERT OR {how} INTO {table} VALUES (NULL, ?, ?, ?, ?, ?)",
        (*text, checksum(table, values)),
    )
    return done.rowcount > 0


def set_aside(database: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Move all damaged rows to the table ``damaged``, and make the indices anew.

    Parameters
    ----------
    database : sqlite3.Connection
        Opened.

    Returns
    -------
    list of tuple
        Name of the table and the four columns of text of each such row, in words.
    """
    found: list[tuple[str, ...]] = []
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with transaction(database):
        for table in COLUMNS:
            # Without the index: it may be damaged, too, and would then hide rows.
            database.execute(f"DROP INDEX IF EXISTS {table}_by_key")
            for number, *row in unsound(database, table):
                values = (now, table, number, *row)
                database.execute(f"INSERT INTO damaged VALUES ({', '.join('?' * 8)})", values)
                database.execute(f"DELETE FROM {table} WHERE id = ?", (number,))
                found.append((table, *(_words(value) for value in row[:-1])))
            # Two with one key are one run, written twice while the index was wrong.
            first = f"SELECT min(id) FROM {table} GROUP BY {KEYS[table]}"
            database.execute(f"DELETE FROM {table} WHERE id NOT IN ({first})")
        for statement in INDICES:
            database.execute(statement)
    return found


def _take_over(database: sqlite3.Connection) -> int:
    """Copy the rows of the first layout, which had no checksums."""
    for digest, text in database.execute("SELECT digest, scenario FROM scenarios_before"):
        for version in range(1, MODEL_VERSION + 1):
            if hashlib.sha256(b"%d\n%b" % (version, text)).hexdigest().encode() == digest:
                insert(database, "scenarios", digest, b"", str(version).encode(), text)
    for row in database.execute("SELECT scenario, seed, metrics FROM runs_before"):
        scenario, seed, metrics = row
        with suppress(TypeError, ValueError):  # visibly damaged: left out, and run again
            if isinstance(json.loads(metrics), dict) and int(seed) >= 0:
                insert(database, "runs", scenario, seed, b"", metrics)
    for table in _TABLES_OF_FIRST:
        database.execute(f"DROP TABLE {table}_before")
    return int(database.execute("SELECT count(*) FROM runs").fetchone()[0])


def _words(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
