"""One page from what is in a directory, whatever wrote it."""

from __future__ import annotations

from pathlib import Path

from lightburst.errors import InputError
from lightburst.folder import unwritable
from lightburst.report import reproduction, run_page
from lightburst.report.files import PAGE, REPLICATIONS, REPRODUCTION, RUN


def write_page(directory: str | Path) -> Path:
    """Write the page of a saved run, of replications or of a reproduction.

    Parameters
    ----------
    directory : str or Path
        What ``lightburst run --out`` or ``lightburst reproduce --out`` wrote.

    Returns
    -------
    Path
        ``index.html`` in the directory.

    Raises
    ------
    InputError
        If the directory holds nothing of that kind, or the page cannot be written.
    """
    source = Path(directory)
    if (source / REPRODUCTION).is_file():
        return reproduction.load(source).save(source)
    if (source / RUN).is_file():
        text = run_page.run_page(source)
    elif (source / REPLICATIONS).is_file():
        text = run_page.replications_page(source)
    else:
        raise InputError(
            "DIR", str(source), "a directory written by 'run --out' or 'reproduce --out'"
        )
    # Written beside its place first, so that there is never half a page.
    fresh = source / f".{PAGE}.new"
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(source / PAGE)
    except OSError as error:
        raise unwritable(source, error) from error
    return source / PAGE
