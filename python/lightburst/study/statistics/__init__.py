"""What can be said of runs: intervals, comparisons of two systems, of many, and one long run.

docs/statistics.md says which to use when, where each comes from, and how often each is right.
"""

from lightburst.study.statistics.bootstrap import (
    bootstrap_difference,
    bootstrap_interval,
    bootstrap_ratio,
    quantile_interval,
)
from lightburst.study.statistics.intervals import (
    Interval,
    mean_interval,
    number,
    relative_deviation,
    summarise,
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
from lightburst.study.statistics.several import confidence_of_each, holm

__all__ = [
    "BatchMeans",
    "Cut",
    "Difference",
    "Interval",
    "batch_means",
    "bootstrap_difference",
    "bootstrap_interval",
    "bootstrap_ratio",
    "confidence_of_each",
    "difference_of_means",
    "holm",
    "log_ratio_error",
    "mean_interval",
    "mser",
    "number",
    "paired_difference",
    "paired_ratio",
    "quantile_interval",
    "ratio_of_means",
    "relative_deviation",
    "sign_test",
    "summarise",
]
