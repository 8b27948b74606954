"""Processes that are killed at any moment: no result is lost, and results are the same bits.

Interrupted studies are in test_resume.py.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lightburst.foundation.files.checksums import SUMS, listed, verify

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# Reports when it begins to write, and writes again and again.
SAVE = """
from stores import scenario
from lightburst.simulation.simulate import run
result = run(scenario(0), 1)
result.save(sys.argv[2])
print("saved", flush=True)
while True:
    result.save(sys.argv[2])
"""


def start(program: str, file: Path) -> "subprocess.Popen[str]":
    text = f"import sys; sys.path.insert(0, sys.argv[1])\n{program}"
    command = [sys.executable, "-c", text, str(Path(__file__).parents[1]), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(process: "subprocess.Popen[str]", ready: Callable[[], bool], after_s: float) -> None:
    """Kill a process some time after it is ready, or when it is done."""
    deadline = time.monotonic() + 60
    while not ready() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(after_s)
    process.kill()
    process.communicate()


def saving_killed(target: Path, times: int) -> None:
    chance = random.Random(times)
    for _ in range(times):
        process = start(SAVE, target)
        assert process.stdout is not None
        assert process.stdout.readline() == "saved\n"
        kill(process, lambda: True, chance.random() / 5)
        verify(target, listed(target))
        assert {entry.name for entry in target.iterdir()} == {*listed(target), SUMS}
        # No file of the call before is left, and of this one at most the directory being written.
        assert len(list(target.parent.iterdir())) <= 2


def test_a_result_is_whole_after_kills(tmp_path: Path) -> None:
    saving_killed(tmp_path / "out", 2)


@pytest.mark.slow
def test_a_result_is_whole_after_twenty_five_kills(tmp_path: Path) -> None:
    saving_killed(tmp_path / "out", 25)
