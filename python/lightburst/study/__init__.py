"""Studies: many runs on all cores, kept on disk as they finish, with intervals."""

from lightburst.study.block import Block
from lightburst.study.comparison import Comparison, compare_runs
from lightburst.study.executor import execute, replicate, run_all
from lightburst.study.statistics import (
    BatchMeans,
    Difference,
    Interval,
    batch_means,
    bootstrap_interval,
    confidence_of_each,
    difference_of_means,
    holm,
    log_ratio_error,
    mean_interval,
    mser,
    paired_difference,
    paired_ratio,
    quantile_interval,
    ratio_of_means,
    relative_deviation,
    sign_test,
    summarise,
)
from lightburst.study.stopping import Stopping, execute_until
from lightburst.study.store import Store
from lightburst.study.sweep import Study
from lightburst.study.warnings_of import warnings_of

__all__ = [
    "BatchMeans",
    "Block",
    "Comparison",
    "Difference",
    "Interval",
    "Stopping",
    "Store",
    "Study",
    "batch_means",
    "bootstrap_interval",
    "compare_runs",
    "confidence_of_each",
    "difference_of_means",
    "execute",
    "execute_until",
    "holm",
    "log_ratio_error",
    "mean_interval",
    "mser",
    "paired_difference",
    "paired_ratio",
    "quantile_interval",
    "ratio_of_means",
    "relative_deviation",
    "replicate",
    "run_all",
    "sign_test",
    "summarise",
    "warnings_of",
]
