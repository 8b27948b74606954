"""A progress bar with the time left, on standard error, for people only."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

# A shorter run shows nothing.
_SOON_S: Final = 1.5
_PS: Final = 1e-12


@contextmanager
def progress_bar(total: int, finished: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """Show a bar while a block runs.

    Parameters
    ----------
    total : int
        Number of runs.
    finished : int
        Number of runs that were finished before; they do not count for the speed.
    shown : bool
        Whether to show it if standard error is a terminal.

    Yields
    ------
    callable
        To be called, without arguments, when a run is finished.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        # Drawing takes milliseconds of the lock that the workers need too.
        refresh_per_second=2,
        disable=not (shown and console.is_terminal),
    )
    with bar:
        task = bar.add_task("runs", total=total, completed=finished)
        yield lambda: bar.advance(task)


@contextmanager
def run_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how far a single run has come while a block runs, if it runs for long.

    Nobody knows when it will end: that is when its flows have finished.

    Yields
    ------
    callable
        To be called with the number of events and the simulated time in picoseconds, from any
        thread.
    """
    console = Console(stderr=True)
    line = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=2,
        transient=True,
        disable=not console.is_terminal,
    )
    begun = time.monotonic()
    task = line.add_task("")

    def show(events: int, now_ps: int) -> None:
        words = f"{now_ps * _PS:,.6g} s simulated, {events / 1e6:,.1f} million events"
        line.update(task, description=words)
        if time.monotonic() - begun > _SOON_S:
            line.start()

    try:
        yield show
    finally:
        if line.live.is_started:
            line.stop()
