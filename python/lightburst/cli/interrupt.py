"""Ctrl-C, SIGTERM and SIGHUP, which end the process also where a library swallows the exception.

Compiled libraries call Python code and drop what it raises, pandas and pydantic among them: of a
hundred interrupts at random moments one or two had no effect.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Final

from lightburst.ending import HEARD

if TYPE_CHECKING:
    from types import FrameType

# What a command says last, by the name of the signal: Windows does not have all of them.
_WORDS: Final = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
# So long the exception has to end a command in order: to clear away, to keep finished runs. Then
# the process is ended as it is, and leaves no more than a kill does.
_PATIENCE_S: Final = 0.8
# And so long where that is known to be under way: a batch system takes its time to cancel jobs.
_ORDERLY_S: Final = 30.0

# The signal that came first; and what is to be said of the work that it ends.
_first = signal.SIGINT
_came = False
_kept = ""
# Whether the last words were said.
_announced = False


def hear() -> None:
    """Make signals that end a process raise `KeyboardInterrupt`, and soon afterwards end it."""
    for name in _WORDS:
        number = getattr(signal, name, None)
        # What `nohup` or a shell has told this process to ignore stays so.
        if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
            sys.unraisablehook = _unraisable


def code() -> int:
    """Give the exit code of an interrupted command: 128 and the signal, as shells count."""
    return 128 + _first


def last_words() -> str:
    """Give the last line of an interrupted command."""
    return _WORDS[_first.name]


def remember(kept: str) -> None:
    """Set the line that an interrupted command says before its last one, also when ended by force.

    Parameters
    ----------
    kept : str
        What is kept, and how to go on; empty for nothing.
    """
    global _kept
    _kept = kept


def hear_no_more() -> None:
    """Ignore these signals from now on: all is done and written, and Python only ends.

    While it does, it would take an exception for an error of its own, and then, without handlers,
    be killed by the signal.
    """
    for name in _WORDS:
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


def announce() -> None:
    """Say that the command was interrupted."""
    global _announced
    _announced = True
    print(f"lightburst: {last_words()}", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _first, _came
    if _came:
        if HEARD.is_set() and number == signal.SIGINT:
            _end_now()  # the user does not want to wait
        return  # it ends already
    _first, _came = signal.Signals(number), True
    # Not from `threading`, whose locks the interrupted code can hold.
    _thread.start_new_thread(_end, ())
    signal.default_int_handler(number, frame)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Tell what Python cannot raise, but not a Ctrl-C in a destructor: the process ends soon."""
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
            time.sleep(_PATIENCE_S)  # the line is being written, or has been
            return
        lines = [words for words in (_kept, last_words()) if words]
        os.write(2, "".join(f"lightburst: {words}\n" for words in lines).encode())
    finally:
        os._exit(code())
