"""``lightburst report``: an offline page of a saved result."""

from __future__ import annotations

from pathlib import Path

from lightburst.cli.terminal.aside import run_aside
from lightburst.cli.terminal.options import whole
from lightburst.cli.terminal.streams import say
from lightburst.explanation.worst_flows import MOST
from lightburst.foundation.errors import InputError
from lightburst.report.saved import write_page
from lightburst.result.files import RUN


def write_report(directory: str, explain: str | None) -> None:
    """Write the page and print its path.

    Parameters
    ----------
    directory : str
        Directory of a saved result.
    explain : str or None
        Number of worst flows of a run to explain on the page, as given on the command line.

    Raises
    ------
    InputError
        If the directory contains no result, one of its files is damaged, or the number is invalid.
    """
    explained = None if explain is None else whole("--explain", explain, 0)
    if explained is not None and explained > MOST:
        raise InputError("--explain", str(explained), f"a whole number from 0 to {MOST}")
    source = Path(directory)
    if explained is not None and source.is_dir() and not (source / RUN).is_file():
        allowed = "the directory of a single run, written by 'run --out', where --explain is given"
        raise InputError("DIR", directory, allowed)
    say(write_page(directory, explained, run_aside))
