"""Loading of scenario files."""

import re
import shlex
from os import PathLike
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

from lightburst.foundation.errors import InputError, show
from lightburst.scenario.model import Scenario
from lightburst.scenario.reading import toml
from lightburst.scenario.reading.files import read_text


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Raises
    ------
    InputError
        If the file cannot be read, or is not TOML (with the line).
    """
    if not isinstance(path, str | PathLike) or not str(path):
        raise InputError("scenario", show(path), "the name of a scenario file")
    file = Path(path)
    text = read_text(file, "scenario", "a file that can be read")
    try:
        return toml.read(text)
    except TOMLDecodeError as error:
        twice = _twice(text, str(error))
        if twice:
            raise InputError(str(file), twice, "each name once") from None
        raise InputError(str(file), f"invalid TOML ({error})", "a TOML file") from None


def _twice(text: str, error: str) -> str | None:
    """Describe a name defined twice, if this is why `tomllib` refused the file."""
    found = re.match(r"Cannot (?:overwrite|declare) .*\(at line (\d+), column", error)
    if found is None:
        return None
    line = text.splitlines()[int(found[1]) - 1]
    name = re.match(r"\s*\[{0,2}\s*([^=\[\]]*[^=\[\]\s])\s*(?:=|\])", line)
    return name and f"{show(name[1])} twice (again at line {found[1]})"


def load(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or path-like
        TOML file; names of files in it are relative to its directory.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML; otherwise with every invalid field.
    """
    tables = read_toml(path)
    if "scenario" in tables and "topology" not in tables:
        allowed = f"a scenario; 'lightburst sweep {shlex.quote(str(path))}' runs a study"
        raise InputError(str(path), "a study", allowed)
    return Scenario.from_dict(tables, Path(path).parent)


def as_scenario(given: Scenario | str | PathLike[str]) -> Scenario:
    """Return a given scenario, or load it from a given file.

    Parameters
    ----------
    given : Scenario, str or path-like
        Scenario, or name of a scenario file.

    Raises
    ------
    InputError
        As for `load`, and if the argument has another type.
    """
    if isinstance(given, Scenario):
        return given
    if isinstance(given, str | PathLike):
        return load(given)
    makes = "; Scenario.from_dict makes one of a dictionary" if isinstance(given, dict) else ""
    raise InputError("scenario", show(given), f"a Scenario or the name of a scenario file{makes}")
