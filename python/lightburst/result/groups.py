"""Metrics of each group of flows of a run, and of each size class."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from lightburst.compile import Plan
from lightburst.foundation.counts import Columns, Mask, Metric, share
from lightburst.measurement.window import counted
from lightburst.result import metrics
from lightburst.scenario import Scenario
from lightburst.scenario.tables.workload import Poisson
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.workload import Offered, load_of

# The metrics of the summary that are about flows, with their values if there are no flows. All
# others are about the network, which the groups share.
_WITHOUT: Final[dict[str, Metric]] = {
    "flows": 0,
    "finished": 0,
    "unfinished": 0,
    "throughput_bps": None,
    "delivered_bytes": 0,
    **dict.fromkeys(metrics.REPEATED, 0),
}
METRICS: Final = tuple(dict.fromkeys((*_WITHOUT, *metrics.OF_FLOWS)))
# Metrics of bursts, if each group is a class.
OF_CLASSES: Final = ("bursts", "burst_loss", "burst_loss_count", "burst_loss_of")


def summaries(
    scenario: Scenario, plan: Plan, columns: Columns, offered: Mapping[str, Offered]
) -> dict[str, dict[str, Metric]]:
    """Return the metrics of each group, like those of a run with only its flows.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.
    offered : mapping of str to Offered
        `lightburst.Result.offered`.

    Returns
    -------
    dict of str to dict
        By name of the group, under the names of `lightburst.Result.summary`; empty without several
        groups. The throughput is over the group's own makespan. Metrics of bursts are included if
        each group is a class, and optional metrics if the scenario requests them.
    """
    loads = offered_loads(scenario, plan, offered)
    return {
        name: ({"offered_load": loads.get(name)} if offered else {})
        | _metrics(plan, columns, number)
        | _of_class(columns, number)
        | _asked(scenario, plan, columns, plan.counted & (plan.group == number))
        for number, name in enumerate(plan.group_names)
    }


def by_size(scenario: Scenario, plan: Plan, columns: Columns) -> dict[str, dict[str, Metric]]:
    """Return the metrics of the counted flows, by ``measurement.size_classes``.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    dict of str to dict
        By name of the class, the metrics of `metrics.flow_metrics` and the optional metrics that
        the scenario requests. A flow with the size of a boundary belongs to the class above it.
    """
    measurement = scenario.measurement
    boundaries = np.asarray(measurement.size_classes, np.uint64)
    place = np.searchsorted(boundaries, plan.flows["bytes"], side="right")
    classes = {
        name: plan.counted & (place == i) for i, name in enumerate(measurement.size_class_names)
    }
    return {
        name: metrics.flow_metrics(plan, columns["flows"], chosen)
        | _asked(scenario, plan, columns, chosen)
        for name, chosen in classes.items()
    }


def _asked(scenario: Scenario, plan: Plan, columns: Columns, chosen: Mask) -> dict[str, Metric]:
    """Return the optional metrics of some flows, computed when the scenario requests them."""
    found: dict[str, Metric] = {}
    for one in scenario.measurement.asked:
        found |= one.of_flows(scenario.measurement, plan, columns, chosen)
    return found


def offered_loads(
    scenario: Scenario, plan: Plan, offered: Mapping[str, Offered]
) -> dict[str, Metric]:
    """Return the realised loads of a run, by name of the group, for those that state a load."""
    found: dict[str, Metric] = {}
    for number, group in enumerate(scenario.flow_groups):
        load = offered.get(group.name or "")
        if load is not None and isinstance(group.workload, Poisson):
            own = plan.group == number
            start, size = (plan.flows[name][own] for name in ("start_ps", "bytes"))
            found[group.name or ""] = load_of(
                group.workload, load.capacity_bps, start, size, plan.window_ps
            )
    return found


def _of_class(columns: Columns, number: int) -> dict[str, Metric]:
    if "classes" not in columns:
        return {}
    own = {name: counts[number] for name, counts in counted(columns)["classes"].items()}
    loss = share("burst_loss", *metrics.fates(own, "bursts"))
    return {"bursts": int(own["bursts"]), **loss}


def _metrics(plan: Plan, columns: Columns, number: int) -> dict[str, Metric]:
    chosen = plan.group == number

    def own(table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: table[name][chosen] for name in table if table[name].shape == chosen.shape}

    alone = replace(plan, flows=own(plan.flows))
    flows = own(columns["flows"])
    of_flows = metrics.flow_metrics(alone, flows, alone.counted)
    if not alone.counted.any():
        return {**_WITHOUT, **of_flows}
    totals = columns["totals"]
    if plan.transports[number]["kind"] in OPEN_LOOP:
        # An open loop ends with its last datagram, and does not wait for other groups.
        left = _left_ps(plan, columns, chosen)
        totals = {**totals, "end_ps": left, "transmitted_until_ps": left}
    found = metrics.summary(alone, {**columns, "flows": flows, "totals": totals}, None)
    return {key: found[key] for key in METRICS}


def _left_ps(plan: Plan, columns: Columns, chosen: Mask) -> int:
    """Return the time at which the last datagram or burst of some flows departed in the run."""
    offsets = plan.flows["departure_offsets"]
    any_left = chosen & (offsets[1:] > offsets[:-1])
    last = plan.flows["departures_ps"][offsets[1:][any_left] - np.uint64(1)]
    return min(int(last.max(initial=0)), int(columns["totals"]["end_ps"]))
