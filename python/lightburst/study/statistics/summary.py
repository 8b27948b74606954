"""Means of a metric at each point of a study, with their confidence intervals."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.study.statistics.bootstrap import bootstrap_interval
from lightburst.study.statistics.intervals import BCA, STUDENT, Interval, checked_interval, student
from lightburst.study.statistics.shares import is_share, shares_of


def summarise(
    runs: pd.DataFrame,
    by: Sequence[str],
    metric: str,
    confidence: float = 0.95,
    *,
    interval: str = STUDENT,
) -> pd.DataFrame:
    """Compute the mean and interval of a metric at each point of a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per run.
    by : sequence of str
        Columns that name a point.
    metric : str
        Column to average over the seeds; runs without a value are ignored.
    confidence : float
        Probability, between 0 and 1, that each interval covers its mean.
    interval : str
        ``"t"``, Student's, or ``"bca"``, by bootstrap (`bootstrap_interval`), for skewed metrics
        and many runs (docs/statistics.md explains the choice). A share whose counts are columns as
        well (``burst_loss_count``, ``burst_loss_of``) has the interval of `share_interval` instead
        of Student's, and instead of a bootstrap interval without width.

    Returns
    -------
    pandas.DataFrame
        One row per point, in the order of first appearance: the columns of `by`, then `n`, `mean`,
        `std`, `ci_low` and `ci_high` (NaN if n is 1, or a run and thus the mean is infinite).

    Raises
    ------
    InputError
        If `by` is not a list of columns, or `metric` not a numeric column.
    ValueError
        If `confidence` is not between 0 and 1.
    """
    known = [str(name) for name in runs.columns]
    if isinstance(by, str) or not isinstance(by, Iterable):
        example = by if isinstance(by, str) else "workload.load"
        raise InputError("by", show(by), f"a list of columns that name a point, as [{example!r}]")
    for name in by:
        if name not in known:
            raise InputError("by", show(name), f"columns of runs{did_you_mean(name, known)}")
    numbers = [name for name in known if pd.api.types.is_numeric_dtype(runs[name])]
    if not isinstance(metric, str) or metric not in numbers:
        allowed = "the name of one column of runs with numbers, as 'throughput_bps'"
        raise InputError("metric", show(metric), allowed + did_you_mean(metric, numbers))
    there = runs.dropna(subset=[metric])
    grouped = there.groupby(list(by), sort=False, dropna=False)[metric]
    table = grouped.agg(n="count", mean="mean", std="std").reset_index()
    ends = _given(there, metric, grouped, confidence, checked_interval(interval))
    if ends is not None:
        return table.assign(ci_low=ends[0], ci_high=ends[1])
    half = table["std"] * student(table["n"], confidence)
    return table.assign(ci_low=table["mean"] - half, ci_high=table["mean"] + half)


def _given(
    runs: pd.DataFrame, metric: str, grouped: Any, confidence: float, interval: str
) -> tuple[Any, Any] | None:
    """Return the ends of bootstrap or share intervals; None if Student's apply."""
    drawn: tuple[Any, Any] | None = None
    if interval == BCA:
        none = Interval(math.nan, math.nan, math.nan, 0)
        found = [
            bootstrap_interval(x, "mean", confidence) if np.isfinite(x).all() else none
            for x in (x.to_numpy(np.float64) for _, x in grouped)
        ]
        drawn = np.array([x.low for x in found]), np.array([x.high for x in found])
    if not is_share(runs, metric):
        return drawn
    exact = shares_of(runs, metric, grouped.ngroup(), confidence)
    if drawn is None:
        return exact
    # A bootstrap of runs with equal values gives no information on rare losses.
    wide = drawn[0] < drawn[1]
    return np.where(wide, drawn[0], exact[0]), np.where(wide, drawn[1], exact[1])
