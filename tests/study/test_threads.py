"""Work in threads beside the calling one, which keeps their results; an error ends them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from lightburst._core import Cancel, Cancelled
from lightburst.study.execution.threads import work_aside

Give = Callable[[int], None]


def test_what_all_tasks_give_is_kept_on_the_calling_thread() -> None:
    kept: list[tuple[int, bool]] = []
    here = threading.current_thread()

    def task(give: Give) -> None:
        assert threading.current_thread() is not here
        for number in range(3):
            give(number)

    def keep(number: int) -> None:
        kept.append((number, threading.current_thread() is here))

    cancel = Cancel()
    work_aside([task, task], 6, keep, cancel)
    assert sorted(kept) == [(number, True) for number in (0, 0, 1, 1, 2, 2)]
    assert not cancel.is_set()


def test_an_error_ends_the_others_and_what_they_still_give_is_kept() -> None:
    kept: list[int] = []
    cancel = Cancel()

    def fails(give: Give) -> None:
        raise ValueError("broken")

    def waits(give: Give) -> None:
        while not cancel.is_set():
            time.sleep(0.01)
        give(7)
        raise Cancelled

    with pytest.raises(ValueError, match="broken"):
        work_aside([waits, fails], 2, kept.append, cancel)
    assert cancel.is_set()
    assert kept == [7]


def test_an_interrupt_is_heard_at_once_and_nobody_waits_for_a_deaf_thread() -> None:
    cancel, free, heard = Cancel(), threading.Event(), threading.Event()

    def deaf(give: Give) -> None:
        give(1)
        free.wait(60.0)
        heard.set()

    def interrupted(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_aside([deaf], 2, interrupted, cancel)
    assert not heard.is_set()
    assert cancel.is_set()
    free.set()
