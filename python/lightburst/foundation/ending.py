"""Record of an interrupt that is being handled in order.

The command line kills its process soon after an interrupt, because libraries can swallow the
exception (`lightburst.cli.terminal.interrupt`). It waits longer once the interrupt is being
handled: completed runs are being stored, or jobs cancelled.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Signals that interrupt a command; Windows lacks the last.
SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
#: Set when an interrupt has passed through `orderly`.
HEARD: Final = Event()


@contextmanager
def orderly() -> Iterator[None]:
    """Record an interrupt that leaves the block, after which the caller cleans up."""
    try:
        yield
    except KeyboardInterrupt:
        HEARD.set()
        raise
