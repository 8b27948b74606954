"""The site of documentation is built without a warning, and its pages lead to each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handbook.links import DOCS, ROOT, relinked, section, slug, written


def built(folder: Path, *options: str) -> Path:
    """Build the site in `folder`; a warning is an error."""
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*sphinx, *options, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_pages_make_a_site(tmp_path: Path) -> None:
    # Cells that have not run name no language, of which there is a warning.
    quiet = "suppress_warnings=config.cache,ref.python,myst-nb.lexer"
    site = built(tmp_path, "-D", "nb_execution_mode=off", "-D", quiet)
    # The text of another file is on its page, with working links.
    contributing = (site / "contributing.html").read_text("utf-8")
    assert "Worked example: a new switch" in contributing
    assert 'href="architecture.html"' in contributing
    # Files of the repository that the pages link to are copied.
    assert list((site / "_downloads").rglob("yu2004-search.csv"))
    # No page loads a resource from another site.
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert 'src="http' not in text, page
        assert '<link rel="stylesheet" type="text/css" href="http' not in text, page


@pytest.mark.slow
def test_the_site_with_its_notebooks(tmp_path: Path) -> None:
    built(tmp_path)


PAGE = "# A\n\ntext\n\n## The switch\n\n### Why\n\n```\n## no heading\n```\n\n## Next\n"


def test_a_section_becomes_a_page() -> None:
    found = section(PAGE, "the-switch")
    assert found == "# The switch\n\n## Why\n\n```\n## no heading\n```\n\n"
    with pytest.raises(ValueError, match="no heading"):
        section(PAGE, "no-heading")
    assert slug("A rule for `multi-queue`, and more") == "a-rule-for-multi-queue-and-more"


def test_links_are_those_of_the_page() -> None:
    readme, page = ROOT / "README.md", DOCS / "howto" / "new.md"
    text = (
        "[a](docs/model.md#flows) [b](examples) [c](CONTRIBUTING.md#a-paper) [d](LICENSE)"
        " [e](https://a.org) [f](#here) [g](studies/README.md) [h](crates)\n"
        "```\n[j](crates)\n```\n"
    )
    assert relinked(text, readme, page) == (
        "[a](../model.md#flows) [b](../examples.md) [c](../contributing.md#a-paper)"
        " [d](../../LICENSE) [e](https://a.org) [f](#here) g h\n"
        "```\n[j](crates)\n```\n"
    )


def test_a_text_stands_in_one_place() -> None:
    mark = "[there](../CONTRIBUTING.md)\n\n<!-- text: ../CONTRIBUTING.md#a-paper -->\n"
    found = written(mark, DOCS / "contributing.md")
    assert found.startswith("[there](contributing.md)\n\n# A paper\n")
    both = written(f"{mark}{mark.replace('a-paper', 'a-resolver-of-contention')}", DOCS / "a.md")
    assert both.startswith(found)
    assert both.removeprefix(found).startswith("\n# A resolver of contention\n")
