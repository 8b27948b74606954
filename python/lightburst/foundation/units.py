"""Quantities with units, read strictly and exactly from text; numbers from Python.

A quantity is a number, at most one space, and a unit of its dimension's list; case matters, because
``Mb`` is not ``mb``. Numbers are read as decimals, so that ``0.1 ms`` is exactly 100,000,000 ps.
Invalid text is an error that states the allowed units. Libraries for units do not serve here,
because they read units of networks wrongly without an error (pint takes '10 Gb/s' for gilberts per
second).

A number from Python is in the SI unit. A number from text without a unit (`BareInt`, `BareFloat`)
is refused.

======================  ==================  ==========================  ====================
type                    held as             written as                  a number from Python
======================  ==================  ==========================  ====================
`Duration`              int, picoseconds    ``5 ms``                    seconds
`Size`                  int, bytes          ``9 kB``, ``16 MiB``        bytes
`Rate`                  int, bits a second  ``10 Gb/s``                 bits a second
`Length`                float, metres       ``10 m``                    metres
`Frequency`             float, 1/s          ``1e7 /s``                  per second
`DelayPerLength`        float, ps/m         ``5 ns/m``                  seconds a metre
`EnergyPerBit`          float, joules/bit   ``1 pJ/b``                  joules a bit
======================  ==================  ==========================  ====================
"""

import difflib
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lightburst.foundation.errors import InputError, did_you_mean, number_meant, show

PICOSECONDS_PER_SECOND = 10**12
BITS_PER_BYTE = 8

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_TEXT = re.compile(rf"({_NUMBER}) ?(\S*)", re.ASCII)
_ALONE = re.compile(_NUMBER, re.ASCII)
# Largest power of ten: a larger number is a typing error, and slow to write in full. Most digits of
# an exponent: `Decimal` cannot hold longer ones.
_LARGEST_EXPONENT = 40
_LONGEST_EXPONENT = 9
# Most bits of an integer, about three thousand digits, far beyond the limit of any field.
_MOST_BITS = 10_000
_MOST_ITEMS = 100_000
# Tolerance for rounding errors of a computed float such as 0.1 + 0.2, in units in the last place.
_ROUNDINGS = 4


def parse_number(text: str) -> float | None:
    """Read a number without a unit from a file or an option, in ASCII digits.

    Infinite if too large for a float; None if the text is no number. Python's `float` would also
    accept ``1_000``, ``nan``, and digits of other scripts.
    """
    return float(text) if _ALONE.fullmatch(text := text.strip()) else None


class BareInt(int):
    """An integer from text: it has no unit, and is not in the SI unit."""


class BareFloat(float):
    """A float from text: it has no unit, and is not in the SI unit."""


class Picoseconds(int):
    """A duration in picoseconds; a field accepts it unchanged, while a plain int means seconds."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # The JSON schema needs it for the defaults of fields.
        return core_schema.int_schema()


_NOT_SI = bool | BareInt | BareFloat | Picoseconds


def as_python(value: Any) -> Any:
    """Convert values of NumPy and pandas to numbers, bools, texts, lists or dictionaries of Python.

    Parameters
    ----------
    value : object
        The value from the user.

    Returns
    -------
    object
        The converted value. A narrow float becomes the decimal that it prints, so that
        ``np.float32(0.1)`` is 0.1. An integer with more digits than Python converts to text becomes
        infinite. Other types, and a `range` of very many numbers, are returned unchanged.
    """
    if type(value) is dict:
        return {key: as_python(inner) for key, inner in value.items()}
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return -math.inf if value < 0 else math.inf
    if isinstance(value, range) and value[_MOST_ITEMS:]:  # len overflows for very long ranges
        return value
    if isinstance(value, list | tuple | range):
        items = [as_python(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    # By attributes rather than types, because importing NumPy takes long.
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None:
        return value
    if value.ndim:
        return [as_python(item) for item in value]
    if kind == "f":
        return float(str(value))
    return value.item() if kind in "biuU" else value


def whole_number(path: str, given: Any, most: int, allowed: str) -> int:
    """Return a whole number as Python's `int`; `InputError` unless it is from 0 to ``most``."""

    def fits(value: float) -> bool:
        return 0 <= value <= most and value % 1 == 0

    number = as_python(given)
    if isinstance(number, bool) or not isinstance(number, int) or not fits(number):
        raise InputError(path, show(given), allowed + number_meant(number, fits))
    return int(number)


@dataclass(frozen=True, eq=False)
class Dimension:
    """A kind of quantity: its units and its internal representation.

    Attributes
    ----------
    name : str
        Name with its article: ``a duration``.
    units : mapping of str to Decimal
        Each allowed unit with its size in the internal unit, in ascending order.
    si : Decimal
        Size of the SI unit in the internal unit.
    suffix : str
        Suffix of the names of numbers in the SI unit: ``bps``.
    whole : bool
        Whether values are exact integers (otherwise floats).
    example : str
        A value as text.
    largest : str
        The largest value allowed, as text.
    written : tuple of str
        The units of formatted values, the preferred one first.
    """

    name: str
    units: MappingProxyType[str, Decimal]
    si: Decimal
    suffix: str
    whole: bool
    example: str
    largest: str
    written: tuple[str, ...]


def _dimension(
    name: str,
    units: dict[str, str],
    *,
    suffix: str,
    whole: bool,
    example: str,
    largest: str,
    written: str | None = None,
    si: str = "1",
) -> Dimension:
    exact = MappingProxyType({unit: Decimal(factor) for unit, factor in units.items()})
    preferred = tuple((written or " ".join(units)).split())
    return Dimension(name, exact, Decimal(si), suffix, whole, example, largest, preferred)


# The simulator's clock ends at 2**64 ps, about 213 days; a limit of 46 days leaves room for sums.
TIME = _dimension(
    "a duration",
    {"ps": "1", "ns": "1e3", "us": "1e6", "µs": "1e6", "ms": "1e9", "s": "1e12"}
    | {"min": "60e12", "h": "3600e12"},
    suffix="s",
    si="1e12",
    whole=True,
    example="5 ms",
    largest="4000000 s",
    written="s ms us ns ps",
)
SIZE = _dimension(
    "a size",
    {"B": "1", "kB": "1e3", "KiB": "1024", "MB": "1e6", "MiB": str(2**20)}
    | {"GB": "1e9", "GiB": str(2**30), "TB": "1e12", "TiB": str(2**40)},
    suffix="bytes",
    whole=True,
    example="9 kB",
    largest="1000 TB",
)
RATE = _dimension(
    "a rate",
    {"b/s": "1", "kb/s": "1e3", "Mb/s": "1e6", "Gb/s": "1e9", "Tb/s": "1e12"},
    suffix="bps",
    whole=True,
    example="10 Gb/s",
    largest="1000 Tb/s",
)
LENGTH = _dimension(
    "a length",
    {"mm": "1e-3", "cm": "1e-2", "m": "1", "km": "1e3"},
    suffix="m",
    whole=False,
    example="10 m",
    largest="1e6 km",
    written="m km",
)
FREQUENCY = _dimension(
    "a frequency",
    {"/s": "1", "/ms": "1e3", "/us": "1e6"},
    suffix="per_s",
    whole=False,
    example="1e7 /s",
    largest="1e15 /s",
    written="/s",
)
DELAY_PER_LENGTH = _dimension(
    "a delay per length",
    {"ps/m": "1", "ns/m": "1e3", "us/km": "1e3", "µs/km": "1e3"},
    suffix="s_per_m",
    si="1e12",
    whole=False,
    example="5 ns/m",
    largest="1000 ns/m",
    written="ns/m",
)
ENERGY_PER_BIT = _dimension(
    "an energy per bit",
    {"fJ/b": "1e-15", "pJ/b": "1e-12", "nJ/b": "1e-9", "uJ/b": "1e-6", "mJ/b": "1e-3", "J/b": "1"},
    suffix="j_per_bit",
    whole=False,
    example="1 pJ/b",
    largest="1 J/b",
    written="J/b mJ/b uJ/b nJ/b pJ/b fJ/b",
)

# Other spellings of units, for suggestions in errors only; they are never accepted.
_ELSEWHERE = (
    *(("bps", "b/s"), ("bit", "b"), ("byte", "B"), ("second", "s"), ("sec", "s"), ("Hz", "/s")),
    *(("meter", "m"), ("metre", "m")),
)


def _suggestion(number: str, unit: str, dimension: Dimension) -> str:
    """Return `` (did you mean '10 Gb/s'?)`` if a known unit is near, else an empty text."""
    known = {name.casefold(): name for name in dimension.units}
    wanted = [unit.casefold()]
    for theirs, ours in _ELSEWHERE:
        wanted.append(unit.replace(theirs, ours).removesuffix("s").casefold())
        wanted.append(unit.replace(theirs, ours).casefold())
    exact = [known[text] for text in wanted if text in known]
    begun = [name for name in dimension.units if unit and name.startswith(unit)]
    near = exact or begun
    near = near or [known[m] for m in difflib.get_close_matches(unit.casefold(), known, 1)]
    return f" (did you mean '{number} {near[0]}'?)" if near and unit else ""


@dataclass(frozen=True)
class Quantity:
    """The type of a field with a quantity, for use in ``Annotated``.

    Attributes
    ----------
    dimension : Dimension
        Dimension of the quantity.
    positive : bool
        Whether zero is refused; negative values always are.
    word : str or None
        Word allowed in place of a quantity, which becomes None (``unlimited``).
    largest : str or None
        The largest value allowed, as text, if it is less than that of the dimension.
    """

    dimension: Dimension
    positive: bool = False
    word: str | None = None
    largest: str | None = None

    @property
    def allowed(self) -> str:
        """The allowed values in words, for errors and the documentation."""
        dimension = self.dimension
        sign = "greater than zero" if self.positive else "zero or more"
        # The two spellings of micro are one unit; naming both would only lengthen the message.
        units = ", ".join(unit for unit in dimension.units if not unit.startswith("µ"))
        text = f"{dimension.name}, {sign}, such as '{dimension.example}', in one of {units}"
        return f"{text}, or '{self.word}'" if self.word else text

    def parse(self, given: object) -> int | float | None:
        """Read a quantity.

        Parameters
        ----------
        given : object
            Text, or a number in the SI unit.

        Returns
        -------
        int, float or None
            The value in the internal unit of the dimension; None for the word.

        Raises
        ------
        ValueError
            If the value is not allowed; the message states the allowed values.
        """
        # None, the internal value of the word, is accepted like `Picoseconds`.
        if self.word is not None and (given is None or given == self.word):
            return None
        dimension = self.dimension
        value, unit = self._number_and_unit(given)
        # A number too small for a float is zero.
        if value < 0 or (self.positive and float(value) == 0):
            raise ValueError(self.allowed)
        limit = self.largest or dimension.largest
        largest, largest_unit = limit.split(" ")
        if value.adjusted() > _LARGEST_EXPONENT:
            raise ValueError(f"{self.allowed}, up to {limit}")
        held = value * unit
        if held > Decimal(largest) * dimension.units[largest_unit]:
            raise ValueError(f"{self.allowed}, up to {limit}")
        if not dimension.whole:
            return float(held) + 0.0  # no -0.0
        nearest = held.to_integral_value()
        noise = _ROUNDINGS * Decimal(math.ulp(given)) * unit if isinstance(given, float) else 0
        if abs(held - nearest) > noise or (self.positive and not nearest):
            smallest = next(iter(dimension.units))
            hint = f" (did you mean '{nearest:f} {smallest}'?)" if nearest else ""
            raise ValueError(f"{dimension.name} of a whole number of {smallest}{hint}")
        return Picoseconds(nearest) if dimension is TIME else int(nearest)

    def _number_and_unit(self, given: object) -> tuple[Decimal, Decimal]:
        """Split a value into number and unit; the unit as its size in the internal unit."""
        dimension = self.dimension
        if isinstance(given, Picoseconds) and dimension is TIME:
            return Decimal(given), Decimal(1)
        if isinstance(given, int | float) and not isinstance(given, _NOT_SI):
            if isinstance(given, float) and not math.isfinite(given):
                raise ValueError(self.allowed)
            # The shortest decimal of the float: 1e-6 is then exactly one microsecond.
            exact = Decimal(repr(float(given)) if isinstance(given, float) else given)
            return exact, dimension.si
        match = _TEXT.fullmatch(given) if isinstance(given, str) else None
        if match is None:
            raise ValueError(self.allowed + did_you_mean(given, (self.word,) if self.word else ()))
        number, unit = match.groups()
        if unit not in dimension.units:
            raise ValueError(self.allowed + _suggestion(number, unit, dimension))
        exponent = number.lower().partition("e")[2].lstrip("+-0")
        if len(exponent) > _LONGEST_EXPONENT:
            raise ValueError(f"{self.allowed}, with an exponent of fewer digits")
        return Decimal(number), dimension.units[unit]

    def in_si(self, held: float | None) -> float:
        """Return an internal value in the SI unit; NaN for the word."""
        return math.nan if held is None else float(Decimal(repr(held)) / self.dimension.si)

    def format(self, value: float | None) -> str | None:
        """Format a quantity exactly, in the unit with the shortest number not below one."""
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
        zero = r"-(?:0+\.?0*|\.0+)(?:[eE][+-]?\d+)?"
        pattern = rf"^(?:{number}|{zero}) ?(?:{units})$"
        if self.word is not None:
            pattern = rf"{pattern}|^{self.word}$"
        return {"type": "string", "pattern": pattern, "examples": [self.dimension.example]}


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _short(number: Decimal) -> str:
    """Format a number in plain digits, or with an exponent if that is much shorter."""
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
    assert value is not None  # only a word is read as None, and these quantities have no word
    return value


def parse_duration(text: str, path: str = "duration") -> int:
    """Read a duration, in picoseconds; `InputError` at ``path`` if it is invalid."""
    return Picoseconds(_parse(Quantity(TIME), text, path))


def parse_size(text: str, path: str = "size") -> int:
    """Read a size, in bytes; `InputError` at ``path`` if it is invalid."""
    return int(_parse(Quantity(SIZE), text, path))


def parse_rate(text: str, path: str = "rate") -> int:
    """Read a rate above zero, in bits per second; `InputError` at ``path`` if it is invalid."""
    return int(_parse(Quantity(RATE, positive=True), text, path))


def parse_length(text: str, path: str = "length") -> float:
    """Read a length, in metres; `InputError` at ``path`` if it is invalid."""
    return _parse(Quantity(LENGTH), text, path)


def parse_frequency(text: str, path: str = "frequency") -> float:
    """Read a frequency above zero, in 1/s; `InputError` at ``path`` if it is invalid."""
    return _parse(Quantity(FREQUENCY, positive=True), text, path)


def format_duration(picoseconds: int) -> str:
    """Format a duration given in picoseconds."""
    return str(Quantity(TIME).format(picoseconds))


def format_about(picoseconds: int) -> str:
    """Format a duration with four digits, for messages: ``39.41 ms``."""
    return format_duration(round(picoseconds, 4 - len(str(picoseconds))))


def format_size(size: int) -> str:
    """Format a size given in bytes."""
    return str(Quantity(SIZE).format(size))


def format_rate(rate: int) -> str:
    """Format a rate given in bits per second."""
    return str(Quantity(RATE).format(rate))


def format_length(length: float) -> str:
    """Format a length given in metres."""
    return str(Quantity(LENGTH).format(length))


def format_frequency(frequency: float) -> str:
    """Format a frequency given in 1/s."""
    return str(Quantity(FREQUENCY).format(frequency))
