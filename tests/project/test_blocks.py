"""Blocks of cases: each case is tested, and a failure names its case."""

from __future__ import annotations

import pytest

from blocks import in_blocks

pytest_plugins = ["pytester"]

GRID = """
import pytest
from blocks import in_blocks

@pytest.mark.parametrize("kind", ["a", "b"])
@in_blocks("seed", range(10), 4)
def test_seed(seed, kind):
    assert (seed, kind) not in {FAILING}
"""


def test_each_case_is_tested_once() -> None:
    tested = []

    @in_blocks("seed", range(10), 4)
    def test(seed: int) -> None:
        tested.append(seed)

    (mark,) = test.pytestmark  # type: ignore[attr-defined]
    for block in mark.args[1]:
        test(block=block)
    assert tested == list(range(10))
    assert [len(block) for block in mark.args[1]] == [4, 4, 2]


@pytest.mark.parametrize(
    ("failing", "named"),
    [({(5, "b")}, ["seed = 5"]), ({(4, "a"), (7, "a")}, ["seed = 4", "seed = 7", "2 of 4 cases"])],
)
def test_a_failure_names_its_case(
    pytester: pytest.Pytester, failing: set[tuple[int, str]], named: list[str]
) -> None:
    pytester.makepyfile(GRID.replace("{FAILING}", repr(failing)))
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=5, failed=1)
    for words in named:
        assert words in result.stdout.str()
