"""Runs that fail: the others continue, no mean includes them, and the store has the reason."""

import importlib
import json
import pickle
import re
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from test_study import outcome, scenario, study

import lightburst as lb
from lightburst._core import Cancel, Cancelled
from lightburst.cli import main
from lightburst.experiment.sweep_result import Sweep
from lightburst.foundation.errors import InputError, RunWarning, StoreWarning
from lightburst.foundation.memory import TooMuchMemoryError
from lightburst.report.sweep_page import sweep_page
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate
from lightburst.study import Stopping, Store, Study, execute, execute_until, replicate
from lightburst.study.execution.room import Room
from lightburst.study.runs import PlannedRun
from lightburst.study.store import failures as failures_module
from lightburst.study.store.failures import Failure
from lightburst.study.store.upkeep import clean, examined
from lightburst.study.workers.interface import Order, RunError
from lightburst.study.workers.one import answer
from stores import INDEX, fill, planned

executor = importlib.import_module("lightburst.study.execution.executor")
one = importlib.import_module("lightburst.study.workers.one")
REFUSED = InputError("workload.file", "nothing", "something")


class PanicException(BaseException):
    """An error like that of the core."""


class Bad:
    """Runs with seed 3 end in an error, which can be changed."""

    def __init__(self) -> None:
        self.error: BaseException | None = REFUSED
        self.seen: list[int] = []

    def __call__(self, which: Scenario, seed: int, **options: Any) -> Result:
        self.seen.append(seed)
        if seed == 3 and self.error is not None:
            raise self.error
        return simulate(which, seed, **options)


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> Bad:
    found = Bad()
    monkeypatch.setattr(one, "simulate", found)
    return found


def told(work: Callable[[], pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        return work(), [str(one.message) for one in caught]


def whole() -> pd.DataFrame:
    return outcome(execute(study(), progress=False))


def test_the_others_go_on_and_it_is_told(tmp_path: Path, bad: Bad) -> None:
    table, said = told(lambda: execute(study(), tmp_path / "runs", workers=2, progress=False))
    assert said[0] == (
        "3 of 12 runs failed and are in no mean, first with seed 3, switching.buffer_ports = 0: "
        "workload.file: given nothing; allowed: something"
    )
    assert "'lightburst store retry'" in said[1]
    bad.error = None
    expected = whole()
    expected = expected[expected["seed"] != 3].reset_index(drop=True)
    pd.testing.assert_frame_equal(outcome(table), expected)
    # The message of a call without a store does not mention one.
    bad.error = REFUSED
    assert len(told(lambda: execute(study(), progress=False))[1]) == 1


def test_a_failed_run_costs_nothing_until_it_is_to_be_tried_again(
    tmp_path: Path, bad: Bad, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs"
    told(lambda: execute(study(), file, progress=False))
    bad.seen.clear()
    _, said = told(lambda: execute(study(), file, progress=False))
    assert bad.seen == []
    assert said[0].startswith("3 of 12 runs failed")
    assert main(["store", "failed", str(file)]) == 0
    assert "unnamed" in (printed := capsys.readouterr().out)
    assert printed.count("seed 3: workload.file: given nothing; allowed: something") == 3
    assert main(["store", "failed", str(file), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["seed"], row["path"]) for row in rows] == [(3, "workload.file")] * 3
    assert main(["store", "list", str(file)]) == 0
    assert "runs failed: 'lightburst store failed' lists them" in capsys.readouterr().out
    assert main(["store", "check", str(file)]) == 0
    assert "3 runs failed" in capsys.readouterr().out
    assert main(["store", "retry", str(file)]) == 0
    assert capsys.readouterr().out.endswith("run again by the next call: 3\n")
    bad.error = None
    table, said = told(lambda: execute(study(), file, progress=False))
    assert (bad.seen, said) == ([3, 3, 3], [])
    pd.testing.assert_frame_equal(outcome(table), whole())
    assert main(["store", "failed", str(file)]) == 0
    assert capsys.readouterr().out == "0 runs failed\n"


@pytest.mark.parametrize("why", ["memory", "version"])
def test_what_may_do_better_now_is_tried_again(
    tmp_path: Path, bad: Bad, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "memory":
        bad.error = TooMuchMemoryError("scenario", "one that needs 9 GiB", "one that fits")
    told(lambda: execute(study(), tmp_path / "runs", progress=False))
    if why == "version":
        monkeypatch.setattr(failures_module, "this_version", lambda: "99.0")
    bad.error = None
    bad.seen.clear()
    table, said = told(lambda: execute(study(), tmp_path / "runs", progress=False))
    assert (bad.seen, said) == ([3, 3, 3], [])
    pd.testing.assert_frame_equal(outcome(table), whole())
    with Store(tmp_path / "runs") as store:
        assert store.failures() == {}  # finished since, with any earlier entry


def test_a_higher_limit_is_another_chance(tmp_path: Path) -> None:
    """Limits are no part of the key of a run."""
    short = Study(scenario().with_({"measurement.event_limit": 3000}), {}, 3)
    with pytest.raises(InputError, match=r"^measurement\.event_limit: given 3000"):
        execute(short, tmp_path / "runs", progress=False)
    table, said = told(lambda: execute(Study(scenario(), {}, 3), tmp_path / "runs", progress=False))
    assert (len(table), said) == (3, [])


def test_if_nothing_finishes_the_error_is_raised(tmp_path: Path, bad: Bad) -> None:
    with pytest.raises(InputError, match=r"^workload\.file: given nothing"):
        replicate(scenario(), [3], tmp_path / "runs", progress=False)
    bad.error = None
    with pytest.raises(InputError, match=r"^workload\.file: given nothing"):
        replicate(scenario(), [3], tmp_path / "runs", progress=False)
    assert replicate(scenario(), [3], progress=False)["seed"].tolist() == [3]


def test_who_needs_all_runs_gets_the_error_when_the_others_have_ended(
    tmp_path: Path, bad: Bad
) -> None:
    with pytest.raises(InputError, match=r"workload\.file"):
        executor.run_all(study(), tmp_path / "runs", workers=1, progress=False)
    with Store(tmp_path / "runs") as store:
        assert (len(store), len(store.failures())) == (9, 3)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left"), Cancelled()])
def test_what_ends_a_study_is_no_failure_of_a_run(bad: Bad, error: BaseException) -> None:
    bad.error = error
    with pytest.raises(type(error)):
        answer(PlannedRun({}, scenario(), 3, "0"), Order(), Room(), Cancel())


@pytest.mark.parametrize("error", [PanicException("index 7"), TypeError("no int")])
def test_a_fault_of_ours_is_a_failure_with_its_place(bad: Bad, error: BaseException) -> None:
    bad.error = error
    given = answer(PlannedRun({}, scenario(), 3, "0"), Order(), Room(), Cancel()).error
    assert isinstance(given, RunError)
    found = Failure.of(pickle.loads(pickle.dumps(given)))
    assert str(found).startswith(f"run: given a fault of lightburst ('{type(error).__name__}: ")
    assert "in __call__" in found.trace
    assert Failure.from_text(found.to_text()) == found


def test_the_end_of_memory_is_tried_again(tmp_path: Path, bad: Bad) -> None:
    bad.error = MemoryError("there is no room for 256 MiB of a run")
    _, said = told(lambda: execute(study(), tmp_path / "runs", progress=False))
    assert "memory: given there is no room for 256 MiB of a run; allowed: a smaller" in said[0]
    with pytest.raises(MemoryError, match="there is no room"):
        replicate(scenario(), [3], tmp_path / "runs", progress=False)
    bad.error = None
    _, said = told(lambda: execute(study(), tmp_path / "runs", progress=False))
    assert said == []


def test_a_panic_of_the_core_is_a_failure(tmp_path: Path, bad: Bad) -> None:
    bad.error = PanicException("index out of bounds")
    _, said = told(lambda: execute(study(), tmp_path / "runs", progress=False))
    assert "PanicException: index out of bounds" in said[0]


def test_a_full_disk_under_kept_tables_ends_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"^keep: given .*No space left"):
        lb.sweep(scenario(), seeds=3, keep=["flows"], store=tmp_path / "runs", progress=False)
    with Store(tmp_path / "runs") as store:
        assert store.failures() == {}


def test_a_target_goes_on_without_the_failed(tmp_path: Path, bad: Bad) -> None:
    rule = Stopping("throughput_bps", precision=1e-9, first=2, growth=2.0)
    failed: list[Any] = []
    table = execute_until(study(), rule, tmp_path / "runs", progress=False, failed=failed)
    assert table.groupby("place")["seed"].apply(list).tolist() == [[1, 2, 4]] * 3
    assert [(run.place, run.seed) for run in failed] == [(0, 3), (1, 3), (2, 3)]
    with pytest.raises(InputError, match=r"workload\.file"):
        execute_until(study(), rule, tmp_path / "runs", progress=False)


SMALL = """
name = "small"
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "hybrid" }
transport = { kind = "sawl" }
workload = { kind = "poisson", arrival_rate = "1e6 /s", flows = 32, size = "50 kB" }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


def test_a_sweep_says_which_and_saves_it(
    here: Path, bad: Bad, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'scenario = "small.toml"\nseeds = 4\nover.switching.buffer_ports = [1, 2]\n'
    Path("study.toml").write_text(text, encoding="utf-8")
    assert main(["sweep", "study.toml", "--out", "out"]) == 1
    said = capsys.readouterr()
    assert "2 of 8 runs failed and are in no mean, first with seed 3, switching.buff" in said.err
    assert "'lightburst store retry'" in said.err
    found = lb.load_sweep("out")
    assert [(run.place, run.seed) for run in found.failed] == [(0, 3), (1, 3)]
    assert len(found.runs) == 6
    assert set(found.table("throughput_bps")["n"]) == {3}
    again = lb.sweep("small.toml", {"switching.buffer_ports": [1, 2]}, seeds=[1, 2, 4])
    assert found.table().equals(again.table())


def test_replications_say_how_many_are_in_the_mean(
    here: Path, bad: Bad, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "small.toml", "--replications", "4"]) == 1
    said = capsys.readouterr()
    assert "3 of 4 seeds, 1 to 4: mean" in said.out
    assert "1 of 4 runs failed and are in no mean, first with seed 3: workload.file" in said.err
    assert main(["run", "small.toml", "--replications", "4", "--format", "json"]) == 1
    about = json.loads(capsys.readouterr().out)
    assert [row["seed"] for row in about["runs"]] == [1, 2, 4]
    assert [(row["seed"], row["path"]) for row in about["failed"]] == [(3, "workload.file")]


def test_a_damaged_failure_is_set_aside_and_the_run_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    fill(file)
    run = planned()[0]
    with Store(file) as store:
        other = run.__class__({}, run.scenario, 99, run.scenario_digest)
        store.fail(other, Failure("a", "b", "c"))
        # A run that is finished has not failed.
        store.fail(run, Failure("a", "b", "c"))
        assert store.failures() == {other.key: Failure("a", "b", "c")}
        rows = store.ask("SELECT status, count(*) FROM status GROUP BY 1")
        assert dict(rows) == {b"finished": 24, b"failed": 1}
    assert examined(file).failed == 1
    with closing(sqlite3.connect(file / INDEX)) as database, database:
        database.execute("UPDATE failures SET error = replace(error, 'b', 'd') WHERE seed = '99'")
    with Store(file) as store, pytest.warns(StoreWarning, match="1 damaged rows"):
        assert store.failures() == {}
    clean(file)
    assert re.fullmatch("24 0", f"{examined(file).runs} {examined(file).failed}")


def test_the_page_of_a_sweep_lists_what_failed_and_each_warning_once(bad: Bad) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        found = lb.sweep(scenario(), {"switching.buffer_ports": [0, 2]}, seeds=4, progress=False)
    runs = found.runs.assign(warnings="a warning that was made up")
    page = sweep_page(Sweep.of(found.study, runs, None, found.failed))
    assert "failed runs" in page
    assert page.count("2 of 8 runs failed and are in no mean") == 1
    assert page.count("a warning that was made up") == 1
    complete = sweep_page(Sweep.of(found.study, runs))
    assert "failed runs" not in complete
    assert complete.count("a warning that was made up") == 1
