"""Sample sizes behind the metrics in a table of runs, per point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightburst.foundation.support import COUNT, NEEDED, OF, beside, needed_by, samples_in

if TYPE_CHECKING:
    import pandas as pd


def rests_on(runs: pd.DataFrame, metric: str, by: str) -> pd.DataFrame:
    """Return the sample sizes of a metric at each point.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per run, with the columns of `lightburst.foundation.support.supporting` that exist.
    metric : str
        Metric, a column of `runs`.
    by : str
        Column that names the point.

    Returns
    -------
    pandas.DataFrame
        Per point: ``samples``, the number of flows that the metric is computed from, in the run
        with the fewest; ``needed``, the number of flows that a percentile needs to be meaningful;
        ``units``, for a share, the number of items in all runs together. NaN where not applicable.
    """
    there = runs[runs[metric].notna()]
    points = there.groupby(by, sort=False)
    found = points.size().to_frame("samples").astype(float)
    found["samples"] = found["needed"] = found["units"] = math.nan
    share = beside(metric, COUNT) in runs and beside(metric, OF) in runs
    if share:
        found["units"] = points[beside(metric, OF)].sum().astype(float)
    elif samples_in(metric) in runs:
        found["samples"] = points[samples_in(metric)].min().astype(float)
        if (least := needed_by(metric)) is not None:
            found["needed"] = float(least)
        elif beside(metric, NEEDED) in runs:
            found["needed"] = points[beside(metric, NEEDED)].max().astype(float)
    return found
