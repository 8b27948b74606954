"""How a command ends when something is wrong: one message, the right exit code, no traceback."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, ParamSpec

import typer

from lightburst.cli import INTERRUPTED
from lightburst.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

P = ParamSpec("P")

BAD_INPUT: Final = 2


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command end as the manual says.

    Parameters
    ----------
    command : callable
        What is to be done.

    Returns
    -------
    callable
        The same; bad input ends with one message and exit code 2, Ctrl-C with 130, and a reader
        that goes away (``| head``) quietly.
    """

    @functools.wraps(command)
    def inner(*arguments: P.args, **options: P.kwargs) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except InputError as error:
            for single in error.errors:
                print(f"lightburst: {single}", file=sys.stderr)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            print("lightburst: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Python would complain once more when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None

    return inner


@contextmanager
def resumable(store: Path) -> Iterator[None]:
    """Tell whoever interrupts long work that it is not lost.

    Parameters
    ----------
    store : Path
        Where finished runs are kept.
    """
    try:
        yield
    except KeyboardInterrupt:
        words = f"finished runs are kept in {store}; the same command goes on from there"
        print(f"lightburst: {words}", file=sys.stderr)
        raise
