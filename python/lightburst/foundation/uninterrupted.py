"""Deferral of signals where the exception that they raise would be lost."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lightburst.foundation.ending import SIGNALS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer Ctrl-C, SIGTERM and SIGHUP until the block ends.

    Pydantic serialises each quantity by a custom function. For a table with several kinds, it takes
    any exception of this function as a mismatch of the kind, and tries the next one; elsewhere it
    raises its own exception in place of `KeyboardInterrupt`.
    """
    # Only the main thread receives signals, and only a callable handler raises an exception.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = {number: signal.getsignal(number) for number in SIGNALS}
    handlers = {number: handler for number, handler in heard.items() if callable(handler)}
    came: list[tuple[int, FrameType | None]] = []
    for number in handlers:
        signal.signal(number, lambda *what: came.append(what))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            number, frame = came[0]
            handlers[number](number, frame)
