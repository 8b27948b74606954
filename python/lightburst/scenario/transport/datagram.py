"""Datagrams: open loop."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.transport.base import BaseTransport
from lightburst.units import RATE, Quantity


class Datagram(BaseTransport):
    """Open loop: datagrams at given times, nothing acknowledged, nothing sent again.

    Attributes
    ----------
    rate : int or None
        Bits a second; None is the rate of the source's link.
    """

    kind: Literal["datagram"] = "datagram"
    rate: Annotated[int | None, Quantity(RATE, positive=True, word="link")] = Field(
        None,
        description=(
            'Mean rate of a flow on the wire while it sends; `"link"` is the rate of its host\'s '
            "link."
        ),
    )
    spacing: Literal["poisson", "constant"] = Field(
        "poisson",
        description=(
            'Gaps between datagrams. `"poisson"`: exponential, with one before the first '
            "datagram, so that departures are a Poisson process from the flow's start. "
            '`"constant"`: all the same, the first datagram at the start.'
        ),
    )
