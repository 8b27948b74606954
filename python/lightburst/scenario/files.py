"""Files of the user's."""

from pathlib import Path

from lightburst.errors import InputError, show

# Changes when the file does: time of the last change in nanoseconds, and size in bytes.
Stamp = tuple[int, int]


def stamp(file: Path, path: str) -> Stamp:
    """Tell one version of a file from the next.

    Parameters
    ----------
    file : Path
        The file.
    path : str
        Of the field that names it.

    Raises
    ------
    InputError
        When there is no such file.
    """
    try:
        status = file.stat()
    except OSError as error:
        allowed = f"the name of a file that can be read ({error.strerror})"
        raise InputError(path, show(str(file)), allowed) from None
    return status.st_mtime_ns, status.st_size
