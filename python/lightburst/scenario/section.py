"""Tables of a scenario file, and how they are written: as given, or with all defaults."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    TypeAdapter,
    model_validator,
)
from pydantic import ValidationError as PydanticError
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.uninterrupted import uninterrupted
from lightburst.foundation.units import Quantity, as_python
from lightburst.scenario.fields import Whole, is_named, refuse_at, too_deep
from lightburst.scenario.reading.messages import explain


class Section(BaseModel):
    """Table of the scenario file, immutable and without unknown keys.

    In Python, a quantity is given as text with a unit or as a number in the SI unit. NumPy's and
    pandas' numbers, bools and lists are accepted in place of Python's.

    Attributes
    ----------
    alternatives : tuple of tuple of str
        Groups of exclusive keys: setting one of them removes the others.
    came_later : frozenset of str
        Fields added in later versions, other than those marked `OnlyIfAsked`. At their default
        `Scenario.canonical_json` omits them, and the plan omits them where that is off, so that
        older scenarios keep their digests (docs/architecture.md, *What is in a digest*).
    instead : str
        Suffix of the error about positional arguments, with the function to call instead.

    Raises
    ------
    InputError
        If created in Python with invalid values.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()
    came_later: ClassVar[frozenset[str]] = frozenset()
    instead: ClassVar[str] = ""

    def __init__(self, /, *given: object, **values: Any) -> None:
        if given:
            names = ", ".join(name for name in type(self).model_fields if name != "kind")
            allowed = f"fields by name: {names}{self.instead}"
            raise InputError(type(self).__name__, show(given[0]), allowed)
        try:
            super().__init__(**values)
        except PydanticError as error:
            raise explain(error, type(self)) from None
        except RecursionError:
            raise too_deep(type(self).__name__) from None

    # pydantic would also call a custom __init__ for inner tables, unless it is marked as its own.
    # It must not, because an inner table does not know the full path of its fields.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="before")
    @classmethod
    def _own_values(cls, values: Any) -> Any:
        if isinstance(values, Mapping):
            return {key: as_python(value) for key, value in values.items()}
        return values

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for keys in self.alternatives:
            names = [name for name in keys if getattr(self, name) is not None]
            if len(names) != 1:
                all_keys = f"{', '.join(keys[:-1])} and {keys[-1]}"
                given = f"both of {' and '.join(names[:2])}" if names else f"none of {all_keys}"
                raise refuse_at(keys[0], given, f"one of {all_keys}")
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        table = handler.resolve_ref_schema(described)
        for name, field in cls.model_fields.items():
            if field.is_required():
                continue
            # pydantic writes defaults as stored; the schema needs them as written in a file.
            default = written_default(field)
            if default is None:
                table["properties"][name].pop("default", None)
            else:
                table["properties"][name]["default"] = default
        if "kind" in cls.model_fields:
            # The kind has a default in Python only.
            table["required"] = list(dict.fromkeys(["kind", *table.get("required", ())]))
        return described


def written_default(field: FieldInfo) -> object:
    """Return the default of a field as written in a file; None if it cannot be written."""
    default = field.default
    if is_named(field) and default is not None:
        return default.kind
    if isinstance(default, BaseModel):
        return plain(default)
    markers = (marker for marker in field.metadata if isinstance(marker, Quantity | Whole))
    for marker in markers:
        return marker.format(default)
    if isinstance(default, tuple) and field.annotation is not None:
        return TypeAdapter(field.annotation).dump_python(default, mode="json") or None
    return None if default == {} else default


def plain(section: BaseModel) -> dict[str, Any]:
    """Convert a section to nested dictionaries, with quantities as text and ``kind`` first."""
    with uninterrupted():
        values: dict[str, Any] = _without_none(section.model_dump(mode="json"))
    return values


def given(section: Section, *, with_kind: bool = True) -> dict[str, Any]:
    """Convert the explicitly given fields of a section, recursively, and its kind.

    Parameters
    ----------
    section : Section
        Section to be converted.
    with_kind : bool
        Whether to include the kind even if it was not given.
    """
    values: dict[str, Any] = _given(section, plain(section), with_kind)
    return values


def _given(value: Any, written: Any, with_kind: bool = True) -> Any:
    if isinstance(value, dict):
        return {key: _given(inner, written[key]) for key, inner in value.items()}
    if not isinstance(value, Section) or not isinstance(written, dict):
        return written
    names = value.model_fields_set | ({"kind"} if with_kind else set())
    fields = type(value).model_fields
    return {
        name: _given(getattr(value, name), written[name], not is_named(fields[name]))
        for name in sorted(fields, key=lambda name: name != "kind")  # kind first
        if name in names and name in written
    }


def _without_none(value: Any) -> Any:
    # Not exclude_none of pydantic, which also omits 'unlimited', stored as None.
    if isinstance(value, dict):
        # Empty tables are omitted too.
        kept = {
            key: _without_none(inner) for key, inner in value.items() if inner not in (None, {})
        }
        return {"kind": kept.pop("kind"), **kept} if "kind" in kept else kept
    return [_without_none(inner) for inner in value] if isinstance(value, list) else value
