"""Hybrid switch of minakhmetov2018."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Whole
from lightburst.scenario.switching.base import OpticalSwitch, Unlimited


class Hybrid(OpticalSwitch):
    """All-optical with one shared electronic buffer behind a few ports.

    Attributes
    ----------
    buffer_size : int or None
        Bytes; None is unlimited.
    """

    kind: Literal["hybrid"] = "hybrid"
    buffer_ports: Annotated[int, Whole(0, 65_535)] = Field(
        2,
        description=(
            "Number of ports into the buffer, equal to that of ports out of it, each at the link's "
            "rate: ne in minakhmetov2018, which has 0, 2 and 5. At most the ports of the largest "
            "switch. With 0 the switch is identical to an all-optical one."
        ),
    )
    buffer_size: Unlimited = Field(
        None, description="Size of the buffer of each switch. minakhmetov2018 has no limit."
    )
    re_emission: Literal["after-reception", "cut-through"] = Field(
        "after-reception",
        description=(
            'Earliest departure of a buffered unit. `"after-reception"`: when the unit has been '
            'received completely. `"cut-through"`: before that. minakhmetov2018 does not state it; '
            "it says that the sender must wait one packet duration longer for each buffer on the "
            "path, which corresponds to the former."
        ),
    )
