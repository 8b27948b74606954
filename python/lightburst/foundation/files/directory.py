"""Directories of results: replaced in one step, or added to, and never half written.

A directory is written beside its place, in a working directory (``.lightburst-work-`` and a random
name), and then changes places with what was there. A process that is killed at any moment leaves
the earlier result or the new one, whole, and perhaps a working directory, which the next call
clears away.
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
    """Give the place that a user means.

    Parameters
    ----------
    directory : str or Path
        As it was given.

    Raises
    ------
    InputError
        If it is no name, a loop of links, or relative to a directory that is not there any more.
    """
    try:
        return Path(directory).resolve()
    except OSError as error:
        raise _unwritable("--out", Path(directory), error) from None
    except (RuntimeError, ValueError):  # a loop of links; a NUL
        given, allowed = show(str(directory)), "a directory that can be written"
        raise InputError("--out", given, allowed) from None


def check(directory: str | Path) -> Path:
    """Make sure, before long work begins, that its outcome can be written.

    Parameters
    ----------
    directory : str or Path
        Where the outcome shall go.

    Returns
    -------
    Path
        The same, absolute.

    Raises
    ------
    InputError
        If it cannot be made or written, or holds what is not ours to replace.
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
    """Write a directory beside its place and put it there in one step when it is complete.

    Parameters
    ----------
    directory : str or Path
        Made if it does not exist; an earlier result in it is replaced.
    write : callable
        Gets an empty directory and fills it.

    Returns
    -------
    Path
        The directory, absolute. It has the checksums of its files, see
        `lightburst.foundation.files.checksums`.

    Raises
    ------
    InputError
        If it cannot be written, or holds what is not ours. Nothing is left behind then, and the
        earlier result stays.
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
                # In two steps; between them it stands in the working directory under its own name,
                # from where it is put back.
                target.rename(work / target.name)
                fresh.rename(target)
    except OSError as error:
        raise _unwritable("--out", target, error) from error
    return target


def amend(directory: Path, write: Callable[[Path], object]) -> None:
    """Add files to a result, or replace them, inside its directory and nowhere else.

    Parameters
    ----------
    directory : Path
        Of the result.
    write : callable
        Gets an empty directory and fills it with what can be made again from the rest: a process
        that is killed while the files take their places leaves some new ones and some old ones.

    Raises
    ------
    InputError
        If it cannot be written. Nothing is left behind then.
    """
    try:
        _tend(directory)
        with _working(directory) as work:
            fresh = work / _NEW
            fresh.mkdir()
            write(fresh)
            seal(fresh, directory)
            # The list comes first: a file that is not on it would be taken for somebody else's.
            for file in sorted(fresh.iterdir(), key=lambda file: file.name != SUMS):
                file.replace(directory / file.name)
    except OSError as error:
        raise _unwritable("DIR", directory, error) from error


def restore(target: Path) -> None:
    """Put back a result that a killed process had moved away, and clear away what it left.

    The path is absolute; `OSError` if the directory above it cannot be written.
    """
    _tend(target.parent)


@contextmanager
def _working(parent: Path) -> Iterator[Path]:
    """Give a directory in another one that is gone afterwards, or after the next call."""
    with ExitStack() as held:
        work = _made(parent, held)
        try:
            yield work
        finally:
            _put_back(work)
            shutil.rmtree(work, ignore_errors=True)


def _made(parent: Path, held: ExitStack) -> Path:
    """Make a working directory that is locked from now on."""
    while True:
        work = Path(tempfile.mkdtemp(dir=parent, prefix=_WORK))
        # Before it was locked another process can have taken it for one that a kill left.
        with suppress(BlockingIOError, FileNotFoundError):
            held.enter_context(_lock(work))
            if work.exists():
                return work


def _tend(parent: Path) -> None:
    """Put back and clear away what killed processes have left."""
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
    """Lock a directory until the process ends; False where that cannot be done.

    `BlockingIOError` if another has locked it.
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
    """Let two directories change places in one step; False where that cannot be done."""
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
    """Tell whether a directory holds nothing but what lightburst has written."""
    held = {entry.name for entry in target.iterdir() if not entry.name.startswith(_WORK)}
    if not held:
        return True
    try:
        return held <= {SUMS, *listed(target)}
    except InputError:
        return False


def _unwritable(option: str, target: Path, error: OSError) -> InputError:
    """Say that a place cannot be written, with the system's reason."""
    reason = error.strerror or str(error)
    return InputError(option, f"{target} ({reason})", "a directory that can be written")
