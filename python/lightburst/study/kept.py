"""Tables of single runs, kept beside their figures: a Parquet file for each run and table."""

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

from lightburst.errors import InputError, show
from lightburst.parquet import read_frame
from lightburst.saving import needed, write_table
from lightburst.scenario.measurement import MEASUREMENTS

if TYPE_CHECKING:
    from lightburst.result import Result
    from lightburst.scenario import Scenario
    from lightburst.study.sweep import Key, PlannedRun

# Measurements that move no digest of a scenario do move its tables.
_UNSEEN: Final = tuple(one for one in MEASUREMENTS if not one.moves_digest)
# The names of files of stores have these, asked for or not, in this order; others only if asked.
_NAMED: Final = ("trace", "sample", "reordering")

#: The column with the first part of a run's key.
SCENARIO: Final = "scenario"


def _is_unseen(name: str) -> bool:
    """Tell whether a table may differ between runs of one digest."""
    return name.startswith(tuple(one.key for one in _UNSEEN))


def encoded(result: Result, names: Sequence[str]) -> dict[str, bytes]:
    """Give tables of a run as Parquet, by their names: some of `lightburst.saving.TABLES`.

    One that the run does not have, because its point does not ask for it, is empty.
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
    """Where the tables of runs are kept.

    Parameters
    ----------
    names : sequence of str
        Which tables: some of `lightburst.saving.TABLES`.
    folder : Path, optional
        Made if it does not exist; without one they are gone with this object.
    looks : mapping of str to str, optional
        What stands in the names of files for what a scenario looks at, by its digest; see `looks`.
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
        """Tell whether all tables of a run are there."""
        return all(self.file(key, name).is_file() for name in self.names)

    def put(self, key: Key, tables: Mapping[str, bytes]) -> None:
        """Keep the tables of a run; a process that is killed leaves whole files or none.

        Parameters
        ----------
        key : (str, int)
            Of the run.
        tables : mapping of str to bytes
            What `encoded` gave.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        for name, content in tables.items():
            file = self.file(key, name)
            # Several processes can be at the same run.
            fresh = file.with_suffix(f".{os.getpid()}.new")
            try:
                fresh.write_bytes(content)
                fresh.replace(file)
            except OSError as error:
                fresh.unlink(missing_ok=True)
                given = f"{file} ({error.strerror})"
                raise InputError("keep", given, "a folder that can be written") from error

    def read(self, key: Key, name: str) -> pd.DataFrame:
        """Give a table of a run.

        Raises
        ------
        InputError
            If its file is not there any more, or damaged.
        """
        file = self.file(key, name)
        try:
            return read_frame(file, "keep")
        except InputError:
            raise
        except Exception as error:  # pyarrow has a dozen for what is no Parquet
            given = f"{file} ({type(error).__name__})"
            allowed = "the file as it was written; without it the run is run again"
            raise InputError("keep", given, allowed) from error

    def file(self, key: Key, name: str) -> Path:
        """Name the file of a table."""
        digest, seed = key
        look = self.looks.get(digest, "") if _is_unseen(name) else ""
        return self.folder / f"{digest[:32]}-{seed}-{name}{look}.parquet"

    def together(self, runs: pd.DataFrame, name: str) -> pd.DataFrame:
        """Give a table of all runs in one.

        Parameters
        ----------
        runs : pandas.DataFrame
            One row for each run: what names it, up to ``seed``, and `SCENARIO`.
        name : str
            Which table.

        Returns
        -------
        pandas.DataFrame
            With what names the run in front.

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
    """Refuse tables that no point has, before the first run.

    Parameters
    ----------
    names : sequence of str
        Some of `lightburst.saving.TABLES`.
    scenarios : sequence of Scenario
        Those of the points.

    Raises
    ------
    InputError
        That names what the scenario would have to say.
    """
    for name in names:
        keys = [needed(name, scenario) for scenario in scenarios]
        if None not in keys:
            raise InputError(f"keep: {show(name)}", f"no {keys[0]}", f"a scenario with {keys[0]}")


def looks(runs: Iterable[PlannedRun], names: Sequence[str]) -> dict[str, str]:
    """Give what `Kept` calls the looks of runs.

    Parameters
    ----------
    runs : iterable of PlannedRun
        One of each point.
    names : sequence of str
        The tables.

    Raises
    ------
    InputError
        If two points are one run that is looked at in two ways, so that a table is not one.
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
                given = "points that differ in what is looked at alone"
                raise InputError(f"keep: {show(name)}", given, "a sweep for each of them")
    return found
