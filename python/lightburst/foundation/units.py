"""Quantities with units, as text that people write, read strictly and exactly; numbers from Python.

One white list for each dimension; a number, at most one space, a unit; the case counts, because
``Mb`` is not ``mb``. Numbers are read as decimals, so that ``0.1 ms`` is 100,000,000 ps and not a
little more. What cannot be read is an error that says what can: unit libraries read network units
wrongly without one (pint takes '10 Gb/s' for gilberts a second).

A number that Python hands over is in the SI unit. One that was read from text has no unit, because
nobody wrote one (`BareInt`, `BareFloat`), and is refused.

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
# Beyond this power of ten a number is a typing error, and would be slow to write out in full; what
# has more digits than this in its exponent cannot be held at all.
_LARGEST_EXPONENT = 40
_LONGEST_EXPONENT = 9
# About three thousand digits; no limit of a field is near.
_MOST_BITS = 10_000
_MOST_ITEMS = 100_000
# A few roundings lie behind a float such as 0.1 + 0.2; how far they can carry it, in units of its
# last place.
_ROUNDINGS = 4


def parse_number(text: str) -> float | None:
    """Read a number that stands alone in a file or an option, in ASCII digits.

    Infinite if it is too large; None if it is no number. Python's own `float` would also take
    ``1_000``, ``nan``, and the digits of other scripts.
    """
    return float(text) if _ALONE.fullmatch(text := text.strip()) else None


class BareInt(int):
    """A whole number that was read from text: not of the SI unit, but without one."""


class BareFloat(float):
    """A number with a fraction that was read from text."""


class Picoseconds(int):
    """A duration as it is held; given to a field again it stays what it is, and is no seconds."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Asked for when one is the default of a field and the JSON schema is written.
        return core_schema.int_schema()


_NOT_SI = bool | BareInt | BareFloat | Picoseconds


def as_python(value: Any) -> Any:
    """Give Python's own number, bool, text, list or dictionary for one with NumPy's or pandas's.

    Parameters
    ----------
    value : object
        What the user gave.

    Returns
    -------
    object
        A float of few bits is the decimal that it prints, so that ``np.float32(0.1)`` is 0.1. A
        whole number of more digits than Python writes is infinite. What is none of these comes back
        as it is, and so does a `range` of more numbers than anybody writes down.
    """
    if type(value) is dict:
        return {key: as_python(inner) for key, inner in value.items()}
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return -math.inf if value < 0 else math.inf
    if isinstance(value, range) and value[_MOST_ITEMS:]:  # it may be longer than len can say
        return value
    if isinstance(value, list | tuple | range):
        items = [as_python(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    # NumPy takes long to import, and need not be to ask for these.
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None:
        return value
    if value.ndim:
        return [as_python(item) for item in value]
    if kind == "f":
        return float(str(value))
    return value.item() if kind in "biuU" else value


def whole_number(path: str, given: Any, most: int, allowed: str) -> int:
    """Give a whole number as Python's own; `InputError` if it is none from 0 to ``most``."""

    def fits(value: float) -> bool:
        return 0 <= value <= most and value % 1 == 0

    number = as_python(given)
    if isinstance(number, bool) or not isinstance(number, int) or not fits(number):
        raise InputError(path, show(given), allowed + number_meant(number, fits))
    return int(number)


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
    si : Decimal
        The SI unit, in the unit that the value is held in.
    suffix : str
        What a name ends in that stands for a number in the SI unit: ``bps``.
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


# The clock of the simulator ends at 2**64 ps, about 213 days; 46 days leave room for sums.
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

# How people write the same elsewhere; used only to suggest, never to read.
_ELSEWHERE = (
    *(("bps", "b/s"), ("bit", "b"), ("byte", "B"), ("second", "s"), ("sec", "s"), ("Hz", "/s")),
    *(("meter", "m"), ("metre", "m")),
)


def _suggestion(number: str, unit: str, dimension: Dimension) -> str:
    """``; did you mean '10 Gb/s'?`` if some unit is near, else nothing."""
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

    def parse(self, given: object) -> int | float | None:
        """Read a quantity.

        Parameters
        ----------
        given : object
            What the user gave: text, or a number in the SI unit.

        Returns
        -------
        int, float or None
            In the unit that the dimension is held in; None for the word.

        Raises
        ------
        ValueError
            With what is allowed as its message.
        """
        # What is held for the word, None, may be given again, as a held duration may.
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
        """Take apart what was given; the unit as a multiple of the one that values are held in."""
        dimension = self.dimension
        if isinstance(given, Picoseconds) and dimension is TIME:
            return Decimal(given), Decimal(1)
        if isinstance(given, int | float) and not isinstance(given, _NOT_SI):
            if isinstance(given, float) and not math.isfinite(given):
                raise ValueError(self.allowed)
            # The shortest decimal that is this float: 1e-6 is one microsecond and not nearly one.
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
        """Give a held value in the SI unit; NaN for the word."""
        return math.nan if held is None else float(Decimal(repr(held)) / self.dimension.si)

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
        zero = r"-(?:0+\.?0*|\.0+)(?:[eE][+-]?\d+)?"
        pattern = rf"^(?:{number}|{zero}) ?(?:{units})$"
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
    return Picoseconds(_parse(Quantity(TIME), text, path))


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


def format_about(picoseconds: int) -> str:
    """Write a duration with four digits, for people: ``39.41 ms``."""
    return format_duration(round(picoseconds, 4 - len(str(picoseconds))))


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
