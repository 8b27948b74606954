"""The command, the page and the tables of the documentation show the readings of a statement."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import readme
import traced_paper
from lightburst.cli import main
from lightburst.experiment.reproduce import reproduce
from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Verdict, Was
from lightburst.papers.paper import Paper, Part

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.NOT_COMPARABLE
HEADLINE = "2 statements of the paper in 3 readings: 1 holds, 1 differs, 0 cannot be decided"


def reading(name: str, verdict: Verdict) -> Claim:
    return Claim(
        f"fast-{name}", "f", f"It is fast ({name})", 5.0, 4.0, 3.9, 4.1, verdict, "above 3", "",
        statement_id="fast", statement_text="It is fast", reading=name,
    )  # fmt: skip


MOVED = Was(HOLDS, "above 0", "paper", "nobody said it")
CLAIMS = [
    Claim("added", "f", "It is faster", 5.0, 4.0, 3.9, 4.1, DIFFERS, "above 4", "",
          "this project", was=MOVED),
    reading("mean", DIFFERS), Claim("low", "f", "It is low", 1.0, 2.0, 1.9, 2.1, DIFFERS, "b", ""),
    reading("median", HOLDS),
]  # fmt: skip


def claims(runs: pd.DataFrame) -> list[Claim]:
    return CLAIMS


PAPER = Paper(
    "read2000", "A paper", "Nobody, 2000.", {"all": Part("everything", claims=claims)},
    traced_paper.blocks, lambda table: table,
)  # fmt: skip


@pytest.fixture(autouse=True)
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PAPERS, "read2000", PAPER)
    yield


def test_the_command_shows_readings_below_their_statement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "read2000", "--quick"]) == 0
    out = capsys.readouterr().out
    own, added = out.split("source: this project")
    lines = [line for line in own.splitlines() if re.search(" (fast|low)", line)][:4]
    assert [line.split()[:2] for line in lines] == [
        ["holds", "fast"], ["differs", "fast-mean"], ["holds", "fast-median"], ["differs", "low"],
    ]  # fmt: skip
    first, mean, median, low = (len(line) - len(line.lstrip()) for line in lines)
    assert first == low < mean == median, "readings are set off"
    assert "(1 holds, 1 differs, 0 not comparable)" in own
    assert "It is low: published 1, measured 2" in own
    assert "It is fast: holds under 1 of 2 readings (median)" in own
    assert "It is fast: mean" not in own, "holds under one reading"
    assert "What changed" in added and "Before: holds (source: paper" in " ".join(added.split())
    assert f"read2000: {HEADLINE}." in added


def test_what_differs_tells_all_readings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [reading("mean", DIFFERS), reading("median", DIFFERS)]
    monkeypatch.setitem(
        PAPERS, "read2000", replace(PAPER, parts={"all": Part("x", claims=lambda runs: both)})
    )
    assert main(["reproduce", "read2000", "--quick"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "It is fast: mean, published 5, measured 4; median, published 5, measured 4" in out


def test_the_page_and_the_tables_have_statements_and_readings() -> None:
    found = reproduce("read2000", quick=True, progress=False)
    assert found.headline == HEADLINE
    assert repr(found) == f"<Reproduction of read2000: {len(found.runs)} runs; {HEADLINE}>"
    page = found.save("out")
    text = page.read_text(encoding="utf-8")
    assert HEADLINE in text
    tiles = re.findall(r'<div class="tile"><b class="\w+">(\d+)</b>([^<]+)</div>', text)
    assert tiles == [("1", "holds"), ("1", "differs")], "of the paper's own statements"
    ids = re.findall(r'<tr id="([\w-]+)"(?: class="(\w+)")?>', text)
    assert ids == [
        ("statement-fast", ""), ("claim-fast-mean", "reading"), ("claim-fast-median", "reading"),
        ("claim-low", "claim"), ("claim-added", "claim"),
    ]  # fmt: skip
    assert "holds under 1 of 2 readings (median)" in text
    assert "Before: holds (source: paper; holds if above 0)" in text
    rows = json.loads((page.parent / "claims.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in rows] == [one.id for one in CLAIMS]
    assert rows == found.table().to_dict("records")
    assert {row["statement_verdict"] for row in rows if row["statement_id"] == "fast"} == {"holds"}
    assert rows[0]["was"] == {
        "verdict": "holds", "criterion": "above 0", "source": "paper", "reason": "nobody said it",
    }  # fmt: skip


def test_the_documentation_has_a_line_for_the_statement_and_one_for_each_reading() -> None:
    found = reproduce("read2000", quick=True, progress=False)
    section = readme.page_section(found, [])
    lines = section.splitlines()
    at = lines.index("| It is fast |  |  |  | holds | Holds under 1 of 2 readings (median). |")
    assert lines[at + 1].startswith("| – mean | 5 | 4 | 3.9 to 4.1 | **differs** | Holds if above")
    assert lines[at + 2].startswith("| – median | 5 | 4 |")
    assert lines[at + 3].startswith("| It is low | 1 | 2 |")
    assert "Claims, source: paper (1 holds, 1 differs, 0 not comparable)." in lines
    (added,) = (line for line in lines if "It is faster" in line)
    assert added.endswith("Changed, as nobody said it. |")
    assert readme.readme_counts(found).removeprefix("- ") in lines
    (shown,) = readme.readme_rows([("read2000", CLAIMS[3])])
    assert shown.startswith("| read2000 | It is fast: median | above 3 | 5 |")
