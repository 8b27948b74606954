"""``lightburst report``: one offline page about a saved result."""

from __future__ import annotations

from pathlib import Path

from lightburst.cli.aside import run_aside
from lightburst.cli.options import whole
from lightburst.cli.streams import say
from lightburst.errors import InputError
from lightburst.report.files import RUN
from lightburst.report.saved import write_page
from lightburst.report.worst import MOST


def write_report(directory: str, explain: str | None) -> None:
    """Write the page and print where it is.

    Parameters
    ----------
    directory : str
        A saved result.
    explain : str or None
        What happened to so many flows of a run is told.

    Raises
    ------
    InputError
        If the directory holds no result, a file of it is damaged, or the number cannot be used.
    """
    explained = None if explain is None else whole("--explain", explain, 0)
    if explained is not None and explained > MOST:
        raise InputError("--explain", str(explained), f"a whole number from 0 to {MOST}")
    source = Path(directory)
    if explained is not None and source.is_dir() and not (source / RUN).is_file():
        allowed = "the directory of a single run, written by 'run --out', where --explain is given"
        raise InputError("DIR", directory, allowed)
    say(write_page(directory, explained, run_aside))
