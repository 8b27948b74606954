"""Changes of a scenario's fields by their paths."""

import re
from collections.abc import Mapping
from copy import deepcopy
from tomllib import TOMLDecodeError
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lightburst.foundation.errors import InputError, combine, show
from lightburst.foundation.units import Quantity, as_python
from lightburst.scenario.absent import absent
from lightburst.scenario.fields import FILE_KEYS, is_named
from lightburst.scenario.reading import toml
from lightburst.scenario.reading.messages import by_name, inner_model, kinds, markers
from lightburst.scenario.section import Section, given, plain

# Fields with free text, which must not be parsed as a number.
_TEXT = frozenset({"name"}) | FILE_KEYS
_KEY = r'"[^"]*"|[^."]+'
_PATH = re.compile(rf"(?:{_KEY})(?:\.(?:{_KEY}))*")


def from_text(path: str, value: object) -> object:
    """Parse a value given on the command line for the field at ``path``.

    Valid TOML is parsed (``5``, ``true``, ``{ kind = "constant", value = "9 kB" }``), anything else
    stays text (``10 Gb/s``, ``all-optical``). A number in it has no unit. In a field with free text
    only quoted texts, or a list of them, are parsed.
    """
    if not isinstance(value, str) or "\n" in value:
        return value
    try:
        parsed = toml.read(f"value = {value}")["value"]
    except TOMLDecodeError:
        return value
    if path.rpartition(".")[2] in _TEXT:
        texts = parsed if isinstance(parsed, list) and parsed else [parsed]
        return parsed if all(isinstance(text, str) for text in texts) else value
    return parsed


def change(scenario: Section, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario's nested dictionaries with some fields changed, not yet validated.

    Parameters
    ----------
    scenario : Scenario
        Scenario to be changed.
    changes : mapping of str to object
        Values by path; None resets a field to its default.

    Raises
    ------
    InputError
        If a path leads through a field that is not a table, or into a missing table.
    """
    for path in changes:
        check_path(path)
    values = _written(scenario)
    # Kinds are changed first, and a table before its keys, because the other changes refer to the
    # new table.
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
            # An unknown kind removes no keys here; validation refuses it.
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


#: The scenario that was changed last, and its given fields: a study changes one many times.
_last: tuple[Section, dict[str, Any]] | None = None


def _written(scenario: Section) -> dict[str, Any]:
    """Return the given fields of a scenario as nested dictionaries of the caller's own."""
    global _last
    last = _last
    if last is None or last[0] is not scenario:
        _last = last = scenario, given(scenario)
    return deepcopy(last[1])


def _nowhere(model: type[BaseModel], values: dict[str, Any], keys: list[str]) -> bool:
    """Whether the field's table is missing after all changes, that is, has no kind."""
    if keys[0] == "groups" and len(keys) > 2 and "workload" not in values["groups"][keys[1]]:
        return True
    table: Any = values
    outer = None
    for depth, name in enumerate(keys[:-1], 1):
        table, field = table[name], _field(model, values, keys[:depth])
        # A mapping of named tables has no kind, but each table in it has.
        names = field is not None and by_name(field) and field is not outer
        if field and kinds(field) and not names and not is_named(field) and "kind" not in table:
            return True
        outer = field
    return False


def _alternatives(field: FieldInfo | None, target: dict[str, Any], key: str) -> frozenset[str]:
    """List the keys of a table that are alternatives to the given one."""
    table = kinds(field).get(str(target.get("kind"))) if field else None
    if table is None or not issubclass(table, Section):
        return frozenset()
    return frozenset(
        other for keys in table.alternatives if key in keys for other in keys if other != key
    )


def check_path(path: object, where: str = "path") -> None:
    """Raise an error unless the path is a non-empty text of non-empty keys separated by dots.

    Parameters
    ----------
    path : object
        Path as given by the user.
    where : str
        Name of the argument, for the error.

    Raises
    ------
    InputError
        If it is not a valid path.
    """
    if not isinstance(path, str) or not _PATH.fullmatch(path):
        allowed = "the path of a field, such as 'topology.link_length'"
        raise InputError(where, show(path), allowed)


def split(path: str) -> list[str]:
    """Split a path at its dots; a key that contains a dot is in double quotes, as in TOML."""
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
    """Return the table that holds the last key of a path, creating missing tables."""
    root = values
    present: object = scenario
    for depth, name in enumerate(tables, 1):
        present = None if tables[:depth] in taken_out else _inner(present, name)
        field = _field(type(scenario), root, tables[:depth])
        named = field is not None and is_named(field)
        if name not in values:
            # The existing table; for a named field an empty one, whose kind the preset determines.
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
    """Return the field at a path; None if it does not exist."""
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
    """Return the field at a path after some changes.

    Parameters
    ----------
    scenario : Scenario
        Scenario to be changed.
    changes : mapping of str to object
        Values by path, including one for the field itself. The result need not be a valid scenario.
    path : str
        Path of the field.

    Returns
    -------
    FieldInfo or None
        None if the changed scenario has no such field; for example, a switch without a buffer has
        no `switching.buffer_ports`.
    """
    try:
        return _field(type(scenario), change(scenario, changes), split(path))
    except InputError:
        return None


def quantity_at(scenario: Section, path: str) -> tuple[Quantity, float | None] | None:
    """Return the quantity at a path.

    Parameters
    ----------
    scenario : Scenario
        Scenario to read.
    path : str
        Path of an existing field.

    Returns
    -------
    (Quantity, float or None) or None
        Type and value of the quantity; the value is None for a word such as `unlimited`. None if
        the field is not a quantity.
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
    """Return an entry of a table, which may have a user-defined name; None if it is missing."""
    return section.get(name) if isinstance(section, dict) else getattr(section, name, None)
