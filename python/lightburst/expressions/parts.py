"""The nodes of an expression's syntax tree: their text form and their values for a flow table.

Columns are read from `lightburst.Result.flows` in SI base units, and arithmetic uses floats, so a
plain evaluation with pandas gives bit-identical values.
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

from lightburst.expressions.columns import DIMENSIONS, Kind
from lightburst.foundation.counts import PS
from lightburst.foundation.units import Quantity

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
# Precedence levels. A part of lower precedence than its context is written in parentheses.
_OR, _AND, _NOT, _COMPARED, _ADDED, _MULTIPLIED, _SIGNED, _ALONE = range(8)


@dataclass(frozen=True, slots=True)
class Part:
    """A node of the syntax tree of an expression.

    Attributes
    ----------
    kind : Kind
        Kind of the value: a number, a quantity of some dimension, text, a host or a condition.
    """

    kind: Kind

    @property
    def level(self) -> int:
        """Precedence level of the operator, for the placement of parentheses."""
        return _ALONE

    def of(self, flows: pd.DataFrame) -> Values:
        """Return the values for a table of flows, or one value that holds for all of them."""
        raise NotImplementedError

    def inner(self) -> tuple[Part, ...]:
        """Return the operands."""
        return ()

    def walk(self) -> Iterator[Part]:
        """Yield this part and all parts nested in it, depth first."""
        yield self
        for part in self.inner():
            yield from part.walk()


def _inside(part: Part, level: int) -> str:
    """Write an operand of an operator of the given level, in parentheses where needed."""
    return f"({part})" if part.level < level else str(part)


@dataclass(frozen=True, slots=True)
class Column(Part):
    """A column of the flow table, by its name there."""

    name: str

    def __str__(self) -> str:
        return self.name

    def of(self, flows: pd.DataFrame) -> Values:
        """Return the column."""
        column = flows[self.name]
        # Categorical columns stay pandas series, whose comparison looks at each category once.
        return column if hasattr(column.dtype, "categories") else column.to_numpy()


@dataclass(frozen=True, slots=True)
class Number(Part):
    """A number, or a quantity in its dimension's unit (picoseconds, bytes, bits per second)."""

    held: float

    def __str__(self) -> str:
        if self.kind in DIMENSIONS:
            return str(Quantity(DIMENSIONS[self.kind]).format(self.held))
        whole = self.held.is_integer() and abs(self.held) < 1e15
        return str(int(self.held)) if whole else repr(self.held)

    def of(self, flows: pd.DataFrame) -> Values:
        """Return the value in SI units; a time is scaled exactly as the times in the table are."""
        return self.held * PS if self.kind is Kind.TIME else self.held


@dataclass(frozen=True, slots=True)
class Text(Part):
    """A quoted text: the name of a group or host, or a status."""

    word: str

    def __str__(self) -> str:
        return f'"{self.word}"' if "'" in self.word else f"'{self.word}'"

    def of(self, flows: pd.DataFrame) -> Values:
        """Return the text."""
        return self.word


@dataclass(frozen=True, slots=True)
class Negative(Part):
    """The negative of a part."""

    part: Part

    def __str__(self) -> str:
        return f"-{_inside(self.part, _SIGNED)}"

    @property
    def level(self) -> int:
        """Precedence level of a sign."""
        return _SIGNED

    def inner(self) -> tuple[Part, ...]:
        """Return the operand."""
        return (self.part,)

    def of(self, flows: pd.DataFrame) -> Values:
        """Return the negative as a float, because counts are unsigned integers."""
        return -_as_float(self.part.of(flows))


@dataclass(frozen=True, slots=True)
class Arithmetic(Part):
    """A chain of sums and differences, or of products and quotients, evaluated left to right."""

    first: Part
    rest: tuple[tuple[str, Part], ...]

    @classmethod
    def of_chain(cls, kind: Kind, first: Part, rest: Sequence[tuple[str, Part]]) -> Arithmetic:
        """Build a chain; redundant parentheses around its first operand are dropped."""
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
        """Precedence level of a sum or of a product."""
        return _ADDED if self.rest[0][0] in "+-" else _MULTIPLIED

    def inner(self) -> tuple[Part, ...]:
        """Return all operands."""
        return (self.first, *(part for _, part in self.rest))

    def of(self, flows: pd.DataFrame) -> Values:
        """Compute in floats; a division by zero yields an infinity or NaN."""
        found = _as_float(self.first.of(flows))
        with np.errstate(all="ignore"):
            for sign, part in self.rest:
                found = ARITHMETIC[sign](found, _as_float(part.of(flows)))
        return found


@dataclass(frozen=True, slots=True)
class Comparison(Part):
    """A comparison of two parts for order or equality."""

    left: Part
    sign: str
    right: Part

    def __str__(self) -> str:
        return f"{_inside(self.left, _ADDED)} {self.sign} {_inside(self.right, _ADDED)}"

    @property
    def level(self) -> int:
        """Precedence level of a comparison."""
        return _COMPARED

    def inner(self) -> tuple[Part, ...]:
        """Return both sides."""
        return (self.left, self.right)

    def of(self, flows: pd.DataFrame) -> Values:
        """Return a mask of the flows for which it holds; NaN (no value) satisfies only ``!=``."""
        found = COMPARISONS[self.sign](self.left.of(flows), self.right.of(flows))
        return np.asarray(found, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Not(Part):
    """The negation of a condition."""

    part: Part

    def __str__(self) -> str:
        return f"not {_inside(self.part, _NOT)}"

    @property
    def level(self) -> int:
        """Precedence level of ``not``."""
        return _NOT

    def inner(self) -> tuple[Part, ...]:
        """Return the negated condition."""
        return (self.part,)

    def of(self, flows: pd.DataFrame) -> Values:
        """Return a mask of the flows for which the condition fails."""
        return ~self.part.of(flows)


@dataclass(frozen=True, slots=True)
class Together(Part):
    """Conditions joined by ``and`` (all must hold) or by ``or`` (at least one must hold)."""

    word: str
    parts: tuple[Part, ...]

    @classmethod
    def of_all(cls, word: str, parts: Sequence[Part]) -> Together:
        """Build a junction; nested junctions of the same word are flattened."""
        apart = (
            part.parts if isinstance(part, Together) and part.word == word else (part,)
            for part in parts
        )
        return cls(Kind.TRUTH, word, tuple(itertools.chain.from_iterable(apart)))

    def __str__(self) -> str:
        return f" {self.word} ".join(_inside(part, self.level + 1) for part in self.parts)

    @property
    def level(self) -> int:
        """Precedence level of ``and`` or ``or``."""
        return _AND if self.word == "and" else _OR

    def inner(self) -> tuple[Part, ...]:
        """Return all conditions."""
        return self.parts

    def of(self, flows: pd.DataFrame) -> Values:
        """Return a mask of the flows for which the junction holds."""
        join = np.logical_and if self.word == "and" else np.logical_or
        found = self.parts[0].of(flows)
        for part in self.parts[1:]:
            found = join(found, part.of(flows))
        return found


def _as_float(values: Values) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
