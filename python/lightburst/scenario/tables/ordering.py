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
            "How long a burst waits at most for those before, some of which may be lost. Longer "
            "than paths differ by, and shorter than the least timeout of the senders."
        ),
    )


Ordering = Annotated[
    NoOrdering | SourceOrdering | DestinationOrdering,
    Field(
        discriminator="kind",
        description=(
            "What keeps the bursts from one edge to another in their order. "
            '`"source"`: as an ingress, the edge holds a burst until its last bit comes after that '
            'of the burst before. `"destination"`: as an egress, it holds a burst until those '
            "before have come."
        ),
    ),
    Named(),
]
