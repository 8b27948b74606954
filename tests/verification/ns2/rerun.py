"""Run ns-2 again: ``cd tests/verification; python -m ns2.rerun`` writes the golden files."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys

from ns2.golden import GOLDEN, HERE, Case, cases


def installed() -> str | None:
    """Return the path of the ns-2 program, or None."""
    return shutil.which("ns")


def rerun(case: Case) -> str:
    """Run ``path.tcl`` for a case and return its output."""
    binary = installed()
    if binary is None:
        raise FileNotFoundError("no ns-2 here; Debian and Ubuntu: apt install ns2")
    parameters = [word for pair in case.parameters.items() for word in pair]
    run = subprocess.run(
        [binary, str(HERE / "path.tcl"), *parameters], capture_output=True, text=True, check=True
    )
    return run.stdout


def main() -> int:
    """Write all golden files, and remove those without a case."""
    wanted = {case.path: case for case in cases()}
    for path in GOLDEN.glob("*"):
        if path not in wanted:
            path.unlink()
    for path, case in wanted.items():
        # Without a time stamp the same output gives the same file.
        path.write_bytes(gzip.compress(rerun(case).encode(), compresslevel=9, mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
