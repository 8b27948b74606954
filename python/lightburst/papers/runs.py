"""The runs of a paper's studies by their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

P = TypeVar("P", bound=tuple[Any, ...])


def by_point(
    table: pd.DataFrame, kind: type[P], columns: Sequence[str]
) -> Iterator[tuple[P, pd.DataFrame]]:
    """Sort runs by point.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each run: the labels of its point, ``seed`` and the metrics.
    kind : type
        A named tuple: what a point is. Its annotations are the types of its fields, which those of
        a file need not have.
    columns : sequence of str
        The labels, in the order of its fields.

    Yields
    ------
    tuple of point and DataFrame
        The runs of each point in the order of their seeds.
    """
    types = get_type_hints(kind).values()
    ordered = table.sort_values("seed", kind="stable")
    for key, rows in ordered.groupby(list(columns), sort=False):
        values = (make(value) for make, value in zip(types, key, strict=True))
        yield kind(*values), rows
