"""Links of the pages lead somewhere, and the README's claims are those of the page with all."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pandas as pd
import pytest

import alternatives
import calibrated
import differing
import readme
from lightburst.papers.claims import Claim, Verdict, counted
from lightburst.papers.figure import Listing

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    # Links in pages and diffs that a page quotes are relative to other files.
    others = re.compile(r"^````\w.*?^````$|^```diff\n.*?^```$", re.M | re.S)
    text = others.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if ":" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


CLAIM = Claim(
    id="gain",
    figure="fig2a",
    statement="hybrid | bufferless",
    published=1.5,
    measured=1.82345,
    ci_low=1.6,
    ci_high=None,
    verdict=Verdict.DIFFERS,
    criterion="the interval is above 1.5",
    note="At low load it is not.",
)


def test_the_table_of_claims() -> None:
    heading, rule, row = readme.claim_table([CLAIM])
    assert heading.count("|") == rule.count("|") == row.replace("\\|", "").count("|")
    assert "| published |" in heading
    other = readme.claim_table([dataclasses.replace(CLAIM, source="independent prototype")])[0]
    assert "| reference |" in other
    assert row == (
        "| hybrid \\| bufferless | 1.5 | 1.82 | 1.6 to – | **differs** "
        "| Holds if the interval is above 1.5. At low load it is not. |"
    )
    assert counted([CLAIM, CLAIM]) == "0 holds, 2 differs, 0 not comparable"


def test_the_readme_shows_the_criterion() -> None:
    heading, rule = readme.HEADING
    (row,) = readme.readme_rows([("minakhmetov2018", CLAIM)])
    assert heading.count("|") == rule.count("|") == row.replace("\\|", "").count("|")
    assert row == (
        "| minakhmetov2018 | hybrid \\| bufferless | the interval is above 1.5 "
        "| 1.5 | 1.82 | 1.6 to – | **differs** |"
    )


def rows(page: str, columns: int) -> list[list[str]]:
    """Return the rows of the tables of a page with this number of columns."""
    lines = (line for line in page.splitlines() if line.startswith("| "))
    cells = (line[2:-2].split(" | ") for line in lines)
    return [row for row in cells if len(row) == columns]


def test_the_readme_s_claims_are_those_of_the_page() -> None:
    page = (ROOT / "docs/reproduced.md").read_text("utf-8")
    section = (ROOT / "README.md").read_text("utf-8").split(readme.BEGIN)[1].split(readme.END)[0]
    claims: dict[str, list[str]] = {}
    statement = ""
    for said, *cells in rows(page, 6):
        reading = said.removeprefix("– ")
        statement = statement if said != reading else said
        words = f"{statement}: {reading}" if said != reading else said
        claims.setdefault(words, [words, *cells])  # the paper's own are first
    shown = [row for row in rows(section, 7) if row[0] in readme.SHOWN]
    assert len(shown) == sum(map(len, readme.SHOWN.values()))
    for _paper, statement, criterion, *found in shown:
        assert claims[statement][1:5] == found
        assert claims[statement][5].startswith(f"Holds if {criterion}.")
    for line in (line for line in section.splitlines() if line.startswith("- ")):
        assert line.removeprefix("- ") in page.splitlines()


def test_what_is_not_run_again_stays_as_it_was() -> None:
    page = (ROOT / "docs/reproduced.md").read_text("utf-8")
    said = readme.sections(page)
    assert list(said) == readme.names()
    rows = differing.recorded(ROOT / "docs/data/differs.csv")
    beside = alternatives.recorded(ROOT / "docs/data/alternatives.csv")
    assert readme.written(said, rows, beside) == page
    whole = (ROOT / "README.md").read_text("utf-8")
    of_papers = readme.lines_of(whole)
    assert {paper: len(rows) for paper, (_, rows) in of_papers.items()} == {
        paper: len(shown) for paper, shown in readme.SHOWN.items()
    }
    assert readme.replaced(whole, readme.readme_section(of_papers)) == whole


def test_a_long_table_is_cut_and_kept_whole_in_a_file() -> None:
    long = Listing("search", "Settings", "All.", pd.DataFrame({"b": [1, 2, 3]}), shown=2)
    lines = readme.listing_table(long, "data/x-search.csv")
    assert lines[-1] == "The first 2 of 3 rows; [all of them](data/x-search.csv)."
    assert "| 3 |" not in lines
    assert "| 3 |" in readme.listing_table(dataclasses.replace(long, shown=3), "data/x.csv")


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    text = f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n"
    once = readme.replaced(text, "new")
    assert once == f"before\n{readme.BEGIN}\n\nnew\n\n{readme.END}\nafter\n"
    assert readme.replaced(once, "new") == once
    with pytest.raises(ValueError, match="must have one"):
        readme.replaced("no marks", "new")
    assert readme.replaced((ROOT / "README.md").read_text("utf-8"), "x") != ""


def test_the_page_shows_the_recorded_calibrations() -> None:
    page, rows = calibrated.PAGE.read_text(encoding="utf-8"), calibrated.recorded()
    assert calibrated.replaced(page, rows) == page
    assert calibrated.replaced(page, rows[:1]) != page
    other = page.replace("| yu2004 | 320 |", "| yu2004 | 321 |")
    assert other != page
    assert calibrated.replaced(other, rows) == page
    with pytest.raises(ValueError, match="make reproduced writes the page"):
        calibrated.replaced("# Another page\n", rows)
