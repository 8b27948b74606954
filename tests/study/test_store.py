"""A store returns the written rows or reports the damaged ones, after any damage of its file."""

import json
import resource
import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lightburst.cli import main
from lightburst.foundation.counts import Metric
from lightburst.foundation.errors import InputError, StoreWarning
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.study import Store
from lightburst.study.runs import Key, PlannedRun
from lightburst.study.store import schema
from lightburst.study.store.failures import Failure
from lightburst.study.store.rows import COLUMNS
from lightburst.study.store.salvage import salvage
from lightburst.study.store.upkeep import clean, examined, listed
from stores import INDEX, SCENARIOS, SEEDS, digests, fill, metrics, planned, scenario

RUNS = SCENARIOS * SEEDS
Row = dict[str, Metric]
Truth = dict[Key, Row]


def change(path: Path, statement: str, *values: object) -> None:
    """Change a store as lightburst never does."""
    with closing(sqlite3.connect(path / INDEX)) as database, database:
        database.execute(statement, values)


def held(path: Path) -> set[tuple[str, tuple[bytes, ...]]]:
    """All rows, as SQLite reads them."""
    with closing(sqlite3.connect(path if path.is_file() else path / INDEX)) as database:
        database.text_factory = bytes
        return {
            (table, row)
            for table, names in COLUMNS.items()
            for row in database.execute(f"SELECT {', '.join(names)}, checksum FROM {table}")
        }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fill(tmp_path / "runs")
    return tmp_path / "runs"


@pytest.mark.parametrize(
    "damage",
    [
        "metrics = replace(metrics, '.1', '.2')",
        "metrics = substr(metrics, 2)",
        "metrics = CAST(X'FF' AS TEXT)",
        "metrics = 7",
        "seed = '77'",
        "seed = 'three'",
        "finished = '2001-01-01'",
        "checksum = zeroblob(16)",
        "checksum = ''",
    ],
)
def test_a_damaged_row_is_said_set_aside_and_run_again(file: Path, damage: str) -> None:
    digest = digests()[1]
    change(file, f"UPDATE runs SET {damage} WHERE scenario = ? AND seed = '3'", digest)
    with Store(file) as store:
        with pytest.warns(StoreWarning, match=r"runs: 1 damaged rows .*table 'damaged'"):
            found = store.find(digests())
        assert set(fill(file)) - set(found) == {(digest, 3)}
        for run in planned():
            store.put(run, metrics(1, 3))
    with Store(file) as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(store.find(digests())) == RUNS
        assert store.ask("SELECT origin, first FROM damaged") == [(b"runs", digest.encode())]


def test_a_sound_row_in_the_place_of_another_is_not_believed(file: Path) -> None:
    a, b = digests()[:2]
    change(file, "DELETE FROM runs WHERE scenario = ?", b)
    change(file, "UPDATE runs SET scenario = ? WHERE scenario = ?", b, a)
    with Store(file) as store, pytest.warns(StoreWarning, match=f"{SEEDS} damaged rows"):
        assert {key[0] for key in store.find(digests())} == {digests()[2]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    path = tmp_path_factory.mktemp("store") / "whole"
    return path, fill(path)


@pytest.mark.parametrize("size", [50, 100, 1000, 4096, 5000, 40_000])
def test_a_cut_off_store_is_one_message_or_what_is_left(
    whole: tuple[Path, Truth], tmp_path: Path, size: int
) -> None:
    path = tmp_path / "cut"
    path.mkdir()
    (path / INDEX).write_bytes((whole[0] / INDEX).read_bytes()[:size])
    with pytest.raises(InputError, match=r"^store: given .*'lightburst store clean'"):
        Store(path).find(digests())


@pytest.mark.parametrize("columns", [1, 60, 160, 170, 400, 1500])
def test_salvage_finds_what_sqlite_reads(tmp_path: Path, columns: int) -> None:
    path = tmp_path / "runs"
    fill(path, columns)
    assert len(held(path)) == RUNS + SCENARIOS
    assert set(salvage(path / INDEX)) == held(path)


def test_salvage_finds_rows_of_every_length(tmp_path: Path) -> None:
    path, run = tmp_path / "runs", planned()[0]
    with Store(path) as store:
        for length in range(3900, 13_000, 50):
            longer = PlannedRun({}, run.scenario, length, run.scenario_digest)
            store.put(longer, {"text": "x" * length})
    assert set(salvage(path / INDEX)) == held(path)


def test_salvage_reads_the_write_ahead_log(tmp_path: Path) -> None:
    path, copy = tmp_path / "runs", tmp_path / "copy.sqlite"
    with Store(path) as store:
        for run in planned():
            store.put(run, metrics(0, run.seed, 200))
        # As a kill leaves it: the last rows are only in the log.
        for ending in ("", "-wal"):
            shutil.copyfile(f"{path / INDEX}{ending}", f"{copy}{ending}")
    assert set(salvage(copy)) >= held(path)


def test_a_store_without_checksums_is_taken_over(tmp_path: Path) -> None:
    path, run = tmp_path / "runs", planned()[0]
    text = run.scenario.canonical_json()
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE scenarios (digest TEXT PRIMARY KEY, scenario TEXT NOT NULL) "
            "WITHOUT ROWID; CREATE TABLE runs (scenario TEXT NOT NULL, seed TEXT NOT NULL, "
            "metrics TEXT NOT NULL, PRIMARY KEY (scenario, seed)) WITHOUT ROWID; "
            f"PRAGMA application_id = {0x6C627374}; PRAGMA user_version = 1"
        )
        database.execute("INSERT INTO scenarios VALUES (?, ?)", (run.scenario_digest, text))
        for seed, kept in ((1, '{"a": 1.5}'), (2**64 - 1, '{"a": "inf"}'), (3, '{"a":'), (4, 5)):
            row = (run.scenario_digest, str(seed), kept)
            database.execute("INSERT INTO runs VALUES (?, ?, ?)", row)
    with (
        pytest.warns(StoreWarning, match="2 runs of an earlier version had no checksums"),
        pytest.warns(StoreWarning, match="was one file, with 2 runs, and is a folder now"),
    ):
        store = Store(path)
    with store, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.find([run.scenario_digest]) == {
            (run.scenario_digest, 1): {"a": 1.5},
            (run.scenario_digest, 2**64 - 1): {"a": float("inf")},
        }
    assert examined(path).sound
    [kept_now] = listed(path)
    assert (kept_now.model_version, kept_now.runs, kept_now.first) == (str(MODEL_VERSION), 2, "")


def test_the_command_lists_what_is_kept(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "list", str(file)]) == 0
    heading, row, _ = capsys.readouterr().out.splitlines()
    assert heading.split()[:4] == ["study", "model", "scenarios", "runs"]
    assert row.split()[:5] == ["made", "up", str(MODEL_VERSION), str(SCENARIOS), str(RUNS)]
    assert main(["store", "list", str(file), "--format", "json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["name"], found["runs"]) == ("made up", RUNS)


def test_the_command_checks_and_cleans(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "check", str(file)]) == 0
    assert capsys.readouterr().out == f"{RUNS} runs are sound\n"
    change(file, "UPDATE runs SET metrics = '{}' WHERE seed = '3'")
    assert main(["store", "check", str(file)]) == 1
    assert f"{SCENARIOS} rows are damaged" in capsys.readouterr().out
    assert main(["store", "clean", str(file)]) == 0
    assert f"to be removed: {SCENARIOS} damaged rows\n" in capsys.readouterr().out
    assert main(["store", "check", str(file)]) == 1
    assert main(["store", "clean", str(file), "--yes"]) == 0
    assert main(["store", "check", str(file)]) == 0
    assert examined(file).runs == RUNS - SCENARIOS


def test_clean_removes_runs_of_other_models(file: Path) -> None:
    which, run = scenario(0), planned()[0]
    with Store(file) as store:
        for table, *row in (
            ("scenarios", "0" * 64, "older", str(MODEL_VERSION - 1), which.to_toml()),
            ("runs", "0" * 64, "1", "", "{}"),
            ("runs", "1" * 64, "1", "", "{}"),  # any number
        ):
            schema.insert(store.database, table, *(text.encode() for text in row))
    assert examined(file).others == 1
    assert clean(file) is None
    assert (examined(file).others, examined(file).runs) == (0, RUNS + 1)
    with Store(file) as store:
        assert (run.scenario_digest, 1) in store.find(digests())


@pytest.mark.parametrize("place", [3, 20, 4000])
def test_a_damaged_structure_is_mended_and_the_file_kept(
    file: Path, capsys: pytest.CaptureFixture[str], place: int
) -> None:
    truth = fill(file)
    damaged = bytearray((file / INDEX).read_bytes())
    damaged[place : place + 9] = b"\xff" * 9
    (file / INDEX).write_bytes(damaged)
    with pytest.raises(InputError, match="'lightburst store clean' keeps what can be read"):
        Store(file).find(digests())
    assert main(["store", "check", str(file)]) == 1
    assert "the structure of the index is damaged" in capsys.readouterr().out
    assert main(["store", "clean", str(file), "--yes"]) == 0
    with Store(file) as store:
        assert store.find(digests()) == truth
    assert (file / f"{INDEX}.damaged").read_bytes() == damaged
    assert {path.name for path in file.iterdir()} == {INDEX, f"{INDEX}.damaged"}
    assert [path.name for path in file.parent.iterdir()] == ["runs"]


def test_a_store_that_cannot_be_mended_for_want_of_room_stays(file: Path) -> None:
    fill(file.with_name("more"), 400)
    damaged = b"\xff" * 16 + (file.with_name("more") / INDEX).read_bytes()[16:]
    shutil.rmtree(file.with_name("more"))
    (file / INDEX).write_bytes(damaged)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(InputError, match=r"^store: given"):
            clean(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (file / INDEX).read_bytes() == damaged
    assert [entry.name for entry in file.parent.iterdir()] == ["runs"]
    assert [entry.name for entry in file.iterdir()] == [INDEX]
    assert clean(file) is not None
    assert examined(file).runs == RUNS


def test_what_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("dear diary " * 1000)
    (tmp_path / "loop").symlink_to("loop")
    for command in ("list", "check", "clean"):
        for name in ("notes.txt", "nowhere", "a" * 5000, "loop", "."):
            assert main(["store", command, str(tmp_path / name)]) == 2
            assert capsys.readouterr().err.startswith("lightburst: store: given ")
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "loop"}


def test_runs_that_end_together_are_kept_in_one_commit(tmp_path: Path) -> None:
    """Finished and failed runs, and one that is already there, which stays as it is."""
    first, second, third, *_ = planned()
    why = Failure("a", "b", "c")
    with Store(tmp_path / "runs") as store:
        store.put(first, {"x": 1.0})
        commits: list[str] = []
        store.database.set_trace_callback(
            lambda text: commits.append(text) if text == "COMMIT" else None
        )
        more: Row = {"x": 2.0, "metric: mean of bytes": 3.0}
        kept = store.put_all([(first, more), (second, {"x": 4.0}), (third, why)])
        assert kept == [{"x": 1.0, "metric: mean of bytes": 3.0}, {"x": 4.0}, why]
        assert commits == ["COMMIT"]
    with Store(tmp_path / "runs") as store:
        assert store.find(digests()) == {first.key: kept[0], second.key: kept[1]}
        assert store.failures() == {third.key: why}


def test_where_the_disk_is_full_none_of_them_is_kept_and_the_store_goes_on(file: Path) -> None:
    fresh = [PlannedRun({}, run.scenario, run.seed + 99, run.scenario_digest) for run in planned()]
    ended = [(run, metrics(0, run.seed)) for run in fresh]
    with Store(file) as store:
        before = len(store)
        (pages,) = store.ask("PRAGMA page_count")[0]
        store.ask(f"PRAGMA max_page_count = {pages + 5}")
        with pytest.raises(InputError, match=r"^store: given .*disk is full\)") as raised:
            store.put_all(ended)
        assert "damaged" not in str(raised.value)
        assert len(store) == before
        store.ask("PRAGMA max_page_count = 100000")
        store.put_all(ended)
        assert len(store) == before + len(fresh)


@pytest.mark.parametrize(("failures", "opens"), [(0, True), (3, True), (10**9, False)])
def test_a_store_that_others_create_at_the_same_time_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, opens: bool
) -> None:
    """SQLite reports a lock at once, and does not wait, where a new file gets its mode."""
    left, path = failures, tmp_path / "new.sqlite"

    class Contended(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            nonlocal left
            if "journal_mode = WAL" in statement and left:
                left -= 1
                busy = sqlite3.OperationalError("database is locked")
                busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise busy
            return super().execute(statement, *parameters)

    monkeypatch.setattr(schema, "PATIENCE_S", 0.05)
    with closing(sqlite3.connect(path, factory=Contended, isolation_level=None)) as database:
        if opens:
            assert schema.establish(database) == 0
            assert left == 0
        else:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                schema.establish(database)
