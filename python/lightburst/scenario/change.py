"""Changing fields of a scenario by their paths."""

import re
from collections.abc import Mapping
from tomllib import TOMLDecodeError
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lightburst.errors import InputError, combine, show
from lightburst.scenario import toml
from lightburst.scenario.absent import absent
from lightburst.scenario.explain import by_name, inner_model, kinds, markers
from lightburst.scenario.fields import Section, given, is_named, plain
from lightburst.units import Quantity, as_python

# Fields that hold text of the user's own, which must not be read as a number.
_TEXT = frozenset({"name", "file"})
_KEY = r'"[^"]*"|[^."]+'
_PATH = re.compile(rf"(?:{_KEY})(?:\.(?:{_KEY}))*")


def from_text(path: str, value: object) -> object:
    """Read a value as it is given on the command line for the field at ``path``.

    A TOML value where it is one (``5``, ``true``, ``{ kind = "constant", value = "9 kB" }``), else
    the text itself (``10 Gb/s``, ``all-optical``). A number in it has no unit.
    """
    if not isinstance(value, str) or path.rpartition(".")[2] in _TEXT or "\n" in value:
        return value
    try:
        return toml.read(f"value = {value}")["value"]
    except TOMLDecodeError:
        return value


def change(scenario: Section, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dictionaries of a scenario with some fields changed, to be validated.

    Parameters
    ----------
    scenario : Scenario
        Where to begin.
    changes : mapping of str to object
        Paths and values; None takes the field out, so that it has its default.

    Raises
    ------
    InputError
        When a path leads through a field that is not a table, or into one that is not there.
    """
    for path in changes:
        check_path(path)
    values = given(scenario)
    # Changes of kind first, and a table before its keys: the other changes are meant for the new
    # table.
    steps = [
        (path, split(path), from_text(path, as_python(value))) for path, value in changes.items()
    ]
    taken_out: list[list[str]] = []
    for path, (*tables, key), value in sorted(steps, key=_kinds_first):
        if isinstance(value, BaseModel):
            value = plain(value)
        target = _descend(values, scenario, tables, path, taken_out)
        field = _field(type(scenario), values, tables)
        if key == "kind":
            known = kinds(field).get(str(value)) if field else None
            # An unknown kind drops nothing here, and is refused when all is validated.
            for name in set(target) - set(known.model_fields) if known else ():
                del target[name]
        if value is None:
            target.pop(key, None)
            taken_out.append([*tables, key])
            continue
        for other in _alternatives(field, target, key):
            if all(keys != [*tables, other] for _, keys, _ in steps):
                target.pop(other, None)
        target[key] = value
    nowhere = [
        absent(scenario, path, keys, value)
        for path, keys, value in steps
        if value is not None and _nowhere(type(scenario), values, keys)
    ]
    if nowhere:
        raise combine(nowhere)
    return values


def _nowhere(model: type[BaseModel], values: dict[str, Any], keys: list[str]) -> bool:
    """Whether a field is in a table that is not there after all changes: it has no kind."""
    if keys[0] == "groups" and len(keys) > 2 and "workload" not in values["groups"][keys[1]]:
        return True
    table: Any = values
    outer = None
    for depth, name in enumerate(keys[:-1], 1):
        table, field = table[name], _field(model, values, keys[:depth])
        # Tables by name have no kind, but each of them has.
        names = field is not None and by_name(field) and field is not outer
        if field and kinds(field) and not names and not is_named(field) and "kind" not in table:
            return True
        outer = field
    return False


def _alternatives(field: FieldInfo | None, target: dict[str, Any], key: str) -> frozenset[str]:
    """Find the keys of a table that stand for the same as one of them."""
    table = kinds(field).get(str(target.get("kind"))) if field else None
    if table is None or not issubclass(table, Section):
        return frozenset()
    return frozenset(
        other for keys in table.alternatives if key in keys for other in keys if other != key
    )


def check_path(path: object, where: str = "path") -> None:
    """Refuse what cannot be the path of a field: no text, or no keys between dots.

    Parameters
    ----------
    path : object
        As a user gave it.
    where : str
        What to call it.

    Raises
    ------
    InputError
        If it is none.
    """
    if not isinstance(path, str) or not _PATH.fullmatch(path):
        allowed = "the path of a field, such as 'topology.link_length'"
        raise InputError(where, show(path), allowed)


def split(path: str) -> list[str]:
    """Split a path into keys at its dots; a key with a dot stands in double quotes, as in TOML."""
    return [key.removeprefix('"').removesuffix('"') for key in re.findall(_KEY, path)]


def _kinds_first(step: tuple[str, list[str], object]) -> tuple[bool, int]:
    _, keys, _ = step
    return keys[-1] != "kind", len(keys)


def _descend(
    values: dict[str, Any],
    scenario: Section,
    tables: list[str],
    path: str,
    taken_out: list[list[str]],
) -> dict[str, Any]:
    """Find the table that holds the last key of a path; make one where there is none yet."""
    root = values
    present: object = scenario
    for depth, name in enumerate(tables, 1):
        present = None if tables[:depth] in taken_out else _inner(present, name)
        field = _field(type(scenario), root, tables[:depth])
        named = field is not None and is_named(field)
        if name not in values:
            # The table as it is, or of whatever kind the preset has.
            usual = given(present) if isinstance(present, Section) and not named else {}
            table = present is None or isinstance(present, Section | Mapping)
            values[name] = usual if table else present
        elif named and isinstance(values[name], str):
            values[name] = {"kind": values[name]}
        values = values[name]
        if not isinstance(values, dict):
            raise InputError(path, show(values), f"a path to a field; '{name}' is not a table")
    return values


def _field(model: type[BaseModel], values: dict[str, Any], tables: list[str]) -> FieldInfo | None:
    """Find the field that a path leads to; None if there is no such field."""
    field: FieldInfo | None = None
    table: type[BaseModel] | None = model
    names = iter(tables)
    for name in names:
        field = table.model_fields.get(name) if table else None
        values = values.get(name, {})
        if field is not None and by_name(field):
            values = values.get(next(names, ""), {}) if isinstance(values, dict) else {}
        if field is None or not isinstance(values, dict):
            return field
        table = kinds(field).get(str(values.get("kind"))) or inner_model(field.annotation)
    return field


def field_at(scenario: Section, changes: Mapping[str, Any], path: str) -> FieldInfo | None:
    """Find the field that a path leads to after some changes.

    Parameters
    ----------
    scenario : Scenario
        Where to begin.
    changes : mapping of str to object
        Paths and values, one for the field itself among them. They need not make a valid scenario.
    path : str
        Of the field.

    Returns
    -------
    FieldInfo or None
        None where the changed scenario has no such field, as a switch without a buffer has no
        `switching.buffer_ports`.
    """
    try:
        return _field(type(scenario), change(scenario, changes), split(path))
    except InputError:
        return None


def quantity_at(scenario: Section, path: str) -> tuple[Quantity, float | None] | None:
    """Find the quantity at a path.

    Parameters
    ----------
    scenario : Scenario
        Where to begin.
    path : str
        Of a field that it has.

    Returns
    -------
    (Quantity, float or None) or None
        Its type and its value, which is None for a word such as `unlimited`; None where the path
        leads to anything else.
    """
    *tables, key = split(path)
    section: object = scenario
    for table in tables:
        section = _inner(section, table)
    field = type(section).model_fields.get(key) if isinstance(section, BaseModel) else None
    for marker in markers(field) if field else ():
        if isinstance(marker, Quantity):
            return marker, getattr(section, key)
    return None


def _inner(section: object, name: str) -> object:
    """Find what a table holds under a name, maybe one of the user's own; None if nothing."""
    return section.get(name) if isinstance(section, dict) else getattr(section, name, None)
