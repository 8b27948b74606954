"""Columnar copies of finished runs, for reading the table of a large study quickly.

The index is authoritative: each row is committed there on its own, with a checksum. When very many
rows had to be read one by one, they are copied into a Parquet file, called a part, which is named
by the digest of its content. Each row of a part repeats the checksum of its original. A damaged
part is ignored, and so is a row whose original was deleted or has changed. Parts can therefore be
deleted at any time without loss.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.files.parquet import check_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from lightburst.foundation.counts import Metric
    from lightburst.study.runs import Key

#: Below this number of rows, reading from the index one by one takes at most a fifth of a second.
LEAST: Final = 4096
# Smallest number of rows with the same metrics for which a part is written.
_LEAST_ALIKE: Final = 256
# Columns that identify a row; no metric has such a name.
_SCENARIO, _SEED, _SUM = "run: scenario", "run: seed", "run: checksum"
_DIGEST_BYTES: Final = 16
_ENDING: Final = ".parquet"


def read(folder: Path, sums: Mapping[Key, bytes]) -> Iterator[tuple[list[Key], pd.DataFrame]]:
    """Read rows of runs from the parts in a folder.

    Parameters
    ----------
    folder : Path
        Folder of the parts; it may not exist.
    sums : mapping of (str, int) to bytes
        Checksums of the wanted rows, by run.

    Yields
    ------
    (list of (str, int), pandas.DataFrame)
        Keys of the runs, and their rows. Each run is yielded at most once; some may be missing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = dict(sums)
    for file in sorted(folder.glob(f"*{_ENDING}")):
        if (content := _sound(file)) is None or not _has_room(file):
            continue
        held = pa.BufferReader(content)
        names = pq.read_table(held, columns=[_SCENARIO, _SEED, _SUM], use_threads=False)
        runs = zip(*(names[name].to_pylist() for name in names.column_names), strict=True)
        keys, rows = [], []
        for row, (scenario, seed, sum_) in enumerate(runs):
            key = scenario, seed
            if left.get(key) == sum_:
                del left[key]
                keys.append(key)
                rows.append(row)
        if keys:
            table = pq.read_table(held, use_threads=False).drop_columns(names.column_names)
            kept = table if len(rows) == len(table) else table.take(rows)
            yield keys, kept.to_pandas(use_threads=False)


def write(folder: Path, rows: Iterable[tuple[Key, bytes, Mapping[str, Metric]]]) -> None:
    """Copy rows into parts; rows are skipped if a part is not worthwhile or the disk is full.

    Parameters
    ----------
    folder : Path
        Folder of the parts, created if necessary.
    rows : iterable of ((str, int), bytes, mapping)
        Key, checksum and metrics of each run.
    """
    alike: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        alike.setdefault(tuple(row[2]), []).append(row)
    for names, held in alike.items():
        # A column of mixed types would not survive the conversion to Parquet unchanged.
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
        values = [metrics[name] for _, _, metrics in rows]
        found = {type(value) for value in values if value is not None} or {float}
        if len(found) > 1 or not found <= kinds.keys():
            return None
        try:
            columns[name] = pa.array(values, kinds[found.pop()])
        except OverflowError:  # an integer exceeds 64 bits
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
    """Return whether memory suffices to read a part; a part too large is read from the index."""
    import pyarrow as pa

    try:
        check_file(file, "store")
    except (OSError, ValueError, pa.ArrowException):
        return False
    return True


def _sound(file: Path) -> bytes | None:
    """Return the content of a part; a damaged part is deleted, because the index has its rows."""
    try:
        content = file.read_bytes()
        if _digest(content) == file.stem:
            return content
        file.unlink()
    except OSError:  # removed by another process, or not readable or deletable
        pass
    return None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
