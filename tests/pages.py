"""The pages as programs: the cells of a notebook, and blocks of code by language."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?P<options>(?::[^\n]*\n)*)(?P<code>.*?)^```", re.M | re.S
)

#: Pages with cells, by their names in docs/.
NOTEBOOKS = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if "{code-cell}" in path.read_text("utf-8")
)


def cells(page: str) -> list[str]:
    """Return the code of the cells of a page; what is for IPython alone is left out."""
    found = (match["code"] for match in _CELL.finditer((DOCS / page).read_text("utf-8")))
    return [code for code in found if not code.strip().startswith("%")]


def play(page: str, folder: Path) -> dict[str, Any]:
    """Run the cells of a page, with the examples in the working directory; return its names."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    for code in cells(page):
        exec(compile(code, f"docs/{page}", "exec"), names)
    return names
