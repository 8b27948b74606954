"""Pages of saved results of any kind."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lightburst.experiment import reproduce
from lightburst.experiment.sweep import read_sweep
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import WRITTEN, listed, verify
from lightburst.foundation.files.directory import amend, restore
from lightburst.report import run_page
from lightburst.report.sweep_page import sweep_page
from lightburst.result.files import PAGE, REPLICATIONS, REPRODUCTION, RUN, RUNS, SWEEP, as_written
from lightburst.simulation.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightburst.result.result import Result


def write_page(
    directory: str | Path,
    explained: int | None = None,
    simulate: Callable[..., Result] = simulate,
) -> Path:
    """Write the page of a saved run, of replications, of a sweep or of a reproduction.

    Parameters
    ----------
    directory : str or Path
        Directory written by ``run --out``, ``sweep --out`` or ``reproduce --out``.
    explained, simulate
        For a saved run, as in `lightburst.report.run_page.run_page`.

    Returns
    -------
    Path
        Path of ``index.html`` in the directory.

    Raises
    ------
    InputError
        If the directory contains no such result, one of its files is damaged, or the page cannot be
        written.
    """
    source = Path(directory).absolute()
    with as_written(source):
        if not source.exists():
            _find(source)
        if (source / REPRODUCTION).is_file():
            amend(source, reproduce.load(source).write_derived)
        elif (source / RUN).is_file():
            _write(source, run_page.run_page(source, explained, simulate))
        elif (source / REPLICATIONS).is_file():
            _write(source, run_page.replications_page(source))
        elif (source / SWEEP).is_file():
            verify(source, sorted({*listed(source), SWEEP, RUNS} - {PAGE}))
            _write(source, sweep_page(read_sweep(source)))
        else:
            raise InputError("DIR", str(source), WRITTEN)
    return source / PAGE


def _write(source: Path, text: str) -> None:
    amend(source, lambda fresh: (fresh / PAGE).write_text(text, encoding="utf-8"))


def _find(source: Path) -> None:
    """Restore a result whose replacement was interrupted by a kill."""
    with suppress(OSError):
        restore(source)
