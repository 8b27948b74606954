"""Conversion of the repository's Markdown pages to pages of the site: links, included texts.

In the repository a page links to files outside docs/, such as ``../CONTRIBUTING.md`` or
``../examples``. On the site the former is a page (`PAGES`), a file becomes a download, and a folder
has no address, so its name is shown without a link. So are other Markdown pages outside docs/.

A page whose text is in another file has one line in its place, followed by a link for readers of
the repository::

    <!-- text: ../../CONTRIBUTING.md#a-paper -->

On the site the section under that heading, or the whole file, replaces this line and the rest. If
there are several such lines, their texts follow one another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
ROOT = DOCS.parent

#: Files of the repository with a page on the site.
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
    "examples": "examples.md",
}

_TEXT = re.compile(r"^<!-- text: (?P<path>[^\s#]+)(#(?P<anchor>\S+))? -->$", re.M)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")
#: A heading, with the marks that are removed when its section becomes a page.
_RAISED = r"^#{%d}(#+ )"
_FENCE = re.compile(r"^(```+).*?^\1$", re.M | re.S)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as in the web view of a repository."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the text outside code blocks."""
    done, end = [], 0
    for fence in _FENCE.finditer(text):
        done += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*done, change(text[end:])])


def section(text: str, anchor: str) -> str:
    """Return the section of a page under a heading, which becomes the title.

    Raises
    ------
    ValueError
        If no heading has this anchor.
    """
    plain = _FENCE.sub(lambda fence: " " * len(fence[0]), text)
    headings = list(re.finditer(r"^(#+) (.*)$", plain, re.M))
    for index, heading in enumerate(headings):
        if slug(heading[2]) == anchor:
            level = len(heading[1])
            after = (h.start() for h in headings[index + 1 :] if len(h[1]) <= level)
            part = text[heading.start() : next(after, len(text))]
            return outside_code(part, partial(re.compile(_RAISED % (level - 1), re.M).sub, r"\1"))
    raise ValueError(f"no heading for #{anchor}")


def relinked(text: str, source: Path, page: Path) -> str:
    """Rewrite the links of a text from the file `source` for the page `page`."""

    def link(found: re.Match[str]) -> str:
        path, anchor = found["path"], found["anchor"] or ""
        if ":" in path or not path:
            return found[0]
        target = (source.parent / path).resolve()
        name = target.relative_to(ROOT).as_posix()
        if name in PAGES:
            target = DOCS / PAGES[name]
        elif target.is_dir() or (target.suffix == ".md" and DOCS not in target.parents):
            return found["text"]
        shown = Path(os.path.relpath(target, page.parent)).as_posix()
        return f"[{found['text']}]({shown}{anchor})"

    return outside_code(text, lambda prose: _LINK.sub(link, prose))


def written(text: str, page: Path) -> str:
    """Return the source text of a page in docs/ for Sphinx."""
    marks = list(_TEXT.finditer(text))
    if not marks:
        return relinked(text, page, page)
    head = relinked(text[: marks[0].start()], page, page)
    return head + "\n".join(_included(mark, page) for mark in marks)


def _included(mark: re.Match[str], page: Path) -> str:
    source = (page.parent / mark["path"]).resolve()
    text = source.read_text(encoding="utf-8")
    if mark["anchor"]:
        text = section(text, mark["anchor"])
    return relinked(text, source, page)


def _on_read(app: Sphinx, name: str, content: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    for mark in _TEXT.finditer(content[0]):
        app.env.note_dependency(str((page.parent / mark["path"]).resolve()))
    content[0] = written(content[0], page)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Process pages before Sphinx parses them."""
    app.connect("source-read", _on_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
