"""Recorded results of the twin: a core that gives them is compared without running the twin again.

The twin is slow and deterministic. `tests/data/twin_results.txt` has a line for each plan of the
tests: the digest of the plan, and of the twin's result. Nothing is seen less than without it:

- The core's result has the recorded digest: it is bit for bit the twin's.
- It has another one, or the plan has no line: the twin runs, and the comparison names the columns
  that differ.
- The first line is the digest of the sources of the twin and of the comparison. After a change of
  one, no line counts.
- For every fiftieth plan the twin runs in any case, and a wrong line fails the test. With
  ``LIGHTBURST_TWIN=always``, as in ``make test-all``, it runs for each plan.

``cd tests/verification; python -m recorded_results``, a part of ``make golden``, writes the file
anew, from runs of the twin that are equal to those of the core.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from plans import Plan
from twin import Columns

HERE = Path(__file__).parent
FILE = HERE.parent / "data" / "twin_results.txt"
#: What a result of the twin depends on, besides the plan. The twin uses parts of `linux`.
SOURCES = ("twin/*.py", "linux/*.py", "compare.py", "recorded_results.py")
#: ``always``, or where `main` wants the lines of a process.
MODE = "LIGHTBURST_TWIN"
#: The twin runs for one plan of so many.
SHARE = 50
DIGITS = 16


def key_of(plan: Plan, purpose: str) -> str:
    """The digest of a plan, and of what is checked besides its result."""
    content = hashlib.sha256(f"{purpose}\n{json.dumps(plan.settings)}\n".encode())
    for table in (plan.nodes, plan.links, plan.flows):
        for name, column in table.items():
            _add(content, name, column.dtype.str, column)
    return content.hexdigest()[:DIGITS]


def digest(result: Columns) -> str:
    """The digest of all columns and totals; the width of an integer is not in it."""
    content = hashlib.sha256()
    for group, columns in sorted(result.items()):
        content.update(f"{group}\n".encode())
        for name, value in sorted(columns.items()):
            if isinstance(value, np.ndarray):
                kind = value.dtype.kind
                _add(
                    content, name, kind, value.astype(f"<{kind}8" if kind in "iuf" else value.dtype)
                )
            else:
                content.update(f"{name} {json.dumps(value)}\n".encode())
    return content.hexdigest()[:DIGITS]


def _add(content: Any, name: str, kind: str, column: Any) -> None:
    content.update(f"{name} {kind} {column.size}\n".encode())
    content.update(column.tobytes())


def sources() -> str:
    """The digest of the twin, and of the comparison with it."""
    content = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(HERE.glob(pattern)):
            content.update(path.read_bytes())
    return content.hexdigest()[:DIGITS]


def read(path: Path, twin: str) -> dict[str, str]:
    """The recorded digests of results by that of the plan, if they are of this twin."""
    first, *lines = path.read_text().splitlines()
    return dict(line.split() for line in lines) if first == twin else {}


@cache
def recorded() -> Mapping[str, str]:
    """The records that count here."""
    return read(FILE, sources()) if MODE not in os.environ or _always() else {}


def _always() -> bool:
    return os.environ.get(MODE) == "always"


def is_known(key: str, found: Columns) -> bool:
    """Whether the result of the core is the twin's, and the twin need not run."""
    known = recorded().get(key)
    if known is None or _always() or int(key, 16) % SHARE == 0:
        return False
    return digest(found) == known


def confirm(key: str, expected: Columns) -> None:
    """Compare a result of the twin with the recorded one."""
    result, known = digest(expected), recorded().get(key, "")
    assert known in ("", result), (
        f"the twin's result is {result}, and not {known} as in {FILE.name}: `make golden`"
    )
    if MODE in os.environ and not _always():
        with (Path(os.environ[MODE]) / str(os.getpid())).open("a") as lines:
            lines.write(f"{key} {result}\n")


def main() -> int:
    """Run the comparisons with all processors, and write their records."""
    tests = set(HERE.glob("test_*.py")) - {HERE / "test_recorded_results.py"}
    users = [str(path) for path in sorted(tests) if "check_equal" in path.read_text()]
    before = sources()
    with TemporaryDirectory() as folder:
        options = ["-m", "not slow", "--numprocesses", "auto", "--dist", "worksteal"]
        command = [sys.executable, "-m", "pytest", *options, *users]
        status = subprocess.run(command, env={**os.environ, MODE: folder}).returncode
        if status:
            return status
        texts = [path.read_text() for path in Path(folder).iterdir()]
    if sources() != before:
        print("the twin was changed meanwhile", file=sys.stderr)
        return 1
    records = sorted({line for text in texts for line in text.splitlines()})
    FILE.write_text("\n".join([before, *records, ""]))
    print(f"{len(records)} results in {FILE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
