"""Names of files, of the store and in a directory of results; and what is wrong with one."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lightburst.errors import InputError
from lightburst.sums import WRITTEN, listed, verify

if TYPE_CHECKING:
    from collections.abc import Iterator

# Beside the working directory's other files, so that a later call finds the finished runs.
STORE: Final = Path(".lightburst", "runs")

PAGE: Final = "index.html"
# The files that tell what a directory holds.
RUN: Final = "run.json"
REPLICATIONS: Final = "replications.json"
REPRODUCTION: Final = "reproduction.json"
SWEEP: Final = "sweep.json"
TRACE: Final = "trace.json"
NETWORK: Final = "network.json"
CLAIMS: Final = "claims.json"
RUNS: Final = "runs.parquet"
# What a sweep writes beside `SWEEP` and `RUNS`.
STUDY: Final = "study.toml"
TABLE: Final = "table.csv"
COMPARISONS: Final = "comparisons.csv"
# What a trace writes beside `TRACE`, its tables and its pictures.
CAPTURE: Final = "trace.pcapng"

_DIRECTORY: Final = "DIR"  # as the command line calls it


@contextmanager
def as_written(directory: Path, by: str = WRITTEN) -> Iterator[None]:
    """Refuse a directory in one message, whatever is wrong with its files.

    Parameters
    ----------
    directory : Path
        What a user says is a saved result. Its files can be anybody's, with checksums that fit.
    by : str
        What writes such a directory.

    Raises
    ------
    InputError
        For anything that fails inside.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, InputError) and error.path == _DIRECTORY:
            raise
        what = f"{type(error).__name__}: {error}"
        raise InputError(_DIRECTORY, f"{directory} ({what})", by) from error


@contextmanager
def reading(
    directory: Path, name: str, *more: str, by: str = WRITTEN, whole: bool = False
) -> Iterator[dict[str, Any]]:
    """Check files of a saved result, as `as_written`, and give what the first, of JSON, holds.

    Of a `whole` one also those that are not read: who loads it would take them for what they were.
    """
    with as_written(directory, by):
        verify(directory, [name, *more])
        if whole:
            verify(directory, listed(directory))
        yield json.loads((directory / name).read_text(encoding="utf-8"))
