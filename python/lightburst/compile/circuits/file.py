"""Matchings of circuit switches from a user's table."""

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError
from lightburst.foundation.files.csv import read_csv
from lightburst.scenario.reading.files import Stamp, stamp
from lightburst.scenario.switching.circuit import MOST_RACKS, Turns

_COLUMNS = ("switch", "slot", "rack", "to")
_MOST = (2**16 - 1, 2**16 - 1, MOST_RACKS - 1, MOST_RACKS - 1)


def read_matchings(file: Path, path: str) -> Turns:
    """Read the matchings of all circuit switches.

    Parameters
    ----------
    file : Path
        CSV with a heading and the columns ``switch``, ``slot``, ``rack`` and ``to``, all numbers
        from 0: in this slot of this circuit switch the circuit of the rack leads to another one.
        Rows are in any order; other columns are ignored.
    path : str
        Field with the name of the file, for errors.

    Returns
    -------
    tuple
        For each circuit switch its matchings, as `GivenSchedule` has them.

    Raises
    ------
    InputError
        If the table cannot be read, or if a row is missing or there twice.
    """
    return _read(file, stamp(file, path), path)


@lru_cache(maxsize=2)
def _read(file: Path, _version: Stamp, path: str) -> Turns:
    rows = _rows(file, path)
    switch, slot, rack, to = rows.T
    racks, switches = int(rack.max()) + 1, int(switch.max()) + 1
    slots = np.zeros(switches, np.int64)
    np.maximum.at(slots, switch, slot + 1)
    first = np.concatenate([[0], np.cumsum(slots)])
    peers = np.full(first[-1] * racks, -1)
    place = (first[switch] + slot) * racks + rack
    twice = np.flatnonzero(np.bincount(place, minlength=peers.size) > 1)
    if twice.size:
        row = np.flatnonzero(place == twice[0])[1] + 1
        raise InputError(path, f"row {row}, {_where(rows[row - 1])} again", "each rack once a slot")
    peers[place] = to
    missing = np.flatnonzero(peers < 0)
    if missing.size:
        number, at = divmod(int(missing[0]), racks)
        core = int(np.searchsorted(first, number, "right")) - 1
        given = f"no row of {_where(np.array([core, number - first[core], at]))}"
        raise InputError(path, given, "each rack once in each slot of each circuit switch")
    matchings = [tuple(one) for one in peers.reshape(-1, racks).tolist()]
    return tuple(tuple(matchings[a:b]) for a, b in pairwise(first.tolist()))


def _rows(file: Path, path: str) -> NDArray[np.int64]:
    """Return the four columns, shape (rows, 4)."""
    options = pa.csv.ConvertOptions(
        include_columns=_COLUMNS, column_types=dict.fromkeys(_COLUMNS, pa.int64())
    )
    try:
        table = read_csv(file, options)
    except (OSError, KeyError, pa.ArrowException) as error:
        reason = str(error).strip("'\" ").partition("\n")[0]
        allowed = f"a CSV file with whole numbers in the columns {', '.join(_COLUMNS)}"
        raise InputError(path, f"{file} ({reason})", allowed) from None
    columns = [table.column(name) for name in _COLUMNS]
    if not table.num_rows:
        raise InputError(path, f"{file}, which has no rows", "at least one row")
    for name, column, most in zip(_COLUMNS, columns, _MOST, strict=True):
        numbers = column.fill_null(-1).to_numpy()
        bad = np.flatnonzero((numbers < 0) | (numbers > most))
        if bad.size:
            given = f"row {bad[0] + 1}: {name} {column[int(bad[0])]}"
            raise InputError(path, given, f"a whole number from 0 to {most:,}")
    return np.stack([column.to_numpy() for column in columns], axis=1)


def _where(row: NDArray[np.int64]) -> str:
    return f"switch {row[0]}, slot {row[1]}, rack {row[2]}"
