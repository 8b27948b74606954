"""A reproduction with sequential stopping, tables and traces: run, saved, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from lightburst.cli import main
from lightburst.experiment.reproduce import load, reproduce
from lightburst.papers import PAPERS
from lightburst.report import page
from traced_paper import TRACED


@pytest.fixture(autouse=True)
def traced_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PAPERS, "traced2000", TRACED)
    yield


def test_a_block_stops_where_its_rule_says() -> None:
    found = reproduce("traced2000", progress=False)
    assert list(found.runs["ports"]) == [0, 0, 0, 1, 1, 1]
    assert list(found.runs["seed"]) == [1, 2, 3, 1, 2, 3]
    assert "switching.buffer_ports" not in found.runs
    assert "place" not in found.runs
    assert found.provenance["seeds"] == "1 to 3"


def test_tables_and_traces_are_saved_and_read_back(tmp_path: Path) -> None:
    found = reproduce("traced2000", progress=False)
    page = found.save(tmp_path / "out")
    again = load(tmp_path / "out")
    pd.testing.assert_frame_equal(again.traces["trace_dots"], found.traces["trace_dots"])
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "means.csv"), found.tables[0].data, check_exact=False
    )
    assert [claim.id for claim in again.claims] == ["dots"]
    assert [figure.id for figure in again.figures] == ["dots"]
    text = page.read_text(encoding="utf-8")
    assert "Means &lt;by&gt; ports" in text
    assert "The first 1 of 2 rows." in text
    # A directory of lightburst may be replaced; another directory must not be lost.
    found.save(tmp_path / "out")
    (tmp_path / "out" / "mine.csv").write_text("x")
    assert main(["reproduce", "traced2000", "--out", str(tmp_path / "out")]) == 2


def test_without_traces_there_are_none() -> None:
    plain = replace(TRACED, traced=None)
    PAPERS["traced2000"] = plain
    assert reproduce("traced2000", progress=False).traces == {}


def test_the_command_prints_tables_and_names_their_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "traced2000", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "Means <by> ports" in text
    assert "means.csv" in text
    assert "(1 holds, 0 differs, 0 not" in text
    assert main(["reproduce", "traced2000", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "dots"


def test_a_whole_number_has_no_exponent_in_a_table() -> None:
    frame = pd.DataFrame({"rate": [125000.0, 0.0123456, 2e6, float("nan")], "kind": list("abcd")})
    assert [row[0] for row in page.cells(frame)] == ["125000", "0.01235", "2e+06", "nan"]
