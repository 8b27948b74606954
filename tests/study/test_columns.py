"""Columns are copies of rows: the same table bit for bit, and no data is lost with a copy."""

import random
import resource
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from test_study import scenario as network

from lightburst.expressions import parse_all
from lightburst.foundation.counts import Metric
from lightburst.foundation.errors import StoreWarning
from lightburst.study import Store, Study, execute
from lightburst.study.runs import Key, PlannedRun
from lightburst.study.store import columns
from lightburst.study.store.found import Rows
from lightburst.study.store.upkeep import clean, examined
from stores import INDEX, digests, planned

RUNS = 24
Truth = dict[Key, Mapping[str, Metric]]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Already a few rows are many."""
    monkeypatch.setattr(columns, "LEAST", 12)
    monkeypatch.setattr(columns, "_LEAST_ALIKE", 2)


def row(place: int, seed: int) -> dict[str, Metric]:
    """Another kind of value for each scenario: missing, whole, infinite, none, text."""
    chance = random.Random(100 * place + seed)
    found: dict[str, Metric] = {
        "load": chance.random(),
        "slowdown_p99": float("inf") if chance.random() < 0.3 else chance.uniform(1, 1e300),
        "timeouts": chance.randrange(2**62),
        "jain_index": None if chance.random() < 0.5 else chance.random(),
        "energy_j": None,
        "digest": f"{chance.getrandbits(64):x}",
        "warnings": "" if seed % 2 else "one; ü",
        "metric: count": seed,
    }
    match place:
        case 1:
            found = {"bursts": chance.randrange(9), **found}
            del found["timeouts"]
        case 2:
            found["bursts"] = None
            # A column of whole numbers in one row and of others in another: no Parquet part can
            # hold it.
            found["load"] = 1 if seed % 2 else 0.5
    return found


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, Truth]:
    truth: Truth = {run.key: row(int(str(run.point["place"])), run.seed) for run in planned()}
    with Store(tmp_path / "runs") as store:
        for run in planned():
            store.put(run, truth[run.key])
    return tmp_path / "runs", truth


def rows(file: Path) -> Rows:
    with Store(file) as store:
        return store.rows(digests())


def parts(file: Path) -> list[Path]:
    return list((file / "columns").glob("*"))


def expected(truth: Truth, keys: list[Key]) -> pd.DataFrame:
    """As pandas makes it of rows, with NaN for missing values."""
    table = pd.DataFrame([truth[key] for key in keys])
    empty = [name for name in table.columns if table[name].isna().all()]
    return table.astype(dict.fromkeys(empty, "float64"))


@pytest.mark.parametrize("order", range(6))
def test_the_table_is_the_same_to_the_bit(filled: tuple[Path, Truth], order: int) -> None:
    file, truth = filled
    chance, keys = random.Random(order), list(truth)
    if order:
        keys = chance.choices(keys, k=chance.choice([3, 20, 60]))
    if order == 5:  # all rows of one scenario
        keys = [key for key in truth if key[0] == digests()[0]]
    first = rows(file).table(keys)
    # The third scenario has no part.
    assert len(parts(file)) == 2
    again = rows(file)
    assert len(again._single) == RUNS // 3
    for table in (first, again.table(keys)):
        pd.testing.assert_frame_equal(table, expected(truth, keys), check_exact=True)
    assert len(parts(file)) == 2


def test_what_is_new_stands_beside_the_columns(filled: tuple[Path, Truth]) -> None:
    file, truth = filled
    rows(file)
    run = planned()[0]
    more = PlannedRun({}, run.scenario, 2**64 - 1, run.scenario_digest)
    with Store(file) as store:
        store.put(more, truth[run.key])
        # A row that gets the value of another expression is another row.
        store.put(run, {**truth[run.key], "metric: max of bytes": 7.0})
    truth = {**truth, more.key: truth[run.key]}
    truth[run.key] = {**truth[run.key], "metric: max of bytes": 7.0}
    pd.testing.assert_frame_equal(rows(file).table(list(truth)), expected(truth, list(truth)))
    # Many new rows get a separate part.
    with Store(file) as store:
        for seed in range(100, 120):
            store.put(PlannedRun({}, run.scenario, seed, run.scenario_digest), row(0, seed))
    assert len(rows(file)) == RUNS + 21
    assert len(parts(file)) == 3
    assert len(rows(file)._single) < columns.LEAST


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "away", "folder"])
def test_nothing_is_lost_with_a_part(filled: tuple[Path, Truth], damage: str) -> None:
    file, truth = filled
    rows(file)
    for part in parts(file):
        content = bytearray(part.read_bytes())
        content[50::50] = bytes(byte ^ 1 for byte in content[50::50])
        match damage:
            case "flip":
                part.write_bytes(content)
            case "cut":
                part.write_bytes(content[:100])
            case "empty":
                part.write_bytes(b"")
            case _:
                part.unlink()
    if damage == "folder":
        (file / "columns").rmdir()
    for _ in range(2):
        found = rows(file)
        pd.testing.assert_frame_equal(found.table(list(truth)), expected(truth, list(truth)))
    assert len(parts(file)) == 2


def test_a_row_that_is_gone_does_not_come_back(filled: tuple[Path, Truth]) -> None:
    file, truth = filled
    rows(file)
    digest = digests()[0]
    with closing(sqlite3.connect(file / INDEX)) as database, database:
        database.execute("DELETE FROM runs WHERE scenario = ? AND seed = '3'", (digest,))
        database.execute("UPDATE runs SET checksum = x'00' WHERE seed = '4'")
        database.execute("UPDATE runs SET seed = 'five' WHERE seed = '5'")
    with pytest.warns(StoreWarning, match="6 damaged rows"):
        found = rows(file)
    gone = {(digest, 3), *((other, seed) for other in digests() for seed in (4, 5))}
    assert {key for key in truth if key not in found} == gone


def test_a_full_disk_costs_the_copies_only(filled: tuple[Path, Truth]) -> None:
    file, truth = filled
    with Store(file) as store:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
        try:
            found = store.rows(digests())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert parts(file) == []
    pd.testing.assert_frame_equal(found.table(list(truth)), expected(truth, list(truth)))


def test_own_metrics_have_their_names(filled: tuple[Path, Truth]) -> None:
    file, truth = filled
    before = rows(file)
    keys = [key for key in truth if key[0] == digests()[1]]
    for metrics in ({}, {"flows_in_all": "count"}, {"a": "count", "b": "count"}):
        own = parse_all(metrics)
        single, held = (found.with_metrics(own).table(keys) for found in (before, rows(file)))
        pd.testing.assert_frame_equal(single, held, check_exact=True)
        assert list(held.columns)[len(held.columns) - len(metrics) :] == list(metrics)
        assert "metric: count" not in held
    lacking = parse_all({"c": "count where bytes > 1 kB"})
    assert len(rows(file).with_metrics(lacking)) == 0


def test_a_study_gives_the_same_table_from_columns(tmp_path: Path) -> None:
    mixed = [{"switching.buffer_ports": n} for n in range(3)] + [{"switching.kind": "all-optical"}]
    study = Study(network(), mixed, 6, {"mice": "p99 of slowdown where bytes < 100 kB"})
    fresh = execute(study, tmp_path / "runs", progress=False)
    for _ in range(2):
        again = execute(study, tmp_path / "runs", progress=False)
        pd.testing.assert_frame_equal(again, fresh, check_exact=True)
    assert parts(tmp_path / "runs")
    clean(tmp_path / "runs")
    assert not (tmp_path / "runs" / "columns").exists()
    assert examined(tmp_path / "runs").runs == 24
