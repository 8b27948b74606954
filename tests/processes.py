"""Other processes that tests interrupt."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

# Tests that are started in the background of a shell or by nohup ignore signals, and so would their
# child processes.
_HEARING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.path[:0] = sys.argv.pop(1).split("|")
"""


def folders() -> str:
    """Return the folders of the tests on the path of modules, separated by "|"."""
    here = Path(__file__).parent
    return "|".join(path for path in sys.path if Path(path).is_relative_to(here))


def started(program: str, *arguments: object, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """Start a Python program that reacts to Ctrl-C and finds the modules of the tests."""
    words: Sequence[str] = [folders(), *(str(argument) for argument in arguments)]
    return subprocess.Popen(
        [sys.executable, "-c", _HEARING + program, *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def everyone(mark: str) -> list[psutil.Process]:
    """Find the processes that have a mark in their environment, as `LIGHTBURST_TEST_MARK`."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            there = process.environ().get("LIGHTBURST_TEST_MARK") == mark
            if there and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
