"""Reading scenario files."""

import tomllib
from os import PathLike
from pathlib import Path
from typing import Any

from lightburst.errors import InputError, show
from lightburst.scenario.model import Scenario


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Raises
    ------
    InputError
        When it cannot be read, or is not TOML; with the line then.
    """
    file = Path(path)
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        given = f"{show(str(file))} ({error.strerror})"
        raise InputError("scenario", given, "a file that can be read") from None
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        given = f"bytes that are not UTF-8 (at line {line})"
        raise InputError(str(file), given, "a TOML file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(file), str(error), "a TOML file") from None


def load(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or path-like
        A TOML file; the names of files in it are relative to its directory.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        When the file cannot be read or is not TOML; otherwise with every field that is not
        allowed.
    """
    return Scenario.from_dict(read_toml(path), Path(path).parent)
