"""The database tables of a store: creation, migration of old layouts, removal of damaged rows."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final

from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.study.store.rows import (
    COLUMNS,
    DAMAGED,
    INDICES,
    KEYS,
    STATUS,
    TABLES,
    checksum,
    is_sound,
)
from lightburst.study.store.salvage import PAGE_BYTES

# Two numbers in the SQLite file header: the application id ("lbst") and the layout version. Valid
# layout numbers differ in at least two bits, so that a single flipped bit cannot turn one layout
# into another.
APPLICATION: Final = 0x6C627374
LAYOUT: Final = 4
# Earlier layouts: without checksums (1), and without the table of failures (2).
_FIRST: Final = 1
_SECOND: Final = 2
_TABLES_OF_FIRST: Final = ("runs", "scenarios")
# Time to wait for another writer (a commit takes well under a millisecond), and the pause between
# attempts where SQLite itself does not wait.
PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.01
# Largest file whose indices are compared with its tables before the first look-up: some tenths of a
# second. In a larger one `lightburst store check` finds a damaged index; until then a study
# runs again what the index hides.
_LARGEST_COMPARED: Final = 256 * 2**20
# Mask of the primary code of an SQLite error, without the extended detail.
GENERAL: Final = 0xFF


def unsound(database: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Return the damaged rows of a table, with their ids in front; text as bytes."""
    names = ", ".join(COLUMNS[table])
    # Checked outside SQL: in a Python function called by SQLite, Ctrl-C would become an SQLite
    # error.
    rows = database.execute(f"SELECT id, {names}, checksum FROM {table} NOT INDEXED")
    return [row for row in rows if not is_sound(table, *row[1:])]


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run the block as a transaction that excludes other writers; roll back on any exception."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk may have ended the transaction already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def marks(database: sqlite3.Connection) -> tuple[int, int]:
    """Read the application id and the layout version; both are zero in a new file."""
    whose, layout = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return whose, layout


def is_ours(database: sqlite3.Connection) -> bool:
    """Return whether a file is new, or a store of this version or an earlier one."""
    # In one transaction, because another process may be creating the store.
    database.execute("BEGIN")
    whose, layout = marks(database)
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    database.execute("COMMIT")
    if whose == APPLICATION:
        return layout in (_FIRST, _SECOND, LAYOUT)
    return (whose, layout, tables) == (0, 0, 0)


def is_busy(error: Exception) -> bool:
    """Return whether another process holds the lock on a file, by the error of an access."""
    return getattr(error, "sqlite_errorcode", 0) & GENERAL == sqlite3.SQLITE_BUSY


def establish(database: sqlite3.Connection) -> int:
    """Create the tables in a new file, or migrate those of an earlier layout.

    Parameters
    ----------
    database : sqlite3.Connection
        Open connection to a file for which `is_ours` holds.

    Returns
    -------
    int
        Number of runs that had no checksum and have received one.
    """
    # The page size takes effect in a new file only.
    database.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    _enter_wal(database)
    # In WAL mode this makes commits not wait for the disk; a power cut does not corrupt the file.
    database.execute("PRAGMA synchronous = NORMAL")
    if marks(database) == (APPLICATION, LAYOUT):
        return 0
    with transaction(database):
        # Another process may have finished first.
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


def _enter_wal(database: sqlite3.Connection) -> None:
    # If several processes do this in a new file at once, SQLite fails at once instead of waiting.
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def insert(database: sqlite3.Connection, table: str, *values: bytes, instead: bool = False) -> bool:
    """Write a row with its checksum; an existing row with its key is replaced only if `instead`.

    Returns
    -------
    bool
        Whether the row was written.
    """
    text = (value.decode() for value in values)
    how = "REPLACE" if instead else "IGNORE"
    done = database.execute(
        f"INSERT OR {how} INTO {table} VALUES (NULL, ?, ?, ?, ?, ?)",
        (*text, checksum(table, values)),
    )
    return done.rowcount > 0


def hidden(database: sqlite3.Connection) -> int:
    """Return the number of rows to which a damaged index does not lead; 0 for a large file."""
    pages, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "page_size")
    )
    if pages * size > _LARGEST_COMPARED:
        return 0
    found = 0
    for table, key in KEYS.items():
        same = " AND ".join(f"led.{name} = held.{name}" for name in ("id", *key.split(", ")))
        query = (
            f"SELECT count(*) FROM {table} AS held NOT INDEXED WHERE NOT EXISTS "
            f"(SELECT 1 FROM {table} AS led INDEXED BY {table}_by_key WHERE {same})"
        )
        found += int(database.execute(query).fetchone()[0])
    return found


def set_aside(database: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Move all damaged rows to the table ``damaged``, and rebuild the indices.

    Parameters
    ----------
    database : sqlite3.Connection
        Open connection.

    Returns
    -------
    list of tuple
        For each damaged row, the name of its table and its four text columns, as printable text.
    """
    found: list[tuple[str, ...]] = []
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with transaction(database):
        for table in COLUMNS:
            # Read without the index, which may be damaged too and could hide rows.
            database.execute(f"DROP INDEX IF EXISTS {table}_by_key")
            for number, *row in unsound(database, table):
                values = (now, table, number, *row)
                database.execute(f"INSERT INTO damaged VALUES ({', '.join('?' * 8)})", values)
                database.execute(f"DELETE FROM {table} WHERE id = ?", (number,))
                found.append((table, *(_words(value) for value in row[:-1])))
            # Rows with equal keys are one run, written twice while the index was damaged.
            first = f"SELECT min(id) FROM {table} GROUP BY {KEYS[table]}"
            database.execute(f"DELETE FROM {table} WHERE id NOT IN ({first})")
        for statement in INDICES:
            database.execute(statement)
    return found


def _take_over(database: sqlite3.Connection) -> int:
    """Copy the rows of the first layout, which had no checksums; return the number of runs."""
    for digest, text in database.execute("SELECT digest, scenario FROM scenarios_before"):
        for version in range(1, MODEL_VERSION + 1):
            if hashlib.sha256(b"%d\n%b" % (version, text)).hexdigest().encode() == digest:
                insert(database, "scenarios", digest, b"", str(version).encode(), text)
    for row in database.execute("SELECT scenario, seed, metrics FROM runs_before"):
        scenario, seed, metrics = row
        with suppress(TypeError, ValueError):  # recognisably damaged rows are dropped and run again
            if isinstance(json.loads(metrics), dict) and int(seed) >= 0:
                insert(database, "runs", scenario, seed, b"", metrics)
    for table in _TABLES_OF_FIRST:
        database.execute(f"DROP TABLE {table}_before")
    return int(database.execute("SELECT count(*) FROM runs").fetchone()[0])


def _words(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
