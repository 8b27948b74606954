"""Metrics of finished runs, stored as rows or columns, combined into one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.study.execution.own import columns_of, has_all, row_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightburst.expressions import Expression
    from lightburst.foundation.counts import Metric
    from lightburst.study.runs import Key


class Rows:
    """Rows of runs by key.

    Parameters
    ----------
    single : mapping of (str, int) to mapping
        Rows stored individually, by key.
    parts : sequence of (sequence of (str, int), pandas.DataFrame)
        Rows stored as columns, with the keys of the runs.
    """

    def __init__(
        self,
        single: Mapping[Key, Mapping[str, Metric]],
        parts: Sequence[tuple[Sequence[Key], pd.DataFrame]] = (),
    ) -> None:
        self._single, self._parts = dict(single), parts
        self._where = {
            key: (part, row) for part, (keys, _) in enumerate(parts) for row, key in enumerate(keys)
        }

    def __contains__(self, key: Key) -> bool:
        return key in self._single or key in self._where

    def __len__(self) -> int:
        return len(self._single.keys() | self._where.keys())

    def put(self, key: Key, row: Mapping[str, Metric]) -> None:
        """Add the row of a run, replacing an earlier one."""
        self._single[key] = row

    def with_metrics(self, metrics: Mapping[str, Expression]) -> Rows:
        """Return the rows that have all user-defined metrics, renamed to the users' names.

        Raises
        ------
        InputError
            If a metric has the name of a built-in metric.
        """
        own = tuple(metrics.values())
        single = {
            key: row_of(row, metrics) for key, row in self._single.items() if has_all(row, own)
        }
        parts = [
            (keys, columns_of(frame, metrics))
            for keys, frame in self._parts
            if has_all(frame.columns, own)
        ]
        return Rows(single, parts)

    def table(self, keys: Sequence[Key]) -> pd.DataFrame:
        """Return a table with a row per key; keys may be repeated.

        Columns and their types are the same as if all rows were stored individually; columns are
        ordered by first occurrence. A metric that no run has a value for is a column of NaN.
        """
        single: list[int] = []
        held: list[tuple[list[int], list[int]]] = [([], []) for _ in self._parts]
        for place, key in enumerate(keys):
            if key in self._single:
                single.append(place)
            else:
                part, row = self._where[key]
                held[part][0].append(place)
                held[part][1].append(row)
        pieces, order = [], []
        for (places, rows), (_, frame) in zip(held, self._parts, strict=True):
            if places:
                pieces.append(_rows(frame, rows).set_axis(places))
                order.append((places[0], list(frame.columns)))
        if single:
            rows_ = [self._single[keys[place]] for place in single]
            pieces.append(_numbers(pd.DataFrame(rows_, index=single)))
            first: dict[tuple[str, ...], int] = {}
            for place, row_ in zip(single, rows_, strict=True):
                first.setdefault(tuple(row_), place)
            order += [(place, list(names)) for names, place in first.items()]
        if not pieces:
            return pd.DataFrame()
        names = dict.fromkeys(name for _, part_ in sorted(order) for name in part_)
        whole = pieces[0] if len(pieces) == 1 else pd.concat(pieces).sort_index()
        return whole.reindex(columns=list(names)).reset_index(drop=True)


def _rows(frame: pd.DataFrame, rows: list[int]) -> pd.DataFrame:
    return frame if rows == list(range(len(frame))) else frame.take(rows)


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Convert columns without any value from None to float NaN."""
    empty: list[Any] = [name for name in table.columns if table[name].isna().all()]
    return table.astype(dict.fromkeys(empty, "float64"))
