"""Directories that are written whole or not at all."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from lightburst.errors import InputError


def swap(target: Path, write: Callable[[Path], object]) -> None:
    """Write a directory beside its place and put it there when it is complete.

    Parameters
    ----------
    target : Path
        Absolute. Made if it does not exist, else replaced.
    write : callable
        Gets an empty directory and fills it.

    Raises
    ------
    InputError
        If it cannot be written. Nothing is left behind.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".lightburst-") as work:
            fresh = Path(work, "new")
            fresh.mkdir()
            write(fresh)
            if target.exists():
                target.rename(Path(work, "old"))
            fresh.rename(target)
    except OSError as error:
        raise unwritable(target, error) from error


def unwritable(target: Path, error: OSError) -> InputError:
    """Say that a place cannot be written, with the system's reason."""
    reason = error.strerror or str(error)
    return InputError("--out", f"{target} ({reason})", "a directory that can be written")
