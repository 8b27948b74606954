"""Grids of seeds or plans that are tested in blocks: a test for many cases, not one for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def in_blocks(name: str, cases: Sequence[Any], size: int = 40) -> Callable[[Test], Test]:
    """Parametrize a test by blocks of cases.

    All cases of a block are tested, also after one that fails; each failure names its case.

    Parameters
    ----------
    name : str
        Parameter of the test that takes the case.
    cases : sequence
        The cases.
    size : int
        Cases of a block.
    """
    blocks = [cases[begin : begin + size] for begin in range(0, len(cases), size)]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def of_block(block: Sequence[Any], **others: Any) -> None:
            failures: list[Exception] = []
            for case in block:
                try:
                    test(**{name: case}, **others)
                except Exception as failure:
                    failure.add_note(f"{name} = {case!r}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(block)} cases", failures)

        signature = inspect.signature(test)
        given = inspect.Parameter("block", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        others = [one for one in signature.parameters.values() if one.name != name]
        of_block.__signature__ = signature.replace(parameters=[given, *others])  # type: ignore[attr-defined]
        decorated: Test = pytest.mark.parametrize("block", blocks, ids=_label)(of_block)
        return decorated

    return decorate


def _label(block: Sequence[Any]) -> str:
    return f"{block[0]}-{block[-1]}".replace("'", "")
