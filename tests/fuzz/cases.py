"""The number of cases, the resources of each, and the form of a refusal.

``LIGHTBURST_FUZZ`` is the number of cases of all kinds together; they are the same each time.
"""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import HealthCheck, note, settings

from lightburst.foundation.errors import InputError

CASES = int(os.environ.get("LIGHTBURST_FUZZ", "500"))
HANG_S = 60
# The free memory that a case plans with, and the addresses that it gets.
FREE = 300 * 2**20
MEMORY = 2**30


def cases(share: float) -> settings:
    """A share of all cases, the same ones each time."""
    return settings(
        max_examples=max(1, round(share * CASES)),
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def limited() -> Iterator[None]:
    """Limit the memory to that of a small machine, and fail on a case that does not end."""

    def hangs(*_: object) -> None:
        raise TimeoutError(f"no end after {HANG_S} s")

    before, most = signal.signal(signal.SIGALRM, hangs), resource.getrlimit(resource.RLIMIT_AS)
    held = psutil.Process().memory_info().vms
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=FREE))
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, most[1]))
        signal.alarm(HANG_S)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            resource.setrlimit(resource.RLIMIT_AS, most)


def in_words(error: InputError) -> None:
    """Check the form of a refusal."""
    for single in error.errors:
        note(str(single))
        for part in (single.path, single.given, single.allowed):
            assert part
            assert part.isprintable()
            assert len(part) < 2000
