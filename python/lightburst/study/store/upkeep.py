"""Maintenance of a store: lists its contents, checks it, and removes damaged or old rows."""

import itertools
import shutil
import sqlite3
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from lightburst.foundation.errors import InputError
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.study.store import schema
from lightburst.study.store.place import COLUMNS as COLUMNS_OF_ROWS
from lightburst.study.store.place import INDEX, TABLES, earlier, index_of
from lightburst.study.store.rows import COLUMNS, Row
from lightburst.study.store.salvage import salvage
from lightburst.study.store.store import Damaged, Store

# Runs of other model versions; scenarios without a recorded version are not counted among them.
_OTHERS: Final = (
    f"scenario IN (SELECT digest FROM scenarios WHERE model_version <> '{MODEL_VERSION}')"
)


# Tables whose rows are runs.
_RUNS: Final = ("runs", "failures")
_FAILED: Final = "FROM status WHERE status = 'failed'"


class Kept(NamedTuple):
    """Summary of the runs of one study with one version of the model.

    Attributes
    ----------
    name : str
        Name of the scenarios; empty if they have none, or if an old version wrote them.
    model_version : str
        Model version of the runs; empty if it is not recorded.
    scenarios, runs : int
        Numbers of scenarios and runs.
    bytes : int
        Size of their metrics; the store takes more space on disk, see `on_disk`.
    first, last : str
        First and last time at which a run finished, ISO 8601, UTC; empty if not recorded.
    """

    name: str
    model_version: str
    scenarios: int
    runs: int
    bytes: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Condition:
    """Result of a check of a store.

    Attributes
    ----------
    runs : int
        Number of intact runs.
    damaged : int
        Number of rows with a wrong checksum.
    structure : str
        SQLite's error message on the structure of the file; empty if it is intact.
    aside : int
        Number of damaged rows that were set aside earlier.
    others : int
        Number of runs of other model versions.
    failed : int
        Number of runs that failed and have not finished since.
    """

    runs: int
    damaged: int
    structure: str
    aside: int
    others: int
    failed: int = 0

    @property
    def sound(self) -> bool:
        """Whether no row in use is damaged, and the structure is intact."""
        return not (self.damaged or self.structure)


def listed(path: Path) -> list[Kept]:
    """List the contents of a store by study and model version.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    list of Kept
        Sorted by name, then by model version, newest first.

    Raises
    ------
    InputError
        If there is no such store, or its structure is damaged.
    """
    query = """
        SELECT coalesce(name, ''), coalesce(model_version, ''), count(DISTINCT runs.scenario),
               count(*), sum(length(metrics)), min(nullif(finished, '')), max(finished)
        FROM runs LEFT JOIN scenarios ON digest = runs.scenario
        GROUP BY 1, 2 ORDER BY 1, 2 DESC
    """
    with _existing(path) as store:
        return [
            Kept(_text(name), _text(version), scenarios, runs, size, _text(first), _text(last))
            for name, version, scenarios, runs, size, first, last in store.ask(query)
        ]


def on_disk(path: Path) -> dict[str, int]:
    """Return the size in bytes of the files of a store, by purpose.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    dict of str to int
        ``index``, ``log`` (including SQLite's shared memory file), ``columns``, ``tables`` and
        ``others``, without empty ones.
    """
    kinds = {INDEX: "index", COLUMNS_OF_ROWS: "columns", TABLES: "tables"}
    kinds |= dict.fromkeys((f"{INDEX}-wal", f"{INDEX}-shm"), "log")
    found = dict.fromkeys(("index", "log", "columns", "tables", "others"), 0)
    for file in path.rglob("*"):
        with suppress(OSError):  # removed by another process
            if file.is_file() and not file.is_symlink():
                kind = kinds.get(file.relative_to(path).parts[0], "others")
                found[kind] += file.stat().st_size
    return {kind: size for kind, size in found.items() if size}


def examined(path: Path) -> Condition:
    """Verify all checksums and the structure of a store, without changing it.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Condition
        Counts of intact, damaged and other runs.

    Raises
    ------
    InputError
        If there is no such store, or none of it can be read.
    """
    try:
        with _existing(path) as store:
            if not store.read_only:
                # Check that the file can be written as well.
                store.ask("BEGIN IMMEDIATE")
                store.ask(f"PRAGMA user_version = {schema.LAYOUT}")
                store.ask("ROLLBACK")
            said = [_text(line) for (line,) in store.ask("PRAGMA integrity_check")]
            bad = {table: len(_unsound(store, table)) for table in COLUMNS}
            return Condition(
                runs=len(store) - bad["runs"],
                damaged=sum(bad.values()),
                structure="" if said == ["ok"] else said[0],
                aside=int(store.ask("SELECT count(*) FROM damaged")[0][0]),
                others=sum(
                    int(store.ask(f"SELECT count(*) FROM {table} WHERE {_OTHERS}")[0][0])
                    for table in _RUNS
                ),
                failed=int(store.ask(f"SELECT count(*) {_FAILED}")[0][0]),
            )
    except Damaged as error:
        rows = _salvaged(path, error)
        runs = len({row[:2] for table, row in rows if table == "runs"})
        return Condition(runs, 0, error.given, 0, 0)


def failed_runs(path: Path) -> list[dict[str, Any]]:
    """List the failed runs of a store.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    list of dict
        For each run the ``name`` and digest of its ``scenario``, its ``seed``, and the fields of
        `lightburst.study.store.failures.Failure`.

    Raises
    ------
    InputError
        If there is no such store, or its structure is damaged.
    """
    with _existing(path) as store:
        names = {_text(a): _text(b) for a, b in store.ask("SELECT digest, name FROM scenarios")}
        return [
            {"name": names.get(digest, ""), "scenario": digest, "seed": seed, **asdict(failure)}
            for (digest, seed), failure in store.failures().items()
        ]


def retried(path: Path) -> int:
    """Delete the failures in a store and return their number; raises as `failed_runs`."""
    with _existing(path) as store:
        return store.retry()


def clean(path: Path) -> Path | None:
    """Remove damaged rows and runs of other model versions from a store.

    An index with a damaged structure is rebuilt from its readable rows, and a copy of the damaged
    file is left next to it. No other process may use the store at that time.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        The copy of a damaged index; None if the structure is intact.

    Raises
    ------
    InputError
        If there is no such store, none of it can be read, or it cannot be written.
    """
    if not examined(path).structure:
        with _existing(path) as store:
            for table in COLUMNS:
                for row in _unsound(store, table):
                    store.ask(f"DELETE FROM {table} WHERE id = {row[0]}")
            _reduce(store)
        return None
    try:
        return _rebuilt(index_of(path), path)
    except OSError as error:
        raise InputError(
            "store", f"{path} ({error.strerror})", "a folder that can be written"
        ) from error


def _rebuilt(index: Path, path: Path) -> Path:
    """Replace a damaged index by a new one with all readable rows; return the copy of the old."""
    fresh, copy = _unused(path, "new"), _unused(index, "damaged")
    try:
        with Store(fresh) as store:
            store.guarded(lambda database: _fill(database, index))
            _reduce(store)
        shutil.copy2(index, copy)
        for ending in ("-wal", "-shm"):
            # SQLite would apply the old log to the new file.
            log = index.with_name(index.name + ending)
            if log.exists():
                shutil.copy2(log, copy.with_name(copy.name + ending))
                log.unlink()
        # The single file of an old version is converted to a folder when it is next opened.
        (fresh / INDEX).replace(index)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return copy


def _fill(database: sqlite3.Connection, path: Path) -> None:
    with schema.transaction(database):
        for table, row in salvage(path):
            schema.insert(database, table, *row[:-1])


def _reduce(store: Store) -> None:
    """Delete rows that were set aside and runs of other model versions."""
    store.ask("DELETE FROM damaged")
    for table in _RUNS:
        store.ask(f"DELETE FROM {table} WHERE {_OTHERS}")
    store.ask(f"DELETE FROM scenarios WHERE model_version <> '{MODEL_VERSION}'")
    store.ask("VACUUM")
    if store.folder is not None:
        # Columnar copies of rows are recreated when needed.
        shutil.rmtree(store.folder / COLUMNS_OF_ROWS, ignore_errors=True)


def _unsound(store: Store, table: str) -> list[tuple[Any, ...]]:
    return store.guarded(lambda database: schema.unsound(database, table))


def _existing(path: Path) -> Store:
    try:
        there = index_of(path).is_file() or earlier(path) is not None
        if not there:
            path.stat()
    except OSError as error:
        raise InputError("store", f"{path} ({error.strerror})", "a store of runs") from error
    if not there:
        raise InputError("store", f"{path} (something else)", "a store of runs")
    return Store(path)


def _salvaged(path: Path, error: Damaged) -> list[tuple[str, Row]]:
    """Return the rows of a store that SQLite cannot read; raise `error` if there are none."""
    try:
        rows = list(salvage(index_of(path)))
    except OSError:
        rows = []
    if not rows:
        raise error
    return rows


def _unused(path: Path, ending: str) -> Path:
    """Return an unused file name next to a file, with a given suffix."""
    names = (f"{path.name}.{ending}{number or ''}" for number in itertools.count())
    return next(found for found in map(path.with_name, names) if not found.exists())


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="backslashreplace")
