"""The figures that are reckoned only where a scenario asks for them."""

from lightburst import contents, synchronised, throughput
from lightburst.compile import Plan
from lightburst.metrics import Columns, Mask, Metric
from lightburst.scenario import Scenario


def of_run(scenario: Scenario, plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Give those of a whole run: of bursts, of its flows, and whether these move together."""
    found: dict[str, Metric] = {}
    if scenario.measurement.bursts is not None:
        found |= contents.figures(columns)
    found |= of_flows(scenario, plan, columns, plan.counted)
    bins = scenario.measurement.synchronisation
    return found if bins is None else found | synchronised.figures(columns, bins.bin)


def of_flows(scenario: Scenario, plan: Plan, columns: Columns, chosen: Mask) -> dict[str, Metric]:
    """Give those of some of the flows; `chosen` has the shape (flows,)."""
    found: dict[str, Metric] = {}
    if scenario.measurement.bursts is not None:
        found |= contents.of_flows(columns, chosen)
    if scenario.measurement.flow_throughput:
        found |= throughput.figures(plan, columns["flows"], chosen)
    return found
