"""Other processes that tests interrupt."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Tests that are started in the background of a shell ignore Ctrl-C, and so would what they start.
_HEARING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv.pop(1))
"""


def started(program: str, *arguments: object, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """Start a Python program that hears Ctrl-C and finds the modules of the tests."""
    here = str(Path(__file__).parent)
    words: Sequence[str] = [here, *(str(argument) for argument in arguments)]
    return subprocess.Popen(
        [sys.executable, "-c", _HEARING + program, *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
