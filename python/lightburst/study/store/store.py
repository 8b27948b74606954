"""Store of finished and failed runs of studies: a folder with an SQLite index.

Runs that have ended are committed in groups, as soon as the driver of the study receives them. The
write-ahead log preserves commits if the process is killed; only a failure of the machine itself can
undo the most recent ones.

Each row has a checksum. A damaged row is set aside and its run is run again. A file with a damaged
structure is refused; `lightburst.study.store.upkeep.clean` recovers its readable rows.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from lightburst.foundation.counts import Metric
from lightburst.foundation.errors import InputError, StoreWarning, show, warn
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.result.metrics import from_json, to_json
from lightburst.scenario import Scenario
from lightburst.study.execution.own import is_own
from lightburst.study.runs import Key, PlannedRun
from lightburst.study.store import columns, place, schema
from lightburst.study.store.failures import Failure
from lightburst.study.store.found import Rows
from lightburst.study.store.rows import checksum, is_sound
from lightburst.study.store.unwritable import is_unwritable, opened

T = TypeVar("T")

IN_MEMORY: Final = ":memory:"

# Largest number of damaged rows that a warning names.
_NAMED: Final = 3
# SQLite errors of a file with a damaged structure: malformed, not a database, or the general code,
# as for a missing table.
_STRUCTURE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
# Exceptions for SQLite errors; Python may also fail to decode their text.
_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)


class Damaged(InputError):  # noqa: N818 - named after the state of the store
    """Raised if the index of a store is not a database, or its structure is damaged."""


class Store:
    """An index of finished runs, by scenario and seed.

    Only one process writes at a time, which SQLite enforces; the connection belongs to the thread
    that opened it.

    Parameters
    ----------
    path : str or Path
        The folder, created if necessary; `IN_MEMORY` stores nothing on disk. A store of an old
        version was a single file: a file at this path, or with ``.sqlite`` appended, is converted
        to a folder.

    Raises
    ------
    InputError
        If the folder cannot be opened, is not a store of runs, or its structure is damaged.

    Warns
    -----
    StoreWarning
        If a store of an old version was converted to a folder; if it had no checksums, they have
        been added, and earlier damage remains undetected. If the folder is on a network file
        system: this process then uses the store exclusively.

    Attributes
    ----------
    path : str or Path
        The path as given.
    folder : Path or None
        The folder; None in memory.
    read_only : bool
        Whether the store cannot be written, such as another user's or an archive; it can be read.
    """

    def __init__(self, path: str | Path = IN_MEMORY) -> None:
        if not isinstance(path, str | PathLike):
            raise InputError("store", show(path), "the name of a folder, new or a store of runs")
        self.path = path
        self.folder = None if path == IN_MEMORY else Path(path)
        self.read_only = self.folder is not None and is_unwritable(self.folder / place.INDEX)
        network, file = "", None
        try:
            if self.folder is not None and not self.read_only:
                file = place.prepared(self.folder)
                network = place.network_of(self.folder)
            self.database = self._connected()
        except (OSError, ValueError, *_ERRORS) as error:
            raise error if isinstance(error, InputError) else self._unusable(error) from error
        try:
            taken = self._open(alone=bool(network))
        except _ERRORS as error:
            self.database.close()
            raise self._unusable(error) from error
        except InputError:
            self.database.close()
            raise
        self._known: set[str] = set()
        self._compared = False
        if file is not None:
            self._warn(f"{file} was one file, with {len(self):,} runs, and is a folder now")
        if taken:
            self._warn(f"{taken:,} runs of an earlier version had no checksums and have them now")
        if network:
            self._warn(
                f"it is on a network file system ({network}), where this process uses it alone and "
                "SQLite rests on the locks of the server; a disk of this machine is safer"
            )

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
        return int(self.ask("SELECT count(*) FROM runs")[0][0])

    def close(self) -> None:
        """Close the index."""
        self.database.close()

    def find(self, scenario_digests: Iterable[str]) -> dict[Key, dict[str, Metric]]:
        """Look up the finished runs of scenarios.

        Parameters
        ----------
        scenario_digests : iterable of str
            Digests of the scenarios.

        Returns
        -------
        dict of (str, int) to dict
            Row of every finished run of these scenarios, by scenario digest and seed. Only rows
            with a matching checksum are included.

        Raises
        ------
        InputError
            If the file cannot be read.

        Warns
        -----
        StoreWarning
            If rows are damaged. They are moved to the table ``damaged`` and not returned. If an
            index was damaged.
        """
        self._compare_indices()
        return {key: row for key, _, row in self._read(scenario_digests)}

    def rows(self, scenario_digests: Iterable[str]) -> Rows:
        """Look up the finished runs of scenarios, as `find` does, but faster for very many runs.

        If many rows had to be read one by one, they are copied to columns
        (`lightburst.study.store.columns`) to speed up the next call.

        Raises
        ------
        InputError
            If the index cannot be read.

        Warns
        -----
        StoreWarning
            As `find`.
        """
        self._compare_indices()
        digests = list(scenario_digests)
        if self.folder is None or len(self) < columns.LEAST:
            return Rows(self.find(digests))
        query = "SELECT seed, checksum FROM runs WHERE scenario = ?"
        sums = {
            (digest, int(seed)): sum_
            for digest in digests
            for seed, sum_ in self.ask(query, digest)
            if _seed(seed) is not None
        }
        if len(sums) < columns.LEAST:
            return Rows(self.find(digests))
        folder = self.folder / place.COLUMNS
        parts = list(columns.read(folder, sums))
        there = {key for keys, _ in parts for key in keys}
        single = list(self._read(digests, there))
        if len(single) >= columns.LEAST:
            columns.write(folder, single)
        return Rows({key: row for key, _, row in single}, parts)

    def _read(
        self, scenario_digests: Iterable[str], there: Container[Key] = ()
    ) -> Iterator[tuple[Key, bytes, dict[str, Metric]]]:
        """Yield rows with their checksums one by one, except those that are in `there`."""
        damaged = False
        query = "SELECT seed, finished, metrics, checksum FROM runs WHERE scenario = ?"
        for digest in scenario_digests:
            name = digest.encode()
            for row in self.ask(query, digest):
                if there and (digest, _seed(row[0])) in there:
                    continue
                if is_sound("runs", name, *row):
                    yield (digest, int(row[0])), row[3], from_json(json.loads(row[2]))
                else:
                    damaged = True
        if damaged:
            self.set_aside()

    def put(self, planned: PlannedRun, metrics: Mapping[str, Metric]) -> Mapping[str, Metric]:
        """Store a finished run, as `put_all` does, and return the row that is stored now."""
        (kept,) = self.put_all([(planned, metrics)])
        assert not isinstance(kept, Failure)
        return kept

    def fail(self, planned: PlannedRun, failure: Failure) -> None:
        """Store the failure of a run, as `put_all` does."""
        self.put_all([(planned, failure)])

    def put_all(
        self, ended: Sequence[tuple[PlannedRun, Mapping[str, Metric] | Failure]]
    ) -> list[Mapping[str, Metric] | Failure]:
        """Store runs that have ended, all of them in a single commit.

        If a finished run is already stored, only missing values are added to its row; a failure
        replaces an earlier failure of the same run.

        Parameters
        ----------
        ended : sequence of (PlannedRun, mapping or Failure)
            For each run its metrics and values of expressions (see
            `lightburst.study.execution.own`), or its failure.

        Returns
        -------
        list of mapping or Failure
            The row or failure that is stored for each run now.

        Raises
        ------
        InputError
            If the file cannot be written, because the disk is full or the file has become unusable.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        # Slow conversions are done before the transaction, which blocks other writers.
        written = [what.to_text() if isinstance(what, Failure) else _written(what)
                   for _, what in ended]  # fmt: skip
        fresh = {run.scenario_digest: run.scenario for run, _ in ended
                 if run.scenario_digest not in self._known}  # fmt: skip
        scenarios = [_about(digest, scenario) for digest, scenario in fresh.items()]

        def write(database: sqlite3.Connection) -> list[Mapping[str, Metric] | Failure]:
            with schema.transaction(database):
                # Stored once for all seeds, so that the file documents itself.
                for row in scenarios:
                    _insert(database, "scenarios", *row)
                return [
                    _put(database, run, what, now, text)
                    for (run, what), text in zip(ended, written, strict=True)
                ]

        kept = self.guarded(write)
        self._known.update(fresh)
        return kept

    def failures(self, scenario_digests: Iterable[str] | None = None) -> dict[Key, Failure]:
        """Look up the failed runs of scenarios.

        Parameters
        ----------
        scenario_digests : iterable of str, optional
            Digests of the scenarios; None for all.

        Returns
        -------
        dict of (str, int) to Failure
            Failure of each run that has failed and has not finished since.

        Raises
        ------
        InputError
            If the file cannot be read.

        Warns
        -----
        StoreWarning
            As `find`.
        """
        if scenario_digests is None:
            scenario_digests = self.digests_of("failures")
        found: dict[Key, Failure] = {}
        damaged = False
        query = """
            SELECT seed, failed, error, checksum FROM failures AS f WHERE scenario = ? AND NOT
            EXISTS (SELECT 1 FROM runs WHERE runs.scenario = f.scenario AND runs.seed = f.seed)
        """
        for digest in scenario_digests:
            for row in self.ask(query, digest):
                if is_sound("failures", digest.encode(), *row):
                    found[digest, int(row[0])] = Failure.from_text(row[2])
                else:
                    damaged = True
        if damaged:
            self.set_aside()
        return found

    def digests_of(self, table: str) -> list[str]:
        """Return the digests of the scenarios that have rows in a table."""
        query = f"SELECT DISTINCT scenario FROM {table}"
        return [digest.decode(errors="replace") for (digest,) in self.ask(query)]

    def retry(self) -> int:
        """Delete the failures of all failed runs, so that the next call runs them again.

        Returns
        -------
        int
            Number of failed runs.
        """
        failed = len(self.failures())
        self.ask("DELETE FROM failures")
        return failed

    def set_aside(self, without: str = "") -> None:
        """Move damaged rows to the table ``damaged``, and warn about them, or with the words given.

        The indices are made anew.
        """
        if self.read_only:
            self._warn("it has damaged rows, which are passed over; it cannot be written")
            return
        rows = self.guarded(schema.set_aside)
        if rows:
            named = [f"{table} {a[:12]} {b[:20]}" for table, a, b, *_ in rows[:_NAMED]]
            more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
            self._warn(
                f"{len(rows)} damaged rows ({'; '.join(named)}{more}) are set aside in the table "
                "'damaged'; their runs are run again"
            )
        elif without:
            self._warn(without)

    def _compare_indices(self) -> None:
        """Mend a damaged index, which would hide runs, before the first look-up."""
        if self._compared:
            return
        self._compared = True
        if not self.guarded(schema.hidden):
            return
        if self.read_only:
            self._warn("its index is damaged and hides runs; it cannot be written")
            return
        self.set_aside("its index was damaged and hid runs; it is made anew")

    def ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, text as bytes; raise `InputError` if the query fails."""
        return self.guarded(lambda database: database.execute(query, values).fetchall())

    def guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Apply a function to the database; raise `InputError` if that fails."""
        try:
            return work(self.database)
        except _ERRORS as error:
            raise self._unusable(error) from error

    def _connected(self) -> sqlite3.Connection:
        if self.read_only:
            return opened(Path(self._index), schema.PATIENCE_S)
        return sqlite3.connect(self._index, timeout=schema.PATIENCE_S, isolation_level=None)

    @property
    def _index(self) -> str | Path:
        return IN_MEMORY if self.folder is None else self.folder / place.INDEX

    def _open(self, alone: bool) -> int:
        """Refuse a file of another program unchanged; return the result of `layout.establish`."""
        if alone:
            # Before the first access, so that no shared memory with other processes is needed.
            self.database.execute("PRAGMA locking_mode = EXCLUSIVE")
        # Read text as raw bytes: damaged text may not be valid UTF-8.
        self.database.text_factory = bytes
        if not schema.is_ours(self.database):
            whose, number = schema.marks(self.database)
            later = whose == schema.APPLICATION and number > schema.LAYOUT
            given = f"{self.path} (layout {number}, of a later version)" if later else self.path
            raise Damaged("store", str(given), "a new folder or a store of runs")
        if self.read_only:
            if schema.marks(self.database) != (schema.APPLICATION, schema.LAYOUT):
                given = f"{self.path} (of an earlier version, and it cannot be written)"
                raise InputError("store", given, "one of this version, or a folder to be written")
            return 0
        return schema.establish(self.database)

    def _warn(self, text: str) -> None:
        warn([f"{self.path}: {text}"], stacklevel=3, kind=StoreWarning)

    def _unusable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or error
        if schema.is_busy(error):
            reason = f"used by another process: {error}"
        given = f"{self.path} ({reason})"
        if not self._damaged(error):
            return InputError("store", given, place.ALLOWED)
        command = "'lightburst store clean' keeps what can be read of a damaged one"
        return Damaged("store", given, f"{place.ALLOWED}; {command}")

    def _damaged(self, error: Exception) -> bool:
        """Return whether an error is caused by the structure of the file."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            return isinstance(error, UnicodeDecodeError)
        # With a damaged header SQLite may report as read-only a file that the system allows
        # writing.
        refused = code == sqlite3.SQLITE_READONLY and os.access(self._index, os.W_OK)
        return refused or code & schema.GENERAL in _STRUCTURE


def _seed(text: object) -> int | None:
    """Return the seed of a row; None if it is damaged."""
    return int(text) if isinstance(text, bytes) and text.isdigit() else None


def _written(metrics: Mapping[str, Metric]) -> str:
    return json.dumps(to_json(metrics), allow_nan=False)


def _about(digest: str, scenario: Scenario) -> tuple[str, str, str, str]:
    return digest, scenario.name, str(MODEL_VERSION), scenario.canonical_json()


def _insert(database: sqlite3.Connection, table: str, *row: str, instead: bool = False) -> bool:
    return schema.insert(database, table, *(text.encode() for text in row), instead=instead)


def _put(
    database: sqlite3.Connection,
    run: PlannedRun,
    what: Mapping[str, Metric] | Failure,
    now: str,
    text: str,
) -> Mapping[str, Metric] | Failure:
    """Write the row of a run, and return the row that is stored afterwards."""
    row = run.scenario_digest, str(run.seed), now, text
    if isinstance(what, Failure):
        _insert(database, "failures", *row, instead=True)
        return what
    if _insert(database, "runs", *row) or not any(map(is_own, what)):
        return what
    return _completed(database, *run.key, what)


def _completed(
    database: sqlite3.Connection, digest: str, seed: int, metrics: Mapping[str, Metric]
) -> Mapping[str, Metric]:
    """Add missing values to an existing row, and return the resulting row."""
    query = "SELECT id, finished, metrics, checksum FROM runs WHERE scenario = ? AND seed = ?"
    # Another process may have written the row, with values of other expressions.
    number, finished, text, sum_ = database.execute(query, (digest, str(seed))).fetchone()
    key = digest.encode(), str(seed).encode(), finished
    if not is_sound("runs", *key, text, sum_):
        return metrics  # the damaged row is set aside when it is looked up
    before = from_json(json.loads(text))
    merged = {**metrics, **before}
    if len(merged) > len(before):
        written = _written(merged)
        database.execute(
            "UPDATE runs SET metrics = ?, checksum = ? WHERE id = ?",
            (written, checksum("runs", (*key, written.encode())), number),
        )
    return merged
