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
        None, description="Mean rate of a flow on the wire while it sends."
    )
    spacing: Literal["poisson", "constant"] = Field(
        "poisson", description="Gaps between datagrams: exponential, or all the same."
    )
