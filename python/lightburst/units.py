"""Quantities with units, as text that people write, read strictly and exactly.

One white list for each dimension; a number, at most one space, a unit; the case counts, because
``Mb`` is not ``mb``. Numbers are read as decimals, so that ``0.1 ms`` is 100,000,000 ps and not a
little more. What cannot be read is an error that says what can: unit libraries read network units
wrongly without one (pint takes '10 Gb/s' for gilberts a second).

======================  ==================  ==========================
type                    held as             written as
======================  ==================  ==========================
`Duration`              int, picoseconds    ``5 ms``
`Size`                  int, bytes          ``9 kB``, ``16 MiB``
`Rate`                  int, bits a second  ``10 Gb/s``
`Length`                float, metres       ``10 m``
`Frequency`             float, 1/s          ``1e7 /s``
`DelayPerLength`        float, ps/m         ``5 ns/m``
`EnergyPerBit`          float, joules/bit   ``1 pJ/b``
======================  ==================  ==========================
"""

import difflib
import re
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lightburst.errors import InputError, show

PICOSECONDS_PER_SECOND = 10**12
BITS_PER_BYTE = 8

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_TEXT = re.compile(rf"({_NUMBER}) ?(\S*)", re.ASCII)
# Beyond this power of ten a number is a typing error, and would be slow to write out in full.
_LARGEST_EXPONENT = 40


@dataclass(frozen=True, eq=False)
class Dimension:
    """A kind of quantity: its units and what it is held as.

    Attributes
    ----------
    name : str
        With its article: ``a duration``.
    units : mapping of str to Decimal
        Each unit that may be written and its size in the unit that the value is held in; from
        small to large.
    whole : bool
        Held as an exact whole number (else as a float).
    example : str
        One value as text.
    largest : str
        The largest value allowed, as text.
    written : tuple of str
        The units that values are written in, the preferred one first.
    """

    name: str
    units: MappingProxyType[str, Decimal]
    whole: bool
    example: str
    largest: str
    written: tuple[str, ...]


def _dimension(
    name: str,
    units: dict[str, str],
    *,
    whole: bool,
    example: str,
    largest: str,
    written: str | None = None,
) -> Dimension:
    exact = MappingProxyType({unit: Decimal(factor) for unit, factor in units.items()})
    return Dimension(
        name, exact, whole, example, largest, tuple((written or " ".join(units)).split())
    )


# The clock of the simulator ends at 2**64 ps, about 213 days; 46 days leave room for sums.
TIME = _dimension(
    "a duration",
    {"ps": "1", "ns": "1e3", "us": "1e6", "µs": "1e6", "ms": "1e9", "s": "1e12"}
    | {"min": "60e12", "h": "3600e12"},
    whole=True,
    example="5 ms",
    largest="4000000 s",
    written="s ms us ns ps",
)
SIZE = _dimension(
    "a size",
    {"B": "1", "kB": "1e3", "KiB": "1024", "MB": "1e6", "MiB": str(2**20)}
    | {"GB": "1e9", "GiB": str(2**30), "TB": "1e12", "TiB": str(2**40)},
    whole=True,
    example="9 kB",
    largest="1000 TB",
)
RATE = _dimension(
    "a rate",
    {"b/s": "1", "kb/s": "1e3", "Mb/s": "1e6", "Gb/s": "1e9", "Tb/s": "1e12"},
    whole=True,
    example="10 Gb/s",
    largest="1000 Tb/s",
)
LENGTH = _dimension(
    "a length",
    {"mm": "1e-3", "cm": "1e-2", "m": "1", "km": "1e3"},
    whole=False,
    example="10 m",
    largest="1e6 km",
    written="m km",
)
FREQUENCY = _dimension(
    "a frequency",
    {"/s": "1", "/ms": "1e3", "/us": "1e6"},
    whole=False,
    example="1e7 /s",
    largest="1e15 /s",
    written="/s",
)
DELAY_PER_LENGTH = _dimension(
    "a delay per length",
    {"ps/m": "1", "ns/m": "1e3", "us/km": "1e3", "µs/km": "1e3"},
    whole=False,
    example="5 ns/m",
    largest="1000 ns/m",
    written="ns/m",
)
ENERGY_PER_BIT = _dimension(
    "an energy per bit",
    {"fJ/b": "1e-15", "pJ/b": "1e-12", "nJ/b": "1e-9", "uJ/b": "1e-6", "mJ/b": "1e-3", "J/b": "1"},
    whole=False,
    example="1 pJ/b",
    largest="1 J/b",
    written="J/b mJ/b uJ/b nJ/b pJ/b fJ/b",
)

# How people write the same elsewhere; used only to suggest, never to read.
_ELSEWHERE = (("bps", "b/s"), ("bit", "b"), ("byte", "B"), ("sec", "s"), ("Hz", "/s"))


def _suggestion(number: str, unit: str, dimension: Dimension) -> str:
    """``; did you mean '10 Gb/s'?`` if some unit is near, else nothing."""
    known = {name.casefold(): name for name in dimension.units}
    wanted = [unit.casefold()]
    for theirs, ours in _ELSEWHERE:
        wanted.append(unit.replace(theirs, ours).rstrip("s").casefold())
        wanted.append(unit.replace(theirs, ours).casefold())
    exact = [known[text] for text in wanted if text in known]
    near = exact or [known[m] for m in difflib.get_close_matches(unit.casefold(), known, 1)]
    return f" (did you mean '{number} {near[0]}'?)" if near and unit else ""


@dataclass(frozen=True)
class Quantity:
    """The type of a field that holds a quantity; stands in an ``Annotated``.

    Attributes
    ----------
    dimension : Dimension
        What is measured.
    positive : bool
        Whether zero is refused. Negative values always are.
    word : str or None
        A word that may stand in place of a quantity and is held as None (``unlimited``).
    largest : str or None
        The largest value allowed, if it is less than that of the dimension, as text.
    """

    dimension: Dimension
    positive: bool = False
    word: str | None = None
    largest: str | None = None

    @property
    def allowed(self) -> str:
        """What can be written, for errors and the documentation."""
        dimension = self.dimension
        sign = "greater than zero" if self.positive else "zero or more"
        # The two spellings of micro are one unit; naming both would only lengthen the message.
        units = ", ".join(unit for unit in dimension.units if not unit.startswith("µ"))
        text = f"{dimension.name}, {sign}, such as '{dimension.example}', in one of {units}"
        return f"{text}, or '{self.word}'" if self.word else text

    def parse(self, text: object) -> int | float | None:
        """Read a quantity.

        Parameters
        ----------
        text : object
            What the user gave. Only text can be read: a bare number has no unit.

        Returns
        -------
        int, float or None
            In the unit that the dimension is held in; None for the word.

        Raises
        ------
        ValueError
            With what is allowed as its message.
        """
        if self.word is not None and text == self.word:
            return None
        dimension = self.dimension
        match = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(self.allowed)
        number, unit = match.groups()
        if unit not in dimension.units:
            raise ValueError(self.allowed + _suggestion(number, unit, dimension))
        value = Decimal(number)
        # A number too small for a float is zero.
        if value < 0 or (self.positive and float(value) == 0):
            raise ValueError(self.allowed)
        limit = self.largest or dimension.largest
        largest, largest_unit = limit.split(" ")
        if value.adjusted() > _LARGEST_EXPONENT:
            raise ValueError(f"{self.allowed}, up to {limit}")
        held = value * dimension.units[unit]
        if held > Decimal(largest) * dimension.units[largest_unit]:
            raise ValueError(f"{self.allowed}, up to {limit}")
        if not dimension.whole:
            return float(held)
        if held != held.to_integral_value():
            smallest = next(iter(dimension.units))
            raise ValueError(f"{dimension.name} of a whole number of {smallest}")
        return int(held)

    def format(self, value: float | None) -> str | None:
        """Write a quantity: the shortest number of one or more, exactly as it is read back."""
        if value is None:
            return self.word
        exact = Decimal(repr(value))
        numbers = [(exact / self.dimension.units[unit], unit) for unit in self.dimension.written]
        number, unit = min(numbers, key=lambda pair: (pair[0] < 1, len(_plain(pair[0])), pair[0]))
        return f"{_short(number)} {unit}"

    def _validate(self, value: object) -> int | float | None:
        try:
            return self.parse(value)
        except ValueError as error:
            raise PydanticCustomError("allowed", "{allowed}", {"allowed": str(error)}) from None

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
        units = "|".join(re.escape(unit) for unit in self.dimension.units)
        number = _NUMBER.replace("[+-]?", r"\+?", 1)
        pattern = rf"^{number} ?(?:{units})$"
        if self.word is not None:
            pattern = rf"{pattern}|^{self.word}$"
        return {"type": "string", "pattern": pattern, "examples": [self.dimension.example]}


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _short(number: Decimal) -> str:
    """Plain digits, or the exponent form where that is much shorter."""
    plain = _plain(number)
    exponent = str(f"{number.normalize():e}").replace("e+", "e").replace(".e", "e")
    return exponent if len(plain) > len(exponent) + 3 else plain


Duration = Annotated[int, Quantity(TIME)]
PositiveDuration = Annotated[int, Quantity(TIME, positive=True)]
Size = Annotated[int, Quantity(SIZE)]
PositiveSize = Annotated[int, Quantity(SIZE, positive=True)]
Rate = Annotated[int, Quantity(RATE, positive=True)]
Length = Annotated[float, Quantity(LENGTH)]
Frequency = Annotated[float, Quantity(FREQUENCY, positive=True)]
DelayPerLength = Annotated[float, Quantity(DELAY_PER_LENGTH)]
EnergyPerBit = Annotated[float, Quantity(ENERGY_PER_BIT)]


def _parse(quantity: Quantity, text: str, path: str) -> int | float:
    try:
        value = quantity.parse(text)
    except ValueError as error:
        raise InputError(path, show(text), str(error)) from None
    assert value is not None  # only a word reads as None, and these quantities have none
    return value


def parse_duration(text: str, path: str = "duration") -> int:
    """Read a duration, in picoseconds; `InputError` at ``path`` if it is not one."""
    return int(_parse(Quantity(TIME), text, path))


def parse_size(text: str, path: str = "size") -> int:
    """Read a size, in bytes; `InputError` at ``path`` if it is not one."""
    return int(_parse(Quantity(SIZE), text, path))


def parse_rate(text: str, path: str = "rate") -> int:
    """Read a rate, in bits a second, more than zero; `InputError` at ``path`` if it is not one."""
    return int(_parse(Quantity(RATE, positive=True), text, path))


def parse_length(text: str, path: str = "length") -> float:
    """Read a length, in metres; `InputError` at ``path`` if it is not one."""
    return _parse(Quantity(LENGTH), text, path)


def parse_frequency(text: str, path: str = "frequency") -> float:
    """Read a frequency, in 1/s, more than zero; `InputError` at ``path`` if it is not one."""
    return _parse(Quantity(FREQUENCY, positive=True), text, path)


def format_duration(picoseconds: int) -> str:
    """Write a duration given in picoseconds."""
    return str(Quantity(TIME).format(picoseconds))


def format_size(size: int) -> str:
    """Write a size given in bytes."""
    return str(Quantity(SIZE).format(size))


def format_rate(rate: int) -> str:
    """Write a rate given in bits a second."""
    return str(Quantity(RATE).format(rate))


def format_length(length: float) -> str:
    """Write a length given in metres."""
    return str(Quantity(LENGTH).format(length))


def format_frequency(frequency: float) -> str:
    """Write a frequency given in 1/s."""
    return str(Quantity(FREQUENCY).format(frequency))
