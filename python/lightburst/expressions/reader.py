"""Tokeniser: splits an expression into words, numbers with units, signs and quoted text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, NoReturn

from lightburst.expressions.columns import DIMENSIONS, Kind
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.units import Quantity

# Limits beyond any practical expression; they bound the time and memory of parsing.
LONGEST: Final = 1000
DEEPEST: Final = 20
KEYWORDS: Final = ("of", "where", "and", "or", "not", "as")

_TOKEN: Final = re.compile(
    r"""
      (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<percentile>p[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.]))
    | (?P<word>[A-Za-zµ_][A-Za-z0-9µ_]*)
    | (?P<text>'[^']*'|"[^"]*")
    | (?P<sign><=|>=|!=|==|[<>=()+*/-])
    """,
    re.VERBOSE,
)
_UNIT: Final = re.compile(r"[ \t]*([A-Za-zµ]+(?:/[a-z]+)?)(?![A-Za-z0-9µ_])")
_UNITS: Final = {unit: kind for kind, held in DIMENSIONS.items() for unit in held.units}
_ALLOWED_UNITS: Final = "one of " + ", ".join(unit for unit in _UNITS if unit != "µs")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the text.

    Attributes
    ----------
    kind : str
        ``number``, ``quantity``, ``percentile``, ``word``, ``text``, ``sign`` or ``end``.
    text : str
        The token as written; quoted text without its quotes.
    at : int
        Index of its first character, from 0.
    held : float
        Value of a number or quantity, see `lightburst.expressions.parts.Number`.
    dimension : Kind
        Dimension of a quantity.
    """

    kind: str
    text: str
    at: int
    held: float = 0.0
    dimension: Kind = Kind.NUMBER


class Reader:
    """Reads one expression from left to right.

    Parameters
    ----------
    text : str
        The expression.
    path : str
        Name of the expression in messages.

    Raises
    ------
    InputError
        If the text is longer than `LONGEST` characters, or part of it is not a token.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        if len(text) > LONGEST:
            raise InputError(path, f"{len(text):,} characters", f"up to {LONGEST:,}")
        self._tokens = self._split()
        self._next = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def take(self, *texts: str, kind: str | None = None) -> Token | None:
        """Consume and return the next token if it matches one of the texts or the kind."""
        token = self.token
        fits = token.kind == kind or (token.kind in ("word", "sign") and token.text in texts)
        if not fits:
            return None
        if token.kind != "end":
            self._next += 1
        return token

    def fail(self, allowed: str, token: Token | None = None) -> NoReturn:
        """Raise `InputError` at a token, by default the next one."""
        token = token or self.token
        begin = max(0, token.at - 20)
        piece = self.text[begin : token.at + len(token.text) + 20]
        dots = ("..." if begin else "", "..." if begin + len(piece) < len(self.text) else "")
        around = f"{dots[0]}{piece}{dots[1]}"
        if not self.text.strip():
            raise InputError(self.path, "nothing", allowed)
        if token.kind == "end":
            raise InputError(self.path, f"the end behind {show(around)}", allowed)
        where = f"{show(token.text)} at character {token.at + 1} of {show(around)}"
        raise InputError(self.path, where, allowed)

    def _split(self) -> list[Token]:
        found: list[Token] = []
        place = 0
        while (place := self._behind_space(place)) < len(self.text):
            match = _TOKEN.match(self.text, place)
            if match is None:
                wrong = Token("sign", self.text[place], place)
                quoted = wrong.text in "'\""
                known = "a column, a number, text in quotes, or one of + - * / ( )"
                self.fail("text with a quote on both sides" if quoted else known, wrong)
            kind, text = str(match.lastgroup), match[0]
            token = Token(kind, text[1:-1] if kind == "text" else text, place)
            place = match.end()
            if kind == "number":
                token, place = self._number(token, place)
            elif text == "==":
                token = Token(kind, "=", token.at)
            found.append(token)
        return [*found, Token("end", "", len(self.text))]

    def _behind_space(self, place: int) -> int:
        while place < len(self.text) and self.text[place] in " \t\n\r":
            place += 1
        return place

    def _number(self, token: Token, place: int) -> tuple[Token, int]:
        """Read a number and its optional unit; also return the index of its end."""
        number = float(token.text)
        if math.isinf(number):
            self.fail("a number up to 1e308", token)
        match = _UNIT.match(self.text, place)
        if match is None or match[1] in KEYWORDS:
            return Token("number", token.text, token.at, number), place
        unit = match[1]
        whole = Token("quantity", f"{token.text} {unit}", token.at)
        if unit not in _UNITS:
            alike = [known for known in _UNITS if known.casefold() == unit.casefold()]
            near = did_you_mean(alike[0] if alike else unit, (*_UNITS, *KEYWORDS))
            self.fail(f"a number, or one with a unit: {_ALLOWED_UNITS}{near}", whole)
        kind = _UNITS[unit]
        try:
            held = Quantity(DIMENSIONS[kind]).parse(whole.text)
        except ValueError as error:
            self.fail(str(error), whole)
        assert held is not None  # `parse` returns None only for a word, never for digits
        return Token("quantity", whole.text, token.at, held, kind), match.end()
