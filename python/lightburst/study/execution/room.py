"""Sharing of memory among parallel runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final, TypeVar

from lightburst._core import Cancel, Cancelled
from lightburst.foundation.memory import TooMuchMemoryError, available_memory, held_memory

T = TypeVar("T")

# Interval at which a waiting run checks for cancellation.
_LOOK_UP_S: Final = 0.1


class Room:
    """Admits runs as long as all of them fit into memory together; others wait.

    Parameters
    ----------
    most : int, optional
        Bytes that this process may hold, if it may not use all free memory: the share of one of
        several workers on a machine. None: all free memory.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._changed = Condition()
        # Memory requested by each current run; free and held memory at the last moment without any
        # run.
        self._taken: list[int] = []
        self._free = self._held = 0
        # Number of times that runs began or ended.
        self._changes = 0

    @contextmanager
    def run(self, cancel: Cancel) -> Iterator[Callable[..., None]]:
        """Yield the function with which a run requests memory before it begins.

        Its arguments are the bytes needed and, if the user has set a limit, the bytes that the
        program may hold.

        Raises
        ------
        TooMuchMemoryError
            If the run needs more than this process may hold.
        Cancelled
            If `cancel` is set while it waits.
        """
        mine: list[int] = []

        def ask(needed: int, limit: int | None = None) -> None:
            with self._changed:
                while self._taken and sum(self._taken) + needed > self._room(limit):
                    self._wait(cancel)
                if not self._taken:
                    self._free, self._held = available_memory(), held_memory()
                    self._refuse(needed)
                self._taken.append(needed)
                mine.append(needed)
                self._changes += 1

        try:
            yield ask
        finally:
            with self._changed:
                for needed in mine:
                    self._taken.remove(needed)
                self._changes += len(mine)
                self._changed.notify_all()

    def repeated(self, run: Callable[[], T], cancel: Cancel) -> T:
        """Call a function; repeat the call if it lacked memory only because of other runs."""
        while True:
            with self._changed:
                alone, seen = not self._taken, self._changes
            try:
                return run()
            except TooMuchMemoryError:
                with self._changed:
                    if alone and self._changes == seen:
                        raise
                    seen = self._changes
                    while self._taken and self._changes == seen:
                        self._wait(cancel)

    def _room(self, limit: int | None) -> int:
        limits = [most - self._held for most in (limit, self._most) if most is not None]
        return min([self._free, *limits])

    def _refuse(self, needed: int) -> None:
        """Refuse a run for which, even alone, this process may not hold enough memory."""
        if self._most is None or self._held + needed <= self._most:
            return
        given, held, most = (f"{n / 2**30:,.1f} GiB" for n in (needed, self._held, self._most))
        raise TooMuchMemoryError(
            "scenario",
            f"one that needs about {given} of memory",
            f"one that fits beside the {held} that its worker holds into the {most} that it may "
            "hold, or workers with more memory",
        )

    def _wait(self, cancel: Cancel) -> None:
        if cancel.is_set():
            raise Cancelled
        self._changed.wait(_LOOK_UP_S)
