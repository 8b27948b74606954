"""Generated sections of docs/statistics.md, each between two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"


def replaced(text: str, name: str, writer: str, section: str) -> str:
    """Replace the section between its marks.

    Parameters
    ----------
    text : str
        Text of the page.
    name, writer : str
        Name of the section, and script that writes it.
    section : str
        Section in Markdown.

    Returns
    -------
    str
        The page with the new section.

    Raises
    ------
    ValueError
        If a mark is missing or repeated.
    """
    begin, end = f"<!-- {name}: begin; written by {writer} -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the page must have one {begin!r} and one {end!r}")
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{section}\n\n{end}{rest.split(end)[1]}"


def write_between(name: str, writer: str, section: str) -> None:
    """Insert a section into docs/statistics.md; parameters as in `replaced`."""
    PAGE.write_text(replaced(PAGE.read_text("utf-8"), name, writer, section), encoding="utf-8")
