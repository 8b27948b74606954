"""The statistics of an expression, by the rules of `lightburst.metrics`."""

import math
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.counts import Metric, quantiles

STATISTICS: Final = (*("mean", "median", "min", "max", "sum", "std", "variance", "count", "share"),)


def statistic(name: str, values: NDArray[Any]) -> Metric:
    """Reckon a statistic.

    Parameters
    ----------
    name : str
        One of `STATISTICS` but ``count`` and ``share``, or a percentile: ``p99``.
    values : ndarray of float or int, shape (n,)
        None is NaN; some may be infinite.

    Returns
    -------
    float, int or None
        A sum, the smallest and the largest of whole numbers are whole. The variance is divided by
        n, and infinite where a value is. None where there is no value, but for the sum, or where
        infinities cancel.
    """
    whole = values.dtype.kind in "iu"
    numbers = values.astype(np.float64)
    with np.errstate(all="ignore"):
        if name == "sum":
            return int(values.sum()) if whole else _defined(float(numbers.sum()))
        if values.size == 0:
            return None
        if name in ("min", "max"):
            end = values.min() if name == "min" else values.max()
            return int(end) if whole else float(end)
        if name in ("std", "variance"):
            variance = float(numbers.var()) if np.isfinite(numbers).all() else math.inf
            return math.sqrt(variance) if name == "std" else variance
        if name == "mean":
            return _defined(float(numbers.mean()))
        quantile = probability(name)
        assert quantile is not None
        return _defined(quantiles(numbers, quantile)[0])


def probability(name: str) -> float | None:
    """Give the probability of a quantile, the median or a percentile; None for anything else."""
    if name == "median":
        return 0.5
    if name in STATISTICS:
        return None
    # The nearest float to the decimal: p99 is 0.99, as in the figures of a run.
    return float(Decimal(name[1:]) / 100)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
