"""Docstrings for the site: references of their own, and attributes that are named together."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_CITED = re.compile(r"\[(\d+)\]_")
_LISTED = re.compile(r"^(\s*)\.\. \[(\d+)\] ")
_TOGETHER = re.compile(r"^(\s*)(\w+(?:, \w+)+)( : .*)?$")
#: Stands for the comma between two names, at which Sphinx would divide them: a word joiner.
_COMMA = "\u2060"


def named(lines: list[str]) -> list[str]:
    """Return a docstring whose attributes ``a, b : int`` are one field and not ``b`` of type a."""
    found, inside, margin = [], False, ""
    for place, line in enumerate(lines):
        below = lines[place + 1].strip() if place + 1 < len(lines) else ""
        if below and set(below) == {"-"}:
            inside = line.strip() == "Attributes"
            margin = line[: len(line) - len(line.lstrip())]
        match = _TOGETHER.match(line) if inside else None
        if match and match[1] == margin:  # what is further in is their text
            line = f"{margin}{match[2].replace(', ', _COMMA)}{match[3] or ''}"
        found.append(line)
    return found


def plain(lines: list[str]) -> list[str]:
    """Return a docstring with its references as a list, without targets."""
    listed = (_LISTED.sub(r"\1-  [\2] ", line) for line in lines)
    return [_CITED.sub(r"[\1]", line) for line in listed]


def _on_docstring(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = named(plain(lines))


def _on_page(_app: Sphinx, page: nodes.document) -> None:
    """Write the comma between two names as anywhere else."""
    for text in list(page.findall(nodes.Text)):
        if _COMMA in text:
            text.parent.replace(text, nodes.Text(text.replace(_COMMA, ", ")))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Let autodoc read docstrings through this, before napoleon does."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _on_docstring, priority=100)
    app.connect("doctree-read", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
