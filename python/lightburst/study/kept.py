"""Tables of single runs, kept beside their figures: a Parquet file for each run and table."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.errors import InputError

if TYPE_CHECKING:
    from lightburst.result import Result
    from lightburst.study.sweep import Key

#: What can be kept of a run.
TABLES: Final = ("flows", "links", "switches")

#: The column with the first part of a run's key.
SCENARIO: Final = "scenario"


def encoded(result: Result, names: Sequence[str]) -> dict[str, bytes]:
    """Give tables of a run as Parquet, by their names: some of `TABLES`."""
    return {name: getattr(result, name).to_parquet(None, index=False) for name in names}


class Kept:
    """Where the tables of runs are kept.

    Parameters
    ----------
    names : sequence of str
        Which tables: some of `TABLES`.
    folder : Path, optional
        Made if it does not exist; without one they are gone with this object.
    """

    def __init__(self, names: Sequence[str], folder: Path | None = None) -> None:
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
            return pd.read_parquet(file)
        except Exception as error:  # pyarrow has a dozen for what is no Parquet
            given = f"{file} ({type(error).__name__})"
            allowed = "the file as it was written; without it the run is run again"
            raise InputError("keep", given, allowed) from error

    def file(self, key: Key, name: str) -> Path:
        """Name the file of a table."""
        digest, seed = key
        return self.folder / f"{digest[:32]}-{seed}-{name}.parquet"

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
