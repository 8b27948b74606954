"""The end of a process of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

# `on_exit` of the C library stands for the destructors of a library that abort the process, as
# those of Arrow's threads sometimes do.
ABORTING = """
import ctypes, sys
from lightburst.cli import main
c = ctypes.CDLL(None)
c.on_exit(ctypes.cast(c.abort, ctypes.c_void_p), None)
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library needs on_exit")
@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["run", "missing.toml"], 2)])
def test_destructors_of_libraries_do_not_change_the_exit_code(
    words: list[str], code: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", ABORTING, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert bool(done.stdout) == (code == 0)
    assert bool(done.stderr) == (code != 0)
