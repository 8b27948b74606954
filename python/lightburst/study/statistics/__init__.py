"""Statistics of runs: intervals, comparisons of systems, multiple tests, and single long runs.

docs/statistics.md explains when to use each method, its source, and its coverage.
"""

from lightburst.study.statistics.bootstrap import bootstrap_interval, quantile_interval
from lightburst.study.statistics.fieller import fieller_ratio
from lightburst.study.statistics.intervals import (
    Interval,
    mean_interval,
    number,
    relative_deviation,
)
from lightburst.study.statistics.long_run import BatchMeans, Cut, batch_means, mser
from lightburst.study.statistics.paired import (
    Difference,
    difference_of_means,
    log_ratio_error,
    paired_difference,
    paired_ratio,
    ratio_of_means,
    sign_test,
)
from lightburst.study.statistics.permuted import permutation_difference, permutation_ratio
from lightburst.study.statistics.several import bonferroni, confidence_of_each, holm
from lightburst.study.statistics.shares import share_interval
from lightburst.study.statistics.summary import summarise

__all__ = [
    "BatchMeans",
    "Cut",
    "Difference",
    "Interval",
    "batch_means",
    "bonferroni",
    "bootstrap_interval",
    "confidence_of_each",
    "difference_of_means",
    "fieller_ratio",
    "holm",
    "log_ratio_error",
    "mean_interval",
    "mser",
    "number",
    "paired_difference",
    "paired_ratio",
    "permutation_difference",
    "permutation_ratio",
    "quantile_interval",
    "ratio_of_means",
    "relative_deviation",
    "share_interval",
    "sign_test",
    "summarise",
]
