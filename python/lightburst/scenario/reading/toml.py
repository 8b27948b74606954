"""TOML parser that distinguishes unitless numbers in a file from numbers given in Python."""

import tomllib
from typing import Any

from lightburst.foundation.units import BareFloat, BareInt, as_python

# Nesting limit of tables and lists; scenarios stay below half of it.
_MOST_LEVELS = 20
_LONG = "a whole number of thousands of digits"


def read(text: str) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    dict
        As returned by `tomllib.loads`, but each number is a `BareInt` or a `BareFloat`.

    Raises
    ------
    tomllib.TOMLDecodeError
        If the text is not TOML, or exceeds Python's limits: a whole number of thousands of digits,
        or more than twenty nested tables and lists.
    """
    deep = f"more than {_MOST_LEVELS} tables or lists inside each other"
    try:
        tables: dict[str, Any] = tomllib.loads(text, parse_float=BareFloat)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError(deep) from None
    except ValueError:
        raise tomllib.TOMLDecodeError(_LONG) from None
    if _is_deep(tables, _MOST_LEVELS):
        raise tomllib.TOMLDecodeError(deep)
    return {key: _bare(value) for key, value in tables.items()}


def _is_deep(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deep(one, levels - 1) for one in inner)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    if type(value) is int and as_python(value) != value:  # in hexadecimal
        raise tomllib.TOMLDecodeError(_LONG)
    return BareInt(value) if type(value) is int else value
