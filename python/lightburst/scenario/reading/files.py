"""Access to files named by the user: regular files up to a size limit."""

import errno
import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from lightburst.foundation.errors import InputError, show

# Version of a file: time of the last change in nanoseconds, and size in bytes.
Stamp = tuple[int, int]

# Size limit of text; ten times the size of the largest graph's table of links.
_LARGEST_TEXT = 100_000_000


def obstacle(file: Path) -> str | None:
    """Return the reason why a file cannot be read; None if it can.

    Devices and pipes are refused: they may have no end, and differ when read again.

    Parameters
    ----------
    file : Path
        The file, which is opened but not read.
    """
    try:
        mode = file.stat().st_mode
        if not S_ISREG(mode):
            return os.strerror(errno.EISDIR) if S_ISDIR(mode) else "a device or a pipe"
        file.open("rb").close()
    except OSError as error:
        return error.strerror or str(error)
    except ValueError:  # a NUL byte, or a name that no file system accepts
        return "not the name of a file"
    return None


def stamp(file: Path, path: str) -> Stamp:
    """Return a stamp that differs between versions of a file.

    Parameters
    ----------
    file : Path
        The file.
    path : str
        Path of the field that names the file.

    Raises
    ------
    InputError
        If the file does not exist or cannot be read.
    """
    if reason := obstacle(file):
        allowed = f"the name of a file that can be read ({reason})"
        raise InputError(path, show(str(file)), allowed)
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def read_text(file: Path, path: str, allowed: str) -> str:
    """Read a text file.

    Parameters
    ----------
    file : Path
        The file.
    path : str
        Path of the field that names the file.
    allowed : str
        Description of the allowed files, for errors.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8 (with the line), or is larger than 100 MB.
    """
    reason = obstacle(file)
    if reason is None:
        try:
            with file.open("rb") as stream:
                content = stream.read(_LARGEST_TEXT + 1)
            if len(content) <= _LARGEST_TEXT:
                return content.decode()
            reason = f"more than {_LARGEST_TEXT // 10**6} MB"
        except OSError as error:
            reason = error.strerror or str(error)
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            reason = f"bytes that are not UTF-8 at line {line}"
    raise InputError(path, f"{show(str(file))} ({reason})", allowed)
