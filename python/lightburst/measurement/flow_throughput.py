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
            "Add metrics of the distribution of throughput over the flows, for all flows, by "
            "groups and by size classes. The throughput of a flow is its bytes over the time from "
            "its start to the last acknowledgement."
        )
    ),
    FlowThroughputMeasurement(),
]


def throughput_bps(plan: Plan, flows: Table) -> FloatArray:
    """Return bits of each flow / time from its start to its last acknowledgement.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``acknowledged_ps`` of the run.

    Returns
    -------
    ndarray of float, shape (flows,)
        Bits per second; NaN without that acknowledgement.
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
        The plan of the run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``acknowledged_ps`` of the run.
    chosen : ndarray of bool, shape (flows,)
        Whether each flow is one of them.

    Returns
    -------
    dict
        By the `labels`, for the flows with all data acknowledged: the mean (each flow has the same
        weight, so that the many small flows dominate), the ratio of the sums of bits and times
        (each flow is weighted by its duration, so that the few large flows dominate), minimum, 10th
        percentile, median, 90th percentile, maximum, variance (divided by the number of flows) and
        Jain's index of `throughput_bps`. None without such flows. Then the number and bytes of the
        flows without throughput: they were meant to finish, but the run ended before their last
        acknowledgement, an endpoint gave up, or an open loop lost data. Last, the number of flows
        with throughput.

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
