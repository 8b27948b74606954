"""Messages that wait for others, in the result of a run: collectives and GOAL schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.result.waits import collectives, schedules

if TYPE_CHECKING:
    from lightburst.compile import Plan
    from lightburst.foundation.counts import Columns, Metric
    from lightburst.scenario import Scenario


def metrics(scenario: Scenario, plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Return the metrics of a workload whose messages wait for others; none for another one."""
    return collectives.metrics(scenario, plan, columns) | schedules.metrics(plan, columns)
