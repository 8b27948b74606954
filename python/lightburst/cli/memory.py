"""The end of memory, as a command says it. Nothing is imported here for which it may end, too."""

from __future__ import annotations

import errno
from typing import Final

#: Exit code of a command that was given what it cannot do.
BAD_INPUT: Final = 2

_LESS: Final = (
    "a smaller scenario, fewer runs at once, or a measurement.memory_limit to end a run earlier"
)


def memory_ended(error: Exception) -> bool:
    """Tell whether an error means that there is no memory left.

    The loader of libraries and the start of a thread have neither a type nor a number for that.
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in ("failed to map segment", "can't start new thread"))


def words_of(error: Exception) -> str:
    """Say that memory has ended, and what to do."""
    words = ": ".join(filter(None, ("memory has ended", str(error))))
    return f"{words}; allowed: {_LESS}"
