"""The cores of the machine."""

import os


def available_cores() -> int:
    """Return the number of cores that this process may use, possibly fewer than exist."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
