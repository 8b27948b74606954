"""A new user's tasks: the programs and command lines of the README and docs/questions.md run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = (ROOT / "docs" / "questions.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", QUESTIONS, re.M | re.S)
#: What is reproduced runs elsewhere: it takes minutes.
LINES = [
    line.partition("#")[0].strip()
    for line in re.findall(r"^lightburst .*", README + QUESTIONS, re.M)
    if not line.startswith("lightburst reproduce")
]


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each program the examples, and the README's scenario, where it looks for them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    found = re.search(r"^```toml\n(.*?)^```", README, re.M | re.S)
    assert found is not None
    (tmp_path / "scenario.toml").write_text(found[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def played(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(program, names)
    return names


def test_load_against_the_slowest_flows_over_three_kinds_of_switch() -> None:
    runs = played(PROGRAMS[0])["runs"]
    p99 = runs.pivot_table("slowdown_p99", "workload.load", "switching.kind", aggfunc="mean")
    assert p99.shape == (3, 3)
    # A buffer is worth something: bufferless switches lose, and lost segments wait for a timeout.
    assert (p99["all-optical"] > p99["hybrid"]).all()
    assert (p99["hybrid"] > p99["electronic"]).all()
    assert (p99 > 1).all(axis=None)


def test_incast_over_background() -> None:
    result = played(PROGRAMS[1])["result"]
    assert list(result.groups.index) == ["background", "query"]
    assert result.groups.loc["query", "flows"] == (result.flows["group"] == "query").sum()
    assert (result.groups["unfinished"] == 0).all()


def test_nsfnet_by_the_names_of_its_cities() -> None:
    names = played(PROGRAMS[2])
    result, links = names["result"], names["links"]
    assert set(links["utilisation"].between(0, 1)) == {True}
    cities = set(result.links["source"]) & {"WA", "CA1", "UT", "NJ"}
    assert cities == {"WA", "CA1", "UT", "NJ"}
    edge = result.network["CA1"]["UT"]
    row = result.links.query("source == 'CA1' and target == 'UT'").iloc[0]
    assert edge["utilisation"] == row["utilisation"] > 0
    # Light takes 5 us a km; 1,000 km from CA1 to UT.
    assert row["delay_s"] == pytest.approx(5e-3)


def test_why_the_worst_flow_was_slow(capsys: pytest.CaptureFixture[str]) -> None:
    played(PROGRAMS[3])
    printed = capsys.readouterr().out
    assert printed.startswith("Flow ")
    assert "Where the time went" in printed
    # What is printed is of the slowest flow, and the parts are all of its time.
    plain, found = lb.run("examples/groups.toml"), lb.explain("examples/groups.toml")
    assert printed == f"{found}\n"
    assert found.flow == plain.flows["slowdown"].idxmax()
    took = plain.columns["flows"]["received_ps"] - plain.plan.flows["start_ps"]
    assert len(found.parts) > 1
    assert found.parts["time_ps"].sum() == took[found.flow]


@pytest.mark.parametrize("line", LINES)
def test_the_command_lines_run(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, *arguments = shlex.split(line)
    assert main(arguments) == 0
    assert capsys.readouterr().out


def test_there_are_some_of_each() -> None:
    assert len(PROGRAMS) == 4
    assert len(LINES) >= 6
