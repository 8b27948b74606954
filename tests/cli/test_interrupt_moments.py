"""Ctrl-C at counted moments of a command, from its first steps to the end of the interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# Runs a command in forks of one process, and raises SIGINT there at the n-th call of a function in
# Python, in the last function that is called at exit, or when modules are taken down.
MOMENTS = """
import atexit, gc, importlib, json, os, shutil, signal, sys
from pathlib import Path

signal.signal(signal.SIGINT, signal.default_int_handler)
command, inner, last = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
modules = sys.argv[4:]
import lightburst.cli, lightburst.cli.app
for module in modules:
    importlib.import_module(module)
# A fork that collects the garbage of the modules at its end would copy each of their pages.
gc.collect()
gc.freeze()

class Late:
    def __del__(self, kill=os.kill, number=signal.SIGINT, own=os.getpid):
        kill(own(), number)

def at_call(moment):
    calls = 0
    def called(frame, event, argument):
        nonlocal calls
        # The first thing that is done when Ctrl-C is heard.
        if event != "call" or (calls == 0 and frame.f_code.co_name != "prepare"):
            return
        calls += 1
        if calls == moment:
            signal.raise_signal(signal.SIGINT)
    sys.setprofile(called)
    code = lightburst.cli.main()
    sys.setprofile(None)
    if moment == 0:
        Path("calls").write_text(str(calls))
    return code

def alone(moment):
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["lightburst", *command]
    if moment == "exit":
        atexit.register(signal.raise_signal, signal.SIGINT)
    if moment == "teardown":
        sys.late = Late()
    sys.exit(at_call(moment) if isinstance(moment, int) else lightburst.cli.main())

def told(moment):
    # The store makes each of them as long as the first.
    for name in ("result", ".lightburst"):
        shutil.rmtree(name, ignore_errors=True)
    if (child := os.fork()) == 0:
        alone(moment)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = sorted(file.name for file in Path("result").glob("*"))
    work = [file.name for file in Path().glob(".lightburst-work-*")]
    for name in work:
        shutil.rmtree(name)
    return [moment, code, Path("err").read_text(), Path("out").read_text(), left, work]

first = told(0)
calls = int(Path("calls").read_text())
moments = sorted({1, *(calls * n // inner for n in range(1, inner)), *range(calls - last, calls)})
print(json.dumps([first, *map(told, [*moments, "exit", "teardown"])]))
"""
SMALL = """
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "electronic" }
transport = { kind = "tcp" }
workload = { kind = "poisson", load = 0.1, flows = 10, size = "9 kB" }
"""
STUDY = """
scenario = "small.toml"
seeds = 2
over = { "workload.load" = [0.1, 0.2] }

[optimise]
minimise = "makespan_s"
trials = 2
first = 2
confirm = 2
"""
# The file of each command, the number of its last calls that are interrupted, and the modules that
# it imports late. Both end alike, and one takes four times as long.
COMMANDS = {
    "run": ("small.toml", 11, ["pyarrow.parquet", "lightburst.cli.commands.run"]),
    "optimise": (
        "study.toml",
        4,
        [
            "optuna",
            "pyarrow.parquet",
            "lightburst.cli.commands.optimise",
            "lightburst.cli.commands.sweep",
            "lightburst.experiment.optimise",
            "lightburst.plots.static",
            "lightburst.report.optimum_figure",
        ],
    ),
}
LINE = "lightburst: interrupted\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("inner", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_at_counted_moments(tmp_path: Path, command: str, inner: int) -> None:
    (tmp_path / "small.toml").write_text(SMALL, "utf-8")
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    file, last, modules = COMMANDS[command]
    words = json.dumps([command, file, "--out", "result"])
    done = subprocess.run(
        [sys.executable, "-c", MOMENTS, words, str(inner), str(last), *modules],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *others = json.loads(done.stdout)
    _, code, said, _, files, work = first
    assert (code, work) == (0, [])
    assert len(files) > 4
    assert len(others) > inner
    ended = [one for one in others if not holds(one, said, files)]
    assert ended == []
    codes = {code for _, code, *_ in others}
    assert codes == {0, 130}


def holds(one: list[Any], said: str, files: list[str]) -> bool:
    """Whether it ended with 130 and one line, or was over before; its result must be complete."""
    moment, code, err, _, left, work = one
    if moment in ("exit", "teardown"):
        return (code, err, left, work) == (0, said, files, [])
    # Files left by a process that is ended are removed by the next one.
    kept = "finished runs are kept in .lightburst/runs; the same command continues from there"
    lines = err.removesuffix(LINE).removesuffix(f"lightburst: {kept}\n")
    if code == 130:
        return err.count(LINE) == 1 and lines in ("", said) and left in ([], files)
    return (code, err, left, work) == (0, said, files, [])
