"""Deferral of Ctrl-C where the exception would be lost."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer Ctrl-C until the block ends.

    Pydantic serialises each quantity by a custom function. For a table with several kinds, it takes
    any exception of this function as a mismatch of the kind, and tries the next one.
    """
    hears = signal.getsignal(signal.SIGINT)
    # Only the main thread receives the signal, and only a callable handler raises an exception.
    if not callable(hears) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *what: came.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, hears)
        if came:
            hears(*came[0])
