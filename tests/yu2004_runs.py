"""Synthetic runs of yu2004's points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lightburst.papers.runs import Runs, of_means
from lightburst.papers.yu2004.points import METRIC, Point


def made_up(
    samples: Mapping[Point, ArrayLike],
    simulated_s: float = 1e6,
    totals: Mapping[Point, Mapping[str, float]] | None = None,
) -> Runs[Point]:
    """Runs with these throughputs in segments a second, from seed 1 on, and these totals."""
    rows = {}
    for point, values in samples.items():
        rates = np.asarray(values, dtype=float)
        sums = {"makespan_s": simulated_s, **(totals or {}).get(point, {})}
        columns = {name: np.full(rates.size, sum_ / rates.size) for name, sum_ in sums.items()}
        seeds = pd.RangeIndex(1, rates.size + 1)
        rows[point] = pd.DataFrame({METRIC: rates, **columns}, index=seeds)
    return Runs(rows, METRIC, of_means)
