"""Whether what an interrupt ends is being ended in order.

The command line ends a process by force soon after an interrupt, because libraries can swallow it
(`lightburst.cli.terminal.interrupt`). It waits longer where the interrupt has been heard: runs
that have come back are being kept, or jobs cancelled.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Set when an interrupt has come through `orderly`.
HEARD: Final = Event()


@contextmanager
def orderly() -> Iterator[None]:
    """Note an interrupt that comes out of the block: what follows it clears up."""
    try:
        yield
    except KeyboardInterrupt:
        HEARD.set()
        raise
