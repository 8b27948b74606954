"""Statements about the state of the sender: ``%{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%``.

They have the form of Python. A small part of it is carried out here, and nothing outside of a
script can be reached by one.
"""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lightburst.foundation.errors import InputError, first_of
from lightburst.packetdrill.script import unknown

_BINARY: Final[Mapping[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_UNARY: Final[Mapping[type[ast.AST], Callable[[Any], Any]]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "int": int,
    "len": len,
    "max": max,
    "min": min,
    "round": round,
    "str": str,
}
_ALLOWED: Final = "assert, assignments, if, print and calculations"


@dataclass(frozen=True)
class Broken:
    """An assertion that does not hold.

    Attributes
    ----------
    line : int
        Line of the script.
    asserted : str
        What was asserted.
    found : mapping of str to object
        Values of the names in it.
    """

    line: int
    asserted: str
    found: Mapping[str, object]


def run(
    path: str, line: int, text: str, variables: dict[str, Any], state: Mapping[str, Any]
) -> Broken | None:
    """Carry out statements.

    Parameters
    ----------
    path : str
        File of the script.
    line : int
        Line on which they begin.
    text : str
        The statements.
    variables : dict
        Variables of the script; changed.
    state : mapping of str to object
        The state of the sender by name.

    Returns
    -------
    Broken or None
        The first assertion that does not hold.

    Raises
    ------
    InputError
        If a word is not known or a calculation not possible.
    """
    blank = len(text) - len(text.lstrip())
    first = line + text[:blank].count("\n")
    body = text.strip() if "\n" not in text.strip() else textwrap.dedent(text).strip("\n")
    try:
        tree = ast.parse(body.strip())
    except SyntaxError as error:
        raise unknown(path, first + (error.lineno or 1) - 1, error.text or body, _ALLOWED) from None
    return _Run(path, first - 1, variables, state).block(tree.body)


class _Run:
    def __init__(
        self, path: str, before: int, variables: dict[str, Any], state: Mapping[str, Any]
    ) -> None:
        self.path, self.before = path, before
        self.variables, self.state = variables, state

    def refuse(self, node: ast.AST, word: str, allowed: str) -> InputError:
        return unknown(self.path, self.before + getattr(node, "lineno", 1), word, allowed)

    def block(self, statements: list[ast.stmt]) -> Broken | None:
        for one in statements:
            if broken := self.statement(one):
                return broken
        return None

    def statement(self, one: ast.stmt) -> Broken | None:
        match one:
            case ast.Assert():
                return self.asserted(one)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = self.value(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                now = self.value(ast.copy_location(ast.Name(name, ast.Load()), target))
                self.variables[name] = self.calculated(one, op, now, self.value(value))
            case ast.If(test=test, body=body, orelse=other):
                return self.block(body if self.value(test) else other)
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=arguments)):
                # What a script prints while it passes tells nothing about it.
                for argument in arguments:
                    self.value(argument)
            case ast.Expr(value=value):
                self.value(value)
            case ast.Pass():
                pass
            case _:
                raise self.refuse(one, ast.unparse(one), _ALLOWED)
        return None

    def asserted(self, one: ast.Assert) -> Broken | None:
        if self.value(one.test):
            return None
        names = sorted({n.id for n in ast.walk(one.test) if isinstance(n, ast.Name)})
        values = {**self.state, **self.variables}
        return Broken(
            self.before + one.lineno,
            ast.unparse(one.test),
            {
                name: values[name]
                for name in names
                if not name.startswith("TCP_") and name in values
            },
        )

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.named(node, name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(self.value(one) for one in elements)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return self.attempted(node, _UNARY[type(op)], self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self.calculated(node, op, self.value(left), self.value(right))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(one) for one in values)
            case ast.BoolOp(values=values):
                return any(self.value(one) for one in values)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self.compared(node, left, ops, others)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.value(test) else other)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                if name in _FUNCTIONS:
                    given = [self.value(one) for one in arguments]
                    return self.attempted(node, _FUNCTIONS[name], *given)
        raise self.refuse(node, ast.unparse(node), _ALLOWED)

    def named(self, node: ast.AST, name: str) -> Any:
        for names in (self.variables, self.state):
            if name in names:
                return names[name]
        known = [one for one in self.state if one.startswith("tcpi_")]
        allowed = first_of(known) if known else "names of the state after the handshake"
        raise self.refuse(node, name, allowed)

    def compared(
        self, node: ast.AST, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
    ) -> bool:
        before = self.value(left)
        for op, other in zip(ops, others, strict=True):
            after = self.value(other)
            if not self.calculated(node, op, before, after):
                return False
            before = after
        return True

    def calculated(self, node: ast.AST, op: ast.AST, left: Any, right: Any) -> Any:
        if type(op) not in _BINARY:
            raise self.refuse(node, type(op).__name__, _ALLOWED)
        return self.attempted(node, _BINARY[type(op)], left, right)

    def attempted(self, node: ast.AST, operation: Callable[..., Any], *values: Any) -> Any:
        try:
            return operation(*values)
        except (TypeError, ValueError, ArithmeticError, MemoryError):
            allowed = "a calculation that is possible"
            raise self.refuse(node, ast.unparse(node), allowed) from None
