"""Rows of finished runs as columns, from which the table of a large study is read at once.

What counts is in the index, where each row was committed by itself, with its checksum. When very
many rows had to be read one by one, they are copied into a Parquet file, a part. It is named by the
digest of its content, and each row in it has the checksum of the row that it was copied from: a
part that is damaged, and a row that is not there any more or has changed since, is passed over. So
parts can be deleted at any time, and nothing is lost with one.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from lightburst.parquet import check_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from lightburst.counts import Metric
    from lightburst.study.sweep import Key

#: Fewer rows are read one by one, which takes a fifth of a second.
LEAST: Final = 4096
# Of fewer with the same figures no part is made.
_LEAST_ALIKE: Final = 256
# Whose row it is; no figure is called so.
_SCENARIO, _SEED, _SUM = "run: scenario", "run: seed", "run: checksum"
_DIGEST_BYTES: Final = 16
_ENDING: Final = ".parquet"


def read(folder: Path, sums: Mapping[Key, bytes]) -> Iterator[tuple[list[Key], pd.DataFrame]]:
    """Read rows that are there as columns.

    Parameters
    ----------
    folder : Path
        Of the parts; it need not be there.
    sums : mapping of (str, int) to bytes
        The checksums of the rows that are wanted, by run.

    Yields
    ------
    (list of (str, int), pandas.DataFrame)
        Whose rows, and the rows. No run comes twice, and some may not come.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = dict(sums)
    for file in sorted(folder.glob(f"*{_ENDING}")):
        if (content := _sound(file)) is None or not _has_room(file):
            continue
        held = pa.BufferReader(content)
        names = pq.read_table(held, columns=[_SCENARIO, _SEED, _SUM])
        runs = zip(*(names[name].to_pylist() for name in names.column_names), strict=True)
        keys, rows = [], []
        for row, (scenario, seed, sum_) in enumerate(runs):
            key = scenario, seed
            if left.get(key) == sum_:
                del left[key]
                keys.append(key)
                rows.append(row)
        if keys:
            table = pq.read_table(held).drop_columns(names.column_names)
            yield keys, (table if len(rows) == len(table) else table.take(rows)).to_pandas()


def write(folder: Path, rows: Iterable[tuple[Key, bytes, Mapping[str, Metric]]]) -> None:
    """Copy rows into parts; some may stay out, and all do where the disk is full.

    Parameters
    ----------
    folder : Path
        Where to, made if it is not there.
    rows : iterable of ((str, int), bytes, mapping)
        Run, checksum and figures of each.
    """
    alike: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        alike.setdefault(tuple(row[2]), []).append(row)
    for names, held in alike.items():
        # With figures of several types a part would not give back what was put in.
        if len(held) < _LEAST_ALIKE or (table := _table(names, held)) is None:
            continue
        with suppress(OSError):
            _put(folder, table)


def _table(names: Sequence[str], rows: Sequence[Any]) -> pa.Table | None:
    import pyarrow as pa

    kinds = {float: pa.float64(), int: pa.int64(), str: pa.string()}
    columns = {
        _SCENARIO: pa.array([key[0] for key, _, _ in rows]).dictionary_encode(),
        _SEED: pa.array([key[1] for key, _, _ in rows], pa.uint64()),
        _SUM: pa.array([sum_ for _, sum_, _ in rows], pa.binary()),
    }
    for name in names:
        values = [figures[name] for _, _, figures in rows]
        found = {type(value) for value in values if value is not None} or {float}
        if len(found) > 1 or not found <= kinds.keys():
            return None
        try:
            columns[name] = pa.array(values, kinds[found.pop()])
        except OverflowError:  # it does not fit into 64 bits
            return None
    return pa.table(columns)


def _put(folder: Path, table: pa.Table) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = pa.BufferOutputStream()
    pq.write_table(table, held, compression="zstd")
    content = held.getvalue().to_pybytes()
    folder.mkdir(exist_ok=True)
    file = folder / f"{_digest(content)}{_ENDING}"
    fresh = file.with_suffix(f".{os.getpid()}.new")
    try:
        fresh.write_bytes(content)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _has_room(file: Path) -> bool:
    """Tell whether there is memory for a part; of one that nobody has it for the index has all."""
    import pyarrow as pa

    try:
        check_file(file, "store")
    except (OSError, ValueError, pa.ArrowException):
        return False
    return True


def _sound(file: Path) -> bytes | None:
    """Give the content of a part; a damaged one is removed, for the index has all of it."""
    try:
        content = file.read_bytes()
        if _digest(content) == file.stem:
            return content
        file.unlink()
    except OSError:  # another process has removed it, or nobody may
        pass
    return None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
