"""Error handling of commands: one message per error, the right exit code, no traceback."""

from __future__ import annotations

import functools
import shlex
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import typer

from lightburst.cli.terminal import interrupt
from lightburst.cli.terminal.memory import BAD_INPUT, MAYBE_MEMORY, memory_ended, words_of
from lightburst.cli.terminal.streams import (
    FAILED_OUTPUT,
    OutputError,
    ReaderGoneError,
    discard,
    tell,
)
from lightburst.foundation.errors import (
    InputError,
    StoreWarning,
    WorkersLostError,
    WorkerWarning,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

P = ParamSpec("P")

# Exit code of a study with failed runs; the results of the others are printed.
INCOMPLETE: Final = 1
# Maximum length of typer's message about unknown arguments.
_LONGEST_SAID: Final = 200


def start(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run the command given by the arguments.

    Parameters
    ----------
    app : Typer
        Application with all commands.
    arguments : sequence of str
        Arguments after the name of the program.

    Returns
    -------
    int
        Exit code. Arguments that are no command are bad input; a reader of the output that has gone
        (``| head``) is not a failure.
    """
    try:
        Path.cwd()
    except OSError:
        tell(str(InputError("working directory", "one that was deleted", "one that exists")))
        return BAD_INPUT
    try:
        code = int(app(list(arguments), prog_name="lightburst", standalone_mode=False) or 0)
        sys.stdout.flush()
        return code
    except typer.TyperException as error:
        if said := _explained(error):
            tell(said)
        return BAD_INPUT
    except OutputError as error:
        tell(f"standard output: {error}")
        discard(sys.stdout)
        return FAILED_OUTPUT
    except ReaderGoneError:
        discard(sys.stdout)
        return 0


def _explained(error: Any) -> str:
    """Return the message with the given and the allowed value; empty if help was printed."""
    if parameter := getattr(error, "param", None):
        name = parameter.get_error_hint().strip("'")
        words = parameter.help.rstrip(".")
        return str(InputError(name, "nothing", words[:1].lower() + words[1:]))
    # The second sentence of typer's message is a guess; the allowed values are listed below
    # instead.
    said = str(error.message).partition(". ")[0].rstrip(".")
    said = printable(said, _LONGEST_SAID)
    said, context = said[:1].lower() + said[1:], getattr(error, "ctx", None)
    if not said or context is None:
        return said
    command = context.command
    if hasattr(error, "option_name"):
        names = [max(parameter.opts, key=len) for parameter in command.get_params(context)]
        allowed = ", ".join(name for name in names if name.startswith("-"))
    elif hasattr(command, "commands"):
        allowed = ", ".join(command.commands)
    else:
        allowed = command.get_usage(context).removeprefix("Usage: ")
    return f"{said}; allowed: {allowed}"


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command so that it ends with the documented messages and exit codes.

    Parameters
    ----------
    command : callable
        Command to wrap.

    Returns
    -------
    callable
        Wrapped command; bad input and exhausted memory end with one message and exit code 2, Ctrl-C
        with 130, SIGTERM with 143 and SIGHUP with 129.
    """

    @functools.wraps(command)
    def inner(*arguments: P.args, **options: P.kwargs) -> None:
        try:
            with interrupt.undisguised(), _warnings_said():
                command(*arguments, **options)
            sys.stdout.flush()
        except InputError as error:
            for single in error.errors:
                tell(str(single))
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            raise typer.Exit(interrupt.code()) from None
        except MAYBE_MEMORY as error:
            if not memory_ended(error):
                raise
            tell(words_of(error))
            raise typer.Exit(BAD_INPUT) from None

    return inner


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print each warning about stores and workers as one line; commands print those of runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", StoreWarning)
        warnings.simplefilter("always", WorkerWarning)
        usual = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
            if issubclass(category, StoreWarning | WorkerWarning):
                tell(str(message), "warning")
            else:
                usual(message, category, *where, **how)

        warnings.showwarning = say
        yield


def complete(failed: Sequence[object]) -> None:
    """Exit with code 1 and advice if some runs have failed."""
    if failed:
        from lightburst.study.store.failures import HOW_AGAIN

        tell(HOW_AGAIN)
        raise typer.Exit(INCOMPLETE)


@contextmanager
def resumable(store: Path) -> Iterator[None]:
    """Report that finished runs are kept, if long work is interrupted or loses its workers.

    Parameters
    ----------
    store : Path
        Directory of the store with the finished runs.
    """
    kept = f"finished runs are kept in {store}; the same command continues from there"
    interrupt.remember(kept)
    try:
        with interrupt.undisguised():
            yield
    except KeyboardInterrupt:
        tell(kept)
        raise
    except WorkersLostError:
        again = shlex.join(["lightburst", *sys.argv[1:]])
        tell(f"finished runs are kept in {store}; with workers again, continue by: {again}")
        raise
    finally:
        interrupt.remember("")
