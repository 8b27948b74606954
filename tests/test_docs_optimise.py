"""docs/optimise.md: its programs run, and its numbers are those of its studies."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from lightburst.cli import main
from lightburst.study.description import load_study

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "optimise.md").read_text("utf-8")
STUDIES = ROOT / "examples" / "studies"


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("agg")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with pytest.warns() as warned:
        exec("\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)), names)
    # Few runs, so the share of noise is large, and a best value may be at an end.
    said = [str(one.message) for one in warned]
    assert all("is noise" in text or "end of its range" in text for text in said)
    assert names["better"] == names["found"].scenario
    assert Path("optimum.png").is_file()
    assert Path("indices.png").is_file()


@pytest.mark.parametrize("place", [0, 1])
def test_its_studies_are_the_examples(place: int) -> None:
    name = ("assembly-time", "sensitivity")[place]
    text = (STUDIES / f"{name}.toml").read_text("utf-8").splitlines()
    shown = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)[place].splitlines()
    assert [line for line in shown if line not in text] == []
    assert load_study(STUDIES / f"{name}.toml").scenario.loss.probability == 0.005


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"), [("optimise", "assembly-time"), ("sensitivity", "sensitivity")]
)
def test_its_numbers_are_those_of_a_run(
    command: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    assert main([command, str(STUDIES / f"{name}.toml")]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()[:-1]]
    assert "\n".join(printed) in PAGE.replace("\n\n\n", "\n\n")
