"""A traced flow of a plan, in the form for the package's analysis."""

from types import SimpleNamespace
from typing import Any, cast

from plans import Plan, core
from twin import Columns

from lightburst import compile
from lightburst.result.result import Result
from lightburst.trace import FlowTrace
from lightburst.trace.division import Span, divide


def follow(plan: Plan, flow: int) -> tuple[FlowTrace, Columns]:
    """Run `plan` with `flow` traced."""
    plan = plan._replace(settings={**plan.settings, "trace": [flow]})
    columns = core(plan)
    traced = SimpleNamespace(measurement=SimpleNamespace(trace=[flow]))
    given = compile.Plan(plan.settings, plan.nodes, plan.links, plan.flows)
    result = cast(Result, SimpleNamespace(scenario=traced, plan=given, columns=columns))
    return FlowTrace.of(result, flow), columns


def spans_of(plan: Plan, flow: int) -> tuple[list[Span], FlowTrace, Columns]:
    """The division of the time of a flow, until its last byte has arrived or the run ends."""
    trace, columns = follow(plan, flow)
    start = int(plan.flows["start_ps"][flow])
    end = max(start, int(columns["totals"]["end_ps"]))
    return divide(trace, start, end), trace, columns


def totals(spans: list[Span]) -> dict[Any, int]:
    """The time of each part, those at a node by (part, node)."""
    found: dict[Any, int] = {}
    for span in spans:
        key = span.part if span.node is None else (span.part, span.node)
        found[key] = found.get(key, 0) + span.end - span.begin
    return found
