"""Numbers that are published elsewhere, kept as CSV files in the package of their paper."""

from __future__ import annotations

import csv
from importlib import resources


def printed(text: str) -> tuple[float, float]:
    """Read a number, and by how much it may have been rounded: ``"1.1"`` by 0.05."""
    return float(text), 0.5 * 10.0 ** -len(text.partition(".")[2])


def rows_of(package: str, name: str) -> list[dict[str, str]]:
    """Read a CSV file of a package: a dict for each row, all values as text."""
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
