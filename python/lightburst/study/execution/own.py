"""User-defined metrics in the stored row of a run.

A run is stored under its scenario and seed, independent of the metrics requested. The value of an
expression is stored under the canonical text of the expression: two studies that give it different
names share the value, and a name that is later used for another expression does not match the old
value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.expressions import beside
from lightburst.foundation.support import COUNT, NEEDED, OF

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    import pandas as pd

    from lightburst.expressions import Expression
    from lightburst.foundation.counts import Metric
    from lightburst.result.result import Result

_KEPT: Final = "metric: "


def is_own(key: str) -> bool:
    """Return whether a key of a stored row belongs to an expression."""
    return key.startswith(_KEPT)


def has_all(kept: Container[str], expressions: Iterable[Expression]) -> bool:
    """Return whether a stored row has the values of all given expressions."""
    return all(key in kept for expression in expressions for key in _keys(expression))


def to_keep(result: Result, expressions: Iterable[Expression]) -> dict[str, Metric]:
    """Return the row to store for a run: its metrics, and the value of each expression."""
    values = {
        f"{_key(expression)}{ending}": value
        for expression in expressions
        for ending, value in result.measured(expression).items()
    }
    return {**result.record, **values}


def row_of(kept: Mapping[str, Metric], metrics: Mapping[str, Expression]) -> dict[str, Metric]:
    """Return the row of a run in a study's table: built-in metrics, then user-defined ones.

    Parameters
    ----------
    kept : mapping of str to Metric
        Stored row of the run, with values of these expressions and possibly of others.
    metrics : mapping of str to Expression
        User-defined metrics of the study.

    Returns
    -------
    dict of str to Metric
        The row, without the values of other expressions.

    Raises
    ------
    InputError
        If a user-defined metric has the name of a built-in one.
    """
    builtin = {key: value for key, value in kept.items() if not is_own(key)}
    return beside(builtin, {name: kept[key] for name, key in _named(metrics, kept).items()})


def columns_of(frame: pd.DataFrame, metrics: Mapping[str, Expression]) -> pd.DataFrame:
    """Convert a table of stored rows as `row_of` converts a single row.

    Parameters
    ----------
    frame : pandas.DataFrame
        Stored rows of runs, with values of these expressions and possibly of others.
    metrics : mapping of str to Expression
        User-defined metrics of the study.

    Returns
    -------
    pandas.DataFrame
        The table, without the values of other expressions.

    Raises
    ------
    InputError
        If a user-defined metric has the name of a built-in one.
    """
    builtin = [name for name in frame.columns if not is_own(name)]
    own = _named(metrics, set(frame.columns))
    names = beside(dict.fromkeys(builtin), dict.fromkeys(own))
    found = frame[builtin + list(own.values())]
    return found.set_axis(list(names), axis="columns")


def _key(expression: Expression) -> str:
    return f"{_KEPT}{expression}"


def _keys(expression: Expression) -> list[str]:
    """Return the stored keys of an expression's value and, except for a count, its sample size."""
    key = _key(expression)
    return [key] if expression.statistic == "count" else [key, f"{key}{OF}"]


def _named(metrics: Mapping[str, Expression], kept: Container[str]) -> dict[str, str]:
    """Return the stored keys of each metric and of its sample sizes, by column name."""
    return {
        f"{name}{ending}": key
        for name, metric in metrics.items()
        for ending in ("", COUNT, OF, NEEDED)
        if (key := f"{_key(metric)}{ending}") in kept or not ending
    }
