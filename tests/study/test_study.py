"""Studies run each run once, keep finished ones, and continue where they were stopped."""

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lightburst.foundation.errors import InputError
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run, simulate
from lightburst.study import Store, Study, execute, replicate
from lightburst.study.runs import scenario_digest
from processes import folders, started
from stores import INDEX

RUNS = 60
one = importlib.import_module("lightburst.study.workers.one")


def scenario(**workload: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e6 /s",
                "flows": 32,
                "size": {"kind": "constant", "value": "50 kB"},
            }
            | workload,
        }
    )


def study(points: int = 3, seeds: int = 4) -> Study:
    return Study(scenario(), {"switching.buffer_ports": list(range(points))}, range(1, seeds + 1))


def slow_study() -> Study:
    """Sixty runs of some thirty milliseconds."""
    base = scenario(flows=200, size={"kind": "constant", "value": "200 kB"})
    return Study(base, {"switching.buffer_ports": [0, 1, 2]}, range(1, 21))


def outcome(table: pd.DataFrame) -> pd.DataFrame:
    """All of a table that does not depend on the clock."""
    return table.drop(columns="wall_s")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The runs that were simulated, recorded when they run."""
    seen: list[tuple[str, int]] = []

    def counting(which: Scenario, seed: int, **options: Any) -> Result:
        seen.append((scenario_digest(which), seed))
        return simulate(which, seed, **options)

    monkeypatch.setattr(one, "simulate", counting)
    return seen


def test_a_grid_is_all_combinations_in_order() -> None:
    grid = {"switching.buffer_ports": [0, 2], "transport.p": [0, 1, 4]}
    points = Study(scenario(), grid, [1]).points
    assert [tuple(point.values()) for point in points] == [
        (0, 0),
        (0, 1),
        (0, 4),
        (2, 0),
        (2, 1),
        (2, 4),
    ]


def test_all_points_come_before_the_next_seed() -> None:
    planned = study(points=2, seeds=2).runs
    assert [(run.point["switching.buffer_ports"], run.seed) for run in planned] == [
        (0, 1),
        (1, 1),
        (0, 2),
        (1, 2),
    ]


def test_a_table_has_a_row_for_each_run_point_by_point() -> None:
    table = execute(study(), progress=False)
    assert list(table.columns[:3]) == ["switching.buffer_ports", "seed", "throughput_bps"]
    assert table["switching.buffer_ports"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert table["seed"].tolist() == [1, 2, 3, 4] * 3
    alone = run(scenario().with_({"switching.buffer_ports": 1}), 3)
    row = table[(table["switching.buffer_ports"] == 1) & (table["seed"] == 3)].iloc[0]
    assert row["digest"] == alone.digest
    assert row["throughput_bps"] == alone.metrics["throughput_bps"]
    # No energy was given: still a column of numbers.
    assert table["energy_j"].dtype == float
    assert table["energy_j"].isna().all()


def test_points_can_be_listed_and_differ_in_their_paths() -> None:
    points: list[dict[str, object]] = [
        {"switching.kind": "all-optical"},
        {"transport.p": 0, "switching.buffer_ports": 1},
    ]
    table = execute(Study(scenario(), points, [1, 2]), progress=False)
    assert table["switching.kind"].tolist()[:2] == ["all-optical"] * 2
    assert table["transport.p"].tolist()[2:] == [0, 0]
    assert table["digest"].nunique() == 4


def test_replicate_is_a_study_of_one_point() -> None:
    table = replicate(scenario(), [5, 6], progress=False)
    assert list(table.columns[:2]) == ["seed", "throughput_bps"]
    assert table["digest"].tolist() == [run(scenario(), seed).digest for seed in (5, 6)]


def test_threads_do_not_change_the_table() -> None:
    one, three = (execute(study(), workers=n, progress=False) for n in (1, 3))
    pd.testing.assert_frame_equal(outcome(one), outcome(three))


def test_what_is_stored_is_not_run_again(tmp_path: Path, simulated: list[tuple[str, int]]) -> None:
    first = execute(study(seeds=2), tmp_path / "runs", progress=False)
    assert len(simulated) == 6
    more = execute(study(seeds=3), tmp_path / "runs", progress=False)
    assert len(simulated) == len(set(simulated)) == 9
    again = execute(study(seeds=3), tmp_path / "runs", progress=False)
    assert len(simulated) == 9
    pd.testing.assert_frame_equal(more, again)
    both = more[more["seed"] <= 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, both)


def test_two_points_that_are_one_scenario_are_run_once(simulated: list[tuple[str, int]]) -> None:
    points: list[dict[str, object]] = [{"transport.p": 4}, {"switching.buffer_ports": 2}, {}]
    table = execute(Study(scenario(), points, [1]), progress=False)
    assert len(simulated) == 1
    assert len(set(table["digest"])) == 1
    assert len(table) == 3


def test_a_changed_file_is_another_scenario(tmp_path: Path) -> None:
    flows = tmp_path / "flows.csv"
    flows.write_text("source,destination,start_s,size_bytes\n0,1,0.0,9000\n")
    listed = Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {"kind": "table", "file": str(flows)},
        }
    )
    before = scenario_digest(listed)
    assert scenario_digest(listed) == before
    flows.write_text("source,destination,start_s,size_bytes\n0,1,0.0,18000\n")
    assert scenario_digest(listed) != before
    flows.unlink()
    with pytest.raises(InputError, match=r"^workload\.file: given .*; allowed: the name of a file"):
        scenario_digest(listed)


def test_bad_points_seeds_and_workers_are_refused_before_anything_runs(
    simulated: list[tuple[str, int]],
) -> None:
    with pytest.raises(InputError, match="buffer_prots"):
        Study(scenario(), {"switching.buffer_prots": [1]}, [1])
    # Not only the first value of an axis, nor each axis alone.
    with pytest.raises(InputError, match=r"^switching.buffer_ports: given -1"):
        Study(scenario(), {"topology.k": [4, 8], "switching.buffer_ports": [0, -1]}, [1])
    together = {"topology.k": [8, 4], "switching.buffer_ports": [2, 5]}
    with pytest.raises(InputError, match=r"buffer_ports: given 5; .* largest switch, 4"):
        Study(scenario(), together, [1])
    with pytest.raises(InputError, match=r"^seeds: "):
        Study(scenario(), {}, [1, 2, 1])
    with pytest.raises(InputError, match=r"^seeds: "):
        Study(scenario(), {}, [])
    with pytest.raises(InputError, match=r"^seeds\[0\]: "):
        Study(scenario(), {}, [-1])
    with pytest.raises(InputError, match=r"^workers: "):
        execute(study(), workers=0, progress=False)
    assert simulated == []


def test_a_store_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to look at " * 50)
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE albums (title TEXT)")
    other.close()
    for name in ("notes.txt", "other.sqlite", "notes.txt/runs", "."):
        with pytest.raises(InputError, match=r"^store: given"):
            Store(tmp_path / name)
    assert (tmp_path / "notes.txt").read_text().startswith("not a database")
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("albums",)]
    other.close()


def test_a_store_that_becomes_unusable_ends_the_study(
    tmp_path: Path, simulated: list[tuple[str, int]]
) -> None:
    with Store(tmp_path / "runs") as store:
        with sqlite3.connect(tmp_path / "runs" / INDEX) as other:
            other.execute("DROP TABLE runs")
        other.close()
        with pytest.raises(InputError, match=r"^store: given .*no such table"):
            execute(study(), store, progress=False)
    assert simulated == []


def test_a_store_explains_itself(tmp_path: Path) -> None:
    largest = 2**64 - 1
    replicate(scenario(), [1, largest], tmp_path / "runs", progress=False)
    with sqlite3.connect(tmp_path / "runs" / INDEX) as database:
        rows = database.execute(
            "SELECT seed, scenarios.scenario FROM runs JOIN scenarios ON digest = runs.scenario"
        ).fetchall()
    database.close()
    assert {int(seed) for seed, _ in rows} == {1, largest}
    assert {text for _, text in rows} == {scenario().canonical_json()}


@pytest.fixture
def child(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process at work on the slow study, with at least eight runs finished."""
    program = (
        "from test_study import execute, slow_study\n"
        "try:\n"
        "    execute(slow_study(), sys.argv[1])\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
        "    sys.exit(130)\n"
    )
    file = tmp_path / "runs"
    process = started(program, file)
    try:
        deadline = time.monotonic() + 60
        while finished(file) < 8:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.communicate()


def finished(file: Path) -> int:
    if not file.exists():
        return 0
    with Store(file) as store:
        return len(store)


def check_resumed(file: Path, simulated: list[tuple[str, int]]) -> None:
    kept = finished(file)
    assert 8 <= kept < RUNS
    resumed = execute(slow_study(), file, progress=False)
    assert len(simulated) == RUNS - kept
    simulated.clear()
    fresh = execute(slow_study(), progress=False)
    assert len(simulated) == RUNS
    pd.testing.assert_frame_equal(outcome(resumed), outcome(fresh))


def test_a_killed_study_goes_on_where_it_was(
    tmp_path: Path, child: "subprocess.Popen[str]", simulated: list[tuple[str, int]]
) -> None:
    before = finished(tmp_path / "runs")
    child.send_signal(signal.SIGKILL)
    child.wait(10)
    assert finished(tmp_path / "runs") >= before
    check_resumed(tmp_path / "runs", simulated)


def test_control_c_ends_a_study_and_keeps_what_is_finished(
    tmp_path: Path, child: "subprocess.Popen[str]", simulated: list[tuple[str, int]]
) -> None:
    before = finished(tmp_path / "runs")
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=30)
    assert out == "stopped\n"
    assert child.returncode == 130
    assert errors == ""
    assert finished(tmp_path / "runs") >= before
    check_resumed(tmp_path / "runs", simulated)


def test_a_terminal_sees_a_progress_bar_with_the_time_left(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1].split('|')\n"
        "from test_study import execute, study\n"
        "execute(study(), sys.argv[2])\n"
    )
    ours, theirs = os.openpty()
    here, file = folders(), str(tmp_path / "runs")
    subprocess.run(
        [sys.executable, "-c", program, here, file],
        stderr=theirs,
        check=True,
        timeout=60,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "12/12" in shown
    assert "left" in shown
