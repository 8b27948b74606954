"""Metrics of the user's own beside the kept figures of a run.

A run is kept under its scenario and seed, whatever is asked of it. The value of an expression
stands in its row under the text of the expression, so that two studies that give it different names
share it, and a name that stands for another expression later does not find the old value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.expressions import beside
from lightburst.support import COUNT, NEEDED, OF

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    import pandas as pd

    from lightburst.counts import Metric
    from lightburst.expressions import Expression
    from lightburst.result import Result

_KEPT: Final = "metric: "


def is_own(key: str) -> bool:
    """Tell whether a key of a kept row is that of an expression."""
    return key.startswith(_KEPT)


def has_all(kept: Container[str], expressions: Iterable[Expression]) -> bool:
    """Tell whether a kept row has the values of all expressions that are wanted."""
    return all(key in kept for expression in expressions for key in _keys(expression))


def to_keep(result: Result, expressions: Iterable[Expression]) -> dict[str, Metric]:
    """Give the row that is kept of a run: its figures, and the value of each expression."""
    values = {
        f"{_key(expression)}{ending}": value
        for expression in expressions
        for ending, value in result.measured(expression).items()
    }
    return {**result.record, **values}


def row_of(kept: Mapping[str, Metric], metrics: Mapping[str, Expression]) -> dict[str, Metric]:
    """Give the row of a run in the table of a study: its figures, and its metrics by name.

    Parameters
    ----------
    kept : mapping of str to Metric
        What is kept of the run, with values of these expressions and perhaps of others.
    metrics : mapping of str to Expression
        Of the study.

    Returns
    -------
    dict of str to Metric
        Without those others.

    Raises
    ------
    InputError
        If a metric has the name of a figure.
    """
    figures = {key: value for key, value in kept.items() if not is_own(key)}
    return beside(figures, {name: kept[key] for name, key in _named(metrics, kept).items()})


def columns_of(frame: pd.DataFrame, metrics: Mapping[str, Expression]) -> pd.DataFrame:
    """Give rows that are columns already as `row_of` gives one.

    Parameters
    ----------
    frame : pandas.DataFrame
        What is kept of runs, with values of these expressions and perhaps of others.
    metrics : mapping of str to Expression
        Of the study.

    Returns
    -------
    pandas.DataFrame
        Without those others.

    Raises
    ------
    InputError
        If a metric has the name of a figure.
    """
    figures = [name for name in frame.columns if not is_own(name)]
    own = _named(metrics, set(frame.columns))
    names = beside(dict.fromkeys(figures), dict.fromkeys(own))
    found = frame[figures + list(own.values())]
    return found.set_axis(list(names), axis="columns")


def _key(expression: Expression) -> str:
    return f"{_KEPT}{expression}"


def _keys(expression: Expression) -> list[str]:
    """Give the keys of the value and of what it rests on, which all but a count have."""
    key = _key(expression)
    return [key] if expression.statistic == "count" else [key, f"{key}{OF}"]


def _named(metrics: Mapping[str, Expression], kept: Container[str]) -> dict[str, str]:
    """Give the kept key of each metric and of what it rests on, by their names in a table."""
    return {
        f"{name}{ending}": key
        for name, metric in metrics.items()
        for ending in ("", COUNT, OF, NEEDED)
        if (key := f"{_key(metric)}{ending}") in kept or not ending
    }
