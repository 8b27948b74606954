"""A progress bar with the time left, on standard error, for people only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


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
