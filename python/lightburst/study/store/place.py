"""Location of a store: its folder, migration from the single file of old versions, its disk.

A folder contains the index of all runs (`INDEX`, SQLite), columnar copies of their rows (`COLUMNS`,
Parquet; `lightburst.study.store.columns`) and the stored tables of single runs (`TABLES`, Parquet;
`lightburst.study.store.kept`).

References
----------
.. [1] "Write-Ahead Logging", https://www.sqlite.org/wal.html: all users of a file in this mode must
   share memory, and so run on one machine (section 1); exclusive use needs no shared memory
   (section 8).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from lightburst.foundation.errors import InputError
from lightburst.study.store.schema import APPLICATION, is_busy, marks

try:
    import fcntl
except ImportError:  # a system that is not POSIX
    fcntl = None  # type: ignore[assignment]

INDEX: Final = "index.sqlite"
COLUMNS: Final = "columns"
TABLES: Final = "tables"

#: Description of valid stores, for error messages.
ALLOWED: Final = "a folder that can be written, new or a store of runs"
# Old stores were a single file, by default with this suffix, and a folder of tables next to it.
_FILE: Final = ".sqlite"
_FILE_TABLES: Final = ".tables"
# Suffix of the temporary folder during migration.
_WORK: Final = ".folder"
# Time to wait for other processes that read an old store.
_PATIENCE_S: Final = 2.0
# First bytes of every SQLite file.
_MAGIC: Final = b"SQLite format 3\0"

_MOUNTS: Final = Path("/proc/self/mountinfo")
# Linux names of network file systems.
_REMOTE: Final = frozenset(
    [
        *("9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fhgfs", "gfs2", "gpfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb2", "smb3"),
        *("smbfs", "wekafs", "fuse.ceph", "fuse.davfs", "fuse.glusterfs", "fuse.mfs"),
        *("fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    ]
)


def index_of(path: Path) -> Path:
    """Return the path of a store's index: in its folder, or the store itself if it is one file."""
    return path if path.is_file() else path / INDEX


def earlier(path: Path) -> Path | None:
    """Return the single file of an old version at the path of a store, if there is one.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        ``PATH`` or, if nothing exists there, ``PATH.sqlite``.
    """
    # The working directory, ".", has no name to add a suffix to.
    beside = [path.with_name(path.name + _FILE)] if path.name else []
    for file in (path, *beside):
        if file.is_file():
            return file if _is_sqlite(file) else None
        if file.exists():
            break
    return None


def prepared(path: Path) -> Path | None:
    """Create the folder of a store if necessary, migrating an old store if there is one.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        The file of the old store that was migrated.

    Raises
    ------
    InputError
        If another process uses that file.
    OSError
        If a folder cannot be created.
    """
    if (path / INDEX).is_file():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        return _prepared(path)


def _prepared(path: Path) -> Path | None:
    work = path.with_name(path.name + _WORK)
    if not path.exists() and (work / INDEX).is_file():
        work.rename(path)  # completes a migration that was interrupted
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
    """Exclude other processes from creating stores in a folder, where locking is supported."""
    if fcntl is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot lock folders
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def network_of(folder: Path, mounts: Path | None = None) -> str:
    """Return the network file system that a folder is on.

    Parameters
    ----------
    folder : Path
        Path of the folder; it may not exist yet.
    mounts : Path, optional
        A mount table in the format of Linux's ``/proc/self/mountinfo``, which is the default.

    Returns
    -------
    str
        Kind and source, as ``nfs4, server:/home``; empty on a local disk or if there is no mount
        table.
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
        # Blanks in names are escaped as octal numbers.
        point = Path(before[4].encode().decode("unicode_escape"))
        # Of several mounts at the same point, the last one is visible.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            depth = len(point.parts)
            found = f"{after[0]}, {after[1]}" if after[0] in _REMOTE else ""
    return found


def _check(path: Path) -> None:
    """Refuse an existing file or folder that is not a store."""
    given = f"{path} (it is something else)"
    if path.exists() and not path.is_dir():
        raise InputError("store", given, ALLOWED)
    # The index is looked for last: another process may create it, before anything else, just now.
    if path.is_dir() and any(path.iterdir()) and not (path / INDEX).exists():
        raise InputError("store", given, ALLOWED)


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as held:
        return held.read(len(_MAGIC)) == _MAGIC


def _is_ours(file: Path) -> bool:
    with closing(_connected(file)) as database:
        return marks(database)[0] == APPLICATION


def _take_alone(file: Path) -> None:
    """Merge the write-ahead log into a file; refuse a file that other processes use."""
    try:
        with closing(_connected(file)) as database:
            # Leaving WAL mode requires exclusive access.
            mode = database.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
        mode = ""
    if mode != "delete":
        given = f"{file} (a store of an earlier version, in use by another process)"
        allowed = "one that no other process uses: it becomes a folder, when the other has ended"
        raise InputError("store", given, allowed)


def _connected(file: Path) -> sqlite3.Connection:
    # mode=rw: connecting by file name would create a missing file.
    uri = f"{file.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, timeout=_PATIENCE_S, isolation_level=None, uri=True)
