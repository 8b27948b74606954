"""Ctrl-C that waits where it would be lost."""

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
    """Let Ctrl-C wait until the block ends.

    Pydantic writes each quantity by a function of ours. Among several kinds of a table it takes
    whatever that raises for a sign that another kind is meant, and goes on.
    """
    hears = signal.getsignal(signal.SIGINT)
    # Python raises it in the main thread, and only by a function.
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
