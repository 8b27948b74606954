"""Distribution of the throughput of single flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from lightburst.foundation.counts import jain_index, quantiles
from lightburst.foundation.support import OF
from lightburst.measurement.base import OptionalMeasurement
from lightburst.scenario.fields import Flag

if TYPE_CHECKING:
    from lightburst.foundation.counts import Columns, FloatArray, Mask, Metric, Table
    from lightburst.measurement.protocols import Plan
    from lightburst.scenario.tables.measurement import Measurement


class FlowThroughputMeasurement(OptionalMeasurement):
    """Mean, spread and fairness of the throughput of single flows."""

    key = "flow_throughput"
    labels: ClassVar[Mapping[str, str]] = {
        "flow_throughput_mean_bps": "throughput of a flow, mean",
        "flow_throughput_ratio_bps": "throughput of a flow, ratio of sums",
        "flow_throughput_min_bps": "throughput of a flow, minimum",
        "flow_throughput_p10_bps": "throughput of a flow, 10th percentile",
        "flow_throughput_median_bps": "throughput of a flow, median",
        "flow_throughput_p90_bps": "throughput of a flow, 90th percentile",
        "flow_throughput_max_bps": "throughput of a flow, maximum",
        "flow_throughput_variance_bps2": "throughput of a flow, variance",
        "flow_throughput_jain_index": "throughput of a flow, Jain's index",
        "flows_unacknowledged": "flows without throughput: cut off",
        "unacknowledged_bytes": "size of flows without throughput",
    }

    def of_flows(
        self, measurement: Measurement, plan: Plan, columns: Columns, chosen: Mask
    ) -> dict[str, Metric]:
        """Return `metrics_of` for the flows."""
        return metrics_of(plan, columns["flows"], chosen)


FlowThroughputOption = Annotated[
    Flag,
    Field(
        description=(
            "Add to the figures how the throughput of a flow (its bytes over the time from its "
            "start to the last acknowledgement) is spread over the flows: in all, by groups and "
            "by classes of size."
        )
    ),
    FlowThroughputMeasurement(),
]


def throughput_bps(plan: Plan, flows: Table) -> FloatArray:
    """Return bits of each flow / time from its start to its last acknowledgement.

    Parameters
    ----------
    plan : Plan
        What was run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``acknowledged_ps`` of the run.

    Returns
    -------
    ndarray of float, shape (flows,)
        Bits a second; NaN where that acknowledgement did not come.
    """
    return 8.0 * plan.flows["bytes"] / _time_s(plan, flows)


def _time_s(plan: Plan, flows: Table) -> FloatArray:
    ends = flows["acknowledged_ps"]
    return plan.since_start_s(ends, np.full(ends.shape, np.nan))


def metrics_of(plan: Plan, flows: Table, chosen: Mask) -> dict[str, Metric]:
    """Return statistics of the throughput of some flows of a run.

    Parameters
    ----------
    plan : Plan
        What was run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``acknowledged_ps`` of the run.
    chosen : ndarray of bool, shape (flows,)
        Which flows.

    Returns
    -------
    dict
        By the `labels`, of those that were all acknowledged: the mean (each flow counts alike, so
        that it is that of the many small ones), the ratio of the sums of bits and times (each flow
        counts by its time, so that it is that of the few large ones), minimum, 10th percentile,
        median, 90th percentile, maximum, variance (divided by their number) and Jain's index of
        `throughput_bps`. None without such flows. Of the others, which are in none of these, the
        number and the bytes: those that were to finish, and of which the end of the run came before
        the last acknowledgement, or an end gave up, or data was lost for good. Last, how many flows
        the others are over.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, DEC TR-301 (1984), equation 1.
    """
    names = (*FlowThroughputMeasurement.labels, f"flow_throughput{OF}")
    time, size = _time_s(plan, flows), plan.flows["bytes"]
    speed = 8.0 * size / time
    told = chosen & ~np.isnan(speed)
    missing = chosen & np.isnan(speed) & plan.due
    values = speed[told]
    unsent = int(size[missing].sum(dtype=np.uint64))
    cut_off = (int(np.count_nonzero(missing)), unsent, values.size)
    if values.size == 0:
        return dict(zip(names, (*[None] * 9, *cut_off), strict=True))
    ratio = 8.0 * size[told].sum(dtype=np.float64) / time[told].sum()
    spread = quantiles(values, 0.0, 0.1, 0.5, 0.9, 1.0)
    moments = float(values.var()), jain_index(values)
    found = (float(values.mean()), float(ratio), *spread, *moments, *cut_off)
    return dict(zip(names, found, strict=True))
