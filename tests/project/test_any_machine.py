"""No test fails because of other load on its machine."""

import re
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parents[1]
# Finds an elapsed time that must be below a limit. A patient wait for an event is allowed.
SHORT = re.compile(r"assert\b.*(monotonic|perf_counter|time\.time|process_time)\(\) - .*<")


def test_no_property_has_a_limit_in_time() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_only_the_one_profile_speaks_of_time() -> None:
    told = [file.name for file in TESTS.rglob("*.py") if "deadline=" in file.read_text("utf-8")]
    assert sorted(told) == ["conftest.py", "test_any_machine.py"]


def test_no_test_asserts_a_time() -> None:
    lines = [
        f"{file.name}: {line.strip()}"
        for file in TESTS.rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if SHORT.search(line)
    ]
    assert lines == []
