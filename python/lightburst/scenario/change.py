"""Changing fields of a scenario by their paths."""

from collections.abc import Mapping
from tomllib import TOMLDecodeError
from typing import Any

from pydantic import BaseModel

from lightburst.errors import InputError, show
from lightburst.scenario import toml
from lightburst.scenario.explain import inner_model, kinds
from lightburst.scenario.fields import Section, plain
from lightburst.units import Quantity

# Fields that hold text of the user's own, which must not be read as a number.
_TEXT = frozenset({"name", "file"})


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


def change(scenario: BaseModel, changes: Mapping[str, Any]) -> dict[str, Any]:
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
        When a path leads through a field that is not a table.
    """
    for path in changes:
        if not isinstance(path, str) or not all(path.split(".")):
            allowed = "the path of a field, such as 'topology.link_length'"
            raise InputError("path", show(path), allowed)
    values = plain(scenario)
    _leave_open(scenario, values)
    # A kind first: the other changes are meant for the fields of the new one.
    for path in sorted(changes, key=lambda path: not path.endswith("kind")):
        value = from_text(path, changes[path])
        if isinstance(value, BaseModel):
            value = plain(value)
        *tables, key = path.split(".")
        target = _descend(values, tables, path)
        if key == "kind":
            known = _members(type(scenario), values, tables).get(str(value))
            # An unknown kind drops nothing here, and is refused when all is validated.
            for name in set(target) - set(known.model_fields) if known else ():
                del target[name]
        if value is None:
            target.pop(key, None)
        else:
            target[key] = value
    return values


def _leave_open(section: BaseModel, values: dict[str, Any]) -> None:
    """Take out what nobody has given and hangs on other fields, so that it follows their change."""
    for name, value in section:
        if isinstance(value, Section):
            _leave_open(value, values[name])
    if isinstance(section, Section):
        for name in section.follows - section.model_fields_set:
            del values[name]


def _descend(values: dict[str, Any], tables: list[str], path: str) -> dict[str, Any]:
    """Find the table that holds the last key of a path; make one where there is none yet."""
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise InputError(path, show(values), f"a path to a field; '{table}' is not a table")
    return values


def _members(
    model: type[BaseModel], values: dict[str, Any], tables: list[str]
) -> dict[str, type[BaseModel]]:
    """List the tables that can stand where a path leads, by kind."""
    members: dict[str, type[BaseModel]] = {}
    table: type[BaseModel] | None = model
    for name in tables:
        field = table.model_fields.get(name) if table else None
        if field is None:
            return {}
        values = values[name]
        members = kinds(field)
        table = members.get(str(values.get("kind"))) or inner_model(field.annotation)
    return members


def quantity_at(section: BaseModel, path: str) -> tuple[Quantity, float | None] | None:
    """Find the quantity at a path.

    Parameters
    ----------
    section : Scenario
        Where to begin.
    path : str
        Of a field that it has.

    Returns
    -------
    (Quantity, float or None) or None
        Its type and what is held, None for a word; None where the path leads to anything else.
    """
    *tables, key = path.split(".")
    for table in tables:
        section = getattr(section, table, None)  # type: ignore[assignment]
    field = type(section).model_fields.get(key) if isinstance(section, BaseModel) else None
    for marker in field.metadata if field else ():
        if isinstance(marker, Quantity):
            return marker, getattr(section, key)
    return None
