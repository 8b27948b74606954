"""What is in a store, whether all of it is sound, and how it is freed of what is not."""

import itertools
import shutil
import sqlite3
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from lightburst.errors import InputError
from lightburst.provenance import MODEL_VERSION
from lightburst.study import layout
from lightburst.study.place import COLUMNS as COLUMNS_OF_ROWS
from lightburst.study.place import INDEX, TABLES, earlier, index_of
from lightburst.study.rows import COLUMNS, Row
from lightburst.study.salvage import salvage
from lightburst.study.store import Damaged, Store

# Runs whose scenario names another version; a scenario without a version may be of this one.
_OTHERS: Final = (
    f"scenario IN (SELECT digest FROM scenarios WHERE model_version <> '{MODEL_VERSION}')"
)


# The tables whose rows are runs.
_RUNS: Final = ("runs", "failures")
_FAILED: Final = "FROM status WHERE status = 'failed'"


class Kept(NamedTuple):
    """What a store has of one study with one version of the model.

    Attributes
    ----------
    name : str
        Of its scenarios; empty if they have none, or if an earlier version wrote them.
    model_version : str
        With which it was run; empty if nothing tells.
    scenarios, runs : int
        How many.
    bytes : int
        Of their rows; what the store takes on the disk is more, see `on_disk`.
    first, last : str
        When runs were finished, ISO 8601, UTC; empty if an earlier version wrote them.
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
    """What a check of a store found.

    Attributes
    ----------
    runs : int
        Runs that are sound.
    damaged : int
        Rows with a wrong checksum.
    structure : str
        What SQLite says of its own structure; empty if that is sound.
    aside : int
        Damaged rows that have been set aside before.
    others : int
        Runs of other versions of the model.
    failed : int
        Runs that failed and have not been finished since.
    """

    runs: int
    damaged: int
    structure: str
    aside: int
    others: int
    failed: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged that is still in use."""
        return not (self.damaged or self.structure)


def listed(path: Path) -> list[Kept]:
    """Give what a store has, by study and version of the model.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    list of Kept
        By name, the newest version of the model first.

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
    """Give the bytes of the files of a store, by what they are.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    dict of str to int
        ``index``, ``log`` (with the memory that its users share), ``columns``, ``tables``, and
        ``others``; those that are not empty.
    """
    kinds = {INDEX: "index", COLUMNS_OF_ROWS: "columns", TABLES: "tables"}
    kinds |= dict.fromkeys((f"{INDEX}-wal", f"{INDEX}-shm"), "log")
    found = dict.fromkeys(("index", "log", "columns", "tables", "others"), 0)
    for file in path.rglob("*"):
        with suppress(OSError):  # another process has removed it
            if file.is_file() and not file.is_symlink():
                kind = kinds.get(file.relative_to(path).parts[0], "others")
                found[kind] += file.stat().st_size
    return {kind: size for kind, size in found.items() if size}


def examined(path: Path) -> Condition:
    """Read all of a store and compare it with its checksums; nothing is changed.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Condition
        What is sound, and what is not.

    Raises
    ------
    InputError
        If there is no such store, or nothing in it can be read.
    """
    try:
        with _existing(path) as store:
            if not store.read_only:
                # Try whether it can be written, too.
                store.ask("BEGIN IMMEDIATE")
                store.ask(f"PRAGMA user_version = {layout.LAYOUT}")
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
    """Give the runs of a store that failed.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    list of dict
        Of each the ``name`` of its ``scenario`` (a digest), its ``seed``, and the fields of
        `lightburst.study.failures.Failure`.

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
    """Forget which runs of a store failed; give how many. `InputError` as `failed_runs`."""
    with _existing(path) as store:
        return store.retry()


def clean(path: Path) -> Path | None:
    """Keep of a store what is sound and of this version of the model, and nothing else.

    An index with a damaged structure is written anew; the damaged one is kept beside it. No other
    process may use the store then.

    Parameters
    ----------
    path : Path
        The store.

    Returns
    -------
    Path or None
        The copy of a damaged index; None if the structure is sound.

    Raises
    ------
    InputError
        If there is no such store, nothing in it can be read, or it cannot be written.
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
    """Put a new index with all that can be read in the place of a damaged one."""
    fresh, copy = _unused(path, "new"), _unused(index, "damaged")
    try:
        with Store(fresh) as store:
            store.guarded(lambda database: _fill(database, index))
            _reduce(store)
        shutil.copy2(index, copy)
        for ending in ("-wal", "-shm"):
            # SQLite would take the old log for that of the new file.
            log = index.with_name(index.name + ending)
            if log.exists():
                shutil.copy2(log, copy.with_name(copy.name + ending))
                log.unlink()
        # One of an earlier version becomes a folder when it is opened.
        (fresh / INDEX).replace(index)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return copy


def _fill(database: sqlite3.Connection, path: Path) -> None:
    with layout.transaction(database):
        for table, row in salvage(path):
            layout.insert(database, table, *row[:-1])


def _reduce(store: Store) -> None:
    """Drop what has been set aside and what other versions of the model ran."""
    store.ask("DELETE FROM damaged")
    for table in _RUNS:
        store.ask(f"DELETE FROM {table} WHERE {_OTHERS}")
    store.ask(f"DELETE FROM scenarios WHERE model_version <> '{MODEL_VERSION}'")
    store.ask("VACUUM")
    if store.folder is not None:
        # Copies of rows, which are made again.
        shutil.rmtree(store.folder / COLUMNS_OF_ROWS, ignore_errors=True)


def _unsound(store: Store, table: str) -> list[tuple[Any, ...]]:
    return store.guarded(lambda database: layout.unsound(database, table))


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
    """Give the rows of a store that SQLite cannot read; the error again if there are none."""
    try:
        rows = list(salvage(index_of(path)))
    except OSError:
        rows = []
    if not rows:
        raise error
    return rows


def _unused(path: Path, ending: str) -> Path:
    """Name a file beside another one that does not exist yet."""
    names = (f"{path.name}.{ending}{number or ''}" for number in itertools.count())
    return next(found for found in map(path.with_name, names) if not found.exists())


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="backslashreplace")
