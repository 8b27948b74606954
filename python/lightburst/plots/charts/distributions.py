"""Empirical distributions of samples, drawn as steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import prefixed, prefixed_along
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.plots.axis import is_geometric
from lightburst.result.labels import column_words, has_prefix, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

#: Maximum number of steps drawn; more could not be distinguished.
_MOST: Final = 2000
#: Samples that span at least this factor have a logarithmic axis.
_WIDE: Final = 30.0


def steps(samples: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the empirical distribution of samples.

    Parameters
    ----------
    samples : array_like of float
        NaN is ignored. An infinite sample, such as the completion time of an unfinished flow,
        counts in the total, but the steps do not reach it.

    Returns
    -------
    (ndarray, ndarray, int)
        The ascending values at which the share rises; the share of samples not above each value;
        and the number of samples. Beyond 2000 distinct values evenly spaced ones are kept, with
        their exact shares.
    """
    values = np.asarray(samples, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    found, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    share = np.cumsum(counts) / max(values.size, 1)
    if found.size > _MOST:
        kept = np.unique(np.linspace(0, found.size - 1, _MOST).round().astype(int))
        found, share = found[kept], share[kept]
    return found, share, int(values.size)


def figure_of(
    parts: Mapping[str, ArrayLike], column: str, *, complementary: bool = False, **words: Any
) -> Figure:
    """Make a figure of distributions.

    Parameters
    ----------
    parts : mapping of str to array_like
        Samples by legend entry.
    column : str
        Name of the quantity, with its unit: ``completion_time_s``.
    complementary : bool
        Show the share above each value, on a logarithmic axis, instead of the share not above it.
    **words
        Further fields of the figure.

    Returns
    -------
    Figure
        Figure drawn as steps.
    """
    found = {name: steps(samples) for name, samples in parts.items()}
    every = np.concatenate([values for values, _, _ in found.values()] or [np.empty(0)])
    logarithmic = words.pop("x_log", None)
    if logarithmic is None:
        wide = every.size > 0 and every.min() > 0 and every.max() / every.min() >= _WIDE
        logarithmic = bool(wide) or is_geometric(every)
    label = words.pop("x_label", None)
    unit, letter = 1.0, ""
    if label is None and every.size and has_prefix(column):
        unit, letter = (
            prefixed_along(float(every.min()), float(every.max()))
            if logarithmic
            else prefixed(float(np.abs(every).max()))
        )
    told = f" ({letter}{unit_of(column)})" if unit_of(column) else ""
    name = column_words(column)
    rows = [
        (part, "", x / unit, y, y, y, number)
        for part, (values, share, number) in found.items()
        for x, y in _stairs(values, share, complementary)
    ]
    return Figure(
        **{
            "id": "distribution",
            "title": "",
            "caption": "",
            "x_label": label or f"{name[:1].upper()}{name[1:]}{told}",
            "y_label": "Share that is larger" if complementary else "Share that is not larger",
            "colours": tuple(found),
            "dashes": ("",),
            "data": pd.DataFrame(rows, columns=list(COLUMNS)),
            "x_log": logarithmic,
            "y_log": complementary,
            "legends": ("", ""),
            "steps": "post",
            "intervals": "none",
            **words,
        }
    )


def _stairs(
    values: NDArray[np.float64], share: NDArray[np.float64], complementary: bool
) -> Iterator[tuple[float, float]]:
    """Return the corners of the steps; before the first sample the share not above x is 0."""
    places = np.concatenate([values[:1], values])
    heights = np.concatenate([[0.0], share])[: places.size]  # empty if there are no values
    if complementary:
        heights = 1 - heights
        # The last step would end at 0, which a logarithmic axis cannot show.
        heights, places = heights[heights > 1e-12], places[heights > 1e-12]
    return zip(places.tolist(), heights.tolist(), strict=True)


def samples_of(data: Any, column: str | None, hue: str | None) -> tuple[dict[str, Any], str]:
    """Return the samples in the data of a user by legend entry, and the name of the quantity."""
    table = getattr(data, "flows", data)
    if not isinstance(table, pd.DataFrame):
        parts = data if isinstance(data, dict) else {"": data}
        return {str(name): values for name, values in parts.items()}, column or "value"
    if "counted" in table:
        table = table[table["counted"]]
    known = [str(name) for name in table.columns]
    numbers = [name for name in known if pd.api.types.is_numeric_dtype(table[name])]
    if column not in numbers:
        given = "nothing" if column is None else show(column)
        near = did_you_mean(str(column), numbers)
        allowed = f"a column of numbers of the table{near}: {', '.join(numbers)}"
        raise InputError("column", given, allowed)
    if hue is None:
        return {"": table[column]}, str(column)
    if hue not in known:
        allowed = f"a column of the table{did_you_mean(hue, known)}: {', '.join(known)}"
        raise InputError("hue", show(hue), allowed)
    groups = table.groupby(hue, sort=pd.api.types.is_numeric_dtype(table[hue]), observed=True)
    return {str(name): part[column] for name, part in groups}, str(column)
