"""Studies in processes of this machine: none listens, and the table is the same after any death."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from test_study import outcome, scenario, slow_study

from lightburst.foundation.errors import InputError
from lightburst.simulation.simulate import simulate
from lightburst.study import Store, Study, execute
from lightburst.study.execution.executor import run_all
from lightburst.study.store.failures import FailedRun
from lightburst.study.workers import processes
from processes import everyone, started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes that are killed")


class Watching(Store):
    """A store that calls a function before it keeps runs, once at each given number of runs."""

    def __init__(self, path: Path, act: Callable[[], Any], *numbers: int) -> None:
        super().__init__(path)
        self.act, self.numbers = act, list(numbers)

    def put_all(self, ended: Any) -> Any:
        if self.numbers and len(self) >= self.numbers[0]:
            self.numbers.pop(0)
            self.act()
        return super().put_all(ended)


def children() -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process().children(recursive=True)
    return found


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """The table of a study in threads."""
    return outcome(execute(slow_study(), progress=False))


def test_nothing_listens_and_nothing_is_left(table: pd.DataFrame, tmp_path: Path) -> None:
    """Other users could connect to a process that listened, and run code with it."""
    before, seen = set(children()), list[tuple[int, list[Any]]]()

    def look() -> None:
        there = [psutil.Process(), *set(children()) - before]
        open_ = [one for process in there for one in process.net_connections("all")]
        seen.append((len(there), [one for one in open_ if one.status == psutil.CONN_LISTEN]))
        # It also has no socket with a name in the file system.
        seen[-1][1].extend(one for one in open_ if isinstance(one.laddr, str) and one.laddr)

    with Watching(tmp_path / "runs", look, 9, 40) as store:
        found = execute(slow_study(), store, workers="local:2", progress=False)
    assert seen == [(3, []), (3, [])]
    assert set(children()) == before
    pd.testing.assert_frame_equal(outcome(found), table, check_exact=True)


def test_a_killed_process_runs_are_done_again(table: pd.DataFrame, tmp_path: Path) -> None:
    before, killed = set(children()), set[psutil.Process]()

    def kill() -> None:
        one = next(iter(set(children()) - before - killed))
        killed.add(one)
        one.kill()

    with Watching(tmp_path / "runs", kill, 9, 20, 31) as store:
        found = execute(slow_study(), store, workers="local:2", progress=False)
        assert len(store) == 60
    assert len(killed) == 3
    pd.testing.assert_frame_equal(outcome(found), table, check_exact=True)


def in_children(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    """Let started processes execute a statement before each run."""
    lines = f"""
import os, sys
from lightburst.study.workers import one
simulate = one.simulate
def watched(scenario, seed, **options):
    {body}
    return simulate(scenario, seed, **options)
one.simulate = watched
"""
    (folder / "sitecustomize.py").write_text(lines, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{Path(processes.__file__).parents[3]}")


def test_runs_that_their_processes_die_of_fail_and_no_others(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ports and seed of the first two runs, and of a later one; the three points have 0 to 2 ports.
    deadly = {(0, 1), (1, 1), (2, 13)}
    body = f"if (scenario.switching.buffer_ports, seed) in {deadly}: os._exit(1)"
    in_children(monkeypatch, tmp_path, body)
    monkeypatch.setattr(processes, "DEATHS", 2)
    failed: list[FailedRun] = []
    rows = run_all(slow_study(), workers="local:2", progress=False, failed=failed)
    assert sorted((run.place, run.seed) for run in failed) == sorted(deadly)
    assert all("2 worker processes died of it" in str(run.failure) for run in failed)
    runs = zip(table["switching.buffer_ports"], table["seed"], strict=True)
    others = table[[run not in deadly for run in runs]].reset_index(drop=True)
    pd.testing.assert_frame_equal(outcome(rows), others, check_exact=True)


def test_what_a_library_prints_comes_between_no_answers(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "print('hello', flush=True); os.write(1, b'hello'); os.write(2, b'')"
    in_children(monkeypatch, tmp_path, body)
    found = execute(slow_study(), workers="local:1", progress=False)
    pd.testing.assert_frame_equal(outcome(found), table, check_exact=True)


def test_what_ends_a_study_there_ends_it_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_children(monkeypatch, tmp_path, "if seed == 7: raise OSError(28, 'no room')")
    with Store(tmp_path / "runs") as store, pytest.raises(OSError, match="no room"):
        execute(slow_study(), store, workers="local:1", progress=False)
    with Store(tmp_path / "runs") as store:
        assert store


def test_they_share_the_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fits into all of the memory, and not into half, is refused by one of two
    processes.
    """
    large = scenario(flows=20_000, size={"kind": "constant", "value": "1 kB"})
    needed: list[int] = []
    simulate(large, 1, ask=lambda bytes, limit: needed.append(bytes))
    monkeypatch.setattr(processes, "available_memory", lambda: 3 * needed[0] // 2)
    assert len(execute(Study(large, {}, 1), workers="local:1", progress=False)) == 1
    with pytest.raises(InputError, match=r"one that fits beside the .* that its worker holds"):
        execute(Study(large, {}, 1), workers="local:2", progress=False)


def test_files_are_found_as_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario names its files from the directory where the command is called."""
    monkeypatch.chdir(tmp_path)
    Path("sizes.txt").write_text("1000 0\n2000 1\n", encoding="utf-8")
    base = scenario(size={"kind": "empirical", "file": "sizes.txt"})
    here, there = (
        execute(Study(base, {}, 3), workers=workers, progress=False) for workers in (1, "local:1")
    )
    pd.testing.assert_frame_equal(outcome(here), outcome(there), check_exact=True)


# Runs of hours.
LONG = """
import lightburst as lb
from test_study import scenario
from lightburst.study import Study, execute
grid = [{"workload.size.value": f"{n} TB"} for n in range(1, 7)]
execute(Study(scenario(), grid, 1), workers="local:2", progress=False)
"""


def test_a_driver_that_is_killed_takes_them_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of runs whose results are no longer awaited."""
    mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("LIGHTBURST_TEST_MARK", mark)
    driver = started(LONG)
    for _ in itertools.count():
        there = [one for one in everyone(mark) if one.pid != driver.pid]
        # Both compute: to get this far takes longer.
        if len(there) == 2 and all(sum(one.cpu_times()[:2]) > 0.5 for one in there):
            break
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=60)
    psutil.wait_procs(there, timeout=60)
    assert everyone(mark) == []
