"""What all kinds of ``[workload]`` have: applications that write in parts."""

from typing import ClassVar

from pydantic import Field

from lightburst.foundation.units import PositiveDuration, PositiveSize
from lightburst.scenario.section import Section


class Writes(Section):
    """An application that writes the data of its flow in parts.

    Attributes
    ----------
    size : int
        Bytes of each write.
    interval : int
        Picoseconds from one write to the next.
    """

    size: PositiveSize = Field(
        description=(
            "Bytes of each write; the last one has the rest of the flow. A segment leaves when all "
            "of it is written, as with `TCP_CORK`."
        )
    )
    interval: PositiveDuration = Field(
        description="Time from one write to the next; the first comes when the connection is open."
    )


class AnyWorkload(Section):
    """Any workload.

    Attributes
    ----------
    writes : Writes or None
        None if each application writes all data at once.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"writes"})

    writes: Writes | None = Field(
        None,
        description=(
            "The applications write their data in parts, in a table of its own: "
            '`writes = { size = "100 kB", interval = "50 ms" }`. Without it each writes all at '
            "once. Requires the transport `tcp`."
        ),
    )
