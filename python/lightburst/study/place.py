"""Where a store is: a folder, taken over from the one file of an earlier version, on which disk.

A folder has the index of all runs (`INDEX`, SQLite), copies of their rows as columns (`COLUMNS`,
Parquet; `lightburst.study.columns`) and tables that are kept of single runs (`TABLES`, Parquet;
`lightburst.study.kept`).

References
----------
.. [1] "Write-Ahead Logging", https://www.sqlite.org/wal.html: all who use a file in this mode must
   share memory, and so be on one machine (section 1); one who has the file alone needs none
   (section 8).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from lightburst.errors import InputError
from lightburst.study.layout import APPLICATION, marks

try:
    import fcntl
except ImportError:  # a system that is not POSIX
    fcntl = None  # type: ignore[assignment]

INDEX: Final = "index.sqlite"
COLUMNS: Final = "columns"
TABLES: Final = "tables"

#: What can be named as a store.
ALLOWED: Final = "a folder that can be written, new or a store of runs"
# An earlier store was one file, by default with this ending, and a folder for tables beside it.
_FILE: Final = ".sqlite"
_FILE_TABLES: Final = ".tables"
# Where it becomes a folder.
_WORK: Final = ".folder"
# How long to wait for others that only look at an earlier store.
_PATIENCE_S: Final = 2.0
# The bytes at the beginning of every file of SQLite.
_MAGIC: Final = b"SQLite format 3\0"

_MOUNTS: Final = Path("/proc/self/mountinfo")
# File systems of other machines, as Linux calls them.
_REMOTE: Final = frozenset(
    [
        *("9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fhgfs", "gfs2", "gpfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb2", "smb3"),
        *("smbfs", "wekafs", "fuse.ceph", "fuse.davfs", "fuse.glusterfs", "fuse.mfs"),
        *("fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    ]
)


def index_of(path: Path) -> Path:
    """Give the index of a store: in its folder, or the one file that it was."""
    return path if path.is_file() else path / INDEX


def earlier(path: Path) -> Path | None:
    """Find the one file of an earlier version in the place of a store.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        That file, ``PATH`` or, where nothing is there, ``PATH.sqlite``.
    """
    # The working directory has no name of its own.
    beside = [path.with_name(path.name + _FILE)] if path.name else []
    for file in (path, *beside):
        if file.is_file():
            return file if _is_sqlite(file) else None
        if file.exists():
            break
    return None


def prepared(path: Path) -> Path | None:
    """Make the folder of a store, if it is not there, out of an earlier store, if there is one.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        The file of the earlier store that has become the folder.

    Raises
    ------
    InputError
        If another process uses that file.
    OSError
        If a folder cannot be made.
    """
    if (path / INDEX).is_file():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        return _prepared(path)


def _prepared(path: Path) -> Path | None:
    work = path.with_name(path.name + _WORK)
    if not path.exists() and (work / INDEX).is_file():
        work.rename(path)  # a process was killed before it could
    file = earlier(path)
    if file is None or not _is_ours(file):
        _check(path)
        path.mkdir(exist_ok=True)
        return None
    _take_alone(file)
    work.mkdir(exist_ok=True)
    tables = file.with_name(file.name + _FILE_TABLES)
    if tables.is_dir():
        tables.rename(work / TABLES)
    file.rename(work / INDEX)
    work.rename(path)
    return file


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time make stores in a folder, where that can be."""
    if fcntl is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems lock no folders
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def network_of(folder: Path, mounts: Path | None = None) -> str:
    """Say on which network file system a folder is.

    Parameters
    ----------
    folder : Path
        It need not be there yet.
    mounts : Path, optional
        A table as Linux's ``/proc/self/mountinfo``, which is the default.

    Returns
    -------
    str
        Its kind and source, as ``nfs4, server:/home``; empty on a disk of this machine, and where
        there is no such table.
    """
    try:
        lines = (mounts or _MOUNTS).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place, found, depth = folder.resolve(), "", -1
    for line in lines:
        # man 5 proc: ... mount point, options... - kind, source, super options.
        before, _, after = (words.split() for words in line.partition(" - "))
        if len(before) < 5 or len(after) < 2:
            continue
        # Blanks in names are written as octal numbers.
        point = Path(before[4].encode().decode("unicode_escape"))
        # The last of several mounts on one place is the one that is seen.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            depth = len(point.parts)
            found = f"{after[0]}, {after[1]}" if after[0] in _REMOTE else ""
    return found


def _check(path: Path) -> None:
    """Refuse what is there and no store."""
    given = f"{path} (it is something else)"
    if path.exists() and not path.is_dir():
        raise InputError("store", given, ALLOWED)
    if path.is_dir() and not (path / INDEX).exists() and any(path.iterdir()):
        raise InputError("store", given, ALLOWED)


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as held:
        return held.read(len(_MAGIC)) == _MAGIC


def _is_ours(file: Path) -> bool:
    with closing(_connected(file)) as database:
        return marks(database)[0] == APPLICATION


def _take_alone(file: Path) -> None:
    """Bring all that is in the log of a file into the file; refuse one that others use."""
    try:
        with closing(_connected(file)) as database:
            # It needs the file alone, unlike all else.
            mode = database.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        mode = ""
    if mode != "delete":
        given = f"{file} (a store of an earlier version, in use by another process)"
        allowed = "one that no other process uses: it becomes a folder, when the other has ended"
        raise InputError("store", given, allowed)


def _connected(file: Path) -> sqlite3.Connection:
    # One that is there: by its name alone it would be made.
    uri = f"{file.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, timeout=_PATIENCE_S, isolation_level=None, uri=True)
