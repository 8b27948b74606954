"""The rows of a store: its tables, and the checksum that each row carries.

All tables have a number, four columns of text and the checksum, so that what holds for the rows of
one holds for those of the other, also where they are read without SQLite (`salvage`).
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Final

Row = tuple[bytes, bytes, bytes, bytes, bytes]

# The columns of text, in their order. Seeds go to 2**64 - 1, SQLite's integers to 2**63 - 1.
COLUMNS: Final = {
    "runs": ("scenario", "seed", "finished", "metrics"),
    "scenarios": ("digest", "name", "model_version", "scenario"),
    "failures": ("scenario", "seed", "failed", "error"),
}
# The columns in which no two rows of a table are the same.
KEYS: Final = {"runs": "scenario, seed", "scenarios": "digest", "failures": "scenario, seed"}

# Each row has a number (`id`): in a table without row numbers SQLite keeps the larger part of a row
# on a page of its own, which takes three times the space.
TABLES: Final = tuple(
    f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, "
    f"{', '.join(f'{name} TEXT NOT NULL' for name in names)}, checksum BLOB NOT NULL)"
    for table, names in COLUMNS.items()
)
INDICES: Final = tuple(
    f"CREATE UNIQUE INDEX {table}_by_key ON {table} ({key})" for table, key in KEYS.items()
)
# What has become of each run. One that failed and was run again, perhaps by another process, may
# stand in both tables: it is finished.
STATUS: Final = """
    CREATE VIEW status AS
    SELECT scenario, seed, 'finished' AS status, finished AS at, '' AS error FROM runs
    UNION ALL
    SELECT scenario, seed, 'failed', failed, error FROM failures
    WHERE NOT EXISTS (
        SELECT 1 FROM runs WHERE runs.scenario = failures.scenario AND runs.seed = failures.seed)
"""
# Rows whose checksum is wrong, as they were found: of which table, and the four columns.
DAMAGED: Final = (
    "CREATE TABLE damaged "
    "(found TEXT, origin TEXT, number INTEGER, first, second, third, fourth, checksum)"
)

_BYTES: Final = 16


def checksum(table: str, values: Iterable[bytes]) -> bytes:
    """Checksum of a row: BLAKE2b of 16 bytes over the name of its table and its columns of text.

    The columns are in their order and in UTF-8; none of them has a zero byte.
    """
    text = b"\0".join((table.encode(), *values))
    return hashlib.blake2b(text, digest_size=_BYTES).digest()


def is_sound(table: str, *row: Any) -> bool:
    """Tell whether a row is what was written.

    Parameters
    ----------
    table : str
        One of `COLUMNS`.
    *row : any
        The columns of text and the checksum, as they were read: bytes, if nothing is wrong.

    Returns
    -------
    bool
        Whether the checksum is that of the rest.
    """
    if len(row) != len(COLUMNS[table]) + 1:
        return False
    try:
        return bool(checksum(table, row[:-1]) == row[-1])
    except TypeError:  # not bytes
        return False
