"""Studies: many runs on all cores, kept on disk as they finish, with intervals."""

from lightburst.study.executor import execute, replicate, run_all
from lightburst.study.statistics import (
    Interval,
    compare,
    log_ratio_error,
    mean_interval,
    paired_ratio,
    ratio_of_means,
    relative_deviation,
    summarise,
)
from lightburst.study.stopping import Stopping, execute_until
from lightburst.study.store import Store
from lightburst.study.sweep import Study
from lightburst.study.warnings_of import warnings_of

__all__ = [
    "Interval",
    "Stopping",
    "Store",
    "Study",
    "compare",
    "execute",
    "execute_until",
    "log_ratio_error",
    "mean_interval",
    "paired_ratio",
    "ratio_of_means",
    "relative_deviation",
    "replicate",
    "run_all",
    "summarise",
    "warnings_of",
]
