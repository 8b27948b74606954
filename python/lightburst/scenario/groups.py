"""``[groups]``: several groups of flows in one run, each with a name."""

from typing import NamedTuple

from pydantic import Field

from lightburst.scenario.fields import Section
from lightburst.scenario.transport import Transport
from lightburst.scenario.workload import Workload

LONGEST_NAME = 64
# The simulator counts them in 16 bits.
MOST_GROUPS = 65_535


class Group(Section):
    """Flows with a workload and, unless they share that of the scenario, a transport."""

    workload: Workload = Field(description="Which flows there are.")
    transport: Transport | None = Field(
        None, description="How their data is sent; without it that of the scenario."
    )


class FlowGroup(NamedTuple):
    """A group as it runs.

    Attributes
    ----------
    name : str or None
        None in the short form of a scenario, which has one group.
    path : str
        What stands before the path of its workload: ``"groups.query."``, or nothing.
    transport_path : str
        That of its transport: ``"transport"`` if it has none of its own.
    workload, transport
        Its tables.
    """

    name: str | None
    path: str
    transport_path: str
    workload: Workload
    transport: Transport
