"""Data of a sweep for its page: means and intervals per point and metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.swept.cube import columns_of
from lightburst.experiment.swept.theory import that_apply
from lightburst.foundation.formatting import as_given, prefixed, prefixed_along
from lightburst.foundation.support import BEYOND, is_support, notes, weak_in
from lightburst.plots.axis import is_geometric
from lightburst.result.labels import apart, column_words, has_prefix
from lightburst.result.metric_text import metric_words
from lightburst.study.design.points import SAMPLE
from lightburst.study.statistics.intervals import BCA, INTERVALS, SHARE, STUDENT, student
from lightburst.study.statistics.shares import is_share, shares_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightburst.experiment.swept.runs import SweptRuns
    from lightburst.models.theory import Theory

# Maximum number of means with intervals on a page, which limits its loading time.
_MOST_CELLS: Final = 250_000
_CONFIDENCE: Final = 0.95
_DIGITS: Final = 6
_POINT: Final = "place of the point"
# Metrics of the machine and of the simulator itself, which are not shown.
_NOT_SHOWN: Final = ("events", "wall_s")
_ENDS: Final = {
    "_bps": "b/s", "_bytes": "B", "_j": "J", "_s": "s", "_m": "m", "_per_s": "1/s",
    "_s_per_m": "s/m", "_j_per_bit": "J/b", "_bps2": "(b/s)²",
}  # fmt: skip


def points_of(sweep: SweptRuns) -> dict[str, Any]:
    """Average the runs at each point.

    Parameters
    ----------
    sweep : SweptRuns
        Sweep to average.

    Returns
    -------
    dict
        Data for the page's script: ``axes``, each with its ``name``, its display name (``words``),
        its ``unit``, its ``values`` as text and, if all are numeric, ``numbers`` in SI units,
        ``scales``, and whether they are geometric (``log``); ``places``, for each axis the index of
        each point's value, -1 if the axis does not vary there; ``metrics`` by name, each with
        ``words``, ``unit``, ``scales`` and columns ``n``, ``mean``, ``low`` and ``high`` (95 %;
        None if missing, ``"inf"`` for a mean with an infinite run), and, if theories predict the
        metric, ``theories``, each with ``words``, ``values`` and ``broken``, the violated
        assumptions per point. ``scales`` has, for a linear and for a logarithmic axis, the size of
        its unit in SI units and the unit's symbol; ``shown``, names of the metrics shown first;
        ``left_out``, the number of metrics omitted for lack of room; and ``sample``, whether the
        points are a sample instead of a grid.
    """
    runs = sweep.runs
    names = [name for name in sweep.design.columns if name != SAMPLE]
    every = sweep.design.columns
    by = [runs[name] for name in every] if every else np.zeros(len(runs))
    place = runs.groupby(by, sort=False, dropna=False).ngroup()
    points = runs[sweep.labels][~place.duplicated()].reset_index(drop=True)
    axes = [_axis(sweep, points, name) for name in names]
    called = [axis["words"] for axis, _ in axes]
    for axis, _ in axes:
        if called.count(axis["words"]) > 1:
            axis["words"] = f"{axis['words']} ({axis['name']})"
    usual = list(dict.fromkeys(sweep.table()["metric"])) if len(runs) else []
    chosen, left_out = _chosen(sweep, usual, len(points))
    metrics = _metrics(sweep, runs.assign(**{_POINT: place}), chosen)
    if sweep.study.interval == BCA:
        _draw_intervals(sweep, metrics, [name for name in usual if name in chosen])
    for name in usual if len(runs) else ():
        if name in metrics and (said := notes(weak_in(sweep.table(name, interval=STUDENT)))):
            metrics[name]["note"] = f"{said[0].removeprefix(BEYOND).strip().capitalize()}."
    for theory, rows in that_apply(sweep):
        if theory.metric in metrics and len(rows) == len(points):
            metrics[theory.metric].setdefault("theories", []).append(_theory(theory, rows))
    return {
        "axes": [axis for axis, _ in axes],
        "places": [places for _, places in axes],
        "metrics": metrics,
        "shown": [name for name in usual if name in chosen],
        "left_out": left_out,
        "sample": sweep.design.sample is not None,
    }


def _axis(sweep: SweptRuns, points: pd.DataFrame, name: str) -> tuple[dict[str, Any], list[int]]:
    """Return an axis, and the index of each point's value on it."""
    own = next((axis for axis in sweep.design.axes if axis.name == name), None)
    columns = columns_of(own, points) if own is not None else [name]
    number = next((x for x in columns if x != name and x.startswith(f"{name}_")), name)
    codes, values = pd.factorize(points[name].astype(object), use_na_sentinel=True)
    varying = np.flatnonzero(codes >= 0)
    first = varying[np.unique(codes[varying], return_index=True)[1]]
    numbers = points[number].iloc[first]
    numeric = pd.api.types.is_numeric_dtype(numbers) and not pd.api.types.is_bool_dtype(numbers)
    order = np.argsort(numbers.to_numpy(), kind="stable") if numeric else np.arange(len(first))
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    axis = {
        "name": name,
        "words": _capital(column_words(number)),
        "log": numeric and is_geometric(numbers),
        "scales": _scales(number, numbers.to_numpy(dtype=float)) if numeric else None,
        "unit": _unit(number) if number != name else "",
        "values": [as_given(values[at]) for at in order],
        "numbers": _column(numbers.to_numpy(dtype=float)[order]) if numeric else None,
    }
    return axis, rank[codes].tolist()


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _scales(name: str, values: NDArray[np.float64]) -> list[tuple[float, str]]:
    """Choose the units of a linear and of a logarithmic axis that keep its numbers short."""
    unit = _unit(apart(name)[0])
    there = np.abs(values[np.isfinite(values)])
    if not has_prefix(name) or not there.any():
        return [(1.0, unit)] * 2
    positive = there[there > 0]
    found = prefixed(float(there.max())), prefixed_along(float(positive.min()), float(there.max()))
    return [(size, f"{prefix}{unit}") for size, prefix in found]


def _unit(name: str) -> str:
    ends = [end for end in _ENDS if name.endswith(end)]
    return _ENDS[max(ends, key=len)] if ends else ""


def _chosen(sweep: SweptRuns, first: Sequence[str], points: int) -> tuple[list[str], int]:
    """Choose the metrics that fit the page: those of `first`, then others."""
    found = [
        name
        for name in dict.fromkeys((*first, *sweep.metrics))
        if name in first
        or not (name in _NOT_SHOWN or is_support(name) or sweep.runs[name].isna().all())
    ]
    # Metrics of groups and size classes come last.
    found.sort(key=lambda name: (name not in first, "[" in name))
    most = max(len(first), _MOST_CELLS // max(points, 1), 1)
    return found[:most], len(found[most:])


def _metrics(
    sweep: SweptRuns, runs: pd.DataFrame, names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    numbers = runs[list(names)].astype(float)
    grouped = numbers.groupby(runs[_POINT].to_numpy(), sort=True)
    # An infinite run makes the mean infinite and the interval undefined.
    with np.errstate(invalid="ignore"):
        n, mean, spread = grouped.count(), grouped.mean(), grouped.std()
    infinite = (numbers == np.inf).groupby(runs[_POINT].to_numpy(), sort=True).any()
    found = {}
    for name in names:
        count = n[name].to_numpy()
        half = spread[name].to_numpy() * student(np.maximum(count, 1), _CONFIDENCE)
        middle = np.where(infinite[name], np.inf, mean[name])
        low, high = middle - half, middle + half
        if is_share(runs, name):
            low, high = shares_of(runs, name, runs[_POINT], _CONFIDENCE)
        found[name] = {
            "words": metric_words(sweep.study.metrics, name),
            "scales": _scales(_keyed(name, sweep.key(name)), middle),
            "unit": _unit(apart(sweep.key(name))[0]),
            "interval": INTERVALS[SHARE if is_share(runs, name) else STUDENT],
            "n": count.tolist(),
            "mean": _column(middle),
            "low": _column(np.where(infinite[name], np.nan, low)),
            "high": _column(np.where(infinite[name], np.nan, high)),
        }
    return found


def _keyed(name: str, key: str) -> str:
    """Return a name that ends in the unit; for a user-defined metric it derives from its key."""
    return name if name == key else f"value{key}"


def _draw_intervals(
    sweep: SweptRuns, metrics: dict[str, dict[str, Any]], names: Sequence[str]
) -> None:
    """Replace the intervals of the given metrics by bootstrap ones, which are slow to compute."""
    means = sweep.table(names)
    for name in names:
        own, rows = metrics[name], means[means["metric"] == name]
        there = [place for place, count in enumerate(own["n"]) if count]
        for end, column in (("low", "ci_low"), ("high", "ci_high")):
            for place, value in zip(there, _column(rows[column].to_numpy()), strict=True):
                own[end][place] = value
        own["interval"] = INTERVALS[BCA]


def _theory(theory: Theory, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the predictions of a theory, and its violated assumptions as text, per point."""
    return {
        "words": theory.words,
        "values": _column(rows["theory"].to_numpy(np.float64)),
        "broken": [
            [theory.assumptions.get(name, name) for name in text.split(", ") if name]
            for text in rows["broken"]
        ],
    }


def _column(values: NDArray[np.float64]) -> list[float | str | None]:
    return [_short(value) for value in values.tolist()]


def _short(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else "inf"
