"""The statistics of an expression, computed by the rules of `lightburst.result.metrics`."""

import math
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.counts import Metric, quantiles

STATISTICS: Final = (*("mean", "median", "min", "max", "sum", "std", "variance", "count", "share"),)


def statistic(name: str, values: NDArray[Any]) -> Metric:
    """Compute a statistic of an array of values.

    Parameters
    ----------
    name : str
        A member of `STATISTICS` other than ``count`` and ``share``, or a percentile: ``p99``.
    values : ndarray of float or int, shape (n,)
        The values, without NaN; infinite values are allowed.

    Returns
    -------
    float, int or None
        An integer for the sum, minimum and maximum of an integer array. The variance is normalised
        by n, and is infinite if any value is infinite. None if the array is empty (its sum is 0),
        or if infinities of opposite sign cancel.
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
    """Return the probability of a median or percentile; None for any other statistic."""
    if name == "median":
        return 0.5
    if name in STATISTICS:
        return None
    # Decimal division yields the float nearest to 0.99 for p99, as in the metrics of a run.
    return float(Decimal(name[1:]) / 100)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
