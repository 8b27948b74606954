"""Building blocks of a scenario's fields: sections, and numbers with their limits.

Each number stores its limits and their wording, so that an error, the reference page and the JSON
schema agree.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    TypeAdapter,
    model_validator,
)
from pydantic import ValidationError as PydanticError
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lightburst.foundation.errors import InputError, did_you_mean, number_meant, show
from lightburst.foundation.uninterrupted import uninterrupted
from lightburst.foundation.units import Quantity, as_python
from lightburst.scenario.reading.files import obstacle

# Flows, hosts and switches are counted in 32 bits by the simulator.
LARGEST_COUNT = 2**31
# Length limit of the name of a node, a link or a scenario, in characters.
LONGEST_NAME = 200


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
            from lightburst.scenario.reading.messages import explain

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


class OnlyIfAsked:
    """Marker of a field that is in the digest of a scenario only if it is not at its default."""


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


def refuse(allowed: str) -> PydanticCustomError:
    """Build the error of a validator; ``allowed`` describes the allowed values."""
    return PydanticCustomError("allowed", "{allowed}", {"allowed": allowed})


def refuse_at(path: str, given: object, allowed: str) -> PydanticCustomError:
    """Build the error of a check across fields, with the field's path relative to the table."""
    context = {"path": path, "given": str(given), "allowed": allowed}
    return PydanticCustomError("allowed", "{allowed}", context)


def refuse_all(errors: tuple[InputError, ...]) -> PydanticCustomError:
    """Combine several errors into one, with paths relative to the table."""
    return PydanticCustomError("misfits", "does not fit together", {"errors": errors})


def too_deep(path: str) -> InputError:
    """Build the error for lists or tables nested deeper than Python's recursion limit."""
    return InputError(path, "lists or tables hundreds of levels deep", "a scenario: a few levels")


@dataclass(frozen=True)
class Whole:
    """Type of a field with a whole number, for use in ``Annotated``.

    Attributes
    ----------
    minimum, maximum : int
        Inclusive limits.
    even : bool
        Whether the number must be even.
    word : str or None
        Word accepted instead of a number, stored as None.
    names : tuple of str
        Further words accepted instead of a number, stored as they are.
    """

    minimum: int
    maximum: int = LARGEST_COUNT
    even: bool = False
    word: str | None = None
    names: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Description of the allowed values, for errors and the documentation."""
        kind = "an even whole number" if self.even else "a whole number"
        words = [f"'{word}'" for word in (self.word, *self.names) if word]
        return ", or ".join((f"{kind} from {self.minimum} to {self.maximum}", *words))

    def _validate(self, value: object) -> int | str | None:
        if self.word is not None and value == self.word:
            return None
        if isinstance(value, str) and value in self.names:
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse(self.allowed + number_meant(value, self._fits))
        if not self._fits(value):
            raise refuse(self.allowed)
        return int(value)

    def _fits(self, value: float) -> bool:
        return self.minimum <= value <= self.maximum and value % (2 if self.even else 1) == 0

    def format(self, value: int | str | None) -> int | str | None:
        """Return a value as written in a file."""
        return self.word if value is None else value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(self.format),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number: JsonSchemaValue = {
            "type": "integer",
            "minimum": self.minimum,
            "maximum": self.maximum,
        }
        if self.even:
            number["multipleOf"] = 2
        words = [{"const": word} for word in (self.word, *self.names) if word]
        return {"anyOf": [number, *words]} if words else number


@dataclass(frozen=True)
class Named:
    """Accept the bare name of a kind instead of its table; for use in ``Annotated``."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        names = [member.model_fields["kind"].default for member in get_args(source)]

        def table(value: object) -> object:
            if not isinstance(value, str):
                return value
            if value not in names:
                near = did_you_mean(value, names)
                raise refuse(f"one of {', '.join(map(repr, names))}{near}")
            return {"kind": value}

        return core_schema.no_info_before_validator_function(table, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        tables = handler(schema)
        names = list(tables["discriminator"]["mapping"])
        return {"anyOf": [{"enum": names}, tables]}


def is_named(field: FieldInfo) -> bool:
    """Whether a field accepts the bare name of a kind instead of its table."""
    alone = get_origin(field.annotation) is not tuple
    # As in `Queueing | None`.
    parts = get_args(field.annotation) if alone else ()
    inner = (getattr(part, "__metadata__", ()) for part in parts)
    return any(isinstance(marker, Named) for marker in chain(field.metadata, *inner))


@dataclass(frozen=True)
class Bare:
    """Accept a bare quantity instead of the table of `kind` with this quantity as `key`."""

    quantity: Quantity
    kind: str
    key: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def table(value: object) -> object:
            try:
                self.quantity.parse(value)
            except ValueError as error:
                if isinstance(value, str) and value[:1].isdecimal():
                    raise refuse(f"{error}, or a table with a kind") from None
                return value
            return {"kind": self.kind, self.key: value}

        return core_schema.no_info_before_validator_function(table, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        quantity = self.quantity.__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [quantity, handler(schema)]}


@dataclass(frozen=True)
class Real:
    """Type of a field with a number without a unit, for use in ``Annotated``.

    Attributes
    ----------
    minimum, maximum : float
        Limits; NaN and infinities are always refused.
    inclusive : bool
        Whether the limits themselves are allowed.
    """

    minimum: float = -math.inf
    maximum: float = math.inf
    inclusive: bool = True

    @property
    def allowed(self) -> str:
        """Description of the allowed values, for errors and the documentation."""
        least, most = ("at least", "at most") if self.inclusive else ("greater than", "less than")
        limits = []
        if self.minimum > -math.inf:
            limits.append(f"{least} {self.minimum:g}")
        if self.maximum < math.inf:
            limits.append(f"{most} {self.maximum:g}")
        return f"a number {' and '.join(limits)}" if limits else "a number"

    def _validate(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refuse(self.allowed + number_meant(value, self._fits))
        if not self._fits(value):
            raise refuse(self.allowed)
        return float(value) + 0.0  # normalises -0.0, which is refused elsewhere

    def _fits(self, value: float) -> bool:
        if not abs(value) <= sys.float_info.max:  # also whole numbers too large for a float
            return False
        if self.inclusive:
            return self.minimum <= value <= self.maximum
        return self.minimum < value < self.maximum

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number: JsonSchemaValue = {"type": "number"}
        prefix = "" if self.inclusive else "exclusive"
        for name, limit in (("minimum", self.minimum), ("maximum", self.maximum)):
            if math.isfinite(limit):
                number[f"{prefix}{name.title()}" if prefix else name] = limit
        return number


@dataclass(frozen=True)
class InputFile:
    """Type of a field with the name of an input file, for use in ``Annotated``.

    A relative name is relative to the directory of the scenario file (``context["directory"]``);
    in Python, to the working directory.
    """

    allowed: str = "the name of a file that can be read"

    def _validate(self, value: object, info: core_schema.ValidationInfo) -> Path:
        # The name must be encodable, because saved scenarios are UTF-8.
        if not isinstance(value, str | Path) or not str(value) or not _is_utf8(str(value)):
            raise refuse(self.allowed)
        path = Path(value)
        context = info.context if isinstance(info.context, dict) else {}
        if "directory" in context:
            path = Path(context["directory"]) / path
            if reason := obstacle(path):
                raise refuse(f"{self.allowed} ({reason}: {show(str(path))})")
        elif "\0" in str(path):
            raise refuse(self.allowed)
        return path

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self._validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "minLength": 1}


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


@dataclass(frozen=True)
class Name:
    """Type of a field with a name, for use in ``Annotated``.

    Attributes
    ----------
    minimum : int
        Smallest number of characters.
    """

    minimum: int = 1

    @property
    def allowed(self) -> str:
        """Description of the allowed values, for errors and the documentation."""
        return f"text of {self.minimum} to {LONGEST_NAME} printable characters"

    def _validate(self, value: object) -> str:
        if not isinstance(value, str) or not self.fits(value):
            raise refuse(self.allowed)
        return str(value)

    def fits(self, text: str) -> bool:
        """Whether a text is a valid name."""
        return self.minimum <= len(text) <= LONGEST_NAME and text.isprintable()

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        least = {"minLength": self.minimum} if self.minimum else {}
        return {"type": "string", **least, "maxLength": LONGEST_NAME}


class Tables(dict[str, Any]):
    """Tables by name, hashable like the rest of a scenario."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


DataFile = Annotated[Path, InputFile()]
# True and false only: pydantic would also accept 1 and 'yes'.
Flag = Annotated[bool, Strict()]
