"""Docstrings for the site: references are numbered within each of them, not within a page."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_CITED = re.compile(r"\[(\d+)\]_")
_LISTED = re.compile(r"^(\s*)\.\. \[(\d+)\] ")


def plain(lines: list[str]) -> list[str]:
    """Return a docstring with its references as a list, without targets."""
    listed = (_LISTED.sub(r"\1-  [\2] ", line) for line in lines)
    return [_CITED.sub(r"[\1]", line) for line in listed]


def _on_docstring(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    lines[:] = plain(lines)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Let autodoc read docstrings through this, before napoleon does."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _on_docstring, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
