"""The database tables of a store, and the checksum in each row.

All tables have an id, four text columns and the checksum, so that the same code handles rows of any
table, even when they are read without SQLite (`salvage`).
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Final

Row = tuple[bytes, bytes, bytes, bytes, bytes]

# Text columns in order. Seeds are text: they go to 2**64 - 1, SQLite's integers only to 2**63 - 1.
COLUMNS: Final = {
    "runs": ("scenario", "seed", "finished", "metrics"),
    "scenarios": ("digest", "name", "model_version", "scenario"),
    "failures": ("scenario", "seed", "failed", "error"),
}
# The columns whose combination is unique in each table.
KEYS: Final = {"runs": "scenario, seed", "scenarios": "digest", "failures": "scenario, seed"}

# Each row has an `id`: in a table without row ids SQLite moves the larger part of a long row to an
# overflow page of its own, which takes three times the space.
TABLES: Final = tuple(
    f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, "
    f"{', '.join(f'{name} TEXT NOT NULL' for name in names)}, checksum BLOB NOT NULL)"
    for table, names in COLUMNS.items()
)
INDICES: Final = tuple(
    f"CREATE UNIQUE INDEX {table}_by_key ON {table} ({key})" for table, key in KEYS.items()
)
# Status of each run. A run that failed and was run again, perhaps by another process, may be in
# both tables; it counts as finished.
STATUS: Final = """
    CREATE VIEW status AS
    SELECT scenario, seed, 'finished' AS status, finished AS at, '' AS error FROM runs
    UNION ALL
    SELECT scenario, seed, 'failed', failed, error FROM failures
    WHERE NOT EXISTS (
        SELECT 1 FROM runs WHERE runs.scenario = failures.scenario AND runs.seed = failures.seed)
"""
# Rows with a wrong checksum, as found: name of their table, and the four text columns.
DAMAGED: Final = (
    "CREATE TABLE damaged "
    "(found TEXT, origin TEXT, number INTEGER, first, second, third, fourth, checksum)"
)

_BYTES: Final = 16


def checksum(table: str, values: Iterable[bytes]) -> bytes:
    """Return a row's checksum: BLAKE2b (16 bytes) over the table's name and the text columns.

    The columns are in table order and UTF-8; none contains a zero byte, which separates them.
    """
    text = b"\0".join((table.encode(), *values))
    return hashlib.blake2b(text, digest_size=_BYTES).digest()


def is_sound(table: str, *row: Any) -> bool:
    """Return whether a row is unchanged since it was written.

    Parameters
    ----------
    table : str
        Name of a table in `COLUMNS`.
    *row : any
        Text columns and checksum as read; bytes, unless the row is damaged.

    Returns
    -------
    bool
        Whether the checksum matches the columns.
    """
    if len(row) != len(COLUMNS[table]) + 1:
        return False
    try:
        return bool(checksum(table, row[:-1]) == row[-1])
    except TypeError:  # a damaged column that is not of bytes
        return False
