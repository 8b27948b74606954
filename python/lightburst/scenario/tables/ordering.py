"""``ordering`` of an edge: keeps the bursts from one edge to another in order.

On several paths of different length bursts overtake each other. B. Komatireddy, N. Charbonneau, V.
M. Vokkarane, "Source-ordering for improved TCP performance over load-balanced optical
burst-switched (OBS) networks", 2009.
"""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.foundation.units import TIME, Quantity
from lightburst.scenario.fields import Named
from lightburst.scenario.section import Section


class NoOrdering(Section):
    """Bursts are not kept in order."""

    kind: Literal["none"] = "none"


class SourceOrdering(Section):
    """The ingress holds a burst until its last bit arrives after that of the previous burst."""

    kind: Literal["source"] = "source"


class DestinationOrdering(Section):
    """The egress holds a burst until the previous ones have arrived, or up to a maximum time.

    Attributes
    ----------
    hold_back : int
        Picoseconds.
    """

    kind: Literal["destination"] = "destination"
    hold_back: Annotated[int, Quantity(TIME, largest="1000 s")] = Field(
        100 * 10**9,
        description=(
            "Longest wait of a burst for the bursts before it, some of which may be lost. It "
            "should exceed the differences of path delays, and be below the least timeout of the "
            "senders."
        ),
    )


Ordering = Annotated[
    NoOrdering | SourceOrdering | DestinationOrdering,
    Field(
        discriminator="kind",
        description=(
            'The edge that keeps the bursts from one edge to another in order. `"source"`: the '
            "ingress delays a burst until its last bit arrives after that of the burst before. "
            '`"destination"`: the egress delays a burst until the bursts before it have arrived.'
        ),
    ),
    Named(),
]
