"""Message for exhausted memory. Imports nothing large, since imports may fail the same way."""

from __future__ import annotations

import errno
from typing import Final

#: Exit code for arguments that a command cannot process.
BAD_INPUT: Final = 2

_LESS: Final = (
    "a smaller scenario, fewer runs at once, or a measurement.memory_limit to end a run earlier"
)


#: Types under which exhausted memory appears; `memory_ended` tells it from other errors of a type.
MAYBE_MEMORY: Final = (MemoryError, ImportError, OSError, RuntimeError, SystemError)

# Errors with neither a type nor an error number of their own are recognised by their text: a
# library that cannot be loaded, a thread that cannot be started, and an allocation that fails
# inside of the interpreter, which then reports a failure without an exception.
_TEXTS: Final = (
    "failed to map segment",
    "can't start new thread",
    "without exception set",
    "without setting an exception",
)


def memory_ended(error: Exception) -> bool:
    """Tell whether an error means that memory is exhausted."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in _TEXTS)


def words_of(error: Exception) -> str:
    """Return the message for exhausted memory, with advice."""
    words = ": ".join(filter(None, ("memory is exhausted", str(error))))
    return f"{words}; allowed: {_LESS}"
