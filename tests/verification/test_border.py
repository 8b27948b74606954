"""The core answers an invalid plan with an error, never a panic, a hang or an abort."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "mutated.py"


def outcomes(first: int, number: int) -> Counter[str]:
    """The ends of mutated plans, in a separate process, which an abort would kill."""
    words = [sys.executable, str(PROGRAM), str(first), str(number)]
    done = subprocess.run(words, capture_output=True, text=True)
    last = done.stdout.rpartition("\n")[2]
    assert done.returncode == 0, f"plan {last}: {done.stderr[-2000:]}"
    return Counter(line.split()[1] for line in done.stdout.splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_a_wrong_plan_ends_in_an_error() -> None:
    found = outcomes(0, 400)
    assert found.total() == 400
    # Most changes make a plan that cannot be run; some change its result.
    assert found["ValueError"] > 200
    assert found["ran"] > 40


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_many_wrong_plans_end_in_an_error() -> None:
    assert outcomes(400, 9_600).total() == 9_600
