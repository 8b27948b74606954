"""Building blocks of a scenario's fields: sections, and numbers with their limits.

Each number stores its limits and their wording, so that an error, the reference page and the JSON
schema agree.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import (
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lightburst.foundation.errors import InputError, did_you_mean, number_meant, show
from lightburst.foundation.units import Quantity
from lightburst.scenario.reading.files import obstacle

# Flows, hosts and switches are counted in 32 bits by the simulator.
LARGEST_COUNT = 2**31
# Length limit of the name of a node, a link or a scenario, in characters.
LONGEST_NAME = 200


class OnlyIfAsked:
    """Marker of a field that is in the digest of a scenario only if it is not at its default."""


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


class Validated:
    """Marker for ``Annotated`` whose `_validate` returns the value of a field, or refuses it."""

    def _validate(self, value: object) -> object:
        raise NotImplementedError

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)


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
class FlagOr(Validated):
    """Type of a field that is true, false or a word, for use in ``Annotated``.

    Attributes
    ----------
    word : str
        The word, stored as it is.
    """

    word: str

    @property
    def allowed(self) -> str:
        """Description of the allowed values, for errors and the documentation."""
        return f"true, false or '{self.word}'"

    def _validate(self, value: object) -> bool | str:
        if isinstance(value, bool) or value == self.word:
            return value
        near = did_you_mean(value, [self.word]) if isinstance(value, str) else ""
        raise refuse(self.allowed + near)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "boolean"}, {"const": self.word}]}


@dataclass(frozen=True)
class Lists:
    """Describe lists of lists, as a whole; for use in ``Annotated``.

    Attributes
    ----------
    allowed : str
        All levels of the lists, in words.
    """

    allowed: str


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


_Found = TypeVar("_Found")


def once(of_field: Callable[[FieldInfo], _Found]) -> Callable[[FieldInfo], _Found]:
    """Call a function once for each field, by identity; fields of classes do not change."""
    # With the field, because the identity of a field that is gone may be another's.
    known: dict[int, tuple[FieldInfo, _Found]] = {}

    @wraps(of_field)
    def found(field: FieldInfo) -> _Found:
        entry = known.get(id(field))
        if entry is None:
            entry = known[id(field)] = field, of_field(field)
        return entry[1]

    return found


@once
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
class Real(Validated):
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
class Name(Validated):
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
# Keys of the fields of this type.
FILE_KEYS = frozenset({"file", "demands_file"})
# True and false only: pydantic would also accept 1 and 'yes'.
Flag = Annotated[bool, Strict()]
