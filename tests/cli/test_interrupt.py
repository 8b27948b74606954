"""Ctrl-C at any point of a command: exit code 130, one line, and no half-written file."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lightburst.foundation.files import directory
from processes import started
from results import KINDS, everything, saved_in
from traced_paper import TRACED

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# Draws the figures of a small paper in an endless loop.
DRAWING = """
from itertools import count
from lightburst.cli import main
from lightburst.papers import PAPERS
from lightburst.plots import static
from traced_paper import TRACED
PAPERS[TRACED.name] = TRACED
save = static.save
def again(*words):
    print("drawing", flush=True)
    for _ in count():
        save(*words)
static.save = again
sys.exit(main())
"""

# Compiles a network of 65,536 hosts and a million flows, which takes some seconds.
COMPILING = """
from lightburst.simulation import simulate
from lightburst.cli import main
compile_plan = simulate.compile_plan
def told(*words):
    print("compiling", flush=True)
    return compile_plan(*words)
simulate.compile_plan = told
sys.exit(main())
"""
LARGE = """
topology = { kind = "fat-tree", k = 64 }
switching = { kind = "hybrid" }
transport = { kind = "saw" }

[workload]
kind = "poisson"
arrival_rate = "1e9 /s"
flows = 1000000
size = { kind = "constant", value = "9 kB" }
"""

# A signal just before a sleep begins does not end it: no sleep is long. Loses the first interrupt,
# as some libraries do.
_LOSING = """
import time
from lightburst.cli import main
from lightburst.cli.commands import listing
def wait(topic):
    print("waiting", flush=True)
    while True:
        try:
            time.sleep(0.05)
        except KeyboardInterrupt:
            {}
listing.print_list = wait
sys.exit(main())
"""
SWALLOWING = _LOSING.format("pass")
REPLACING = _LOSING.format('raise ValueError("of a library") from None')

# Waits in a destructor, out of which Python cannot raise it.
IN_DESTRUCTOR = """
import time
from lightburst.cli import main
from lightburst.cli.commands import listing
class Late:
    def __del__(self):
        print("waiting", flush=True)
        for _ in range(1200):
            time.sleep(0.05)
def wait(topic):
    Late()
    while True:
        time.sleep(0.05)
listing.print_list = wait
sys.exit(main())
"""


# Interrupts the writing of a scenario at each of its quantities.
WRITING = """
import lightburst as lb
from lightburst.foundation import units
number = int(sys.argv[2])
signal.signal(number, signal.default_int_handler)
scenario = lb.load(sys.argv[1])
plain, calls, at = units._plain, [], 0
def told(value):
    calls.append(value)
    if len(calls) == at:
        signal.raise_signal(number)
    return plain(value)
units._plain = told
written = scenario.to_dict()
quantities = len(calls)
for at in range(1, quantities + 1):
    calls.clear()
    try:
        scenario.to_dict()
    except KeyboardInterrupt:
        continue
    sys.exit(f"at {at} of {quantities} it had no effect")
assert scenario.to_dict() == written
print(quantities)
"""


def interrupted(process: "subprocess.Popen[str]", ready: str, after_s: float = 0) -> str:
    """Interrupt a command some time after it is ready; return its output."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{ready}\n"
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    return err


@pytest.mark.parametrize("command", ["reproduce", "report"])
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_while_figures_are_drawn(tmp_path: Path, command: str, times: int) -> None:
    chance, target = random.Random(command), tmp_path / "reproduction"
    with saved_in(tmp_path):
        before = everything(target)
    words = [TRACED.name, "--out"] if command == "reproduce" else []
    for _ in range(times):
        process = started(DRAWING, command, *words, target.name, cwd=tmp_path)
        assert interrupted(process, "drawing", chance.random()) == "lightburst: interrupted\n"
        # Files left by a process that is ended are removed by the next one.
        for place in (target, target / "page"):
            directory.restore(place)
        assert everything(target) == before
        assert {entry.name for entry in tmp_path.iterdir()} == {*KINDS, ".lightburst"}


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_while_a_large_plan_is_compiled(tmp_path: Path, times: int) -> None:
    chance = random.Random("compile")
    (tmp_path / "large.toml").write_text(LARGE, encoding="utf-8")
    for _ in range(times):
        process = started(COMPILING, "run", "large.toml", cwd=tmp_path)
        said = interrupted(process, "compiling", chance.random())
        assert said == "lightburst: interrupted\n"


@pytest.mark.parametrize(
    "code", [SWALLOWING, REPLACING, IN_DESTRUCTOR], ids=["swallowed", "replaced", "destructor"]
)
def test_where_it_is_lost(tmp_path: Path, code: str) -> None:
    process = started(code, "list", cwd=tmp_path)
    assert interrupted(process, "waiting") == "lightburst: interrupted\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_while_a_scenario_is_written(tmp_path: Path, number: signal.Signals) -> None:
    """Pydantic discards an exception of a function that it calls for one of several kinds of a
    table, or raises an error of its own.
    """
    example = Path(__file__).parents[2] / "examples" / "hybrid.toml"
    process = started(WRITING, example, number.value, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert int(out) > 10


# Commits only long after the process would have been ended by force; no time is measured.
SLOW_COMMIT = """
import threading
from lightburst.cli import main
from lightburst.cli.terminal import interrupt
from lightburst.study.store.store import Store
came, force = threading.Event(), threading.Event()
class Time:
    times = 0
    @classmethod
    def sleep(cls, seconds):
        cls.times += 1
        if cls.times == 1:
            if not came.wait(60): os._exit(99)
            return
        force.set()
        threading.Event().wait()
import os
interrupt.time = Time
put_all = Store.put_all
def put(store, ended):
    if not interrupt._came:
        print("running", flush=True)
        while True:
            threading.Event().wait(0.05)
    came.set()
    force.wait(60)
    kept = put_all(store, ended)
    open("kept", "w").close()
    return kept
Store.put_all = put
sys.exit(main())
"""
SWALLOWING_STUDY = """
import time
from lightburst.cli import main
from lightburst.cli.commands import sweep
def wait(*what, **how):
    print("running", flush=True)
    while True:
        try:
            time.sleep(0.05)
        except KeyboardInterrupt:
            pass
sweep.sweep_all = wait
sys.exit(main())
"""
KEPT = (
    "lightburst: finished runs are kept in .lightburst/runs; the same command continues from there"
)


@pytest.mark.parametrize("program", [SLOW_COMMIT, SWALLOWING_STUDY], ids=["heard", "swallowed"])
def test_a_study_says_that_runs_are_kept(tmp_path: Path, program: str) -> None:
    """Also if the commit takes longer than the limit for an ignored interrupt, or if it ends by
    force.
    """
    study = 'seeds = 2000\n[over]\n"topology.k" = [4]\n[scenario]\n' + LARGE.replace(
        "k = 64", "k = 4"
    ).replace("1000000", "50").replace("1e9", "1e6").replace("[workload]", "[scenario.workload]")
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    process = started(program, "sweep", "study.toml", cwd=tmp_path)
    said = interrupted(process, "running")
    assert said.splitlines() == [KEPT, "lightburst: interrupted"]
    assert (tmp_path / "kept").exists() == (program == SLOW_COMMIT)


# As at Ctrl-C during the first imports, before the command line can hear of it.
EARLY = """
import builtins, runpy, sys
imports = builtins.__import__
def interrupted(name, *words, **more):
    if name == "lightburst.cli.terminal":
        raise KeyboardInterrupt
    return imports(name, *words, **more)
builtins.__import__ = interrupted
sys.argv = ["lightburst"]
runpy.run_module("lightburst.__main__", run_name="__main__")
"""


def test_an_interrupt_during_the_first_imports_leaves_one_line() -> None:
    """It left the traceback of the import."""
    words = [sys.executable, "-c", EARLY]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "lightburst: interrupted\n")
