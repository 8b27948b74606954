"""``congestion_control`` of `tcp`: how the window moves; one table for each law."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Named, Section


class Reno(Section):
    """Slow start and congestion avoidance (RFC 5681)."""

    kind: Literal["reno"] = "reno"
    halving: Literal["flight-size", "window"] = Field(
        "flight-size",
        description=(
            'What is halved on a loss. `"flight-size"`: the bytes in flight (RFC 5681, equation '
            '4). `"window"`: the smaller of the congestion window and W_m, as in ns-2.'
        ),
    )


class StopAndWait(Section):
    """A window of one segment."""

    kind: Literal["stop-and-wait"] = "stop-and-wait"


class HighSpeed(Section):
    """HighSpeed TCP (RFC 3649)."""

    kind: Literal["highspeed"] = "highspeed"


CongestionControl = Annotated[Reno | StopAndWait | HighSpeed, Named(), Field(discriminator="kind")]
