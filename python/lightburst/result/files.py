"""Names of the store and of result files, and errors for invalid files."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import WRITTEN, listed, verify

if TYPE_CHECKING:
    from collections.abc import Iterator

# In the working directory, so that a later call finds the finished runs.
STORE: Final = Path(".lightburst", "runs")

PAGE: Final = "index.html"
# Files that identify the kind of result in a directory.
RUN: Final = "run.json"
REPLICATIONS: Final = "replications.json"
REPRODUCTION: Final = "reproduction.json"
SWEEP: Final = "sweep.json"
TRACE: Final = "trace.json"
NETWORK: Final = "network.json"
CLAIMS: Final = "claims.json"
RUNS: Final = "runs.parquet"
# Further files of a sweep.
STUDY: Final = "study.toml"
TABLE: Final = "table.csv"
COMPARISONS: Final = "comparisons.csv"
# Further file of a trace, beside its tables and figures.
CAPTURE: Final = "trace.pcapng"

_DIRECTORY: Final = "DIR"  # name of the argument on the command line


@contextmanager
def as_written(directory: Path, by: str = WRITTEN) -> Iterator[None]:
    """Report any error about the files of a directory as one `InputError`.

    Parameters
    ----------
    directory : Path
        Directory given as a saved result. Its files are untrusted, even if checksums match.
    by : str
        Allowed value for the message: the command that writes such directories.

    Raises
    ------
    InputError
        For any exception inside the block.
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
    """Verify files of a saved result under `as_written`, and yield the JSON of the first one.

    With `whole`, files that are not read are verified as well, as users may rely on them.
    """
    with as_written(directory, by):
        verify(directory, [name, *more])
        if whole:
            verify(directory, listed(directory))
        yield json.loads((directory / name).read_text(encoding="utf-8"))
