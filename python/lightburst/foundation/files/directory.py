"""Directories of results: replaced in one step, or extended, and never half written.

A directory is written beside its target, in a working directory (``.lightburst-work-`` and a random
name), and then exchanged with the earlier one. A process killed at any moment leaves the earlier or
the new result, complete, and possibly a working directory, which the next call removes.
"""

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.checksums import SUMS, listed, seal

try:
    import fcntl
except ImportError:  # a system that is not POSIX
    fcntl = None  # type: ignore[assignment]

_WORK: Final = ".lightburst-work-"
_RANDOM: Final = "[a-z0-9_]" * 8  # the random part that tempfile adds
_NEW: Final = "new"
# renameat2(2) of Linux with RENAME_EXCHANGE; renamex_np(2) of macOS with RENAME_SWAP.
_HERE: Final = -100  # AT_FDCWD
_EXCHANGE: Final = 2  # both have this value
_CANNOT: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def absolute(directory: str | Path) -> Path:
    """Return the absolute path of a directory from the user.

    Parameters
    ----------
    directory : str or Path
        The directory as given.

    Raises
    ------
    InputError
        If the name is invalid, a loop of symbolic links, or relative to a deleted directory.
    """
    try:
        return Path(directory).resolve()
    except OSError as error:
        raise _unwritable("--out", Path(directory), error) from None
    except (RuntimeError, ValueError):  # a loop of links; a NUL
        given, allowed = show(str(directory)), "a directory that can be written"
        raise InputError("--out", given, allowed) from None


def check(directory: str | Path) -> Path:
    """Check before a long computation that its result can be written.

    Parameters
    ----------
    directory : str or Path
        Directory for the result.

    Returns
    -------
    Path
        Its absolute path.

    Raises
    ------
    InputError
        If the directory cannot be created or written, or contains files that lightburst did not
        write.
    """
    target = absolute(directory)
    if Path.cwd().is_relative_to(target):
        raise InputError(
            "--out", str(target), "a directory other than the working directory and those above it"
        )
    try:
        restore(target)
        if target.exists() and not _replaceable(target):
            raise InputError(
                "--out", str(target), "a directory that is new, empty, or holds an earlier result"
            )
        existing = next(parent for parent in target.parents if parent.exists())
        with _working(existing):
            pass
    except OSError as error:
        raise _unwritable("--out", target, error) from error
    return target


def replace(directory: str | Path, write: Callable[[Path], object]) -> Path:
    """Write a directory beside its target, and move it there in one step when it is complete.

    Parameters
    ----------
    directory : str or Path
        The target, created if it does not exist; an earlier result in it is replaced.
    write : callable
        Function that fills an empty directory.

    Returns
    -------
    Path
        Absolute path of the directory, which also has the checksums of its files, see
        `lightburst.foundation.files.checksums`.

    Raises
    ------
    InputError
        If the directory cannot be written, or contains files that lightburst did not write. The
        earlier result remains then, and no partial one.
    """
    target = check(directory)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _working(target.parent) as work:
            fresh = work / _NEW
            fresh.mkdir()
            write(fresh)
            seal(fresh)
            if not target.exists():
                fresh.rename(target)
            elif not _exchange(fresh, target):
                # In two steps. Between them the earlier result is in the working directory under
                # its own name, from which `restore` moves it back after a kill.
                target.rename(work / target.name)
                fresh.rename(target)
    except OSError as error:
        raise _unwritable("--out", target, error) from error
    return target


def amend(directory: Path, write: Callable[[Path], object]) -> None:
    """Add files to the directory of a result, or replace them.

    Parameters
    ----------
    directory : Path
        Directory of the result.
    write : callable
        Function that fills an empty directory with files that can be derived from the result: a
        process killed while the files are moved leaves some new ones and some old ones.

    Raises
    ------
    InputError
        If the directory cannot be written. No partial files remain then.
    """
    try:
        _tend(directory)
        with _working(directory) as work:
            fresh = work / _NEW
            fresh.mkdir()
            write(fresh)
            seal(fresh, directory)
            # The checksums come first: a file without one would count as not written by lightburst.
            files = sorted(fresh.iterdir(), key=lambda file: file.name != SUMS)
            # Before any file is moved, so that nothing is half-written.
            for file in files:
                if (directory / file.name).is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file.name)
            for file in files:
                file.replace(directory / file.name)
    except OSError as error:
        raise _unwritable("DIR", directory, error) from error


def restore(target: Path) -> None:
    """Move back a result that a killed process had moved away, and remove its working directory.

    The path is absolute; raises `OSError` if the parent directory cannot be written.
    """
    _tend(target.parent)


@contextmanager
def _working(parent: Path) -> Iterator[Path]:
    """Yield a working directory, which is removed after the block, or by the next call."""
    with ExitStack() as held:
        work = _made(parent, held)
        try:
            yield work
        finally:
            _put_back(work)
            shutil.rmtree(work, ignore_errors=True)


def _made(parent: Path, held: ExitStack) -> Path:
    """Create and lock a working directory."""
    while True:
        work = Path(tempfile.mkdtemp(dir=parent, prefix=_WORK))
        # Another process may have removed it before the lock, as the rest of a killed process.
        with suppress(BlockingIOError, FileNotFoundError):
            held.enter_context(_lock(work))
            if work.exists():
                return work


def _tend(parent: Path) -> None:
    """Restore results that killed processes moved away, and remove their working directories."""
    for work in parent.glob(_WORK + _RANDOM):
        if work.is_symlink() or not work.is_dir():
            continue
        with suppress(BlockingIOError, FileNotFoundError), _lock(work) as ours:
            _put_back(work)
            if ours:
                shutil.rmtree(work, ignore_errors=True)


def _put_back(work: Path) -> None:
    for moved in work.iterdir():
        place = work.parent / moved.name
        if moved.name != _NEW and not place.exists():
            moved.rename(place)


@contextmanager
def _lock(directory: Path) -> Iterator[bool]:
    """Lock a directory for the block; yields False if the system has no locks.

    Raises `BlockingIOError` if another process holds the lock.
    """
    if fcntl is None:
        yield False
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        yield _flock(descriptor)
    finally:
        os.close(descriptor)


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two directories in one step; return False if the system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = library.renamex_np(*paths, _EXCHANGE)
        else:
            failed = library.renameat2(_HERE, paths[0], _HERE, paths[1], _EXCHANGE)
    except AttributeError:  # a system without such a call
        return False
    code = ctypes.get_errno()
    if failed and code not in _CANNOT:
        raise OSError(code, os.strerror(code))
    return not failed


def _replaceable(target: Path) -> bool:
    """Return whether a directory contains only files that lightburst has written."""
    held = {entry.name for entry in target.iterdir() if not entry.name.startswith(_WORK)}
    if not held:
        return True
    try:
        return held <= {SUMS, *listed(target)}
    except InputError:
        return False


def _unwritable(option: str, target: Path, error: OSError) -> InputError:
    """Return the error for a directory that cannot be written, with the system's reason."""
    reason = error.strerror or str(error)
    return InputError(option, f"{target} ({reason})", "a directory that can be written")
