"""Error for a change to a field in a missing table."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.scenario.reading.messages import quoted
from lightburst.scenario.section import Section

# Largest number of paths in a message.
_FEW = 3


def absent(scenario: Section, path: str, keys: Sequence[str], value: object) -> InputError:
    """Build the error for a field in a missing table, with the changes that are possible instead.

    Parameters
    ----------
    scenario : Scenario
        Scenario to be changed.
    path, keys : str, sequence of str
        Path of the field, as given and split.
    value : object
        New value of the field.
    """
    groups = getattr(scenario, "groups", None) or {}
    if keys[0] == "groups":
        return InputError(path, show(value), _in_group(groups, keys))
    if groups:
        return InputError(path, show(value), _of_groups(groups, keys))
    table = _joined(keys[:-1])
    return InputError(path, show(value), f"a field of an existing table: also give {table}.kind")


def _in_group(groups: dict[str, Any], keys: Sequence[str]) -> str:
    name = keys[1]
    if not groups:
        return f"no group, because the scenario has one workload: {_joined(keys[2:])}"
    if name in groups:
        own = f"a transport of the group's own, {_joined(keys[:3])} = {{ kind = 'tcp', ... }}"
        return f"{own}; without it the group has the scenario's: {_joined(keys[2:])} changes that"
    known = ", ".join(f"'{group}'" for group in islice(groups, _FEW))
    more = ", ..." if len(groups) > _FEW else ""
    new = f"{_joined(keys[:2])}.workload.kind makes a new one"
    return f"one of the groups {known}{more}{did_you_mean(name, groups)}; {new}"


def _of_groups(groups: dict[str, Any], keys: Sequence[str]) -> str:
    """List the groups whose own workload or transport has the field."""
    known = (name for name, group in groups.items() if hasattr(getattr(group, keys[0]), keys[1]))
    paths = [_joined(["groups", name, *keys]) for name in islice(known, _FEW)]
    each = f"none, because each group has a {keys[0]} of its own"
    return f"{each}: {' or '.join(paths)}" if paths else each


def _joined(keys: Sequence[str]) -> str:
    return ".".join(map(quoted, keys))
