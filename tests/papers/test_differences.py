"""Why claims differ: each recorded claim that does has one class, and shows it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import alternatives
import differing
import readme
from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.differences import Class, Difference, classed, differences_of, read
from lightburst.papers.statements import records

ROOT = Path(__file__).resolve().parents[2]
ROWS = differing.recorded(ROOT / "docs/data/differs.csv")
PAGE = (ROOT / "docs/reproduced.md").read_text(encoding="utf-8")
ENTRY = {"claims": ["a", "b"], "class": "reading", "evidence": "the word has two meanings"}


def claim(id: str, verdict: Verdict = Verdict.DIFFERS, source: str = "paper") -> Claim:
    return Claim(id, "f", f"{id} is so", 1.0, 2.0, 1.9, 2.1, verdict, "above 3", "", source)


@pytest.mark.parametrize("name", PAPERS)
def test_the_claims_that_differ_and_no_other_have_a_class(name: str) -> None:
    ids = [
        id
        for reproduction, rows in ROWS.items()
        for id, _ in rows
        if reproduction.partition("/")[0] == name
    ]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(differences_of(PAPERS[name].package))


def test_the_record_is_that_of_the_page() -> None:
    """Each row of the page that differs, of the paper or of this project, is in the record."""
    shown: dict[str, list[str]] = {}
    for name, section in readme.sections(PAGE).items():
        own, statement = False, ""
        for line in section.splitlines():
            if line.startswith("Claims, source: "):
                source = line.removeprefix("Claims, source: ").rpartition(" (")[0]
                own = differing.classified(claim("x", source=source))
            cells = line.removeprefix("| ").split(" | ")
            if len(cells) < 6:
                continue
            reading = cells[0].startswith("– ")
            statement = statement if reading else cells[0]
            if own and cells[4] == "**differs**" and cells[5].startswith("Holds if"):
                text = f"{statement}: {cells[0][2:]}" if reading else statement
                shown.setdefault(name, []).append(text)
    assert shown == {name: [text for _, text in rows] for name, rows in ROWS.items()}
    assert sum(map(len, shown.values())) >= 65


def test_the_page_says_what_the_data_say() -> None:
    beside = alternatives.recorded(ROOT / "docs/data/alternatives.csv")
    assert readme.written(readme.sections(PAGE), ROWS, beside) == PAGE


def test_a_recorded_claim_without_a_class_is_named() -> None:
    with pytest.raises(ValueError, match="vlachos2008 has no class of new"):
        differing.reasons({"vlachos2008": [("mean-10.7", ""), ("new", "")]})


def test_a_claim_of_the_paper_or_beside_it_that_differs_is_recorded() -> None:
    sources = ("paper", "paper, section IV", "this project", "independent prototype")
    assert [differing.classified(claim("a", source=one)) for one in sources] == [
        True, True, True, False,
    ]  # fmt: skip


def test_only_a_claim_that_differs_shows_its_class() -> None:
    known = {"a": Difference(Class.FOUND, "with 2 it holds")}
    claims = [claim("a"), claim("b"), claim("a", Verdict.HOLDS)]
    found = records(classed(claims, known))
    assert [row["difference"] for row in found] == [
        {"class": "open and found", "evidence": "with 2 it holds"}, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([ENTRY, {**ENTRY, "claims": ["b"]}], "b has two classes"),
        ([{**ENTRY, "class": "bad luck"}], "bad luck"),
        ([{**ENTRY, "evidence": ""}], "needs claims, class and evidence"),
        ([{**ENTRY, "claims": "a"}], "must be a list"),
        ([{**ENTRY, "more": 1}], "needs claims, class and evidence"),
    ],
)
def test_a_bad_entry_is_refused(entries: list[dict[str, object]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read({"differs": entries})


def test_a_package_without_the_file_has_no_classes() -> None:
    assert differences_of("") == {}
    assert differences_of("lightburst.papers") == {}


@pytest.mark.parametrize("name", PAPERS)
def test_each_file_has_evidence_for_each_class(name: str) -> None:
    package = Path(ROOT, "python", *PAPERS[name].package.split("."), "classes.toml")
    entries = tomllib.loads(package.read_text(encoding="utf-8"))["differs"]
    assert all(entry["claims"] and len(entry["evidence"]) > 40 for entry in entries)
