"""What the fields of a scenario are made of: sections, and numbers with their limits.

Each number carries its limits and the words for them, so that an error, the reference page and the
JSON schema say the same.
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

from lightburst.errors import InputError, did_you_mean, number_meant, show
from lightburst.scenario.files import obstacle
from lightburst.scenario.uninterrupted import uninterrupted
from lightburst.units import Quantity, as_python

# Flows, hosts and switches are counted in 32 bits by the simulator.
LARGEST_COUNT = 2**31
# Of a node, a link or a scenario, in characters.
LONGEST_NAME = 200


class Section(BaseModel):
    """A table of the scenario file: no unknown keys, no changes after it was made.

    Made in Python, a quantity is text with a unit or a number in the SI unit; what NumPy and pandas
    have of numbers, bools and lists can stand for Python's.

    Attributes
    ----------
    alternatives : tuple of tuple of str
        Keys of which there is just one: setting one of them takes the others away.
    came_later : frozenset of str
        Fields that were added later, beside those that are marked `OnlyIfAsked`. At their default
        `Scenario.canonical_json` leaves them out, and so does the plan what is off: scenarios from
        before keep their digests (docs/architecture.md, *What is in a digest*).
    instead : str
        What to call instead, at the end of the error about an argument that is not a field.

    Raises
    ------
    InputError
        When made in Python with values that are not allowed.
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
            from lightburst.scenario.explain import explain

            raise explain(error, type(self)) from None
        except RecursionError:
            raise too_deep(type(self).__name__) from None

    # pydantic calls an __init__ of ours for inner tables as well, unless it is marked as its own;
    # it must not, because an inner table does not know the whole path of its fields.
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
            # pydantic gives defaults as they are held; a file has them as they are written.
            default = written_default(field)
            if default is None:
                table["properties"][name].pop("default", None)
            else:
                table["properties"][name]["default"] = default
        if "kind" in cls.model_fields:
            # It has a default for Python only.
            table["required"] = list(dict.fromkeys(["kind", *table.get("required", ())]))
        return described


class OnlyIfAsked:
    """Marks a field that stands in the digest of a scenario only where it has not its default."""


def written_default(field: FieldInfo) -> object:
    """Write the default of a field as it stands in a file; None if it cannot stand there."""
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
    """Write a section as nested dictionaries, quantities as text, ``kind`` first."""
    with uninterrupted():
        values: dict[str, Any] = _without_none(section.model_dump(mode="json"))
    return values


def given(section: Section, *, with_kind: bool = True) -> dict[str, Any]:
    """Write what was given of a section, in its own words and inner tables, and its kind.

    Parameters
    ----------
    section : Section
        What is written.
    with_kind : bool
        Whether the kind is there even if it was not given.
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
        for name in sorted(fields, key=lambda name: name != "kind")  # which stands first
        if name in names and name in written
    }


def _without_none(value: Any) -> Any:
    # Not exclude_none of pydantic: that leaves out 'unlimited' as well, which is held as None.
    if isinstance(value, dict):
        # Empty tables are left out, too.
        kept = {
            key: _without_none(inner) for key, inner in value.items() if inner not in (None, {})
        }
        return {"kind": kept.pop("kind"), **kept} if "kind" in kept else kept
    return [_without_none(inner) for inner in value] if isinstance(value, list) else value


def refuse(allowed: str) -> PydanticCustomError:
    """Make the error that a validator raises; ``allowed`` says what can stand there."""
    return PydanticCustomError("allowed", "{allowed}", {"allowed": allowed})


def refuse_at(path: str, given: object, allowed: str) -> PydanticCustomError:
    """Make that of a check of several fields: it names the one to blame, relative to the table."""
    context = {"path": path, "given": str(given), "allowed": allowed}
    return PydanticCustomError("allowed", "{allowed}", context)


def refuse_all(errors: tuple[InputError, ...]) -> PydanticCustomError:
    """Make one of several errors, with paths relative to the table."""
    return PydanticCustomError("misfits", "does not fit together", {"errors": errors})


def too_deep(path: str) -> InputError:
    """Make the error for lists or tables that lie deeper inside each other than Python goes."""
    return InputError(path, "lists or tables hundreds of levels deep", "a scenario: a few levels")


@dataclass(frozen=True)
class Whole:
    """The type of a field that holds a whole number; stands in an ``Annotated``.

    Attributes
    ----------
    minimum, maximum : int
        Both allowed.
    even : bool
        Whether odd numbers are refused.
    word : str or None
        A word that may stand in place of a number and is held as None.
    names : tuple of str
        More words that may stand there; they are held as they are.
    """

    minimum: int
    maximum: int = LARGEST_COUNT
    even: bool = False
    word: str | None = None
    names: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What can be written, for errors and the documentation."""
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
        """Write a value as it stands in a file."""
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
    """Lets the bare name of a kind stand for its table; in an ``Annotated`` with the tables."""

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
    """Whether the bare name of a kind may stand in a field for its table."""
    alone = get_origin(field.annotation) is not tuple
    # As in `Queueing | None`.
    parts = get_args(field.annotation) if alone else ()
    inner = (getattr(part, "__metadata__", ()) for part in parts)
    return any(isinstance(marker, Named) for marker in chain(field.metadata, *inner))


@dataclass(frozen=True)
class Bare:
    """Lets a bare quantity stand for the table of `kind` that has it as `key`, as `Named` does."""

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
    """The type of a field that holds a number without a unit; stands in an ``Annotated``.

    Attributes
    ----------
    minimum, maximum : float
        The limits; NaN and the infinities are always refused.
    inclusive : bool
        Whether the limits themselves are allowed.
    """

    minimum: float = -math.inf
    maximum: float = math.inf
    inclusive: bool = True

    @property
    def allowed(self) -> str:
        """What can be written, for errors and the documentation."""
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
        return float(value) + 0.0  # no -0.0, which is refused elsewhere

    def _fits(self, value: float) -> bool:
        if not abs(value) <= sys.float_info.max:  # also a whole number too large for a float
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
    """The type of a field that names a file to read; stands in an ``Annotated``.

    A relative name is relative to the directory of the scenario file (``context["directory"]``);
    in Python, to the working directory.
    """

    allowed: str = "the name of a file that can be read"

    def _validate(self, value: object, info: core_schema.ValidationInfo) -> Path:
        # What is written down of a scenario is UTF-8.
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
    """The type of a field that holds a name; stands in an ``Annotated``.

    Attributes
    ----------
    minimum : int
        Characters, at the least.
    """

    minimum: int = 1

    @property
    def allowed(self) -> str:
        """What can be written, for errors and the documentation."""
        return f"text of {self.minimum} to {LONGEST_NAME} printable characters"

    def _validate(self, value: object) -> str:
        if not isinstance(value, str) or not self.fits(value):
            raise refuse(self.allowed)
        return str(value)

    def fits(self, text: str) -> bool:
        """Whether a text can be such a name."""
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
    """Tables by name; a value that can be hashed, as all of a scenario."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


DataFile = Annotated[Path, InputFile()]
# Only true and false: pydantic would also read 1 and 'yes'.
Flag = Annotated[bool, Strict()]
