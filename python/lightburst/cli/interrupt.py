"""Ctrl-C that ends the process also where a library swallows Python's exception.

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

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED: Final = 130  # 128 and the number of SIGINT, as shells count
# So long the exception has to end a command in order: to clear away, to keep finished runs. Then
# the process is ended as it is, and leaves no more than a kill does.
_PATIENCE_S: Final = 0.8
_LINE: Final = "lightburst: interrupted\n"

_announced = False
_interrupted = False


def hear() -> None:
    """Make Ctrl-C raise `KeyboardInterrupt`, as always, and soon afterwards end this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _unraisable


def hear_no_more() -> None:
    """Ignore Ctrl-C from now on: all is done and written, and Python only ends.

    While it does, it would take an exception for an error of its own, and then, without handlers,
    be killed by the signal.
    """
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def announce() -> None:
    """Say that the command was interrupted."""
    global _announced
    _announced = True
    print(_LINE, end="", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupted
    if _interrupted:
        return  # it ends already
    _interrupted = True
    # Not from `threading`, whose locks the interrupted code can hold.
    _thread.start_new_thread(_end, ())
    signal.default_int_handler(number, frame)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Tell what Python cannot raise, but not a Ctrl-C in a destructor: the process ends soon."""
    if not isinstance(what.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(what)


def _end() -> None:
    time.sleep(_PATIENCE_S)
    try:
        if not _announced:
            os.write(2, _LINE.encode())
        else:
            time.sleep(_PATIENCE_S)  # the line is being written, or has been
    finally:
        os._exit(INTERRUPTED)
