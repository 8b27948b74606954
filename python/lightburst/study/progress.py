"""A progress bar with the time left, on standard error or in a notebook, for people only."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

# A shorter run shows nothing.
_SOON_S: Final = 1.5
_PS: Final = 1e-12
# A bar in a notebook is drawn no more often than this.
_PAUSE_S: Final = 0.5


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
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = _console()
    if shown and console.is_jupyter:
        yield NotebookBar(total, finished).advance
        return
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


class NotebookBar:
    """A bar below the cell of a notebook, by HTML alone: rich's needs widgets, which few have.

    Parameters
    ----------
    total, finished : int
        As in `progress_bar`.
    """

    def __init__(self, total: int, finished: int) -> None:
        from IPython.display import display

        self._total, self._before, self._done = total, finished, finished
        self._begun = self._drawn = time.monotonic()
        show: Any = display
        self._place = show(self, display_id=True)

    def advance(self) -> None:
        """Count a run that is finished, and draw the bar unless it was drawn just now."""
        self._done += 1
        now = time.monotonic()
        if self._done == self._total or now - self._drawn > _PAUSE_S:
            self._drawn = now
            self._place.update(self)

    def __repr__(self) -> str:
        passed = time.monotonic() - self._begun
        words = f"{self._done}/{self._total} runs, {_clock(passed)}"
        done = self._done - self._before
        if not done or self._done == self._total:
            return words
        return f"{words}, left {_clock(passed / done * (self._total - self._done))}"

    def _repr_html_(self) -> str:
        bar = f'<progress max="{self._total}" value="{self._done}" style="width: 24em"></progress>'
        return f"{bar} {self!r}"


def _clock(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


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
    begun = time.monotonic()
    shown: list[tuple[Progress, TaskID]] = []

    def show(events: int, now_ps: int) -> None:
        # Most runs end before this, and need no rich.
        if time.monotonic() - begun <= _SOON_S:
            return
        if not shown:
            shown.append(_line(begun))
        line, task = shown[0]
        words = f"{now_ps * _PS:,.6g} s simulated, {events / 1e6:,.1f} million events"
        line.update(task, description=words)

    try:
        yield show
    finally:
        for line, _ in shown:
            line.stop()


def _line(begun: float) -> tuple[Progress, TaskID]:
    """Begin to show a line about a run that began earlier."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = _console()
    line = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=2,
        transient=True,
        disable=not console.is_terminal,
        get_time=time.monotonic,
    )
    task = line.add_task("")
    line.tasks[0].start_time = begun
    line.start()
    return line, task


@contextmanager
def search_progress(total: int, what: str, *, shown: bool) -> Iterator[Callable[[int, str], None]]:
    """Show how far a search has come, and its answer so far, while a block runs.

    Parameters
    ----------
    total : int
        Number of steps.
    what : str
        What they are called: ``"trials"``.
    shown : bool
        Whether to show it if standard error is a terminal.

    Yields
    ------
    callable
        To be called with the number of steps that are done and the answer so far.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = _console()
    bar = Progress(
        TextColumn(what),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        refresh_per_second=2,
        disable=not (shown and console.is_terminal),
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda done, answer: bar.update(task, completed=done, description=answer)
