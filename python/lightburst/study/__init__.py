"""Studies: many runs on all cores, kept on disk as they finish, with intervals."""

from lightburst.study.executor import execute, replicate
from lightburst.study.statistics import (
    Interval,
    compare,
    mean_interval,
    paired_ratio,
    relative_deviation,
    summarise,
)
from lightburst.study.store import Store
from lightburst.study.sweep import Study

__all__ = [
    "Interval",
    "Store",
    "Study",
    "compare",
    "execute",
    "mean_interval",
    "paired_ratio",
    "relative_deviation",
    "replicate",
    "summarise",
]
