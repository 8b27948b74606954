"""Small tables in CSV files, whose cells are texts."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightburst.foundation.errors import InputError, first_of
from lightburst.scenario.reading.files import read_text

_READABLE = "a CSV file that can be read"


def read_rows(
    file: Path, path: str, required: Sequence[str], optional: Sequence[str]
) -> Iterator[tuple[str, Mapping[str | None, Any]]]:
    """Read the rows of a table.

    Parameters
    ----------
    file : Path
        CSV file with a heading.
    path : str
        Path of the field that names the file.
    required, optional : sequence of str
        Names of the columns, in any order.

    Yields
    ------
    where : str
        File and line of the row, for errors.
    row : mapping
        Cells by column, for `cells_of`.

    Raises
    ------
    InputError
        If the file cannot be read, or has other columns.
    """
    text = read_text(file, path, _READABLE).removeprefix("\ufeff")
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
        columns = rows.fieldnames or ()
        known = set(required) <= set(columns) <= {*required, *optional}
        if not known or len(set(columns)) < len(columns):
            given = f"{file} with the columns {first_of(columns) or '(none)'}"
            names = f"{', '.join(required)} and, if wanted, {', '.join(optional)}"
            raise InputError(path, given, f"{names}; each once")
        for row in rows:
            yield f"{file} line {rows.line_num}", row
    except csv.Error as error:
        raise InputError(path, f"{file} ({error})", _READABLE) from None


def cells_of(
    row: Mapping[str | None, Any], where: str, path: str, columns: Sequence[str]
) -> Iterator[str]:
    """Return the cells of a row in the given columns, without space around; empty if missing.

    Raises
    ------
    InputError
        If the row has more values than the heading.
    """
    if None in row:
        raise InputError(path, f"{where}: more values than columns", "one value for each column")
    return ((row.get(name) or "").strip() for name in columns)
