"""TOML, whose numbers have no unit: what the user wrote must not pass for a number of Python's."""

import tomllib
from typing import Any

from lightburst.units import BareFloat, BareInt


def read(text: str) -> dict[str, Any]:
    """Read TOML.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    dict
        As `tomllib.loads` gives it, but each number a `BareInt` or a `BareFloat`.

    Raises
    ------
    tomllib.TOMLDecodeError
        When it is not TOML.
    """
    tables: dict[str, Any] = _bare(tomllib.loads(text, parse_float=BareFloat))
    return tables


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    return BareInt(value) if type(value) is int else value
