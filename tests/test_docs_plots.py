"""The page on plots: its code runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lightburst.papers.figure import Figure
from lightburst.plots.layout import Picture

ROOT = Path(__file__).resolve().parent.parent


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/plots.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 4
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    assert {file.name for file in tmp_path.glob("*.*")} >= {
        "throughput.svg",
        "bound.pdf",
        "both.png",
    }
    svg = (tmp_path / "throughput.svg").read_text("utf-8")
    for words in ("Throughput (Gb/s)", "Buffer ports", "Three seeds"):
        assert words in svg
    for name in ("figure", "bound", "tails", "by_name"):
        assert isinstance(names[name], Picture)
    assert not isinstance(names["figure"], Figure)
