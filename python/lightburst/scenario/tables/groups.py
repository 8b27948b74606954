"""``[groups]``: several named groups of flows in one run."""

from typing import NamedTuple

from pydantic import Field

from lightburst.scenario.section import Section
from lightburst.scenario.tables.workload import Workload
from lightburst.scenario.transport import Transport

LONGEST_NAME = 64
# The simulator numbers groups in 16 bits.
MOST_GROUPS = 65_535


class Group(Section):
    """Flows with a workload and, optionally, their own transport instead of the scenario's."""

    workload: Workload = Field(description="The flows of the group.")
    transport: Transport | None = Field(
        None, description="The transport of the group; by default that of the scenario."
    )


class FlowGroup(NamedTuple):
    """Group as it runs.

    Attributes
    ----------
    name : str or None
        Name; None for the single group of a scenario without groups.
    path : str
        Prefix of the path of its workload: ``"groups.query."``, or empty.
    transport_path : str
        Path of its transport: ``"transport"`` if it uses the scenario's.
    workload, transport
        Tables of the group.
    """

    name: str | None
    path: str
    transport_path: str
    workload: Workload
    transport: Transport
