"""A progress bar with the time left, on standard error or in a notebook, for people only."""

from __future__ import annotations

import time
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

# A shorter run shows nothing.
_SOON_S: Final = 1.5
_PS: Final = 1e-12
# A bar in a notebook is drawn no more often than this.
_PAUSE_S: Final = 0.5


class Bar(Protocol):
    """How far some work has come, to whoever looks at it."""

    def add(self, total: int, finished: int = 0) -> None:
        """Count steps more, of which some were finished before: these tell nothing of the pace."""

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count steps that are done now, and show the answer so far."""


@contextmanager
def progress_bar(shown: bool | Bar, what: str = "runs") -> Iterator[Bar]:
    """Show a bar while a block runs.

    Parameters
    ----------
    shown : bool or Bar
        Whether to show it if standard error is a terminal, or below the cell of a notebook. A bar
        that others have opened counts the steps of this block, too, and stays open.
    what : str
        What the steps are called.

    Yields
    ------
    Bar
        To be told how many steps there are, and when some are done.
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
    """A bar in the last line of a terminal.

    Parameters
    ----------
    what : str
        As in `progress_bar`.
    console : rich.console.Console
        Where.
    hidden : bool
        Whether nothing is shown.
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
            # Drawing takes milliseconds of the lock that the workers need too.
            refresh_per_second=2,
            disable=hidden,
        )
        self._task = self._line.add_task("", total=0)

    @contextmanager
    def open(self) -> Iterator[TerminalBar]:
        """Show it while a block runs."""
        with self._line:
            yield self

    def add(self, total: int, finished: int = 0) -> None:
        """Count steps more, as `Bar.add`."""
        task = self._line.tasks[0]
        self._line.update(
            self._task, total=(task.total or 0) + total, completed=task.completed + finished
        )

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count steps that are done, as `Bar.advance`."""
        self._line.update(self._task, advance=steps, description=answer)


class NotebookBar:
    """A bar below the cell of a notebook, by HTML alone: rich's needs widgets, which few have.

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
        """Count steps more, as `Bar.add`, and draw the bar."""
        self._total += total
        self._before += finished
        self._done += finished
        self._draw()

    def advance(self, answer: str = "", steps: int = 1) -> None:
        """Count steps that are done, as `Bar.advance`; draw it unless it was drawn just now."""
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
