"""The checksums of a result's files, in the form that ``sha256sum --check`` reads."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lightburst.foundation.errors import InputError

SUMS: Final = "SHA256SUMS"

_LINE: Final = re.compile(r"([0-9a-f]{64})  ([\w.+-]+)")
#: Description of a saved result, for errors.
WRITTEN: Final = "a directory written by 'run --out', 'sweep --out' or 'reproduce --out'"


def seal(directory: Path, before: Path | None = None) -> None:
    """Write the checksums of all files in a directory.

    Parameters
    ----------
    directory : Path
        Directory, complete except for the checksums.
    before : Path, optional
        Directory whose checksums are added for files that the first one does not have.
    """
    sums = {} if before is None else listed(before)
    for file in directory.iterdir():
        sums[file.name] = _sum(file)
    lines = (f"{sums[name]}  {name}\n" for name in sorted(sums))
    (directory / SUMS).write_text("".join(lines), encoding="ascii")


def listed(directory: Path) -> dict[str, str]:
    """Return the checksums of a result, by names of files in its directory.

    Parameters
    ----------
    directory : Path
        Directory of the result.

    Returns
    -------
    dict of str to str
        SHA-256 in hexadecimal. A name is never a path.

    Raises
    ------
    InputError
        If the directory has no file of checksums, or it cannot be read.
    """
    file = directory / SUMS
    if not file.is_file():
        raise InputError("DIR", f"{directory} (without {SUMS})", WRITTEN)
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError) as error:
        raise InputError("DIR", f"{file} ({error})", "the file as it was written") from error
    found = [_LINE.fullmatch(line) for line in lines]
    sums = {match[2]: match[1] for match in found if match and match[2] not in (".", "..")}
    if len(sums) != len(lines):
        raise InputError("DIR", f"{file} (damaged)", "the file as it was written")
    return sums


def verify(directory: Path, names: Iterable[str]) -> None:
    """Compare files of a result with their checksums.

    Parameters
    ----------
    directory : Path
        Directory of the result.
    names : iterable of str
        Files that must exist.

    Raises
    ------
    InputError
        For the first file that is missing or differs from its checksum.
    """
    sums = listed(directory)
    for name in names:
        file = directory / name
        if name not in sums:
            raise InputError("DIR", f"{name!r} (not in {directory / SUMS})", "a file of the result")
        if not file.is_file():  # only a regular file, since reading a pipe or device may never end
            raise InputError(
                "DIR", f"{file} (missing; {SUMS} names it)", "the file as it was written"
            )
        try:
            damaged = _sum(file) != sums[name]
        except OSError as error:
            raise InputError("DIR", f"{file} ({error.strerror})", "a readable file") from error
        if damaged:
            words = f"{file} (damaged: differs from {SUMS})"
            raise InputError("DIR", words, "the file as it was written")


def _sum(file: Path) -> str:
    with file.open("rb") as held:
        return hashlib.file_digest(held, "sha256").hexdigest()
