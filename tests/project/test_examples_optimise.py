"""The studies of docs/optimise.md are those of the examples; test_pages.py runs the page."""

import re
from pathlib import Path

import pytest

from lightburst.study.design.description import load_study

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "optimise.md").read_text("utf-8")
STUDIES = ROOT / "examples" / "studies"


@pytest.mark.parametrize("place", [0, 1])
def test_its_studies_are_the_examples(place: int) -> None:
    name = ("assembly-time", "sensitivity")[place]
    text = (STUDIES / f"{name}.toml").read_text("utf-8").splitlines()
    shown = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)[place].splitlines()
    assert [line for line in shown if line not in text] == []
    assert load_study(STUDIES / f"{name}.toml").scenario.loss.probability == 0.005
