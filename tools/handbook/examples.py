"""Directive ``{examples}``: every file of examples/ in full, with its name as description."""

from __future__ import annotations

import tomllib

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from handbook.links import ROOT


class Examples(SphinxDirective):
    """Build a section for each example: the file name as title, the scenario's name, the text."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(path.name) for path in sorted((ROOT / "examples").glob("*.toml"))]

    def _section(self, name: str) -> nodes.section:
        path = ROOT / "examples" / name
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title("", name)
        section += nodes.paragraph("", tomllib.loads(text)["name"] + ".")
        block = nodes.literal_block(text, text)
        block["language"] = "toml"
        section += block
        return section


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("examples", Examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
