"""The grammar of an expression, and the kinds that its operators accept.

    metric      statistic "of" value ["where" condition]
                | "count" ["where" condition]
                | "share" "of" condition ["where" condition] | "share" "where" condition
    statistic   mean median min max sum std variance, or pN: p99, p99.9
    condition   conditions joined by "or", "and", "not", in parentheses, of comparisons
    comparison  value (< <= > >= = !=) value
    value       columns, numbers (with a unit), text in quotes, joined by + - * / and parentheses

The parser is recursive descent; parentheses, signs and ``not`` nest at most `DEEPEST` deep.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lightburst.expressions.columns import (
    COLUMNS,
    DIMENSIONS,
    NAMES,
    VALUES,
    Kind,
    short_name,
)
from lightburst.expressions.parts import (
    COMPARISONS,
    Arithmetic,
    Column,
    Comparison,
    Negative,
    Not,
    Number,
    Part,
    Text,
    Together,
)
from lightburst.expressions.reader import DEEPEST, Reader, Token
from lightburst.foundation.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT: Final = ", ".join(dict.fromkeys(short_name(name) for name in COLUMNS))
_OPERAND: Final = "a column of the flows, a number (with its unit), text in quotes, or '('"
_EXAMPLE: Final = {Kind.TIME: "5 ms", Kind.SIZE: "100 kB", Kind.RATE: "1 Gb/s"}


class Grammar:
    """Reads the parts of one expression.

    Parameters
    ----------
    reader : Reader
        Token stream, positioned at the start of a value or condition.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._depth = 0

    def condition(self) -> Part:
        """Read a condition; raise `InputError` if the tokens are not one."""
        begin = self._reader.token
        part = self._any()
        return self._of_kind(part, begin, (Kind.TRUTH,), "a condition, such as slowdown < 2")

    def value(self) -> Part:
        """Read a numeric value; raise `InputError` if the tokens are not one."""
        begin = self._reader.token
        return self._of_kind(self._sum(), begin, VALUES, "numbers: a column that holds them")

    def _any(self) -> Part:
        return self._joined("or", lambda: self._joined("and", self._not))

    def _joined(self, word: str, read: Callable[[], Part]) -> Part:
        begin = self._reader.token
        parts = [read()]
        while self._reader.take(word):
            self._of_kind(parts[-1], begin, (Kind.TRUTH,), f"a condition before '{word}'")
            begin = self._reader.token
            parts.append(self._of_kind(read(), begin, (Kind.TRUTH,), "a condition"))
        return Together.of_all(word, parts) if len(parts) > 1 else parts[0]

    def _not(self) -> Part:
        if not self._reader.take("not"):
            return self._comparison()
        begin = self._reader.token
        with self._deeper():
            part = self._of_kind(self._not(), begin, (Kind.TRUTH,), "a condition")
        return Not(Kind.TRUTH, part)

    def _comparison(self) -> Part:
        left = self._sum()
        sign = self._reader.take(*COMPARISONS)
        if sign is None:
            return left
        right = self._sum()
        self._comparable(left, sign, right)
        if any(self._reader.token.text == other for other in COMPARISONS):
            self._reader.fail("one comparison; join two with 'and'")
        return Comparison(Kind.TRUTH, left, sign.text, right)

    def _sum(self) -> Part:
        return self._chain("+-", lambda: self._chain("*/", self._signed))

    def _chain(self, signs: str, read: Callable[[], Part]) -> Part:
        first, rest = read(), []
        kind = first.kind
        while sign := self._reader.take(*signs):
            part = read()
            kind = self._together(kind, sign, part.kind)
            rest.append((sign.text, part))
        return Arithmetic.of_chain(kind, first, rest) if rest else first

    def _signed(self) -> Part:
        sign = self._reader.take("-")
        if sign is None:
            return self._alone()
        begin = self._reader.token
        with self._deeper():
            part = self._of_kind(self._signed(), begin, VALUES, "a number behind '-'")
        return Negative(part.kind, part)

    def _alone(self) -> Part:
        reader = self._reader
        if reader.take("("):
            with self._deeper():
                part = self._any()
            if not reader.take(")"):
                reader.fail("')', or what goes on inside the parentheses")
            return part
        if token := reader.take(kind="number"):
            return Number(Kind.NUMBER, token.held)
        if token := reader.take(kind="quantity"):
            return Number(token.dimension, token.held)
        if token := reader.take(kind="text"):
            return Text(Kind.TEXT, token.text)
        name = reader.token
        if name.kind not in ("word", "percentile"):
            reader.fail(_OPERAND)
        if name.text not in NAMES:
            near = did_you_mean(name.text, NAMES)
            reader.fail(f"a column of the flows (text stands in quotes): {_SHORT}{near}")
        reader.take(name.text)
        column = NAMES[name.text]
        return Column(COLUMNS[column], column)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            self._reader.fail(f"parentheses, signs and 'not' up to {DEEPEST} levels deep")
        yield
        self._depth -= 1

    def _of_kind(self, part: Part, begin: Token, kinds: tuple[Kind, ...], allowed: str) -> Part:
        if part.kind not in kinds:
            self._reader.fail(f"{allowed}; this is {part.kind.value}", begin)
        return part

    def _together(self, left: Kind, sign: Token, right: Kind) -> Kind:
        """Return the kind of a result; a product or quotient of quantities is a number in SI."""
        if left not in VALUES or right not in VALUES:
            other = left if left not in VALUES else right
            self._reader.fail(f"numbers beside '{sign.text}', and not {other.value}", sign)
        if sign.text in "+-":
            if left is not right:
                self._reader.fail(_alike(left, right), sign)
            return left
        if right is Kind.NUMBER:
            return left
        return right if left is Kind.NUMBER and sign.text == "*" else Kind.NUMBER

    def _comparable(self, left: Part, sign: Token, right: Part) -> None:
        kinds = {left.kind, right.kind}
        words = kinds & {Kind.TEXT, Kind.NODE}
        if not words:
            if len(kinds) == 2 or Kind.TRUTH in kinds:
                self._reader.fail(_alike(left.kind, right.kind), sign)
            return
        literals = [part for part in (left, right) if isinstance(part, Text | Number)]
        columns = [part for part in (left, right) if isinstance(part, Column)]
        fits = literals and columns and columns[0].kind in words
        if not fits or (isinstance(literals[0], Number) and kinds != {Kind.NODE, Kind.NUMBER}):
            words_of = "group, status, source and destination with text, as group = 'query'"
            self._reader.fail(words_of, sign)
        if sign.text not in ("=", "!="):
            self._reader.fail("= or != for text and hosts", sign)


def _alike(left: Kind, right: Kind) -> str:
    """Describe a mismatch of kinds, with an example of a unit where one side lacks it."""
    message = f"the same on both sides; here {left.value} stands beside {right.value}"
    quantity = next((kind for kind in (left, right) if kind in DIMENSIONS), None)
    if quantity and Kind.NUMBER in (left, right):
        example = _EXAMPLE[quantity]
        products = "a product or quotient of columns is a number in SI units"
        return f"{message}: {quantity.value} is written with its unit, as {example}; {products}"
    return message
