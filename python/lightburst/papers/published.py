"""Reader of numbers published elsewhere, stored as CSV files in the package of their paper."""

from __future__ import annotations

import csv
from importlib import resources
from typing import TypeVar, get_type_hints

from lightburst.study.statistics import Interval

P = TypeVar("P")


def printed(text: str) -> Interval:
    """Parse a printed number into its rounding interval: ``"1.1"`` spans 1.05 to 1.15."""
    value, rounding = float(text), 0.5 * 10.0 ** -len(text.partition(".")[2])
    return Interval(value, value - rounding, value + rounding, 0)


def rows_of(package: str, name: str) -> list[dict[str, str]]:
    """Read a CSV file of a package as one dict of strings per row; ``#`` starts a comment line."""
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def by_point(package: str, kind: type[P]) -> list[tuple[P, dict[str, str]]]:
    """Read ``prototype.csv`` of a package: each row with the point built from its columns."""
    types = get_type_hints(kind)
    return [
        (kind(**{name: types[name](row[name]) for name in types if name in row}), row)
        for row in rows_of(package, "prototype.csv")
    ]
