"""Differences between the scenarios of two results."""

from collections.abc import Mapping
from typing import Any


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> dict[str, tuple[object, object]]:
    """Return the differences between two scenarios.

    Parameters
    ----------
    first, second : mapping
        Scenarios as returned by `lightburst.Scenario.in_use`; their names are ignored.

    Returns
    -------
    dict of str to tuple
        The two values by path; None if one of the scenarios does not have the path.
    """
    one, other = _flat(first), _flat(second)
    paths = [path for path in dict.fromkeys((*one, *other)) if path != "name"]
    pairs = {path: (one.get(path), other.get(path)) for path in paths}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in table.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping):
            found |= _flat(value, f"{path}.")
        else:
            found[path] = value
    return found
