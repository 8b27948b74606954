"""What comes before all tests, and what several files of them need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import checked_core  # noqa: F401 - before the package

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def study(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the study file that the tests' own file calls STUDY, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(request.module.STUDY, encoding="utf-8")
    return path
