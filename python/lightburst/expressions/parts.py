"""The parts of an expression: how each is written, and what it is for the flows of a table.

A value is what `lightburst.Result.flows` holds, in its SI base unit, and arithmetic is that of
floats: a plain evaluation by pandas gives the same, to the bit.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.counts import PS
from lightburst.expressions.columns import DIMENSIONS, Kind
from lightburst.units import Quantity

if TYPE_CHECKING:
    import pandas as pd

Values = Any  # an array of shape (flows,), or one value that stands for all flows
Operator = Callable[[Any, Any], Any]

ARITHMETIC: Final[Mapping[str, Operator]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
)
COMPARISONS: Final[Mapping[str, Operator]] = MappingProxyType(
    {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "=": operator.eq,
        "!=": operator.ne,
    }
)
# How tightly parts hold together; what holds less than what it stands in gets parentheses.
_OR, _AND, _NOT, _COMPARED, _ADDED, _MULTIPLIED, _SIGNED, _ALONE = range(8)


@dataclass(frozen=True, slots=True)
class Part:
    """Anything in an expression.

    Attributes
    ----------
    kind : Kind
        What it is.
    """

    kind: Kind

    @property
    def level(self) -> int:
        """How tightly it holds together."""
        return _ALONE

    def of(self, flows: pd.DataFrame) -> Values:
        """Give its values for a table of flows, or one for all."""
        raise NotImplementedError

    def inner(self) -> tuple[Part, ...]:
        """Give the parts that it is made of."""
        return ()

    def walk(self) -> Iterator[Part]:
        """Give it and all in it."""
        yield self
        for part in self.inner():
            yield from part.walk()


def _inside(part: Part, level: int) -> str:
    """Write a part that stands in one of a level, in parentheses where they are needed."""
    return f"({part})" if part.level < level else str(part)


@dataclass(frozen=True, slots=True)
class Column(Part):
    """A column, by its name in the table."""

    name: str

    def __str__(self) -> str:
        return self.name

    def of(self, flows: pd.DataFrame) -> Values:
        """Give the column."""
        column = flows[self.name]
        # What has categories is compared as a whole, and not word by word.
        return column if hasattr(column.dtype, "categories") else column.to_numpy()


@dataclass(frozen=True, slots=True)
class Number(Part):
    """A number, or a quantity as its dimension holds it (picoseconds, bytes, bits a second)."""

    held: float

    def __str__(self) -> str:
        if self.kind in DIMENSIONS:
            return str(Quantity(DIMENSIONS[self.kind]).format(self.held))
        whole = self.held.is_integer() and abs(self.held) < 1e15
        return str(int(self.held)) if whole else repr(self.held)

    def of(self, flows: pd.DataFrame) -> Values:
        """Give it in the SI unit; a time by the same product as the times in the table."""
        return self.held * PS if self.kind is Kind.TIME else self.held


@dataclass(frozen=True, slots=True)
class Text(Part):
    """A word in quotes: the name of a group, of a host, or a status."""

    word: str

    def __str__(self) -> str:
        return f'"{self.word}"' if "'" in self.word else f"'{self.word}'"

    def of(self, flows: pd.DataFrame) -> Values:
        """Give the word."""
        return self.word


@dataclass(frozen=True, slots=True)
class Negative(Part):
    """A part with its sign changed."""

    part: Part

    def __str__(self) -> str:
        return f"-{_inside(self.part, _SIGNED)}"

    @property
    def level(self) -> int:
        """As a sign holds."""
        return _SIGNED

    def inner(self) -> tuple[Part, ...]:
        """Give the part."""
        return (self.part,)

    def of(self, flows: pd.DataFrame) -> Values:
        """Give the negative; of a float, because a count has no sign."""
        return -_as_float(self.part.of(flows))


@dataclass(frozen=True, slots=True)
class Arithmetic(Part):
    """Parts that are added and subtracted, or multiplied and divided, from left to right."""

    first: Part
    rest: tuple[tuple[str, Part], ...]

    @classmethod
    def of_chain(cls, kind: Kind, first: Part, rest: Sequence[tuple[str, Part]]) -> Arithmetic:
        """Make one; parentheses around what comes first anyway mean nothing."""
        found = cls(kind, first, tuple(rest))
        if isinstance(first, Arithmetic) and first.level == found.level:
            return cls(kind, first.first, (*first.rest, *found.rest))
        return found

    def __str__(self) -> str:
        words = [_inside(self.first, self.level)]
        words += [f"{sign} {_inside(part, self.level + 1)}" for sign, part in self.rest]
        return " ".join(words)

    @property
    def level(self) -> int:
        """As sums or as products hold."""
        return _ADDED if self.rest[0][0] in "+-" else _MULTIPLIED

    def inner(self) -> tuple[Part, ...]:
        """Give all operands."""
        return (self.first, *(part for _, part in self.rest))

    def of(self, flows: pd.DataFrame) -> Values:
        """Calculate in floats; a division by zero gives infinity or nothing (NaN)."""
        found = _as_float(self.first.of(flows))
        with np.errstate(all="ignore"):
            for sign, part in self.rest:
                found = ARITHMETIC[sign](found, _as_float(part.of(flows)))
        return found


@dataclass(frozen=True, slots=True)
class Comparison(Part):
    """Two parts and which of them is larger, or whether they are the same."""

    left: Part
    sign: str
    right: Part

    def __str__(self) -> str:
        return f"{_inside(self.left, _ADDED)} {self.sign} {_inside(self.right, _ADDED)}"

    @property
    def level(self) -> int:
        """As comparisons hold."""
        return _COMPARED

    def inner(self) -> tuple[Part, ...]:
        """Give both sides."""
        return (self.left, self.right)

    def of(self, flows: pd.DataFrame) -> Values:
        """Tell for which flows it holds; with what is not there (NaN) only ``!=`` does."""
        found = COMPARISONS[self.sign](self.left.of(flows), self.right.of(flows))
        return np.asarray(found, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Not(Part):
    """A condition that must not hold."""

    part: Part

    def __str__(self) -> str:
        return f"not {_inside(self.part, _NOT)}"

    @property
    def level(self) -> int:
        """As ``not`` holds."""
        return _NOT

    def inner(self) -> tuple[Part, ...]:
        """Give the condition."""
        return (self.part,)

    def of(self, flows: pd.DataFrame) -> Values:
        """Tell for which flows it does not hold."""
        return ~self.part.of(flows)


@dataclass(frozen=True, slots=True)
class Together(Part):
    """Conditions of which all must hold (``and``), or one (``or``)."""

    word: str
    parts: tuple[Part, ...]

    @classmethod
    def of_all(cls, word: str, parts: Sequence[Part]) -> Together:
        """Make one; parentheses around what is joined by the same word mean nothing."""
        apart = (
            part.parts if isinstance(part, Together) and part.word == word else (part,)
            for part in parts
        )
        return cls(Kind.TRUTH, word, tuple(itertools.chain.from_iterable(apart)))

    def __str__(self) -> str:
        return f" {self.word} ".join(_inside(part, self.level + 1) for part in self.parts)

    @property
    def level(self) -> int:
        """As ``and`` or ``or`` holds."""
        return _AND if self.word == "and" else _OR

    def inner(self) -> tuple[Part, ...]:
        """Give all conditions."""
        return self.parts

    def of(self, flows: pd.DataFrame) -> Values:
        """Tell for which flows it holds."""
        join = np.logical_and if self.word == "and" else np.logical_or
        found = self.parts[0].of(flows)
        for part in self.parts[1:]:
            found = join(found, part.of(flows))
        return found


def _as_float(values: Values) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
