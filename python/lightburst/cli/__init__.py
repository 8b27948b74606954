"""The command line. Little is imported here, so that it starts quickly."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final

from lightburst.cli import interrupt
from lightburst.cli.memory import BAD_INPUT, memory_ended, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# How many new objects Python waits for before it looks for garbage, in place of 700: to import what
# a command needs makes hundreds of thousands and no garbage, and each search takes time.
_BETWEEN_SEARCHES: Final = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the name of the program; by default those of this process, which then ends at
        once when it is interrupted.

    Returns
    -------
    int
        0 when done, 1 when standard output cannot be written, 2 for bad input; when interrupted
        130, by SIGTERM 143, by SIGHUP 129.
    """
    if arguments is not None:
        return _told(_run(arguments))
    try:
        interrupt.hear()
        gc.set_threshold(_BETWEEN_SEARCHES)
        # To look for plugins pydantic would read about every package that is installed.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from lightburst.cli.streams import prepare

        prepare()
        code = _run(sys.argv[1:])
        interrupt.hear_no_more()
    except KeyboardInterrupt:  # outside of any command
        code = interrupt.code()
    if _told(code) == interrupt.code():
        # A normal exit of Python would wait for threads in the middle of a simulation and free
        # large networks piece by piece; after an interrupt nobody wants either.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return code


def _told(code: int) -> int:
    """Say that it was interrupted, wherever that was: in a command, before it or behind it."""
    if code == interrupt.code():
        interrupt.announce()
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        from lightburst.cli.app import app
        from lightburst.cli.guard import start

        return start(app, arguments)
    except KeyboardInterrupt:  # while the program itself was still being read
        return interrupt.code()
    except (MemoryError, ImportError, OSError, RuntimeError) as error:  # likewise
        if not memory_ended(error):
            raise
        print(f"lightburst: {words_of(error)}", file=sys.stderr)
        return BAD_INPUT
