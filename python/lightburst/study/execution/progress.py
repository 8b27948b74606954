"""Progress bars with the remaining time, on standard error or in a notebook."""

from __future__ import annotations

import time
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Final, Protocol

from lightburst.foundation.counts import PS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

# A single run that takes less time than this shows no progress.
_SOON_S: Final = 1.5
# Minimum time between two redraws of a bar in a notebook.
_PAUSE_S: Final = 0.5


class Bar(Protocol):
    """A display of the progress of some work."""

    def add(self, total: int, finished: int = 0) -> None:
        """Add steps to the total; those already finished do not count for the remaining time."""

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count finished steps, and show the current result of the work."""


@contextmanager
def progress_bar(shown: bool | Bar, what: str = "runs") -> Iterator[Bar]:
    """Show a progress bar while a block runs.

    Parameters
    ----------
    shown : bool or Bar
        Whether to show a bar, if standard error is a terminal or in a notebook. If it is an open
        bar, the steps of this block are added to it, and it stays open.
    what : str
        Name of the steps.

    Yields
    ------
    Bar
        The bar, on which the block calls `add` and `advance`.
    """
    if not isinstance(shown, bool):
        yield shown
        return
    console = _console()
    if shown and console.is_jupyter:
        yield NotebookBar(what)
        return
    hidden = not (shown and console.is_terminal)
    with TerminalBar(what, console, hidden=hidden).open() as bar:
        yield bar


class TerminalBar:
    """A bar on the last line of a terminal.

    Parameters
    ----------
    what : str
        As in `progress_bar`.
    console : rich.console.Console
        Console to draw on.
    hidden : bool
        Whether to draw nothing.
    """

    def __init__(self, what: str, console: Console, *, hidden: bool) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._line = Progress(
            TextColumn(what),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            # Drawing holds for milliseconds the lock that the workers need as well.
            refresh_per_second=2,
            disable=hidden,
        )
        self._task = self._line.add_task("", total=0)

    @contextmanager
    def open(self) -> Iterator[TerminalBar]:
        """Show the bar while a block runs."""
        with self._line:
            yield self

    def add(self, total: int, finished: int = 0) -> None:
        """Add steps to the total, as `Bar.add`."""
        task = self._line.tasks[0]
        self._line.update(
            self._task, total=(task.total or 0) + total, completed=task.completed + finished
        )

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count finished steps, as `Bar.advance`."""
        self._line.update(self._task, advance=steps, description=answer)


class NotebookBar:
    """A bar in plain HTML below a notebook cell; rich's own bar needs widgets, which are rare.

    Parameters
    ----------
    what : str
        As in `progress_bar`.
    """

    def __init__(self, what: str) -> None:
        self._what, self._answer = what, ""
        self._total = self._before = self._done = 0
        self._begun = self._drawn = time.monotonic()
        self._place: Any = None

    def add(self, total: int, finished: int = 0) -> None:
        """Add steps to the total, as `Bar.add`, and redraw the bar."""
        self._total += total
        self._before += finished
        self._done += finished
        self._draw()

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count finished steps, as `Bar.advance`, and redraw the bar now and then."""
        self._done += steps
        self._answer = answer
        if self._done == self._total or time.monotonic() - self._drawn > _PAUSE_S:
            self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        if self._place is not None:
            self._place.update(self)
            return
        from IPython.display import display

        show: Any = display
        self._place = show(self, display_id=True)

    def __repr__(self) -> str:
        passed = time.monotonic() - self._begun
        words = [f"{self._done}/{self._total} {self._what}", _clock(passed)]
        done = self._done - self._before
        if done and self._done < self._total:
            words.append(f"left {_clock(passed / done * (self._total - self._done))}")
        return ", ".join([*words, self._answer] if self._answer else words)

    def _repr_html_(self) -> str:
        bar = f'<progress max="{self._total}" value="{self._done}" style="width: 24em"></progress>'
        return f"{bar} {escape(repr(self))}"


def _clock(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def run_progress() -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a single run while a block runs, if the run takes long.

    The remaining time is unknown: a run ends when its flows have finished.

    Yields
    ------
    callable
        To be called, from any thread, with the number of events and the simulated time in
        picoseconds.
    """
    begun = time.monotonic()
    shown: list[tuple[Progress, TaskID]] = []

    def show(events: int, now_ps: int) -> None:
        # Most runs end earlier, and do not need to import rich.
        if time.monotonic() - begun <= _SOON_S:
            return
        if not shown:
            shown.append(_line(begun))
        line, task = shown[0]
        words = f"{now_ps * PS:,.6g} s simulated, {events / 1e6:,.1f} million events"
        line.update(task, description=words)

    try:
        yield show
    finally:
        for line, _ in shown:
            line.stop()


def _line(begun: float) -> tuple[Progress, TaskID]:
    """Show a progress line for a run that began at `begun`."""
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
