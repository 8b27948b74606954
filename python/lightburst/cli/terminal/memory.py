"""Message for exhausted memory. Imports nothing large, since imports may fail the same way."""

from __future__ import annotations

import errno
from typing import Final

#: Exit code for arguments that a command cannot process.
BAD_INPUT: Final = 2

_LESS: Final = (
    "a smaller scenario, fewer runs at once, or a measurement.memory_limit to end a run earlier"
)


def memory_ended(error: Exception) -> bool:
    """Tell whether an error means that memory is exhausted.

    Failures to load a library or to start a thread are recognised by their text: they have neither
    a type nor an error number of their own.
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in ("failed to map segment", "can't start new thread"))


def words_of(error: Exception) -> str:
    """Return the message for exhausted memory, with advice."""
    words = ": ".join(filter(None, ("memory is exhausted", str(error))))
    return f"{words}; allowed: {_LESS}"
