"""The parts of docs/statistics.md that studies write, each between two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"


def replaced(text: str, name: str, writer: str, section: str) -> str:
    """Put a section between its marks.

    Parameters
    ----------
    text : str
        The page.
    name, writer : str
        What the section is called, and the script that writes it.
    section : str
        In Markdown.

    Returns
    -------
    str
        The page with the section in place of what stood there.

    Raises
    ------
    ValueError
        If the marks are not there, once each.
    """
    begin, end = f"<!-- {name}: begin; written by {writer} -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the page must have one {begin!r} and one {end!r}")
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{section}\n\n{end}{rest.split(end)[1]}"


def write_between(name: str, writer: str, section: str) -> None:
    """Put a section into docs/statistics.md; the parameters are those of `replaced`."""
    PAGE.write_text(replaced(PAGE.read_text("utf-8"), name, writer, section), encoding="utf-8")
