"""How a command ends when something is wrong: one message, the right exit code, no traceback."""

from __future__ import annotations

import functools
import shlex
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import typer

from lightburst.cli import interrupt
from lightburst.cli.memory import BAD_INPUT, memory_ended, words_of
from lightburst.cli.streams import FAILED_OUTPUT, OutputError, ReaderGoneError, discard, tell
from lightburst.errors import InputError, StoreWarning, WorkersLostError, WorkerWarning, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

P = ParamSpec("P")

# Some runs of a study have failed; what came of the others was printed.
INCOMPLETE: Final = 1
# Most characters of typer's message about words that are no command.
_LONGEST_SAID: Final = 200


def start(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run the command that the arguments name.

    Parameters
    ----------
    app : Typer
        All commands.
    arguments : sequence of str
        Words after the name of the program.

    Returns
    -------
    int
        The exit code. Words that make no command are bad input; a reader that goes away
        (``| head``) is no failure.
    """
    try:
        Path.cwd()
    except OSError:
        tell(str(InputError("working directory", "one that was deleted", "one that is there")))
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
    """Say what was given and what is allowed; nothing where the help has been printed instead."""
    if parameter := getattr(error, "param", None):
        name = parameter.get_error_hint().strip("'")
        words = parameter.help.rstrip(".")
        return str(InputError(name, "nothing", words[:1].lower() + words[1:]))
    # We say below what is allowed; the second sentence of typer's message only guesses at it.
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
    """Make a command end as the manual says.

    Parameters
    ----------
    command : callable
        What is to be done.

    Returns
    -------
    callable
        The same; bad input and the end of memory end with one message and exit code 2, Ctrl-C with
        130, SIGTERM with 143 and SIGHUP with 129.
    """

    @functools.wraps(command)
    def inner(*arguments: P.args, **options: P.kwargs) -> None:
        try:
            with _warnings_said():
                command(*arguments, **options)
            sys.stdout.flush()
        except InputError as error:
            for single in error.errors:
                tell(str(single))
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            raise typer.Exit(interrupt.code()) from None
        except (MemoryError, ImportError, OSError, RuntimeError) as error:
            if not memory_ended(error):
                raise
            tell(words_of(error))
            raise typer.Exit(BAD_INPUT) from None

    return inner


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print warnings about stores, one line each; commands print those about runs themselves."""
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
    """End a command whose runs have not all finished with exit code 1, and say how to go on."""
    if failed:
        from lightburst.study.failures import HOW_AGAIN

        tell(HOW_AGAIN)
        raise typer.Exit(INCOMPLETE)


@contextmanager
def resumable(store: Path) -> Iterator[None]:
    """Tell whoever interrupts long work, or loses those who do it, that it is not lost.

    Parameters
    ----------
    store : Path
        Where finished runs are kept.
    """
    kept = f"finished runs are kept in {store}; the same command goes on from there"
    interrupt.remember(kept)
    try:
        yield
    except KeyboardInterrupt:
        tell(kept)
        raise
    except WorkersLostError:
        again = shlex.join(["lightburst", *sys.argv[1:]])
        tell(f"finished runs are kept in {store}; with workers again this goes on: {again}")
        raise
    finally:
        interrupt.remember("")
