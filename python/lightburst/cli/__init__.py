"""Command line. Imports little at the start, so that it responds quickly."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING, Final

from lightburst.cli.terminal import interrupt
from lightburst.cli.terminal.memory import BAD_INPUT, MAYBE_MEMORY, memory_ended, words_of
from lightburst.cli.terminal.streams import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

# Threshold of allocations for Python's garbage collector, whose default is 700: the imports of a
# command allocate hundreds of thousands of objects without garbage, and each collection takes time.
_BETWEEN_SEARCHES: Final = 50_000

# Exit code of this process, once its command has ended.
_codes: Final[list[int]] = []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after the name of the program; by default those of this process, which then ends
        immediately on an interrupt.

    Returns
    -------
    int
        Exit code: 0 on success, 1 if standard output cannot be written, 2 for bad input; 130 on
        Ctrl-C, 143 on SIGTERM, 129 on SIGHUP.
    """
    if arguments is not None:
        return _told(_run(arguments))
    # The first to be registered is the last to be called: Python's threads have ended by then.
    atexit.register(_leave)
    try:
        interrupt.hear()
        gc.set_threshold(_BETWEEN_SEARCHES)
        # Without this pydantic reads the metadata of all installed packages to find plugins.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        prepare()
        code = _run(sys.argv[1:])
        interrupt.hear_no_more()
    except KeyboardInterrupt:  # outside of any command
        code = interrupt.code()
    _codes.append(_told(code))
    if code == interrupt.code():
        # Python's normal exit would wait for threads inside a simulation.
        _leave()
    return code


def _leave() -> None:
    """End this process without the destructors of libraries: Arrow's sometimes abort it."""
    if not _codes:  # an exception, which Python prints
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(_codes[-1])


def _told(code: int) -> int:
    """Print the message of an interrupt, wherever it occurred: in a command, before or after it."""
    if code == interrupt.code():
        interrupt.announce()
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        with interrupt.undisguised():
            from lightburst.cli.app import app
            from lightburst.cli.terminal.guard import start

            return start(app, arguments)
    except KeyboardInterrupt:  # during the import of the program itself
        return interrupt.code()
    except MAYBE_MEMORY as error:  # likewise
        if not memory_ended(error):
            raise
        print(f"lightburst: {words_of(error)}", file=sys.stderr)
        return BAD_INPUT
