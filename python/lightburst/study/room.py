"""The memory that parallel runs share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final, TypeVar

from lightburst._core import Cancel, Cancelled
from lightburst.free import TooMuchMemoryError, available_memory, held_memory

T = TypeVar("T")

# How often a waiting run looks whether the study was cancelled.
_LOOK_UP_S: Final = 0.1


class Room:
    """Lets runs begin as long as all of them fit into memory; a run that does not waits.

    Parameters
    ----------
    cancel : Cancel
        Ends the waiting.
    """

    def __init__(self, cancel: Cancel) -> None:
        self._cancel = cancel
        self._changed = Condition()
        # What each run under way has asked for; what was free, and held, when there was none.
        self._taken: list[int] = []
        self._free = self._held = 0
        # How many began or ended.
        self._changes = 0

    @contextmanager
    def run(self) -> Iterator[Callable[..., None]]:
        """Give the function with which a run asks for its memory before it begins.

        It takes the bytes, and those that the program may hold if the user has a limit.

        Raises
        ------
        Cancelled
            While it waits.
        """
        mine: list[int] = []

        def ask(needed: int, limit: int | None = None) -> None:
            with self._changed:
                while self._taken and sum(self._taken) + needed > self._room(limit):
                    self._wait()
                if not self._taken:
                    self._free, self._held = available_memory(), held_memory()
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

    def repeated(self, run: Callable[[], T]) -> T:
        """Call a function, and again while only other runs leave it too little memory."""
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
                        self._wait()

    def _room(self, limit: int | None) -> int:
        return self._free if limit is None else min(self._free, limit - self._held)

    def _wait(self) -> None:
        if self._cancel.is_set():
            raise Cancelled
        self._changed.wait(_LOOK_UP_S)
