"""The finished runs of studies, in one SQLite file.

A run is committed as soon as it is finished. The write-ahead log keeps what is committed when the
process is killed; only a failure of the machine itself can take back the last moments.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from lightburst.errors import InputError, show
from lightburst.metrics import Metric, from_json, to_json
from lightburst.study.sweep import Key, PlannedRun

IN_MEMORY: Final = ":memory:"

# SQLite keeps the two numbers in the head of the file: whose it is ("lbst"), and which tables.
_APPLICATION: Final = 0x6C627374
_LAYOUT: Final = 1
# Another process may be writing; a commit takes well under a millisecond.
_PATIENCE_S: Final = 30.0

# Seeds go to 2**64 - 1, SQLite's integers to 2**63 - 1: kept as text.
_TABLES: Final = """
CREATE TABLE scenarios (
    digest TEXT PRIMARY KEY,
    scenario TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    scenario TEXT NOT NULL REFERENCES scenarios (digest),
    seed TEXT NOT NULL,
    metrics TEXT NOT NULL,
    PRIMARY KEY (scenario, seed)
) WITHOUT ROWID;
"""


class Store:
    """An index of finished runs, by scenario and seed.

    One process writes at a time (SQLite sees to it); the connection belongs to the thread that
    opened it.

    Parameters
    ----------
    path : str or Path
        The file, made with its directories if it does not exist; `IN_MEMORY` keeps nothing.

    Raises
    ------
    InputError
        If the file cannot be opened and written, or is not a store of runs.
    """

    def __init__(self, path: str | Path = IN_MEMORY) -> None:
        if not isinstance(path, str | PathLike):
            raise InputError("store", show(path), "the name of a file, new or a store of runs")
        self.path = path
        try:
            if path != IN_MEMORY:
                Path(path).resolve().parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._open()
        except sqlite3.Error as error:
            self._database.close()
            raise self._unusable(error) from error
        except InputError:
            self._database.close()
            raise
        self._known: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM runs").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def find(self, scenario_digests: Iterable[str]) -> dict[Key, dict[str, Metric]]:
        """Look up the finished runs of scenarios.

        Parameters
        ----------
        scenario_digests : iterable of str
            Digests of the scenarios.

        Returns
        -------
        dict of (str, int) to dict
            Summary of every finished run of these scenarios, by scenario digest and seed.

        Raises
        ------
        InputError
            If the file cannot be read.
        """
        query = "SELECT seed, metrics FROM runs WHERE scenario = ?"
        return {
            (digest, int(seed)): from_json(json.loads(metrics))
            for digest in scenario_digests
            for seed, metrics in self._ask(query, digest)
        }

    def put(self, planned: PlannedRun, metrics: Mapping[str, Metric]) -> None:
        """Keep a finished run; a run that is there already stays as it is.

        Parameters
        ----------
        planned : PlannedRun
            What was run.
        metrics : mapping of str to Metric
            Its summary.

        Raises
        ------
        InputError
            If the file cannot be written: the disk is full, or the file has become unusable.
        """
        digest = planned.scenario_digest
        if digest not in self._known:
            # Kept once for all seeds, so that a file explains itself.
            text = planned.scenario.canonical_json()
            self._ask("INSERT OR IGNORE INTO scenarios VALUES (?, ?)", digest, text)
            self._known.add(digest)
        text = json.dumps(to_json(metrics), allow_nan=False)
        seed = str(planned.seed)
        self._ask("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", digest, seed, text)

    def _ask(self, query: str, *values: str) -> list[tuple[str, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _open(self) -> None:
        self._check()
        self._database.execute("PRAGMA journal_mode = WAL")
        # In this mode a commit waits for no disk; the file is sound after a power cut all the same.
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.execute("BEGIN IMMEDIATE")
        if self._number_of_tables() == 0:
            # One by one: executescript would commit first and let a second process in between.
            for statement in _TABLES.split(";")[:-1]:
                self._database.execute(statement)
            self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._database.execute(f"PRAGMA user_version = {_LAYOUT}")
        self._database.execute("COMMIT")
        self._check()

    def _check(self) -> None:
        """Refuse the file of another program, before anything in it is changed."""
        marks = [
            self._database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        ]
        if marks != [_APPLICATION, _LAYOUT] and self._number_of_tables() > 0:
            raise InputError("store", str(self.path), "a new file or a store of runs")

    def _number_of_tables(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

    def _unusable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or error
        return InputError(
            "store", f"{self.path} ({reason})", "a file that can be written, new or a store of runs"
        )
