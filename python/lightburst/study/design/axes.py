"""The values on the axes of a sweep: lists, linear ranges and logarithmic ranges.

The ends of a range are written like values of the field, with units. The values of a range are
returned in the same form, rounded for readability: to 12 significant digits on a linear scale, to 6
on a logarithmic scale.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from pydantic.fields import FieldInfo

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.units import Quantity, as_python
from lightburst.scenario.fields import Bare, Real, Whole
from lightburst.scenario.reading.messages import markers

Ruler = Quantity | Whole | Real

#: The keys of a range.
RANGE_KEYS: Final = ("from", "to", "step", "number", "scale")
_RANGE: Final = "{ from = 0.2, to = 0.8, step = 0.2 }"
_ALLOWED: Final = f"a list of values, as [0.2, 0.4], or a range, as {_RANGE}"
# Axes of more values than this are evaluated lazily, because the user must first confirm so many
# runs; axes of more values than _MOST_VALUES are refused.
_MOST_WRITTEN: Final = 100_000
_MOST_VALUES: Final = 10**12
# Most values of an axis that are listed one by one.
_MOST_LISTED: Final = 1_000_000
_DIGITS: Final = {"linear": 12, "log": 6}
# Tolerance for rounding errors, in steps, when the last step should meet the end of a range.
_NEARLY: Final = 1e-9
# Largest number that is a float.
_LARGEST: Final = sys.float_info.max


class Unwritten(Sequence[Any]):
    """A lazy sequence, for an axis with more values than fit into memory.

    Parameters
    ----------
    number : int
        Number of values.
    at : callable
        Returns the value at an index from 0.
    """

    def __init__(self, number: int, at: Callable[[int], Any]) -> None:
        self._places, self._at = range(number), at

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: int | slice) -> Any:
        found = self._places[place]
        return self._at(found) if isinstance(found, int) else [self._at(one) for one in found]


@dataclass(frozen=True, slots=True)
class Range:
    """A range of numbers, in the internal unit of its field.

    Attributes
    ----------
    begin, end : float
        The ends; both belong to the range.
    scale : str
        ``"linear"`` or ``"log"``.
    ruler : Quantity, Whole or Real
        Type of the field.
    """

    begin: float
    end: float
    scale: Literal["linear", "log"]
    ruler: Ruler

    def at(self, part: float) -> object:
        """Return the value at a fraction of the range, from 0 to 1, as written in a scenario."""
        if part in (0, 1):  # the ends are exact, without rounding to digits
            return self._written(self.begin if part == 0 else self.end)
        value = self._between(self.begin, self.end, part)
        return self._written(float(f"{value:.{_DIGITS[self.scale]}g}"))

    def sampled(self, part: float, digits: int = _DIGITS["log"]) -> object:
        """Return the value at a fraction of the range, in [0, 1), for uniform sampling.

        Values other than whole numbers have at most `digits` significant digits.
        """
        if not isinstance(self.ruler, Whole):
            value = self._between(self.begin, self.end, part)
            return self._written(float(f"{value:.{digits}g}"))
        # Extended by half a step beyond both ends, so that these are as likely as inner values.
        half = 1.0 if self.ruler.even else 0.5
        value = self._between(self.begin - half, self.end + half, part)
        return min(max(self._written(value), self.begin), self.end)

    def _between(self, begin: float, end: float, part: float) -> float:
        if self.scale == "log":
            return float(begin * (end / begin) ** part)
        return begin + (end - begin) * part

    @property
    def wholes(self) -> float:
        """Number of steps from end to end in a field of whole numbers; infinite in other fields."""
        whole = self.ruler.dimension.whole if isinstance(self.ruler, Quantity) else None
        if isinstance(self.ruler, Whole) or whole:
            even = isinstance(self.ruler, Whole) and self.ruler.even
            return (self.end - self.begin) / (2 if even else 1)
        return math.inf

    def _written(self, value: float) -> Any:
        if isinstance(self.ruler, Whole):
            step = 2 if self.ruler.even else 1
            return step * round(value / step)
        if isinstance(self.ruler, Real):
            return value
        return self.ruler.format(round(value) if self.ruler.dimension.whole else value)


def is_range(spec: object) -> bool:
    """Return whether the specification of an axis is a range (a mapping)."""
    return isinstance(spec, Mapping)


def values_of(where: str, spec: Any, field: FieldInfo | None) -> Sequence[object]:
    """Return the values of one path.

    Parameters
    ----------
    where : str
        Name of the axis in error messages.
    spec : iterable, or mapping
        A list of values; or a range: the values ``from`` and ``to``, and ``step`` or ``number``,
        with ``scale = "log"`` for equal ratios.
    field : FieldInfo or None
        Field of the scenario; required for a range only.

    Returns
    -------
    sequence of object
        At least one value, all different, in the given order.

    Raises
    ------
    InputError
        If there are no values, a value occurs twice, or the range is invalid.
    """
    if is_range(spec):
        return _steps(where, spec, range_of(where, spec, field))
    if not isinstance(spec, Iterable) or isinstance(spec, str | bytes):
        raise InputError(where, show(spec), f"{_ALLOWED} (did you mean [{spec!r}]?)")
    if isinstance(spec, range) and spec[_MOST_WRITTEN:]:
        if spec[_MOST_VALUES:]:
            raise InputError(where, show(spec), f"up to {_MOST_VALUES:,} values")
        return Unwritten(len(spec), spec.__getitem__)
    # An iterator may be infinite.
    found = [as_python(value) for value in islice(spec, _MOST_LISTED + 1)]
    if len(found) > _MOST_LISTED:
        raise InputError(where, f"more than {_MOST_LISTED:,} values", "fewer, or a range")
    if not found:
        raise InputError(where, "no values", "a list of one or more")
    seen: dict[object, list[object]] = {}
    for value in found:
        key = type(value), value
        try:
            hash(key)
        except TypeError:  # tables and lists are not hashable; there are few of them
            key = type(value), None
        if value in seen.setdefault(key, []):
            raise InputError(where, f"{show(value)} twice", "different values")
        seen[key].append(value)
    return found


def together(lists: Sequence[Sequence[object]]) -> Sequence[tuple[object, ...]]:
    """Zip the values of paths that move together; all have the same number of values."""
    if any(isinstance(values, Unwritten) for values in lists):
        return Unwritten(len(lists[0]), lambda place: tuple(values[place] for values in lists))
    return tuple(zip(*lists, strict=True))


def sampled_values(
    where: str, spec: Any, field: FieldInfo | None, parts: Sequence[float]
) -> list[object]:
    """Return the values of one path at the points of a sample.

    Parameters
    ----------
    where, spec, field
        As for `values_of`; a range must have ``from`` and ``to`` but no ``step`` or ``number``.
    parts : sequence of float
        Fraction in [0, 1) for each point.

    Returns
    -------
    list of object
        One value per point: from a list, the item at that fraction of its length; from a range, the
        value at that fraction, to 6 significant digits.

    Raises
    ------
    InputError
        As `values_of`.
    """
    if not is_range(spec):
        values = values_of(where, spec, field)
        return [values[int(part * len(values))] for part in parts]
    for key in ("step", "number"):
        if key in spec:
            allowed = "from, to and scale alone: sample.points sets their number"
            raise InputError(f"{where}.{key}", show(spec[key]), allowed)
    found = range_of(where, spec, field)
    return [found.sampled(part) for part in parts]


def range_of(where: str, spec: Mapping[str, Any], field: FieldInfo | None) -> Range:
    """Read the ends and the scale of a range.

    Parameters
    ----------
    where, spec, field
        As for `values_of`.

    Returns
    -------
    Range

    Raises
    ------
    InputError
        If a key is unknown or missing, the field is not numeric, or an end is not a valid value of
        the field.
    """
    for key in spec:
        if key not in RANGE_KEYS:
            allowed = f"one of {', '.join(RANGE_KEYS)}{did_you_mean(key, RANGE_KEYS)}, as {_RANGE}"
            raise InputError(where, f"an unknown key {show(key)}", allowed)
    ruler = _ruler(field)
    if ruler is None:
        raise InputError(where, "a range", "a list of values: the field holds no number")
    for key in ("from", "to"):
        if key not in spec:
            raise InputError(f"{where}.{key}", "nothing", f"an end of the range, as {_RANGE}")
    begin, end = (_number(f"{where}.{key}", spec[key], ruler) for key in ("from", "to"))
    scale = spec.get("scale", "linear")
    if scale not in _DIGITS:
        allowed = f"'linear' or 'log'{did_you_mean(scale, _DIGITS)}"
        raise InputError(f"{where}.scale", show(scale), allowed)
    if end < begin:
        raise InputError(f"{where}.to", show(spec["to"]), f"no less than from, {spec['from']}")
    if scale == "log" and begin <= 0:
        given = show(spec["from"])
        raise InputError(f"{where}.from", given, "more than zero on a logarithmic scale")
    return Range(begin, end, scale, ruler)


def _steps(where: str, spec: Mapping[str, Any], found: Range) -> Sequence[object]:
    """Return the values of a range with ``step`` or ``number``."""
    if ("step" in spec) == ("number" in spec):
        given = "both step and number" if "step" in spec else "neither step nor number"
        raise InputError(where, given, f"one of them, as {_RANGE}")
    width = found.end - found.begin
    if "step" in spec:
        if found.scale == "log":
            raise InputError(f"{where}.step", show(spec["step"]), "number, on a logarithmic scale")
        step = _number(f"{where}.step", spec["step"], found.ruler)
        if step <= 0:
            raise InputError(f"{where}.step", show(spec["step"]), "more than zero")
        steps = min(width / step, _MOST_VALUES)
        number = math.floor(steps + min(steps, _MOST_WRITTEN) * _NEARLY) + 1
        most = (number - 1) * step / width if width else 0.0
    else:
        number, most = _count(f"{where}.number", spec["number"]), 1.0
    if number > _MOST_VALUES:
        raise InputError(where, f"{number:,} values or more", f"up to {_MOST_VALUES:,}")
    values = Unwritten(number, lambda place: found.at(most * place / max(number - 1, 1)))
    # In a very long range only both ends are checked, where rounding to digits merges values first.
    close = values[:] if number <= _MOST_WRITTEN else [*values[:2], *values[-2:]]
    if len(set(close)) < len(close) or number - 1 > found.wholes:
        allowed = "fewer, or a wider range: of its values that the field can hold some are equal"
        raise InputError(where, f"{number:,} values", allowed)
    return values if number > _MOST_WRITTEN else close


def _ruler(field: FieldInfo | None) -> Ruler | None:
    """Return the numeric type of a field; None if the field is not numeric."""
    for marker in markers(field) if field else ():
        if isinstance(marker, Bare):
            return marker.quantity
        if isinstance(marker, Quantity | Whole | Real):
            return marker
    return None


def _number(where: str, given: Any, ruler: Ruler) -> float:
    value = as_python(given)
    if isinstance(ruler, Quantity):
        try:
            held = ruler.parse(value)
        except ValueError as error:
            raise InputError(where, show(given), str(error)) from None
        if held is not None:
            return held
    # A whole number of hundreds of digits has no float.
    elif not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= _LARGEST:
        return value
    raise InputError(where, show(given), ruler.allowed)


def _count(where: str, given: Any) -> int:
    value = as_python(given)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(where, show(given), "a whole number from 1")
    return value
