"""Ctrl-C, SIGTERM and SIGHUP: end the process even where a library swallows the exception.

Compiled libraries, among them pandas and pydantic, call Python code and discard the exceptions it
raises, or raise their own instead: of a hundred interrupts at random moments one or two had no
effect; a few ended as an error of the library.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lightburst.foundation.ending import HEARD, SIGNALS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Last message of a command, by name of the signal.
_WORDS: Final = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
# Time that the exception has to end a command in order (clean up, keep finished runs). After it the
# process is ended by force, which does no more damage than a kill.
_PATIENCE_S: Final = 0.8
# Time for an orderly end that is known to be in progress: batch systems cancel jobs slowly.
_ORDERLY_S: Final = 30.0

# The first signal, and the message about the work that it interrupts.
_first = signal.SIGINT
_came = False
_kept = ""
# Whether the last message has been printed.
_announced = False


def hear() -> None:
    """Install handlers that raise `KeyboardInterrupt` and soon afterwards end the process."""
    for number in SIGNALS:
        # A signal that `nohup` or a shell has set to be ignored stays ignored.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
            sys.unraisablehook = _unraisable


@contextmanager
def undisguised() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for an exception that a library raised in its place."""
    try:
        yield
    except Exception:
        if _came:
            raise KeyboardInterrupt from None
        raise


def code() -> int:
    """Return the exit code of an interrupted command: 128 plus the signal, as in shells."""
    return 128 + _first


def last_words() -> str:
    """Return the last message of an interrupted command."""
    return _WORDS[_first.name]


def remember(kept: str) -> None:
    """Set the message to print before the last one, also when the process is ended by force.

    Parameters
    ----------
    kept : str
        Data that is kept and how to continue; empty for no message.
    """
    global _kept
    _kept = kept


def hear_no_more() -> None:
    """Ignore these signals from now on: all output is written, and only Python's exit remains.

    An exception during the exit would be reported as an error of Python's own; and after the
    handlers are removed the signal would kill the process.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


def announce() -> None:
    """Print the message that the command was interrupted."""
    global _announced
    _announced = True
    print(f"lightburst: {last_words()}", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _first, _came
    if _came:
        if HEARD.is_set() and number == signal.SIGINT:
            _end_now()  # a second Ctrl-C: the user does not want to wait
        return  # already ending
    _first, _came = signal.Signals(number), True
    # The `threading` module has locks that the interrupted code may hold.
    _thread.start_new_thread(_end, ())
    signal.default_int_handler(number, frame)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Report unraisable exceptions except a Ctrl-C in a destructor: the process ends soon."""
    if not isinstance(what.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(what)


def _end() -> None:
    time.sleep(_PATIENCE_S)
    if HEARD.is_set():
        time.sleep(_ORDERLY_S)
    _end_now()


def _end_now() -> None:
    try:
        if _announced:
            time.sleep(_PATIENCE_S)  # the message is being written or has been
            return
        lines = [words for words in (_kept, last_words()) if words]
        os.write(2, "".join(f"lightburst: {words}\n" for words in lines).encode())
    finally:
        os._exit(code())
