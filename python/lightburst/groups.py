"""Figures of each group of flows of a run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from lightburst import metrics
from lightburst.compile import Plan
from lightburst.metrics import Columns, Metric

# The figures of the summary that are about flows, and their values where there are no flows. All
# others are about the network, which the groups share.
_WITHOUT: Final[dict[str, Metric]] = {
    "flows": 0,
    "finished": 0,
    "unfinished": 0,
    "throughput_bps": None,
    "delivered_bytes": 0,
    **dict.fromkeys(metrics.REPEATED, 0),
}
FIGURES: Final = tuple(dict.fromkeys((*_WITHOUT, *metrics.OF_FLOWS)))
# Those of bursts, where each group is a class.
OF_CLASSES: Final = ("bursts", "burst_loss")


def summaries(plan: Plan, columns: Columns) -> dict[str, dict[str, Metric]]:
    """Figures of each group, as those of a run that had only its flows.

    Parameters
    ----------
    plan : Plan
        What was run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    dict of str to dict
        By name of the group, under the names of `lightburst.Result.summary`; empty without several
        groups. The throughput is over the group's own makespan. Those of bursts are there
        where each group is a class of its own.
    """
    return {
        name: _figures(plan, columns, number) | _of_class(columns, number)
        for number, name in enumerate(plan.group_names)
    }


def _of_class(columns: Columns, number: int) -> dict[str, Metric]:
    if "classes" not in columns:
        return {}
    made, lost = (int(columns["classes"][name][number]) for name in ("bursts", "bursts_lost"))
    return dict(zip(OF_CLASSES, (made, lost / made if made else None), strict=True))


def _figures(plan: Plan, columns: Columns, number: int) -> dict[str, Metric]:
    chosen = plan.group == number

    def own(table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: table[name][chosen] for name in table if table[name].shape == chosen.shape}

    alone = replace(plan, flows=own(plan.flows))
    flows = own(columns["flows"])
    figures = metrics.flow_figures(alone, flows, alone.counted)
    if not alone.counted.any():
        return {**_WITHOUT, **figures}
    found = metrics.summary(alone, {**columns, "flows": flows}, None)
    return {key: found[key] for key in FIGURES}
