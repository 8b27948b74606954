"""Directories that are written whole or not at all."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lightburst.errors import InputError
from lightburst.folder import swap, unwritable

if TYPE_CHECKING:
    from collections.abc import Callable

# Beside the working directory's other files, so that a later call finds the finished runs.
STORE: Final = Path(".lightburst", "runs.sqlite")

OPTION: Final = "--out"
PAGE: Final = "index.html"
# The files that tell what a directory holds.
RUN: Final = "run.json"
REPLICATIONS: Final = "replications.json"
REPRODUCTION: Final = "reproduction.json"
TRACE: Final = "trace.json"
CLAIMS: Final = "claims.json"
RUNS: Final = "runs.parquet"
_TABLES: Final = (
    "flows.parquet",
    "links.parquet",
    "switches.parquet",
    "trace_segments.parquet",
    "trace_windows.parquet",
    "trace_bursts.parquet",
    "trace_hops.parquet",
    "samples_links.parquet",
    "samples_switches.parquet",
)
# What a trace writes beside `TRACE` and its tables: the capture, and pictures as PNG and SVG.
CAPTURE: Final = "trace.pcapng"
TRACE_PICTURES: Final = ("time-sequence", "windows", "packets")
_TRACE_FILES: Final = {
    CAPTURE,
    *(f"{name}.{ending}" for name in TRACE_PICTURES for ending in ("png", "svg")),
}


def check(directory: str | Path) -> Path:
    """Make sure, before long work begins, that its outcome can be written.

    Parameters
    ----------
    directory : str or Path
        Where the outcome shall go.

    Returns
    -------
    Path
        The same, absolute.

    Raises
    ------
    InputError
        If it cannot be made or written, or holds what is not ours to replace.
    """
    target = Path(directory).resolve()
    if Path.cwd().is_relative_to(target):
        raise InputError(OPTION, str(target), "not the working directory, and none above it")
    try:
        if target.exists() and not _replaceable(target):
            raise InputError(
                OPTION, str(target), "a directory that is new, empty, or holds an earlier result"
            )
        existing = next(parent for parent in target.parents if parent.exists())
        with tempfile.TemporaryDirectory(dir=existing, prefix=".lightburst-"):
            pass
    except OSError as error:
        raise unwritable(target, error) from error
    return target


def replace(directory: str | Path, write: Callable[[Path], object]) -> Path:
    """Write a directory beside its place and put it there when it is complete.

    Parameters
    ----------
    directory : str or Path
        Made if it does not exist; an earlier result in it is replaced.
    write : callable
        Gets an empty directory and fills it.

    Returns
    -------
    Path
        The directory, absolute.

    Raises
    ------
    InputError
        If it cannot be written, or holds what is not ours. Nothing is left behind.
    """
    target = check(directory)
    swap(target, write)
    return target


def _replaceable(target: Path) -> bool:
    """Tell whether a directory holds nothing but what lightburst has written."""
    held = {entry.name for entry in target.iterdir()}
    ours = {RUN, REPLICATIONS, REPRODUCTION, CLAIMS, RUNS, PAGE, TRACE, *_TABLES, *_TRACE_FILES}
    if REPRODUCTION in held:
        try:
            about = json.loads((target / REPRODUCTION).read_text(encoding="utf-8"))
            ours |= {f"{name}.{ending}" for name in about["figures"] for ending in ("png", "svg")}
            ours |= {f"{name}.csv" for name in about.get("tables", [])}
            ours |= {f"{name}.parquet" for name in about.get("traces", [])}
        except (ValueError, KeyError, TypeError):
            return False
    return held <= ours and bool(not held or held & {RUN, REPLICATIONS, REPRODUCTION, TRACE})
