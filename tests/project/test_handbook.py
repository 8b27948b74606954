"""The site has a page for each mechanism and paper, and the reference every public name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document

import lightburst as lb
from browser import needs_browser, opened
from handbook import docstrings, mechanisms, papers
from handbook.links import DOCS
from lightburst.papers import PAPERS

ALL = [(name, kind) for name, family in mechanisms.FAMILIES.items() for kind in family.kinds]


@pytest.mark.parametrize(("family", "kind"), ALL)
def test_each_mechanism_has_a_page_with_its_rule_and_source(family: str, kind: str) -> None:
    page = mechanisms.page(family, kind)
    assert page.exists(), f"{page.relative_to(DOCS.parent)} is missing: see one beside it"
    text = page.read_text("utf-8")
    assert text.startswith("# ")
    assert f"```{{mechanism}} {family} {kind}\n```" in text
    for heading in ("Rule", "Source"):
        said = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        assert len(said.split()) > 5, f"{page.name}: nothing under {heading}"
    assert re.search(r"\b(19|20)\d\d\b|textbooks", text.partition("## Source")[2])
    assert mechanisms.source(family, kind).exists()
    index = (DOCS / "mechanisms" / "index.md").read_text("utf-8")
    assert f"[`{kind}`]({page.name})" in index


def test_no_page_is_of_a_mechanism_that_is_gone() -> None:
    pages = {path for path in (DOCS / "mechanisms").glob("*.md") if path.name != "index.md"}
    assert pages == {mechanisms.page(*mechanism) for mechanism in ALL}


def test_what_the_code_knows_stands_on_the_page() -> None:
    found = mechanisms.about("congestion_control", "cubic")
    assert found.startswith("CUBIC (RFC 9438).")
    assert '`transport.congestion_control = "cubic"`' in found
    assert "| `beta` | `0.7` |" in found
    assert '`switching.contention = ["deflection"]`' in mechanisms.about("resolver", "deflection")


def test_each_paper_has_a_page() -> None:
    for name in PAPERS:
        text = (DOCS / "papers" / f"{name}.md").read_text("utf-8")
        assert f"```{{paper}} {name}\n```" in text
        assert f"(../reproduced.md#{name})" in text
        assert "statements of the paper" in papers.counts(name)
        assert papers.about(name).count(f"lightburst reproduce {name}/") == len(PAPERS[name].parts)
    with pytest.raises(ValueError, match="no counts of nobody2000"):
        papers.counts("nobody2000")


def test_every_public_name_is_in_the_reference() -> None:
    page = (DOCS / "api.md").read_text("utf-8")
    missing = [
        name
        for name in lb.__all__
        if name != "__version__"
        and not re.search(rf"^\.\. auto\w+:: lightburst\.{name}\b", page, re.M)
    ]
    assert missing == [], "docs/api.md has a line for each name of lightburst.__all__"


def test_references_of_a_docstring_are_a_list() -> None:
    given = ["Erlang [1]_.", "", "References", "----------", ".. [1] A. K. Erlang", "   1917."]
    assert docstrings.plain(given) == [
        "Erlang [1].", "", "References", "----------", "-  [1] A. K. Erlang", "   1917.",
    ]  # fmt: skip


def test_attributes_that_are_named_together_are_one_field() -> None:
    given = ["A pair.", "", "Attributes", "----------", "first, second : str", "    Names.", "",
             "Notes", "-----", "a, b : as it stands"]  # fmt: skip
    found = docstrings.named(given)
    joined = found[4].removesuffix(" : str")
    assert len(joined.split()) == 1, "a field of one name, where a blank would end a type"
    assert "," not in joined
    assert [line for line in found if line not in given] == [found[4]]
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.strong("", joined))
    docstrings._on_page(None, page)  # type: ignore[arg-type]
    assert page.astext() == "first, second"


def test_attributes_without_a_type_are_one_field_too() -> None:
    given = ["A run.", "", "Attributes", "----------", "own, seed, plan", "    plain, words"]
    found = docstrings.named(given)
    assert found[4].replace(docstrings._COMMA, ", ") == given[4] != found[4]
    assert found[5] == given[5]


def test_the_page_of_each_paper_shows_its_figures() -> None:
    for name in PAPERS:
        shown = re.findall(r"^!\[.*\]\(\.\./images/(.*)\)$", papers.about(name), re.M)
        assert any(f"{name}-fig" in file or "throughput" in file for file in shown), name
        assert all((DOCS / "images" / file).is_file() for file in shown)
    assert "yu2004-fig5.png" in papers.about("yu2004")
    assert "-beyond-" not in papers.about("komatireddy2009")


def test_the_front_page_shows_figures() -> None:
    front, _, _ = (DOCS / "index.md").read_text("utf-8").partition("## Six questions")
    assert len(re.findall(r"^!\[.+\]\(images/.+\.png\)$", front, re.M)) >= 3


@needs_browser
def test_a_figure_scrolls_on_a_narrow_screen(tmp_path: Path) -> None:
    style = (DOCS / "_static" / "site.css").read_text("utf-8")
    picture = (DOCS / "images" / "yu2004-fig5.png").as_uri()
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><html><head><style>{style}</style></head><body><article>"
        f'<p><img src="{picture}"></p><div class="cell_output"><div class="output">'
        f'<img src="{picture}"></div></div></article></body></html>',
        encoding="utf-8",
    )
    widths = "return [...document.images].map((one) => one.getBoundingClientRect().width);"
    narrow = opened(page, tmp_path, widths)[400]
    assert narrow["done"] == [640, 640], "as wide as a page of a book, so that words are read"
    assert narrow["scroll"] <= 400, "and no wider than its own box"
