"""Conversion of pydantic's errors to errors with path, given value and allowed values."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from lightburst.foundation.errors import InputError, combine, did_you_mean, show
from lightburst.foundation.terminology import called_here
from lightburst.scenario.fields import Bare, Lists, Named, once

Model = type[BaseModel]

# Largest number of paths in a message.
_FEW_PATHS = 3


@once
def kinds(field: FieldInfo) -> Mapping[str, Model]:
    """Map each ``kind`` to its table, for a field that holds tables; empty for other fields."""
    members: tuple[Model, ...] = ()
    if field.discriminator is not None:
        members = get_args(field.annotation)
    for part in get_args(field.annotation):
        # In `Transport | None` the discriminator is an annotation of the first part.
        marks = getattr(part, "__metadata__", ())
        if any(isinstance(mark, FieldInfo) and mark.discriminator for mark in marks):
            members = get_args(get_args(part)[0])
    return {kind: member for member in members for kind in _kind_names(member)}


def _kind_names(member: Model) -> tuple[str, ...]:
    return get_args(member.model_fields["kind"].annotation)


def inner_model(annotation: Any) -> Model | None:
    """Return the table in an annotation such as ``Energy | None`` or ``tuple[GraphLink, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (inner_model(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)


@once
def by_name(field: FieldInfo) -> Literal["tables", "values"] | None:
    """Return the type of the entries of a field with user-defined names; None for other fields."""
    for part in (field.annotation, *get_args(field.annotation)):
        if get_origin(part) is dict:
            value = get_args(part)[1]
            return "values" if {int, float} & {value, *get_args(value)} else "tables"
    return None


class _Place:
    """Position of an error in the scenario: the user's path, and the field and table there."""

    def __init__(self, model: Model, location: Sequence[int | str]) -> None:
        self.path = ""
        # The scenario, for a key outside all tables.
        self.root = model if len(location) == 1 else None
        self.field: FieldInfo | None = None
        self.table: Model | None = model
        self.others: Iterable[Model] = ()
        # Table of the field, and the other tables possible in its place.
        self.parent: Model | None = None
        self.parent_others: Iterable[Model] = ()
        parts = iter(location)
        for part in parts:
            self._enter(part, parts)

    def _enter(self, part: int | str, rest: Iterator[int | str]) -> None:
        if isinstance(part, int):
            self.path += f"[{part}]"
            return
        self.path += f".{quoted(part)}" if self.path else quoted(part)
        self.parent, self.parent_others = self.table, self.others
        self.field = self.table.model_fields.get(part) if self.table else None
        self.table, self.others = None, ()
        if self.field is None:
            return
        name = next(rest, None) if by_name(self.field) else None
        if name is not None:
            self.path += f".{quoted(str(name))}"
        # pydantic inserts the kind between a field and its contents; the user's path omits it.
        members = kinds(self.field)
        if members:
            kind = next(rest, "")
            if isinstance(kind, int):
                # Item of a list.
                self.path += f"[{kind}]"
                kind = next(rest, "")
            self.table, self.others = members.get(str(kind)), members.values()
        else:
            self.table = inner_model(self.field.annotation)


def markers(field: FieldInfo) -> Iterator[Any]:
    """Yield the annotations of a field, or of a part of its type as in `Length | None`."""
    yield from field.metadata
    for part in get_args(field.annotation):
        yield from getattr(part, "__metadata__", ())


def allowed_in(field: FieldInfo) -> str:
    """Describe the allowed values of a field."""
    if field.annotation is bool:
        return "true or false"
    members = kinds(field)
    if members and any(isinstance(marker, Named) for marker in markers(field)):
        return f"one of {_quoted(members)}, or a table with such a kind"
    if members:
        bare = next((marker for marker in field.metadata if isinstance(marker, Bare)), None)
        alone = f"{bare.quantity.allowed}, or " if bare else ""
        return f"{alone}a table with a kind, one of {_quoted(members)}"
    limit = next((marker for marker in markers(field) if hasattr(marker, "allowed")), None)
    if limit is not None:
        return str(limit.allowed)
    inner = inner_model(field.annotation)
    if inner is not None:
        needed = [name for name, its in inner.model_fields.items() if its.is_required()]
        return (
            f"a table with {' and '.join(needed)}" if needed else "a table; {} takes the defaults"
        )
    return "text, not empty" if field.metadata else "text"


def quoted(key: str) -> str:
    """Write a key of a path; an empty one or one with a dot is in double quotes, as in TOML."""
    return key if key and "." not in key else f'"{key}"'


def _quoted(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _unknown_key(place: _Place, key: str) -> str:
    names = sorted(
        place.parent.model_fields if place.parent else (), key=lambda name: name != "kind"
    )
    text = f"one of the keys {', '.join(names)}"
    meant = called_here(key, names)
    # Many inner tables have a kind.
    inner = None if place.root or meant or key == "kind" else _inner_key(place, key)
    if inner is not None:
        return inner
    others = (other for other in place.parent_others if key in other.model_fields)
    owners = [kind for other in others for kind in _kind_names(other)]
    if owners and not meant:
        return f"{text} ('{key}' is for kind {_quoted(owners)})"
    if place.root and (paths := _elsewhere(place.root, key)):
        return f"{text} (did you mean {' or '.join(_quoted([path]) for path in paths)}?)"
    return text + did_you_mean(key, names)


def _elsewhere(root: Model, key: str) -> list[str]:
    """List the paths that a key outside all tables may stand for; empty if there are too many."""
    words = re.sub(r"\W|__", "_", key)
    found = [
        path
        for path in dict.fromkeys(_paths(root))
        if words in (path.replace(".", "_"), path.rpartition(".")[2])
    ]
    return found if len(found) <= _FEW_PATHS else []


def _paths(model: Model) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        if get_origin(field.annotation) is tuple or by_name(field):
            # Items of a list, and entries with user-defined names, have no fixed path.
            continue
        inner = inner_model(field.annotation)
        for table in kinds(field).values() or filter(None, [inner]):
            yield from (f"{name}.{path}" for path in _paths(table))


def _inner_key(place: _Place, key: str) -> str | None:
    """Describe the inner table that has a misplaced key."""
    for name, field in place.parent.model_fields.items() if place.parent else ():
        if by_name(field):
            continue
        owners = [kind for kind, table in kinds(field).items() if key in table.model_fields]
        if owners:
            default = getattr(field.default, "kind", owners[0])
            kind = default if default in owners else owners[0]
            path = f"{place.path.removesuffix(key)}{name}.{key}"
            text = f'{path} in its place, written {name} = {{ kind = "{kind}", {key} = ... }}'
            return f"{text} (for kind {_quoted(owners)})"
    return None


def _all(model: Model, error: ErrorDetails) -> Iterator[InputError]:
    if error["type"] != "misfits":
        yield _single(model, error)
        return
    place = _Place(model, error["loc"])
    for one in error["ctx"]["errors"]:
        yield InputError(".".join(filter(None, (place.path, one.path))), one.given, one.allowed)


def _single(model: Model, error: ErrorDetails) -> InputError:
    place = _Place(model, error["loc"])
    path, given, context = place.path, show(error["input"]), error.get("ctx", {})
    kind = error["type"]
    if kind == "allowed":
        if "path" in context:
            path = ".".join(part for part in (path, str(context["path"])) if part)
            given = str(context["given"])
        return InputError(path, given, str(context["allowed"]))
    if kind == "extra_forbidden":
        key = str(error["loc"][-1])
        return InputError(path, f"an unknown key '{key}'", _unknown_key(place, key))
    if kind == "union_tag_invalid":
        hint = did_you_mean(context["tag"], kinds(place.field) if place.field else ())
        allowed = f"one of {_expected(context)}{hint}"
        return InputError(f"{path}.kind", f"'{context['tag']}'", allowed)
    if kind == "union_tag_not_found" and isinstance(error["input"], dict | BaseModel):
        allowed = _quoted(kinds(place.field)) if place.field else ""
        return InputError(f"{path}.kind", "nothing", f"one of {allowed}")
    if kind == "missing":
        given = "nothing"
    if kind == "literal_error":
        names = _expected(context).replace("'", "").split(", ")
        hint = did_you_mean(error["input"], names)
        return InputError(path, given, f"one of {_expected(context)}{hint}")
    if place.field is None:
        return InputError(path or "scenario", given, "a table")
    if kind == "dict_type":
        return InputError(path, given, f"a table of {by_name(place.field)}, by name")
    if kind == "tuple_type" and not any(isinstance(mark, Lists) for mark in markers(place.field)):
        return InputError(path, given, f"a list, each item {allowed_in(place.field)}")
    return InputError(path, given, allowed_in(place.field) + _kind_meant(place, error))


def _kind_meant(place: _Place, error: ErrorDetails) -> str:
    """Describe how to write a kind, if another value was given instead of its table."""
    members = kinds(place.field) if place.field else {}
    if not members or error["type"] == "missing":
        return ""
    name = error["input"]
    if name in list(members):
        needed = [key for key, field in members[name].model_fields.items() if field.is_required()]
        if needed:
            return _table_meant(place, name, f"{needed[0]} = ...")
        return f" (did you mean {place.path}.kind = '{name}'?)"
    for kind, member in members.items():
        for key, field in member.model_fields.items():
            if name in _names(field):
                return _table_meant(place, kind, f'{key} = "{name}"')
    return f", as {{ kind = '{next(iter(members))}', ... }}"


def _table_meant(place: _Place, kind: str, rest: str) -> str:
    key = place.path.rpartition(".")[2]
    return f' (did you mean {key} = {{ kind = "{kind}", {rest} }}?)'


def _names(field: FieldInfo) -> list[Any]:
    """List the names that a field accepts, as in `Literal["a", "b"] | None`."""
    parts = (field.annotation, *get_args(field.annotation))
    return [name for part in parts if get_origin(part) is Literal for name in get_args(part)]


def _expected(context: dict[str, Any]) -> str:
    names = context.get("expected_tags", context.get("expected", ""))
    return str(names).replace(" or ", ", ")


def explain(error: ValidationError, model: Model) -> InputError:
    """Convert all errors of pydantic about a table, a `model`, to one `InputError`.

    Paths are relative to the table; several errors give an `InputErrors`.
    """
    details = error.errors(include_url=False)
    return combine(single for detail in details for single in _all(model, detail))
