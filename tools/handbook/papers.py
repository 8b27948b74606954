"""Directive ``{paper} NAME``: facts about a paper from the code and from the last full run."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

import keys
from handbook.links import DOCS, ROOT
from lightburst.papers import PAPERS

README = ROOT / "README.md"


def counts(name: str) -> str:
    """Return the counts of a paper's claims from README.md.

    Raises
    ------
    ValueError
        If README.md has no line about the paper.
    """
    line = re.search(
        rf"^- `lightburst reproduce {name}`: (.*)$", README.read_text(encoding="utf-8"), re.M
    )
    if line is None:
        raise ValueError(f"README.md has no counts of {name}")
    return line[1]


def figures(name: str) -> list[str]:
    """List the pictures of a paper in docs/reproduced.md, except those beyond the paper."""
    text = (DOCS / "reproduced.md").read_text(encoding="utf-8")
    return re.findall(rf"^!\[[^\]]*\]\(images/({name}-(?!beyond-)[^)]+)\)$", text, re.M)


def about(name: str) -> str:
    """Write citation, parts, counts and pictures as Markdown."""
    paper = PAPERS[name]
    rows = [
        (f"`lightburst reproduce {name}/{word}`", part.shows) for word, part in paper.parts.items()
    ]
    lines = [paper.citation, "", f"Reproduced in full: {counts(name)}", ""]
    shown = [f"![{Path(file).stem}](../images/{file})\n" for file in figures(name)]
    return "\n".join([*lines, *keys.table(["Command", "What it shows"], rows), "", *shown])


class Paper(SphinxDirective):
    """Insert the facts about a paper, and its scenario."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed facts, and the scenario."""
        name = self.arguments[0]
        if name not in PAPERS:
            raise self.error(f"no paper {name!r}")
        path = ROOT / "python" / "lightburst" / "papers" / name / "scenario.toml"
        for file in (README, path, DOCS / "reproduced.md"):
            self.env.note_dependency(str(file))
        text = path.read_text(encoding="utf-8")
        block = nodes.literal_block(text, text)
        block["language"] = "toml"
        said = "The scenario, with what the paper leaves open and what stands in its place:"
        return [*self.parse_text_to_nodes(about(name)), nodes.paragraph("", said), block]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("paper", Paper)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
