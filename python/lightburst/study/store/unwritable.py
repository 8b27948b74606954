"""Reads the index of a store that cannot be written, such as another user's or an archive.

References
----------
.. [1] "Write-Ahead Logging", https://www.sqlite.org/wal.html, "Read-Only Databases": a file in this
   mode can be read if its log and shared memory exist or can be created; otherwise only as
   unchanging (``immutable``), in which case the log is ignored.
"""

import os
import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_LOG: Final = "-wal"


def is_unwritable(index: Path) -> bool:
    """Return whether an index exists and this process may not write it or files next to it."""
    return index.is_file() and not (
        os.access(index, os.W_OK) and os.access(index.parent, os.W_OK | os.X_OK)
    )


def opened(index: Path, patience_s: float) -> sqlite3.Connection:
    """Open an index for reading only.

    Parameters
    ----------
    index : Path
        The index file.
    patience_s : float
        Time in seconds to wait for other processes.

    Raises
    ------
    sqlite3.Error, OSError
        If the index cannot be read.
    """
    try:
        return _connected(index, "mode=ro", patience_s)
    except sqlite3.OperationalError:
        # No process has it open, and no file can be created next to it.
        log = index.with_name(index.name + _LOG)
        if not log.exists() or not log.stat().st_size:
            return _connected(index, "immutable=1", patience_s)
    with TemporaryDirectory() as folder:
        copy = Path(folder, index.name)
        shutil.copyfile(index, copy)
        shutil.copyfile(log, copy.with_name(log.name))
        found = sqlite3.connect(":memory:", timeout=patience_s, isolation_level=None)
        whole = sqlite3.connect(copy)
        whole.backup(found)
        whole.close()
    found.execute("PRAGMA query_only = ON")
    return found


def _connected(index: Path, how: str, patience_s: float) -> sqlite3.Connection:
    uri = f"{index.resolve().as_uri()}?{how}"
    database = sqlite3.connect(uri, timeout=patience_s, isolation_level=None, uri=True)
    try:
        # Forces SQLite to open the file.
        database.execute("PRAGMA user_version")
    except sqlite3.Error:
        database.close()
        raise
    return database
