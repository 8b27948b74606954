"""``congestion_control`` of `tcp`: how the window moves; one table for each law."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Named, Section


class Reno(Section):
    """Slow start and congestion avoidance (RFC 5681)."""

    kind: Literal["reno"] = "reno"
    halving: Literal["flight-size", "window"] = Field(
        "flight-size", description="What is halved on a loss."
    )


class StopAndWait(Section):
    """A window of one segment."""

    kind: Literal["stop-and-wait"] = "stop-and-wait"


CongestionControl = Annotated[Reno | StopAndWait, Named(), Field(discriminator="kind")]
