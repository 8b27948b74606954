"""Studies that are stopped at any moment, again and again: only the runs in progress are lost.

Real processes, at random moments; a few times here, and twenty times each among the slow tests. The
table is that of an uninterrupted study, bit for bit.
"""

import contextlib
import os
import pickle
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from test_study import RUNS, outcome, slow_study

from lightburst.study import Store, execute
from lightburst.study.runs import Key
from lightburst.study.store.upkeep import examined
from processes import started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

WORKERS = 2
# Reports each run when it begins and when it is kept, and the end of the study.
STUDY = f"""
import os, pickle, signal, sys
from lightburst.foundation.errors import InputError
from lightburst.study import Store
from lightburst.study.runs import scenario_digest
from lightburst.study.workers import one
from test_study import execute, outcome, slow_study
def said(word, digest, seed):
    os.write(1, f"{{word}} {{digest}} {{seed}}\\n".encode())
simulate, put_all = one.simulate, Store.put_all
def begun(scenario, seed, **options):
    said("begun", scenario_digest(scenario), seed)
    return simulate(scenario, seed, **options)
def kept(store, ended):
    rows = put_all(store, ended)
    for planned, _ in ended:
        said("kept", *planned.key)
    return rows
one.simulate, Store.put_all = begun, kept
try:
    table = execute(slow_study(), sys.argv[1], workers={WORKERS}, progress=False)
    # An interrupt after the end of the study would meet the interpreter on its way out.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
except KeyboardInterrupt:
    sys.exit(130)
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
with open(sys.argv[2], "wb") as file:
    pickle.dump(outcome(table), file)
"""

FULL = ("disk is full", "disk I/O error", "File too large")


@pytest.fixture(scope="module")
def fresh() -> pd.DataFrame:
    """The table of an uninterrupted study."""
    return outcome(execute(slow_study(), progress=False))


def study(place: Path, name: str = "table") -> "subprocess.Popen[str]":
    return started(STUDY, place / "runs", place / name)


def in_store(place: Path) -> set[Key]:
    if not (place / "runs" / "index.sqlite").exists():
        return set()
    with Store(place / "runs") as store:
        return set(store.find({run.scenario_digest for run in slow_study().runs}))


def by_interrupt(process: "subprocess.Popen[str]", place: Path) -> None:
    process.send_signal(signal.SIGINT)


def by_kill(process: "subprocess.Popen[str]", place: Path) -> None:
    process.kill()


def by_full_disk(process: "subprocess.Popen[str]", place: Path) -> None:
    """No file may become longer than the log is now: the next commit finds no room.

    A study that has just ended has removed the log, or is gone itself.
    """
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        size = (place / "runs" / "index.sqlite-wal").stat().st_size
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


WAYS: dict[str, tuple[Callable[["subprocess.Popen[str]", Path], None], int]] = {
    "interrupt": (by_interrupt, 130),
    "kill": (by_kill, -signal.SIGKILL),
    "full disk": (by_full_disk, 2),
}


def stopped(place: Path, how: str, after_s: float) -> None:
    """Begin or continue the study, and stop it some time after a run has ended."""
    stop, code = WAYS[how]
    before = in_store(place)
    process = study(place)
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("kept"):
            break
    time.sleep(after_s)
    if process.poll() is None:
        stop(process, place)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, code), err
    if process.returncode == 2:
        assert err.startswith("store: given "), err
        assert any(words in err for words in FULL), err
    words = [line.split() for line in (*lines, *out.splitlines(keepends=True)) if line[-1] == "\n"]
    told = {
        word: {(d, int(s)) for what, d, s in words if what == word} for word in ("begun", "kept")
    }
    after = in_store(place)
    # Runs reported as kept are there, and so are those from before.
    assert after >= before | told["kept"]
    # Of the runs begun, the last of each worker may be missing, and one that had just ended.
    assert len(told["begun"] - after) <= 2 * WORKERS
    assert not before & told["begun"]
    found = examined(place / "runs")
    assert found.sound
    assert (found.runs, found.aside, found.failed) == (len(after), 0, 0)


def check_stopped(place: Path, how: str, times: int, fresh: pd.DataFrame) -> None:
    chance, number = random.Random(f"{how} {times}"), 0
    for number in range(times):
        directory = place / str(number)
        directory.mkdir()
        # Some studies are stopped once, some again and again.
        for _ in range(chance.choice([1, 1, 2, 3])):
            stopped(directory, how, chance.random() * chance.choice([0.05, 0.5]))
        table = outcome(execute(slow_study(), directory / "runs", progress=False))
        pd.testing.assert_frame_equal(table, fresh, check_exact=True)
        assert len(in_store(directory)) == RUNS


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_study_that_is_stopped_loses_the_runs_in_flight(
    tmp_path: Path, fresh: pd.DataFrame, how: str, times: int
) -> None:
    check_stopped(tmp_path, how, times, fresh)


def check_two_drivers(place: Path, fresh: pd.DataFrame, apart_s: float) -> None:
    first = study(place, "first")
    time.sleep(apart_s)
    both = [first, study(place, "second")]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
    for name in ("first", "second"):
        table = pickle.loads((place / name).read_bytes())
        pd.testing.assert_frame_equal(table, fresh, check_exact=True)
    found = examined(place / "runs")
    assert (found.runs, found.damaged, found.aside, found.failed) == (RUNS, 0, 0, 0)


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_two_drivers_at_once(tmp_path: Path, fresh: pd.DataFrame, times: int) -> None:
    """Both make the store, and each run is in it once."""
    chance = random.Random(times)
    for number in range(times):
        (tmp_path / str(number)).mkdir()
        check_two_drivers(tmp_path / str(number), fresh, chance.choice([0, chance.random()]))


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_one_of_two_drivers_is_killed(tmp_path: Path, fresh: pd.DataFrame, times: int) -> None:
    chance = random.Random(times)
    for number in range(times):
        place = tmp_path / str(number)
        place.mkdir()
        both = [study(place, name) for name in ("first", "second")]
        assert both[0].stdout is not None
        both[0].stdout.readline()
        time.sleep(chance.random() / 2)
        both[0].kill()
        both[0].communicate()
        _, err = both[1].communicate(timeout=120)
        assert (both[1].returncode, err) == (0, "")
        table = pickle.loads((place / "second").read_bytes())
        pd.testing.assert_frame_equal(table, fresh, check_exact=True)
        assert examined(place / "runs").runs == RUNS
