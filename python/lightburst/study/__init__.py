"""Studies: many runs on all cores, stored on disk as they finish, with confidence intervals."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightburst.study.execution.block import Block
    from lightburst.study.execution.executor import execute, replicate, run_all
    from lightburst.study.execution.stopping import Stopping, execute_until
    from lightburst.study.execution.warned import warnings_of
    from lightburst.study.runs import Study
    from lightburst.study.statistics import (
        BatchMeans,
        Difference,
        Interval,
        batch_means,
        bonferroni,
        bootstrap_interval,
        confidence_of_each,
        difference_of_means,
        fieller_ratio,
        holm,
        log_ratio_error,
        mean_interval,
        mser,
        paired_difference,
        paired_ratio,
        permutation_difference,
        permutation_ratio,
        quantile_interval,
        ratio_of_means,
        relative_deviation,
        share_interval,
        sign_test,
        summarise,
    )
    from lightburst.study.statistics.comparison import Comparison, compare_runs
    from lightburst.study.store.store import Store

# Names are imported on first use, so that a single run, with its progress line, loads no pandas.
_HOME = {
    "BatchMeans": "statistics",
    "Block": "execution.block",
    "Comparison": "statistics.comparison",
    "Difference": "statistics",
    "Interval": "statistics",
    "Stopping": "execution.stopping",
    "Store": "store.store",
    "Study": "runs",
    "batch_means": "statistics",
    "bonferroni": "statistics",
    "bootstrap_interval": "statistics",
    "compare_runs": "statistics.comparison",
    "confidence_of_each": "statistics",
    "difference_of_means": "statistics",
    "execute": "execution.executor",
    "execute_until": "execution.stopping",
    "fieller_ratio": "statistics",
    "holm": "statistics",
    "log_ratio_error": "statistics",
    "mean_interval": "statistics",
    "mser": "statistics",
    "paired_difference": "statistics",
    "paired_ratio": "statistics",
    "permutation_difference": "statistics",
    "permutation_ratio": "statistics",
    "quantile_interval": "statistics",
    "ratio_of_means": "statistics",
    "relative_deviation": "statistics",
    "replicate": "execution.executor",
    "run_all": "execution.executor",
    "share_interval": "statistics",
    "sign_test": "statistics",
    "summarise": "statistics",
    "warnings_of": "execution.warned",
}

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
    "bonferroni",
    "bootstrap_interval",
    "compare_runs",
    "confidence_of_each",
    "difference_of_means",
    "execute",
    "execute_until",
    "fieller_ratio",
    "holm",
    "log_ratio_error",
    "mean_interval",
    "mser",
    "paired_difference",
    "paired_ratio",
    "permutation_difference",
    "permutation_ratio",
    "quantile_interval",
    "ratio_of_means",
    "relative_deviation",
    "replicate",
    "run_all",
    "share_interval",
    "sign_test",
    "summarise",
    "warnings_of",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
