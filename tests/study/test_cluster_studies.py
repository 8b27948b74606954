"""Commands on a Dask cluster of real processes: interrupted, without a scheduler, of every kind."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from test_optimise import STUDY
from test_study import finished, outcome, scenario

import lightburst as lb
from clusters import local, process
from lightburst.cli import main
from lightburst.simulation.simulate import simulate
from lightburst.study import Store, Study, execute
from processes import everyone, started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# The process has its own group, as if started by a shell.
COMMAND = """
import os
from lightburst.cli import main
os.setpgid(0, 0)
sys.exit(main())
"""
# The result of `slow_study`.
SWEEP = """
seeds = 20
[over]
switching.buffer_ports = [0, 1, 2]
[scenario]
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "hybrid" }
transport = { kind = "sawl" }
[scenario.workload]
kind = "poisson"
arrival_rate = "1e6 /s"
flows = 200
size = { kind = "constant", value = "200 kB" }
"""
# The same with more seeds, for a study that is to be interrupted.
LONG, LONG_RUNS = SWEEP.replace("seeds = 20", "seeds = 100"), 300
SENSITIVITY = """
seeds = 2
[sensitivity]
metric = "throughput_bps"
points = 16
[over]
topology.link_length = { from = "1 m", to = "1 km" }
switching.buffer_ports = { from = 0, to = 4 }
[scenario]
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "hybrid" }
transport = { kind = "sawl" }
[scenario.workload]
kind = "poisson"
arrival_rate = "1e6 /s"
flows = 32
size = { kind = "constant", value = "50 kB" }
"""


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "study.toml"


def kept() -> int:
    return finished(Path(".lightburst/runs"))


def has(least: int) -> bool:
    return kept() >= least


def interrupted(
    words: list[str], number: signal.Signals, when: Callable[[], bool], place: Path
) -> str:
    """Send a signal to a command and its children, as a terminal does; return its output."""
    mark, scratch = f"test-{os.getpid()}-{time.monotonic_ns()}", place / "scratch"
    scratch.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIGHTBURST_TEST_MARK", mark)
        patch.setenv("TMPDIR", str(scratch))
        running = started(COMMAND, *words)
    deadline = time.monotonic() + 300
    while not when():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(running.pid, number)
    out, said = running.communicate(timeout=120)
    assert running.returncode == 128 + number, said
    assert out == ""
    psutil.wait_procs(everyone(mark), timeout=60)
    assert everyone(mark) == []
    left = [str(path.relative_to(scratch)) for path in scratch.rglob("*")]
    assert left == [], said
    scratch.rmdir()
    return said


SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
KEPT = "finished runs are kept in .lightburst/runs; the same command continues from there"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The table of the long study, in threads."""
    place = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("study.toml").write_text(LONG, encoding="utf-8")
        assert main(["sweep", "study.toml", "--out", "whole"]) == 0
    return outcome(lb.load_sweep(place / "whole").runs)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_signal_ends_a_sweep_and_the_same_command_goes_on(
    study: Path, whole: pd.DataFrame, number: signal.Signals, times: int
) -> None:
    """It prints two lines, leaves only the runs behind, and loses none of these."""
    study.write_text(LONG, encoding="utf-8")
    words = ["sweep", "study.toml", "--dask", "local:2", "--out", "out"]
    chance = random.Random(number)
    for _ in range(times):
        shutil.rmtree(".lightburst", ignore_errors=True)
        shutil.rmtree("out", ignore_errors=True)
        least = chance.randint(1, 30)
        said = interrupted(words, number, partial(has, least), study.parent)
        assert said.splitlines() == [f"lightburst: {KEPT}", f"lightburst: {SIGNALS[number]}"]
        assert not Path("out").exists()
        assert least <= kept() < LONG_RUNS
        assert main(words) == 0
        assert kept() == LONG_RUNS
        found = outcome(lb.load_sweep("out").runs)
        pd.testing.assert_frame_equal(found, whole, check_exact=True)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_the_processes_start(study: Path, number: signal.Signals) -> None:
    study.write_text(LONG, encoding="utf-8")
    words = ["sweep", "study.toml", "--dask", "local:2"]
    there = Path(".lightburst/runs/index.sqlite").is_file  # it is made before the first run
    said = interrupted(words, number, there, study.parent)
    assert said.splitlines() == [f"lightburst: {KEPT}", f"lightburst: {SIGNALS[number]}"]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a worker that takes its time
def test_a_signal_leaves_the_cluster_of_somebody_else(study: Path, number: signal.Signals) -> None:
    study.write_text(LONG, encoding="utf-8")
    with local(1) as client:
        words = ["sweep", "study.toml", "--dask", client.scheduler.address]
        said = interrupted(words, number, partial(has, 3), study.parent)
        assert said.splitlines()[-2:] == [f"lightburst: {KEPT}", f"lightburst: {SIGNALS[number]}"]
        assert client.submit(sum, [1, 2]).result(timeout=60) == 3


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The JSON output of a command."""
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    del found["provenance"]["created"]
    return found


@pytest.mark.parametrize(
    ("command", "text"), [("optimise", STUDY), ("sensitivity", SENSITIVITY)], ids=["o", "s"]
)
def test_searches_find_there_what_they_find_in_threads(
    study: Path, capsys: pytest.CaptureFixture[str], command: str, text: str
) -> None:
    study.write_text(text, encoding="utf-8")
    there = answer(capsys, command, "study.toml", "--dask", "local:2")
    Path(".lightburst").rename("away")
    assert there == answer(capsys, command, "study.toml", "--workers", "2")
    assert there["runs"] > 50


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a worker that takes its time
def test_a_scheduler_that_dies_during_a_search(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the command to continue; on the cluster and in threads the result is the
    same.
    """
    study.write_text(STUDY, encoding="utf-8")
    words = ["optimise", "study.toml", "--dask", "scheduler.json"]
    here = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", "scheduler.json"]
    with (
        process("scheduler", *here, "--port", "0") as scheduler,
        process("worker", *here, "--no-nanny", "--nthreads", "1"),
    ):
        deadline = time.monotonic() + 60
        while not Path("scheduler.json").is_file():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        put_all = Store.put_all

        def put(store: Store, ended: Any) -> Any:
            if len(store) >= 20:
                scheduler.kill()
            return put_all(store, ended)

        monkeypatch.setattr(Store, "put_all", put)
        monkeypatch.setattr(sys, "argv", ["lightburst", *words])
        assert main(words) == 2
        monkeypatch.setattr(Store, "put_all", put_all)
    went_on, told = capsys.readouterr().err.splitlines()[-2:]
    assert went_on == (
        "lightburst: finished runs are kept in .lightburst/runs; with workers again, continue by: "
        f"{shlex.join(['lightburst', *words])}"
    )
    assert told.startswith("lightburst: --dask: given tcp://127.0.0.1:")
    assert " of scheduler.json, whose scheduler has not answered for " in told
    before = kept()
    assert before >= 20
    again = answer(capsys, "optimise", "study.toml")
    assert before < kept()
    Path(".lightburst").rename("away")
    assert again == answer(capsys, "optimise", "study.toml")


def watched() -> None:
    """On a worker: count the runs that have got their memory and have not ended."""
    from importlib import import_module
    from threading import Lock

    one: Any = import_module("lightburst.study.workers.one")
    simulate, lock, there, most = one.simulate, Lock(), [0], [0]

    def counted(*what: Any, ask: Any, **options: Any) -> Any:
        def asked(needed: int, limit: int | None = None) -> None:
            ask(needed, limit)
            with lock:
                there[0] += 1
                most[0] = max(most[0], there[0])

        try:
            return simulate(*what, ask=asked, **options)
        finally:
            with lock:
                there[0] -= 1

    one.simulate, one.most = counted, most


def at_most() -> int:
    """On a worker: say how many there were at most, and count anew."""
    from importlib import import_module

    one: Any = import_module("lightburst.study.workers.one")
    most, one.most[0] = one.most[0], 0
    return int(most)


def hold(dask_worker: Any, more: int | None) -> None:
    """On a worker: limit its memory to a number of bytes above its present use."""
    from lightburst.foundation.memory import held_memory
    from lightburst.study.workers import remote

    # Dask starts nothing on a worker that uses over 80 % of its limit, whatever a run needs.
    dask_worker.memory_manager.memory_pause_fraction = False
    dask_worker.memory_manager.memory_limit = None if more is None else held_memory() + more
    remote._room.cache_clear()


def test_a_worker_takes_no_more_runs_at_a_time_than_fit() -> None:
    """Each needs 45 MiB, by the estimate; two threads."""
    large = Study(scenario(flows=20_000, size={"kind": "constant", "value": "1 kB"}), {}, 10)
    needed: list[int] = []
    simulate(large.base, 1, ask=lambda bytes, limit: needed.append(bytes))
    with local(1, threads_per_worker=2) as client:
        client.run(watched)
        for more, at_once in ((None, 2), (3 * needed[0] // 2, 1)):
            client.run(hold, more=more)
            table = execute(large, workers=client, progress=False)
            assert len(table) == 10
            assert list(client.run(at_most).values()) == [at_once]
