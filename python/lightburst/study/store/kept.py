"""Stored tables of single runs: one Parquet file per run and table."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.parquet import read_frame
from lightburst.result.saving import needed, write_table
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    from lightburst.result.result import Result
    from lightburst.scenario import Scenario
    from lightburst.study.runs import Key, PlannedRun

# Measurements that affect tables but not the run, and are not part of the run's digest.
_UNSEEN: Final = tuple(one for one in MEASUREMENTS if not one.moves_digest)
# Their keys that are in the name of every file, in this order; others only if requested.
_NAMED: Final = ("trace", "sample", "reordering")

#: Column with the scenario digest, the first part of a run's key.
SCENARIO: Final = "scenario"


def _is_unseen(name: str) -> bool:
    """Return whether a table may differ between runs with the same digest."""
    return name.startswith(tuple(one.key for one in _UNSEEN))


def encoded(result: Result, names: Sequence[str]) -> dict[str, bytes]:
    """Return tables of a run as Parquet, by name (members of `lightburst.result.saving.TABLES`).

    A table that the run's scenario does not request is empty.
    """
    return {name: _encoded(result, name) for name in names}


def _encoded(result: Result, name: str) -> bytes:
    held = BytesIO()
    if needed(name, result.scenario) is None:
        write_table(result, name, held)
    else:
        pd.DataFrame().to_parquet(held)
    return held.getvalue()


class Kept:
    """Storage for the tables of runs.

    Parameters
    ----------
    names : sequence of str
        Names of the tables: members of `lightburst.result.saving.TABLES`.
    folder : Path, optional
        Folder, created if necessary; None for a temporary folder that is deleted with this object.
    looks : mapping of str to str, optional
        File name suffix for the measurement settings of a scenario, by its digest; see `looks`.
    """

    def __init__(
        self,
        names: Sequence[str],
        folder: Path | None = None,
        looks: Mapping[str, str] | None = None,
    ) -> None:
        self.looks = {} if looks is None else looks
        self.names = tuple(names)
        if folder is None:
            self.folder = Path(tempfile.mkdtemp())
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            return
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            given = f"{folder} ({error.strerror})"
            raise InputError("keep", given, "a folder that can be written") from error

    def has(self, key: Key) -> bool:
        """Return whether all tables of a run are stored."""
        return all(self.file(key, name).is_file() for name in self.names)

    def put(self, key: Key, tables: Mapping[str, bytes]) -> None:
        """Store the tables of a run; each file is written completely or not at all.

        Parameters
        ----------
        key : (str, int)
            Key of the run.
        tables : mapping of str to bytes
            Tables from `encoded`.

        Raises
        ------
        InputError
            If a file cannot be written.
        """
        for name, content in tables.items():
            file = self.file(key, name)
            # Several processes may compute the same run.
            fresh = file.with_suffix(f".{os.getpid()}.new")
            try:
                fresh.write_bytes(content)
                fresh.replace(file)
            except OSError as error:
                fresh.unlink(missing_ok=True)
                given = f"{file} ({error.strerror})"
                raise InputError("keep", given, "a folder that can be written") from error

    def read(self, key: Key, name: str) -> pd.DataFrame:
        """Read a table of a run.

        Raises
        ------
        InputError
            If its file is missing or damaged.
        """
        file = self.file(key, name)
        try:
            return read_frame(file, "keep")
        except InputError:
            raise
        except Exception as error:  # pyarrow raises a dozen types for invalid Parquet
            given = f"{file} ({type(error).__name__})"
            allowed = "the file as it was written; without it the run is run again"
            raise InputError("keep", given, allowed) from error

    def file(self, key: Key, name: str) -> Path:
        """Return the file name of a table."""
        digest, seed = key
        look = self.looks.get(digest, "") if _is_unseen(name) else ""
        return self.folder / f"{digest[:32]}-{seed}-{name}{look}.parquet"

    def together(self, runs: pd.DataFrame, name: str) -> pd.DataFrame:
        """Return one table concatenated over all runs.

        Parameters
        ----------
        runs : pandas.DataFrame
            One row per run: the columns that name it, up to ``seed``, and `SCENARIO`.
        name : str
            Name of the table.

        Returns
        -------
        pandas.DataFrame
            The table, with the columns that name the run in front.

        Raises
        ------
        InputError
            As `read`.
        """
        names = list(runs.columns[: list(runs.columns).index("seed") + 1])
        found = []
        for row in runs.to_dict("records"):
            table = self.read((row[SCENARIO], row["seed"]), name)
            labels = pd.DataFrame({label: row[label] for label in names}, table.index)
            found.append(pd.concat([labels, table], axis=1))
        return pd.concat(found, ignore_index=True)


def check_kept(names: Sequence[str], scenarios: Sequence[Scenario]) -> None:
    """Refuse tables that no point provides, before the first run.

    Parameters
    ----------
    names : sequence of str
        Names of tables, members of `lightburst.result.saving.TABLES`.
    scenarios : sequence of Scenario
        Scenarios of the points.

    Raises
    ------
    InputError
        If a table is not available; the message names the scenario key that would enable it.
    """
    for name in names:
        keys = [needed(name, scenario) for scenario in scenarios]
        if None not in keys:
            raise InputError(f"keep: {show(name)}", f"no {keys[0]}", f"a scenario with {keys[0]}")


def looks(runs: Iterable[PlannedRun], names: Sequence[str]) -> dict[str, str]:
    """Return the file name suffixes that distinguish measurement settings, by scenario digest.

    Parameters
    ----------
    runs : iterable of PlannedRun
        One run of each point.
    names : sequence of str
        Names of the tables.

    Raises
    ------
    InputError
        If two points are the same run with different measurement settings, and so share a file.
    """
    found: dict[str, str] = {}
    for run in runs:
        measurement = run.scenario.to_dict()["measurement"]
        others = [one.key for one in _UNSEEN if one.key not in _NAMED]
        more = {key: measurement[key] for key in others if key in measurement}
        text = json.dumps([*(measurement.get(key) for key in _NAMED), *([more] if more else [])])
        look = "-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        if found.setdefault(run.scenario_digest, look) != look:
            for name in filter(_is_unseen, names):
                given = "points that differ in their measurements alone"
                raise InputError(f"keep: {show(name)}", given, "a sweep for each of them")
    return found
