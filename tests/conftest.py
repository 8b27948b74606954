"""Settings of all tests, and fixtures that several files share."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import checked_core  # noqa: F401 - before the package

if TYPE_CHECKING:
    from pathlib import Path

# A loaded machine is slow, and that makes no property false: no limit on the time of an example,
# and none on the time to draw one.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("any machine")


def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than there are processors: many tests wait for programs they start."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Keep modules and collected tests from the garbage collector, which runs often in the twin."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def study(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the STUDY of the test module to a file in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(request.module.STUDY, encoding="utf-8")
    return path
