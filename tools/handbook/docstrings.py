"""Docstrings on the site: numbered references, and attributes listed on one line."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_CITED = re.compile(r"\[(\d+)\]_")
_LISTED = re.compile(r"^(\s*)\.\. \[(\d+)\] ")
_TOGETHER = re.compile(r"^(\s*)(\w+(?:, \w+)+)( : .*)?$")
#: Replaces the comma between two names, at which Sphinx would split them: a word joiner.
_COMMA = "\u2060"


def named(lines: list[str]) -> list[str]:
    """Return a docstring with ``a, b : int`` as one field; Sphinx would make ``b`` a type of a."""
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
    """Return a docstring with its references as a plain list without link targets."""
    listed = (_LISTED.sub(r"\1-  [\2] ", line) for line in lines)
    return [_CITED.sub(r"[\1]", line) for line in listed]


def _on_docstring(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = named(plain(lines))


def _on_page(_app: Sphinx, page: nodes.document) -> None:
    """Restore the comma between two names."""
    for text in list(page.findall(nodes.Text)):
        if _COMMA in text:
            text.parent.replace(text, nodes.Text(text.replace(_COMMA, ", ")))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Process docstrings by autodoc before napoleon does."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _on_docstring, priority=100)
    app.connect("doctree-read", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
