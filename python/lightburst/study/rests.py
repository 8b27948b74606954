"""What the figures of a table of runs rest on, point by point: columns for tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightburst.support import COUNT, NEEDED, OF, beside, needed_by, samples_in

if TYPE_CHECKING:
    import pandas as pd


def rests_on(runs: pd.DataFrame, metric: str, by: str) -> pd.DataFrame:
    """Give what a figure rests on at each point.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run, with the columns of `lightburst.support.supporting`, as far as there
        are such.
    metric : str
        The figure, a column.
    by : str
        Column that names the point.

    Returns
    -------
    pandas.DataFrame
        By point ``samples``, flows that it is over, in the run with the fewest; ``needed``, how
        many a percentile needs: with fewer it is beyond what the sample can give; ``units``, of a
        share, of how many it is in all runs together. NaN where there is nothing to say.
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
